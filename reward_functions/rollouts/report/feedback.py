"""The client that reports an episode: durable first, then sent, then what became of it.

    validate → durable (`reporter.keep`) → completion → rewards → `Outcome`

| what became of it | the methods |
| --- | --- |
| delivered | return the outcome |
| not delivered in `patience` seconds | return it with `pending`: the outbox goes on |
| refused, or the rollout's window has closed | raise DeliveryFailed, which carries it |
| the payload names no job or no rollout | return `Skipped`, with a warning |
| the outbox is full or out of reach | as above: the report is sent all the same |

Two refusals raise nothing: the reward of a failed rollout may meet a conflict (`RewardOfFailed`),
and a completion may meet one where its reward is taken.

Names, positional arguments and the bodies on the wire are those of `RolloutFeedbackClient` of
sagemaker-train 1.27. It returns None where this returns outcomes, and swallows what this raises.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace
from random import SystemRandom
from threading import local
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.report.delivery import ATTEMPT, deliver, log_outcome, logger, unsent
from reward_functions.rollouts.report.intents import Target, report
from reward_functions.rollouts.report.transports import (
    PATHS,
    PUBLISHED,
    WIRES,
    Reply,
    WireTransport,
    report_body,
    require_sendable,
    with_token,
)
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.contract import RolloutMetadata, read_metadata
from reward_functions.rollouts.request.endpoints import (
    NAMED,
    endpoint_of,
    region_of,
    signing_region,
)
from reward_functions.rollouts.request.errors import BadRequest, DeliveryFailed
from reward_functions.rollouts.request.outcomes import (
    Conflict,
    NotSent,
    Outcome,
    RewardOfFailed,
    Skipped,
)
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reward_functions.rollouts.report.intents import Intent
    from reward_functions.rollouts.report.reporter import Reporter
    from reward_functions.rollouts.report.transports import Transport

PATIENCE: Final = 20.0
"""Seconds that a report waits for its delivery before it leaves the rest to the outbox."""

STATUSES: Final = ("ready", "failed")

_jitter: Final = SystemRandom().random
"""Of the system: processes that are forked at once would share the numbers of `random`."""


class RolloutFeedbackClient:
    """Reports one rollout; safe to use from several threads, synchronous.

    Args:
        metadata: of the rollout's request: a mapping in any spelling, a `RolloutMetadata`, or a
            model with its fields.
        transport: one of `transports.KINDS`, or a transport; None for the reporter's.
        window: seconds from now until the trainer stops waiting; None for the reporter's.
        expires: the same as seconds since the epoch; it counts before `window`.
        patience: seconds that one report waits for its delivery, 0 to leave it to the outbox;
            None for 20. It never waits beyond the window.
        minimum: of the reward's scale: what a failed rollout is given.
        reporter: keeps reports durable; None for the process's own.
        trusted: endpoints that the metadata may name beside AWS's and the environment's.
        clock: seconds since the epoch.
        sleep: waits for some seconds.
        random: a number of 0 or more and less than 1.

    Attributes:
        target: where the rollout is reported.

    Raises:
        TypeError: metadata of another type.
        BadRequest: metadata with a field of the wrong type.
        UntrustedEndpoint: the metadata name a host that may not be given a credential.
        ConfigurationError: no such transport.
    """

    def __init__(
        self,
        metadata: Any,
        *,
        transport: str | Transport | None = None,
        window: float | None = None,
        expires: float | None = None,
        patience: float | None = None,
        minimum: float = 0.0,
        reporter: Reporter | None = None,
        trusted: Iterable[str] = (),
        clock: Callable[[], float] = steady,
        sleep: Callable[[float], object] = time.sleep,
        random: Callable[[], float] = _jitter,
    ) -> None:
        known, trusted = _known(metadata), tuple(trusted)
        self._reporter = reporter or _process_reporter()
        settings = self._reporter.settings
        named = transport if isinstance(transport, str) else getattr(transport, "kind", "")
        self.target = target_of(known, named or settings.transport, trusted=trusted)
        if transport is None or isinstance(transport, str):
            transport = self._reporter.transport(self.target.transport)
        if trusted:
            transport.trust(trusted)
        self._transport: Transport = transport
        self._bearer: WireTransport | None = None
        if isinstance(transport, WireTransport) and transport.kind == "bearer":
            self._bearer = transport
        seconds = settings.window if window is None else window
        self._expires = clock() + seconds if expires is None else expires
        self._patience = PATIENCE if patience is None else patience
        self._minimum = minimum
        self._clock, self._sleep, self._random = clock, sleep, random
        self._attempt = local()
        self._failed = False
        self._metadata = metadata
        self._region, self._endpoint = self.target.region, self.target.endpoint
        self._job_arn, self._trajectory_id = known.job_arn, known.trajectory_id

    def complete_rollout(self, status: str = "ready") -> Outcome:
        """Seal the trajectory: no other turns follow.

        Args:
            status: "ready", or "failed" where the episode must not be learnt from.

        Raises:
            BadRequest: another status, or ids that the transport cannot carry.
            UnsupportedReport: the alpha API, which has no failed rollouts.
            ConflictingReport: another completion is durable already.
            IntentTooLarge: more rewards than an outbox takes, of `update_reward` and its kin.
            DeliveryFailed: it was refused, or the window has closed.
        """
        return self._report(status=status)[0]

    def update_reward(self, reward: Any, *, turns: int | None = None) -> Outcome:
        """Give the sealed trajectory its reward.

        Args:
            reward: a finite number, or one for each turn.
            turns: policy calls that were recorded, where they were counted.

        Raises:
            InvalidReward: no finite number, or another number of them than turns.
            BadRequest, ConflictingReport, DeliveryFailed: as `complete_rollout`.
        """
        return self._report(rewards=rewards_of(reward, turns=turns))[0]

    def report_complete(self, reward: Any, *, turns: int | None = None) -> tuple[Outcome, ...]:
        """Seal the trajectory and give it its reward: both are durable before one is sent.

        Raises:
            InvalidReward, BadRequest, ConflictingReport, DeliveryFailed: as `update_reward`.
        """
        return self._report(status="ready", rewards=rewards_of(reward, turns=turns))

    def report_error(self, error: object, reward: Any = None) -> tuple[Outcome, ...]:
        """Report that the episode could not be run: failed, and the minimum as its reward.

        Args:
            error: an exception or a text. It is neither sent nor logged, as it may quote a
                response; its type or its length is.
            reward: in place of the minimum.

        Raises:
            InvalidReward, BadRequest, UnsupportedReport, ConflictingReport, DeliveryFailed: as
                `complete_rollout` and `update_reward`.
        """
        what = (
            f"a text of {len(error)} characters" if isinstance(error, str) else type(error).__name__
        )
        logger.error("rollout %s has failed: %s", ascii(self._trajectory_id), what)
        given = self._minimum if reward is None else reward
        return self._report(status="failed", rewards=rewards_of(given))

    def _bearer_post(self, path: str, body_str: str) -> Reply:
        """Send one body of sagemaker.train.rft's; every report by bearer token comes through here.

        Whoever replaces it sees the published path and body. The idempotency token follows from
        these bytes, and is added to what is sent. A replacement that returns is a success.
        """
        if self._bearer is None:
            raise ConfigurationError(
                "_bearer_post goes with RolloutFeedbackClient(metadata, transport='bearer')"
            )
        timeout = getattr(self._attempt, "timeout", ATTEMPT)
        body = with_token(path, body_str)
        return self._bearer.post(self.target, path, body, timeout=timeout)

    def _report(
        self, *, status: str | None = None, rewards: Sequence[float] | None = None
    ) -> tuple[Outcome, ...]:
        """Make a report durable, send it, and say what became of each part."""
        if status is not None and status not in STATUSES:
            raise BadRequest(f"a rollout is completed as {' or '.join(STATUSES)}")
        self._failed = status == "failed" or (self._failed and status is None)
        intents = report(
            self.target,
            created=self._clock(),
            expires=self._expires,
            status=status,
            rewards=rewards,
            failed=self._failed,
        )
        if not (self.target.job_arn and self.target.trajectory_id):
            return tuple(map(_skipped, intents))
        for intent in intents:
            require_sendable(intent)
        self._reporter.keep(intents)
        try:
            outcomes = self._sent(intents)
        finally:
            self._reporter.release(intents)
        refused = [each for each in outcomes if not (each.delivered or each.pending)]
        harmless = [each for each in refused if excused(each, outcomes[-1])]
        for each in outcomes:
            log_outcome(each, level=logging.INFO if each in harmless else None)
        for each in refused:
            if each not in harmless:
                raise DeliveryFailed(each)
        return outcomes

    def _sent(self, intents: Sequence[Intent]) -> tuple[Outcome, ...]:
        """Send intents in their order; behind one that is pending, none."""
        until = self._clock() + self._patience
        outcomes: list[Outcome] = []
        for intent in intents:
            if outcomes and outcomes[-1].pending:
                behind = unsent(NotSent, intent, detail="its completion goes first", pending=True)
                outcomes.append(behind)
                continue
            outcome = deliver(
                intent,
                _Seam(self) if self._bearer else self._transport,
                until=until,
                clock=self._clock,
                sleep=self._sleep,
                random=self._random,
                shared=True,
            )
            outcome = replace(outcome, pending=outcome.retryable)
            self._reporter.settle(intent, outcome)
            outcomes.append(outcome)
        return tuple(outcomes)


class _Seam:
    """A bearer transport that sends by the client's `_bearer_post`."""

    def __init__(self, client: RolloutFeedbackClient) -> None:
        self._client = client
        self.trust, self.renew = client._transport.trust, client._transport.renew  # noqa: SLF001

    def send(self, intent: Intent, *, timeout: float) -> Reply:
        self._client._attempt.timeout = timeout  # noqa: SLF001 - the other half of the client
        reply: Any = self._client._bearer_post(  # noqa: SLF001
            PATHS[intent.operation], report_body(intent, PUBLISHED)
        )
        return reply if isinstance(reply, Reply) else Reply(200)


def target_of(metadata: RolloutMetadata, kind: str, *, trusted: Iterable[str] = ()) -> Target:
    """Where a rollout is reported by a kind of transport.

    Raises:
        UntrustedEndpoint: the metadata name another host, or a malformed region.
    """
    endpoint = endpoint_of(metadata, trusted=trusted)
    own = WIRES[kind].endpoint if kind in WIRES else ""
    if own and not metadata.endpoint and not any(os.environ.get(name) for name in NAMED):
        endpoint = own
    return Target(
        job_arn=metadata.job_arn,
        trajectory_id=metadata.trajectory_id,
        endpoint=endpoint,
        region=signing_region(endpoint, region_of(metadata)),
        transport=kind,
    )


def _process_reporter() -> Reporter:
    """The process's own; its outbox is opened by the first rollout, not by an import."""
    from reward_functions.rollouts.report.reporter import reporter  # noqa: PLC0415

    return reporter()


def _known(metadata: Any) -> RolloutMetadata:
    """Metadata as they are read.

    Raises:
        TypeError: another type; the message names it.
        BadRequest: a field of the wrong type.
    """
    fields = isinstance(metadata, dict | RolloutMetadata) or hasattr(metadata, "__dict__")
    if not fields or isinstance(metadata, type) or callable(metadata):
        raise TypeError(
            f"metadata must be a dict or a RolloutMetadata, not {type(metadata).__name__}"
        )
    return read_metadata(metadata)


def excused(refused: Outcome, last: Outcome) -> bool:
    """Whether a caller need not know of a refusal."""
    if isinstance(refused, RewardOfFailed):
        return True
    sealed = isinstance(refused, Conflict) and refused.operation == "complete"
    return sealed and last.operation == "reward" and last.delivered


def _skipped(intent: Intent) -> Outcome:
    """What becomes of a report without ids: a warning, as sagemaker.train.rft has it."""
    outcome = unsent(
        Skipped, intent, detail="the payload's metadata have no jobArn or no rolloutId"
    )
    log_outcome(outcome, level=logging.WARNING)
    return outcome
