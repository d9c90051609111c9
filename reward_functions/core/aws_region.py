"""Find the region that a shell names, for all code here that calls AWS.

boto3 reads AWS_DEFAULT_REGION alone. The AWS command line and the CDK read AWS_REGION, which comes
first here too. Lambda sets both to one value.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

REGION_VARIABLES: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")


def shell_region(variables: Mapping[str, str] = os.environ) -> str:
    """The region that the variables name; "" where they name none.

    Args:
        variables: of the process.
    """
    return next((variables[name] for name in REGION_VARIABLES if variables.get(name)), "")
