"""What an invocation returns or raises, the same for a local function and a deployed one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PAYLOAD_BYTES: Final = 6 * 1024 * 1024
"""Each way, for synchronous invocations (docs.aws.amazon.com/lambda, "Lambda quotas": 6 MB)."""


class FunctionError(Exception):
    """The error a caller of the function receives when an invocation fails.

    Args:
        error_type: the exception's class, or Lambda's own name for what happened.
        message: the exception's own.
        stack_trace: a string per frame, innermost last.
        request_id: the invocation's; empty where Lambda names it in the message, or not at all.
    """

    def __init__(
        self,
        error_type: str,
        message: str,
        stack_trace: Sequence[str] = (),
        *,
        request_id: str = "",
    ) -> None:
        super().__init__(f"{error_type}: {message}")
        self.error_type = error_type
        self.message = message
        self.stack_trace = tuple(stack_trace)
        self.request_id = request_id

    @classmethod
    def request_too_large(cls, size: int) -> Self:
        """Lambda's error for an event over its limit; the function never sees it."""
        return cls(
            "RequestEntityTooLargeException",
            f"the request has {size} bytes; Request must be smaller than {MAX_PAYLOAD_BYTES} bytes "
            "for the InvokeFunction operation",
        )

    @property
    def payload(self) -> dict[str, Any]:
        """The JSON object a caller of Lambda finds in the place of a response."""
        return {
            "errorMessage": self.message,
            "errorType": self.error_type,
            "requestId": self.request_id,
            "stackTrace": list(self.stack_trace),
        }


class FunctionEnded(FunctionError):
    """The process is over, and the next invocation starts another."""

    @property
    def payload(self) -> dict[str, Any]:
        """Lambda's own words; there is no runtime client left to add any."""
        return {"errorType": self.error_type, "errorMessage": self.message}


class InitError(FunctionEnded):
    """The function could not start: its module, settings or reward are wrong."""

    payload = FunctionError.payload


@dataclass(frozen=True, slots=True)
class Invocation:
    """A successful invocation.

    Args:
        body: the bytes that crossed the wire.
        seconds: from the request to the response; a cold one includes the start of the process.
        cold: whether the function was started for it.
    """

    body: bytes
    seconds: float
    cold: bool

    @property
    def payload(self) -> Any:
        """The decoded response."""
        return json.loads(self.body)
