"""The ARN of a Lambda function: any partition, with an alias, a version, or neither.

    arn:PARTITION:lambda:REGION:ACCOUNT:function:NAME[:QUALIFIER]

Source: botocore's model of Lambda (`NamespacedFunctionName`) and of Bedrock (`LambdaArn`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from reward_functions.core.errors import ConfigurationError

ARN: Final = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):lambda:(?P<region>[a-z]{2}(?:-[a-z]+)+-[0-9])"
    r":(?P<account>[0-9]{12}):function:(?P<name>[A-Za-z0-9_.-]+)"
    r"(?::(?P<qualifier>\$LATEST|[A-Za-z0-9_-]+))?"
)

SHAPE: Final = "arn:aws:lambda:REGION:ACCOUNT:function:NAME, and :ALIAS where there is one"


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
    def published(self) -> bool:
        """Whether it names a version, by number or alias, and not whatever was deployed last."""
        return self.qualifier not in (None, "$LATEST")

    def __str__(self) -> str:
        plain = f"arn:{self.partition}:lambda:{self.region}:{self.account}:function:{self.name}"
        return plain if self.qualifier is None else f"{plain}:{self.qualifier}"
