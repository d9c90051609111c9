"""How a report is carried to the service: one attempt, one reply, no retries.

modelled.py         boto3's `sagemakerjobruntime`: SigV4, with the idempotency token of the model
bearer.py           JSON with a bearer token, as sagemaker.train.rft sends it
alpha.py            the older API of aws-rft-sdk: SigV4, CompleteTrajectory and UpdateReward
bearer_tokens.py    minting tokens: one session, cached, made again after a refusal
account.py          whose credentials sign: one botocore session
http.py             one request over pooled connections, in its time, with a bounded reply
replies.py          what a reply says, without what must not be logged
limits.py           what a transport can carry, checked before a report is durable
opening.py          a transport by its kind, shared by all rollouts of a process
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.rollouts.report.intents import Intent

KINDS: Final = ("modelled", "bearer", "alpha")


class Reply(NamedTuple):
    """What the service answered.

    Args:
        status: of HTTP.
        error_type: such as "ConflictException"; "" where the reply has none.
        retry_after: seconds that it asks to wait; 0.0 where it does not.
        detail: its message, at most 200 printable characters.
    """

    status: int
    error_type: str = ""
    retry_after: float = 0.0
    detail: str = ""


class NoReply(Exception):
    """No reply came. The message is for people.

    Args:
        message: what happened, without an address or a credential.
        sent: whether the request may have arrived; False where no connection was made.
    """

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class CredentialsMissing(NoReply):
    """Nothing could be signed: no credentials were found, or their provider did not answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)


class Transport(Protocol):
    """Carries reports; shared by threads."""

    def send(self, intent: Intent, *, timeout: float) -> Reply:
        """Send an intent once, to its own endpoint.

        Args:
            intent: its token and its body are sent as they are.
            timeout: seconds.

        Raises:
            NoReply: no connection, or no reply in time; CredentialsMissing is one.
            UntrustedEndpoint: the endpoint may not be given a credential.
            BadRequest: it cannot carry these ids.
            UnsupportedReport: its API has no such report.
        """

    def trust(self, endpoints: Iterable[str]) -> None:
        """Allow credentials to go to these endpoints too, for as long as the process lives."""

    def renew(self) -> None:
        """Forget cached credentials: the service has refused them."""
