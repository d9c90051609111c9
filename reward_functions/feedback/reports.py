"""A report: durable first, then sent, the same bytes from any sender.

The outbox decides what is reported of a rollout, even where a judge would score it otherwise the
second time.
"""

from __future__ import annotations

import time
from dataclasses import replace
from random import SystemRandom
from typing import TYPE_CHECKING, Final

from reward_functions.feedback.findings import EXPIRED, Stopped
from reward_functions.rollouts.report.delivery import ATTEMPT, deliver
from reward_functions.rollouts.report.feedback import excused
from reward_functions.rollouts.report.intents import Target, report
from reward_functions.rollouts.report.transports import require_sendable
from reward_functions.rollouts.request.clock import from_wall, steady
from reward_functions.rollouts.request.endpoints import endpoint_of, region_of, signing_region
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ConflictingReport,
    OutboxUnavailable,
    UntrustedEndpoint,
)
from reward_functions.rollouts.request.outcomes import Expired, Unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.rollouts.report.deferred import DeferredRecord
    from reward_functions.rollouts.report.intents import Stored
    from reward_functions.rollouts.report.outbox import Outbox
    from reward_functions.rollouts.report.transports import Transport
    from reward_functions.rollouts.request.outcomes import Outcome

_jitter: Final = SystemRandom().random

LEAST: Final = ATTEMPT
"""Seconds of a rollout's window that a report needs; with fewer left it is not begun."""


class Reports:
    """Reports of rollouts, by one outbox and one transport.

    Args:
        outbox: where they are durable.
        transport: carries them, by AWS's modelled API.
        endpoint: of the job runtime; "" for AWS's own, or the record's.
        environ: for the region.
        clock: seconds since the epoch.
        sleep: waits for some seconds.
        random: a number of 0 or more and less than 1.
    """

    def __init__(
        self,
        outbox: Outbox,
        transport: Transport,
        *,
        endpoint: str = "",
        environ: Mapping[str, str],
        clock: Callable[[], float] = steady,
        sleep: Callable[[float], object] = time.sleep,
        random: Callable[[], float] = _jitter,
    ) -> None:
        self._outbox = outbox
        self._transport = transport
        self._endpoint = endpoint
        self._environ = environ
        self._clock, self._sleep, self._random = clock, sleep, random

    def target(self, record: DeferredRecord) -> Target:
        """Where a record's rollout is reported.

        Raises:
            Stopped: the record names a host that no credential is sent to.
        """
        trusted = (self._endpoint,) if self._endpoint else ()
        named = replace(record.metadata, endpoint=record.metadata.endpoint or self._endpoint)
        try:
            endpoint = endpoint_of(named, trusted=trusted, environ=self._environ)
            region = signing_region(endpoint, region_of(named, self._environ))
        except UntrustedEndpoint:
            raise Stopped(
                "untrusted", "metadata names a runtime endpoint or a region that is not AWS's"
            ) from None
        return Target(
            job_arn=named.job_arn,
            trajectory_id=named.trajectory_id,
            endpoint=endpoint,
            region=region,
        )

    def find(self, target: Target) -> list[Stored]:
        """The durable record of a rollout.

        Raises:
            Stopped: the outbox is out of reach.
        """
        try:
            return self._outbox.find(target)
        except OutboxUnavailable:
            raise Stopped("unreported", "the outbox was out of reach") from None

    def require_time(self, record: DeferredRecord) -> None:
        """Refuse a rollout whose window closes too soon.

        Raises:
            Stopped: it is not.
        """
        left = from_wall(record.expires) - self._clock()
        if left < LEAST:
            when = f"{-left:.0f} s ago" if left < 0 else f"in {left:.0f} s, too soon to report"
            raise Stopped(EXPIRED, f"expired: the rollout's window closed or closes {when}")

    def keep(self, record: DeferredRecord, target: Target, reward: float) -> list[Stored]:
        """Make a report durable, and return what is: another's, where one was first.

        Raises:
            Stopped: it cannot be sent, or the outbox is out of reach.
        """
        intents = report(
            target,
            created=self._clock(),
            expires=from_wall(record.expires),
            status="ready",
            rewards=(reward,),
        )
        try:
            for intent in intents:
                require_sendable(intent)
            self._outbox.add(intents)
        except BadRequest as error:
            raise Stopped("not_a_record", str(error)) from None
        except ConflictingReport:
            pass  # the same rollout was scored by another delivery meanwhile: its report counts
        except OutboxUnavailable:
            raise Stopped("unreported", "the outbox was out of reach") from None
        return self.find(target)

    def send(self, stored: Sequence[Stored], *, until: float, again: bool) -> None:
        """Send what is durable of a rollout and not delivered yet, in its order.

        Args:
            stored: the intents.
            until: when to stop, in seconds since the epoch.
            again: whether an earlier delivery of the message may have sent them.

        Raises:
            Stopped: it is not delivered.
        """
        outcomes: list[Outcome] = []
        for each in stored:
            if each.state == "delivered":
                continue
            outcome = deliver(
                each.intent,
                self._transport,
                until=until,
                clock=self._clock,
                sleep=self._sleep,
                random=self._random,
                maybe_sent=again and each.state == "pending",
                shared=True,
            )
            self._settle(each, outcome)
            outcomes.append(outcome)
            if outcome.retryable:
                break
        for outcome in outcomes:
            if not (outcome.delivered or excused(outcome, outcomes[-1])):
                raise _stopped(outcome)

    def _settle(self, stored: Stored, outcome: Outcome) -> None:
        try:
            self._outbox.settle(stored.intent, outcome)
        except OutboxUnavailable:
            if outcome.delivered:
                return  # the service counts the token once, whoever sends it again
            raise Stopped("unreported", "the outbox was out of reach") from None


def _stopped(outcome: Outcome) -> Stopped:
    """Why a report is not delivered, as a finding."""
    if isinstance(outcome, Expired):
        return Stopped(EXPIRED, "expired: the rollout's window closed before it was delivered")
    ours = outcome.retryable or isinstance(outcome, Unauthorized)
    cause = f"{outcome.status or 'no reply'} {outcome.error_type}".strip()
    what = f"the {outcome.operation} report {outcome.what} ({cause})"
    return Stopped("unreported" if ours else "refused", what)
