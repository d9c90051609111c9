"""What a check finds, and a function's failure in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from reward_functions.tools.local_runtime import FunctionError

Verdict = Literal["ok", "warning", "failure", "unknown"]

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
"""Lambda's own names of what happened, and what helps."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer of the check.

    Args:
        verdict: "failure" loses rewards, gives them to other responses, or stops a job; "warning"
            is what some trainer minds; "unknown" could not be looked at, which is nobody's fault.
        question: what was asked, in two or three words.
        said: the answer, in a sentence.
    """

    verdict: Verdict
    question: str
    said: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a check found, in the order of asking."""

    arn: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not any(finding.verdict == "failure" for finding in self.findings)


def failed(error: FunctionError) -> str:
    """What a function that failed said, and what helps where that is known."""
    # An old runtime's whole error is a message: it has no type.
    timed_out = "Task timed out" in error.message
    remedy = REMEDIES.get(TIMED_OUT if timed_out else error.error_type)
    said = str(error).rstrip(".")
    return f"the function fails: {said}; {remedy}" if remedy else f"the function fails: {said}"
