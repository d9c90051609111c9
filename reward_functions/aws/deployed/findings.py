"""The findings of checks, how they are found at once, and their texts in XML and Markdown.

A function's answers stand in its findings, and anybody may have written that function. In XML a
character that XML 1.0 has not is shown by its escape, and the rest is text, never CDATA. In
Markdown it stands in a span of code, so that it makes no link, picture, mention or column.

Nothing here needs an extra to be imported.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.aws.failures import in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.looking import Looks
from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.aws.deployed.function import FunctionError


CheckVerdict = Literal["ok", "warning", "failure", "unknown"]

TIMED_OUT: Final = "Sandbox.Timedout"

REMEDIES: Final = {
    TIMED_OUT: "raise its timeout, or send smaller batches",
    "Runtime.ExitError": "it ran out of memory, or its process ended itself",
    "Runtime.OutOfMemory": "raise its memory",
    "Runtime.ImportModuleError": "its package lacks a module, or is of another architecture",
    "Runtime.UserCodeSyntaxError": "its code does not run on this Python",
    "Runtime.HandlerNotFound": "its handler setting names no function",
    "Function.ResponseSizeTooLarge": "send smaller batches, or return fewer metrics",
    "RequestEntityTooLargeException": "send smaller batches",
}
"""Remedies by Lambda's own names of failures."""


SHOWN: Final = 120
"""Characters of an answer that an example shows."""


@dataclass(frozen=True, slots=True)
class CheckExample:
    """One answer that shows a finding, for readers of the data: in no log, tag or exception.

    Args:
        where: the row it answers, such as "train.jsonl, line 3".
        answer: its beginning.
        score: what it earned.
        command: what shows more of it; "" where no command of ours does.
    """

    where: str
    answer: str
    score: float
    command: str = ""


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One answer of the check.

    Args:
        verdict: "failure" loses rewards, gives them to other responses, or stops a job; "warning"
            is a limit of some trainer; "unknown" could not be checked.
        question: what was asked, in two or three words.
        message: the answer, in a sentence.
        example: an answer that shows it; None without one.
    """

    verdict: CheckVerdict
    question: str
    message: str
    example: CheckExample | None = None


ok = partial(CheckFinding, "ok")
warning = partial(CheckFinding, "warning")
failure = partial(CheckFinding, "failure")
unknown = partial(CheckFinding, "unknown")


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Everything a check found, in the order of asking.

    Args:
        arn: of what was checked.
        findings: the answers.
        samples: how many samples the function scored; None where its samples are not what is asked
            about, and then the questions are counted.
        calls: how often the function was invoked.
    """

    arn: str
    findings: tuple[CheckFinding, ...]
    samples: Measured | None = None
    calls: int = 0

    @property
    def measured(self) -> Measured:
        """How much was measured."""
        return self.samples or measured_questions(self.findings)

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not any(finding.verdict == "failure" for finding in self.findings)


def measured_questions(findings: Sequence[CheckFinding]) -> Measured:
    """How many questions have an answer.

    An unknown question was not asked: it does not apply, or you may not see it. It is in no count.
    """
    return Measured("questions", sum(each.verdict != "unknown" for each in findings))


def failed(error: FunctionError) -> str:
    """The message of a function that failed, and the remedy where it is known."""
    # An old runtime's whole error is a message: it has no type.
    timed_out = "Task timed out" in error.message
    remedy = REMEDIES.get(TIMED_OUT if timed_out else error.error_type)
    message = str(error).rstrip(".")
    return (
        f"the function fails: {message}; {remedy}" if remedy else f"the function fails: {message}"
    )


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
        unseen = unknown(check.question, f"not seen within {seconds:g} seconds")
        try:
            return Looks(seconds).at(check.look, otherwise=unseen)
        except ConfigurationError as error:
            return failure(check.question, str(error))

    with ThreadPoolExecutor(len(wanted), thread_name_prefix="doctor") as pool:
        return list(pool.map(find, wanted))


def credentials(stage: str = "") -> CheckFinding:
    """The credentials that sign, and until when.

    Args:
        stage: whose region `cdk.json` may say; "" for the default stage.
    """
    with in_words("reading the AWS configuration"):
        found = aws_session(stage).get_credentials()
        if found is None:
            return failure(
                "credentials", "none found: log in, set AWS_PROFILE, or run where a role is given"
            )
        found.get_frozen_credentials()
    expiry = getattr(found, "_expiry_time", None)
    if not isinstance(expiry, datetime):
        return ok("credentials", f"from {found.method}, without an expiry")
    left = (expiry - datetime.now(UTC)).total_seconds()
    if left <= 0:
        return failure("credentials", f"from {found.method}, expired: log in again")
    return ok("credentials", f"from {found.method}, for {left / 60:,.0f} more minutes")


NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What an XML document cannot hold, not even escaped. Source: XML 1.0, 2.2, "Char"."""

UNSEEN: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""What no page shows, or shows elsewhere than it stands."""

FENCE: Final = re.compile(r"`+")


def xml_text(text: str) -> str:
    """A text as XML 1.0 can hold it: a character that it cannot is shown by its escape."""
    return NOT_XML.sub(_escape, text)


def code_span(text: str) -> str:
    """One line in a span of code, as GitHub and GitLab read it in a table."""
    line = UNSEEN.sub(_escape, text).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in FENCE.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()
