"""The tables of docs/troubleshooting.md: a message, its cause and its remedy, from the code.

Every row stands in the table that the program itself reads when it prints the message, so a page
that differs from what a user reads fails `tests/test_generated.py`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.findings import REMEDIES
from reward_functions.aws.failures import (
    CODES,
    GENERAL,
    KINDS,
    LOGIN,
    NO_REGION,
    NOT_SENT,
    OF_FUNCTIONS,
)
from reward_functions.core.extras import EXTRAS
from reward_functions.jobs.causes import CAUSES
from reward_functions.reports.score_report.reasons import ATTRIBUTIONS, remedy_rows
from tests.failure_messages import BY_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reward_functions.aws.failures import Kind

FILLED: Final = {
    "{region}": NO_REGION.format(place="us-east-1").replace(": ", "; ", 1),
    "{login}": LOGIN,
    "{error}": "the SDK's own words",
    "{message}": "AWS's own words",
    "{code}": "AWS's name",
    "{ended}": "",
    "{untrusted}": "",
}
"""What stands for the parts that a message is filled with."""

REMEDY_AFTER: Final[Mapping[Kind, str]] = {"clock": ": ", "limit": ": "}
"""What parts a message from its remedy, where it is no semicolon."""

REMEDY_OF: Final[Mapping[Kind, str]] = {
    "denied": "attach [the policy](deploy.md#policies-for-people) that has this right",
    "missing": "check name, stage and region; `reward deployed list` shows what is there",
    "network": "check the network, a proxy and the region; `reward doctor` tries each",
}
"""Where a message carries no remedy."""

EXAMPLES: Final = 2
"""Messages of a service that show one cause."""


def missing_extras() -> Iterator[list[str]]:
    """An import that fails, by the extra that brings its module."""
    yield ["you read that this is missing", "modules", "type"]
    by_extra: dict[str, dict[str, list[str]]] = {}
    for module, extra in EXTRAS.items():
        by_extra.setdefault(extra.line, {}).setdefault(extra.brings, []).append(f"`{module}`")
    for line, brought in sorted(by_extra.items()):
        modules = ", ".join(chain.from_iterable(brought.values()))
        yield ["; ".join(brought), modules, f"`{line}`"]


def aws_failures() -> Iterator[list[str]]:
    """A call to AWS that failed before any function ran."""
    yield ["message", "AWS's name of it", "remedy"]
    found = [(name, kind, message) for name, (kind, message) in NOT_SENT.items()]
    found += [(CODES[kind], kind, message) for kind, message in GENERAL.items()]
    found += [(name, KINDS.get(name, "limit"), message) for name, message in OF_FUNCTIONS.items()]
    names: dict[tuple[str, str], list[str]] = {}
    for name, kind, message in found:
        names.setdefault((_filled(message), kind), []).extend(name.split())
    for (message, kind), listed in names.items():
        words, mark, remedy = message.partition(REMEDY_AFTER.get(kind, "; "))
        codes = ", ".join(f"`{name}`" for name in listed)
        yield [words, codes, remedy if mark else REMEDY_OF[kind]]


def function_failures() -> Iterator[list[str]]:
    """An invocation that failed, by Lambda's own name."""
    yield ["Lambda's name", "remedy or cause"]
    yield from ([f"`{name}`", remedy] for name, remedy in REMEDIES.items())


def unscored() -> Iterator[list[str]]:
    """An error of a row, whose failure it is, and the remedy."""
    yield ["error", "who failed", "remedy"]
    for name, found in ATTRIBUTIONS.items():
        yield [": ".join(f"`{part}`" for part in name.split()), found.whose, found.remedy]


def low_scores() -> Iterator[list[str]]:
    """A reason that many responses share at the minimum."""
    yield ["reward", "reason", "likely cause", "what to try"]
    for row in remedy_rows():
        reward = f"`{row.reward}`" if row.reward else "any"
        yield [reward, row.reason, row.cause, row.attempt]


def failed_jobs() -> Iterator[list[str]]:
    """Why a job failed, with words of the service that show it."""
    yield ["cause", "words that show it", "what happened", "remedy"]
    for row in CAUSES:
        shown = [message for message, cause in BY_MESSAGE.items() if cause == row.name]
        words = "<br>".join(f"“{message}”" for message in shown[:EXAMPLES])
        yield [row.name, words or "the grader's log or state", row.cause, row.remedy]


def _filled(message: str) -> str:
    for part, text in FILLED.items():
        message = message.replace(part, text)
    return message


TABLES: Final[Mapping[str, Callable[[], Iterator[list[str]]]]] = {
    "missing-extras": missing_extras,
    "aws-failures": aws_failures,
    "function-failures": function_failures,
    "unscored-errors": unscored,
    "low-scores": low_scores,
    "failed-jobs": failed_jobs,
}
"""By the name of the generated part."""
