"""The outcome of one report: a type for each, told apart by status and error type, never by text.

| status | error type | outcome | again? |
| --- | --- | --- | --- |
| 200 | | `Reported` | |
| 409, and a reply to the same token was lost before | ConflictException | `AlreadyReported` | |
| 409, and the rollout is reported as failed | ConflictException | `RewardOfFailed` | no |
| 409 | ConflictException | `Conflict` | no |
| 400 | ValidationException | `Rejected` | no |
| 401, 403 | AccessDeniedException | `Unauthorized` | once, signed again |
| 402 | ServiceQuotaExceededException | `QuotaExceeded` | no |
| 404 | ResourceNotFoundException | `NotFound` | no |
| 429 | ThrottlingException | `Throttled` | yes |
| 5xx | InternalServiceError | `ServiceFailed` | yes |
| none: no reply in time, a broken connection | | `Unreachable` | yes |
| none: no connection, no credentials, no time left | | `NotSent` | yes |
| the rollout's window has closed | | `Expired` | no |
| the payload has no ids | | `Skipped` | no |

`delivery` holds the rows of rarer error types. Source: botocore's model of `sagemakerjobruntime`,
2026-02-01.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one report.

    Args:
        operation: "complete" or "reward".
        trajectory_id: whose.
        attempts: how often it was sent, or could not be.
        status: of the last reply; None where none came.
        error_type: of the last reply, such as "ThrottlingException"; "" where it has none.
        detail: of the last failure, for people; never a credential, and never decided by.
        pending: whether the outbox sends it again.
        retry_after: seconds that the service asks to wait; 0.0 where it does not.
    """

    delivered: ClassVar[bool] = False
    """Whether the service has counted it."""
    retryable: ClassVar[bool] = False
    """Whether the same bytes may succeed later."""
    ambiguous: ClassVar[bool] = False
    """Whether the service may have taken it all the same."""
    what: ClassVar[str] = ""
    """The middle of its sentence."""

    operation: str
    trajectory_id: str
    attempts: int = 1
    status: int | None = 200
    error_type: str = ""
    detail: str = ""
    pending: bool = False
    retry_after: float = 0.0

    @property
    def sentence(self) -> str:
        """It in one sentence, of printable characters."""
        tried = {0: "not tried", 1: "tried once"}.get(self.attempts, f"tried {self.attempts} times")
        cause = ", ".join(str(each) for each in (self.status, self.error_type, self.detail) if each)
        after = "; the outbox tries again" if self.pending else ""
        return (
            f"the {self.operation} report of rollout {_plain(self.trajectory_id)} {self.what}, "
            f"{tried}{f' ({cause})' if cause else ''}{after}"
        )


def _plain(trajectory_id: str) -> str:
    """An id that cannot start a line of its own in a log."""
    return ascii(trajectory_id[:256])[1:-1] or "without an id"


class Reported(Outcome):
    """The service has taken it."""

    delivered = True
    what = "was taken"


class AlreadyReported(Outcome):
    """A reply was lost; the service had taken the same report before."""

    delivered = True
    what = "had been taken before"


class NotFound(Outcome):
    """The service knows no such job or trajectory."""

    what = "names a trajectory that the service does not know"


class Conflict(Outcome):
    """The trajectory is in a state that excludes it, or was reported otherwise."""

    what = "is refused in the trajectory's state"


class RewardOfFailed(Conflict):
    """The service takes no reward of a rollout that was reported as failed. Nothing is lost."""

    what = "is not taken, as the rollout was reported as failed"


class Rejected(Outcome):
    """The service finds the request invalid."""

    what = "is not valid for the service"


class Unauthorized(Outcome):
    """The credential is refused, also after it was made again."""

    what = "was refused for its credential"


class QuotaExceeded(Outcome):
    """A quota of the account is used up."""

    what = "exceeds a quota of the account"


class Throttled(Outcome):
    """The service asks for fewer calls."""

    retryable = True
    what = "was throttled"


class ServiceFailed(Outcome):
    """The service failed."""

    retryable = True
    ambiguous = True
    what = "met a failure of the service"


class Unreachable(Outcome):
    """No reply came: it may have been taken or not."""

    retryable = True
    ambiguous = True
    what = "got no reply"


class NotSent(Outcome):
    """It did not leave: no connection, no credentials, or no time left for an attempt."""

    retryable = True
    what = "could not be sent"


class Expired(Outcome):
    """The window of the rollout closed before it could be delivered."""

    what = "was not delivered before the rollout's window closed"


class Skipped(Outcome):
    """The payload names no job or no rollout: there is nobody to report to."""

    what = "has no job or no rollout to go to"
