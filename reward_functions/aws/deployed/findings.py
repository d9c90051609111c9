"""The findings of a check, and the message of a function that failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.aws.deployed.invocation import FunctionError

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
    """One answer that shows a finding, for whoever may see the data: in no log, tag or exception.

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
        example: an answer that shows it; None where there is none.
    """

    verdict: CheckVerdict
    question: str
    message: str
    example: CheckExample | None = None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Everything a check found, in the order of asking.

    Args:
        arn: of what was checked.
        findings: the answers.
        samples: how many samples the function scored; None where its samples are not what is asked
            about, and then the questions are counted.
    """

    arn: str
    findings: tuple[CheckFinding, ...]
    samples: Measured | None = None

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

    What is unknown was not asked: it does not apply, or you may not see it. It is in no count.
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
