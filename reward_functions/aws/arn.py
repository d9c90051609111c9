"""ARNs: any partition, any service; and the ARN of a Lambda function with what stands after it.

    arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE
    arn:PARTITION:lambda:REGION:ACCOUNT:function:NAME[:QUALIFIER]

The part after a function's ARN either holds still for as long as it exists, or moves with a
deployment:

    NAME:7              holds: nobody can change a published version
    SageMaker-reward-STAGE-NAME--DIGEST
                        holds: one function of an immutable deployment, which is never updated
    NAME, NAME:$LATEST  moves: the code that was uploaded last
    NAME:live           moves: an alias points where a deployment or a rollback says

Source: "Amazon Resource Names" in the IAM user guide; botocore's model of Lambda
(`NamespacedFunctionName`) and of Bedrock (`LambdaArn`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Self

from reward_functions.core.errors import ConfigurationError

ARN: Final = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):(?P<service>[a-z0-9-]+):(?P<region>[a-z0-9-]*)"
    r":(?P<account>[0-9]{12}|aws|):(?P<resource>\S+)"
)

FUNCTION: Final = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):lambda:(?P<region>[a-z]{2}(?:-[a-z]+)+-[0-9])"
    r":(?P<account>[0-9]{12}):function:(?P<name>[A-Za-z0-9_.-]+)"
    r"(?::(?P<qualifier>\$LATEST|[A-Za-z0-9_-]+))?"
)
"""A function's ARN, wherever it stands in a text."""

SHAPE: Final = "arn:aws:lambda:REGION:ACCOUNT:function:NAME, and :VERSION where there is one"

OURS: Final = "SageMaker-reward"
"""How the names of this project's functions begin, in every stage; a prefix may precede."""

GENERATION: Final = "--"
"""What stands between the name of an immutable deployment's function and its digest."""

GENERATION_DIGITS: Final = 8

GENERATION_NAME: Final = re.compile(
    rf"\A(?P<deployment>(?:[a-z0-9-]+-)?{OURS}-.+){GENERATION}(?P<digest>[0-9a-f]{{{GENERATION_DIGITS}}})"
)
"""One function of an immutable deployment. No other name of this project has two hyphens."""


class BadArn(ConfigurationError):
    """A string that is not an ARN, or not one of a Lambda function."""


@dataclass(frozen=True, slots=True)
class Arn:
    """An ARN in its parts.

    Args:
        region: "" of what has none, such as a role or a bucket.
        account: twelve digits; `aws` of AWS's own, "" of what has none.
        resource: the rest, such as `role/NAME`.
        named: the groups of the form that it was read with.
    """

    partition: str
    service: str
    region: str
    account: str
    resource: str
    named: dict[str, str | None] = field(default_factory=dict, compare=False)

    @classmethod
    def read(cls, text: str | None, service: str = "", form: str = ".+") -> Self | None:
        """Read one; None for any other string.

        Args:
            text: the whole ARN.
            service: whose it must be; "" for any.
            form: a linear pattern of the whole resource, with groups for `named`.
        """
        found = ARN.fullmatch(text or "")
        if found is None or (service and found["service"] != service):
            return None
        resource = _compiled(form).fullmatch(found["resource"])
        return None if resource is None else cls(**found.groupdict(), named=resource.groupdict())

    @classmethod
    def of(cls, text: str) -> Self:
        """Read what is known to be one.

        Raises:
            BadArn: it is no ARN.
        """
        found = cls.read(text)
        if found is None:
            raise BadArn(f"{text!r} is not an ARN: arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE")
        return found

    def __getitem__(self, group: str) -> str:
        """A group of the form; "" where it took no part."""
        return self.named[group] or ""

    def __str__(self) -> str:
        place = f"{self.partition}:{self.service}:{self.region}:{self.account}"
        return f"arn:{place}:{self.resource}"


@dataclass(frozen=True, slots=True)
class FunctionArn:
    """A function, and which version of it.

    Args:
        partition: `aws`, `aws-cn`, `aws-us-gov` …
        region: where it runs; it is invoked there, in a shell of any region.
        account: twelve digits.
        name: the function's.
        qualifier: an alias, a version, `$LATEST`; None stands for `$LATEST` too.
    """

    partition: str
    region: str
    account: str
    name: str
    qualifier: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read one.

        Raises:
            BadArn: the string is not one.
        """
        found = FUNCTION.fullmatch(text)
        if found is None:
            raise BadArn(f"{text!r} is not the ARN of a Lambda function: {SHAPE}")
        return cls(**found.groupdict())

    @property
    def immutable(self) -> bool:
        """Whether it is the plain ARN of an immutable deployment's function.

        The name decides, and not the catalogue, which knows the newest of these functions alone.
        """
        return self.qualifier is None and GENERATION_NAME.fullmatch(self.name) is not None

    @property
    def log_group(self) -> str:
        """Where it logs; the functions of an immutable deployment share the deployment's group."""
        found = GENERATION_NAME.fullmatch(self.name)
        return f"/aws/lambda/{found['deployment'] if found else self.name}"

    @property
    def moves(self) -> bool:
        """Whether a deployment can change what it names: all but a version's number can move."""
        return not (self.immutable or (self.qualifier or "").isdecimal())

    def __str__(self) -> str:
        plain = f"arn:{self.partition}:lambda:{self.region}:{self.account}:function:{self.name}"
        return plain if self.qualifier is None else f"{plain}:{self.qualifier}"


def arn_form(
    service: str, resource: str, *, region: str = "[a-z0-9-]+", account: str = "[0-9]{12}"
) -> str:
    """The pattern of ARNs that a setting takes.

    Args:
        service: as an ARN has it.
        resource: a linear pattern.
        region: a pattern; "" of what has none.
        account: a pattern.
    """
    return f"arn:aws[a-z-]*:{service}:{region}:{account}:{resource}"


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)
