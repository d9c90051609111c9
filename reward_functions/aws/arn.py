"""The ARN of a Lambda function: any partition, with an alias, a version, or neither.

    arn:PARTITION:lambda:REGION:ACCOUNT:function:NAME[:QUALIFIER]

What stands behind an ARN either holds still for as long as it exists, or moves with a deployment:

    NAME:7              holds: nobody can change a published version
    SageMaker-reward-STAGE-NAME--DIGEST
                        holds: one function of an immutable deployment, which is never updated
    NAME, NAME:$LATEST  moves: whatever was uploaded last
    NAME:live           moves: an alias points where a deployment or a rollback says

Source: botocore's model of Lambda (`NamespacedFunctionName`) and of Bedrock (`LambdaArn`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from reward_functions.aws.catalogue import GENERATION, GENERATION_DIGITS, function_name
from reward_functions.core.errors import ConfigurationError

ARN: Final = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):lambda:(?P<region>[a-z]{2}(?:-[a-z]+)+-[0-9])"
    r":(?P<account>[0-9]{12}):function:(?P<name>[A-Za-z0-9_.-]+)"
    r"(?::(?P<qualifier>\$LATEST|[A-Za-z0-9_-]+))?"
)

SHAPE: Final = "arn:aws:lambda:REGION:ACCOUNT:function:NAME, and :VERSION where there is one"

OURS: Final = function_name("", "").rstrip("-")
"""How the names of this project's functions begin, whatever their stage; a prefix may precede."""

GENERATION_NAME: Final = re.compile(
    rf"\A(?P<deployment>(?:[a-z0-9-]+-)?{OURS}-.+){GENERATION}(?P<digest>[0-9a-f]{{{GENERATION_DIGITS}}})"
)
"""One function of an immutable deployment. No other name of this project has two hyphens."""


class BadArn(ConfigurationError):
    """A string that is not the ARN of a Lambda function."""


@dataclass(frozen=True, slots=True)
class FunctionArn:
    """A function, and which version of it.

    Args:
        partition: `aws`, `aws-cn`, `aws-us-gov` …
        region: where it runs; it is invoked there, whatever region the caller is set to.
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
        found = ARN.fullmatch(text)
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
