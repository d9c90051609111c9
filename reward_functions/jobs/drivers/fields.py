"""Single fields of what a service answers, each of its own type: nothing that comes is trusted."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from reward_functions.jobs.job import HyperparameterValue

MAX_TEXT: Final = 2_048
"""Characters of a message that are kept: as many as Bedrock allows in a failure's."""

MAX_HYPERPARAMETERS: Final = 100

MOST: Final = 2**53
"""Up to which every whole number of JSON is exact."""

LATEST: Final = 253_402_300_799
"""The last second that a date of Python can name, of the year 9999."""


def text(value: Any, limit: int = MAX_TEXT) -> str:
    """A string, cut to a limit; "" for anything else."""
    return value[:limit] if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """A finite number, and no boolean; None for anything else, also for a number of digits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def count(value: Any) -> int:
    """How many: a whole number that a machine counts to; 0 for anything else."""
    return count_or_none(value) or 0


def count_or_none(value: Any) -> int | None:
    """A whole number from 0 to `MOST`; None for anything else, such as a member that is missing."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= MOST else None


def moment(value: Any) -> datetime | None:
    """A time in UTC: of botocore, or in seconds since 1970; None for anything else."""
    if isinstance(value, datetime):
        try:
            return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        except OverflowError:  # in UTC, it is before the year 1 or after 9999
            return None
    seconds = number(value)
    if seconds is None or not 0 <= seconds <= LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def within(value: Any, *path: str) -> Any:
    """What lies in objects within objects; None where one of them is no object, or lacks it."""
    for member in path:
        value = value.get(member) if isinstance(value, dict) else None
    return value


def hyperparameters(value: Any) -> dict[str, HyperparameterValue]:
    """Those that are numbers or strings."""
    found: dict[str, HyperparameterValue] = {}
    for name, each in list(value.items())[:MAX_HYPERPARAMETERS] if isinstance(value, dict) else ():
        if isinstance(each, str):
            found[text(name)] = text(each)
        elif number(each) is not None:
            found[text(name)] = each
    return found
