"""What every doctor of this machine shares: checks that run at once, and who signs.

Nothing here needs an extra to be imported.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.aws.failures import in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.looking import Looks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EACH: Final = 8.0
"""Seconds for one check."""

SKEW: Final = 300.0
"""Seconds that AWS allows between its clock and ours. Source: IAM user guide, "Elements of an AWS
API request signature"."""

NOTICED: Final = 60.0
"""Seconds from which a clock is not kept by anybody."""

REPLY: Final = 3.0
"""Seconds for a connection and an answer."""


class Check(NamedTuple):
    """A question, and how it is answered."""

    question: str
    look: Callable[[], CheckFinding]


def findings_of(wanted: Sequence[Check], seconds: float = EACH) -> list[CheckFinding]:
    """The findings of checks, in their order.

    Args:
        wanted: the checks.
        seconds: for each of them.
    """

    def find(check: Check) -> CheckFinding:
        unseen = CheckFinding("unknown", check.question, f"not seen within {seconds:g} seconds")
        try:
            return Looks(seconds).at(check.look, otherwise=unseen)
        except ConfigurationError as error:
            return CheckFinding("failure", check.question, str(error))

    with ThreadPoolExecutor(len(wanted), thread_name_prefix="doctor") as pool:
        return list(pool.map(find, wanted))


def credentials(stage: str = "") -> CheckFinding:
    """Who signs, and until when.

    Args:
        stage: whose region `cdk.json` may say; "" for the default stage.
    """
    with in_words("reading the AWS configuration"):
        found = aws_session(stage).get_credentials()
        if found is None:
            return CheckFinding(
                "failure",
                "credentials",
                "none found: log in, set AWS_PROFILE, or run where a role is given",
            )
        found.get_frozen_credentials()
    expiry = getattr(found, "_expiry_time", None)
    if not isinstance(expiry, datetime):
        return CheckFinding("ok", "credentials", f"from {found.method}, without an expiry")
    left = (expiry - datetime.now(UTC)).total_seconds()
    if left <= 0:
        return CheckFinding("failure", "credentials", f"from {found.method}, expired: log in again")
    return CheckFinding(
        "ok", "credentials", f"from {found.method}, for {left / 60:,.0f} more minutes"
    )
