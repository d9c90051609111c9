"""Handle each message: read, scored, reported; or tried again; or a dead letter.

| a record | becomes |
| --- | --- |
| scored | durable in the outbox, reported, settled |
| reported already | nothing is sent: the message is done |
| durable already | the same bytes are sent, even if a judge would say otherwise now |
| not scored, or not reported, by us | tried again soon; a dead letter at the last receive |
| any other row of `findings.KINDS` | a dead letter at once |
| its window is closed, or nearly so | a dead letter, and never sent |

A message is settled as a whole: where one of its records is tried again, none is a dead letter yet.
An imputed value is never reported. An accident in one message is that message's alone, and none
waits for another's reward.

When a message that failed comes again: soon, later each time, and while its trainer waits.

The queue hides a message for six times the function's timeout, as Lambda asks of it: that is longer
than a trainer waits for a rollout. So a message that fails is hidden for a pause of our own, and
one whose function dies no longer than that function could have run.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from reward_functions.feedback import findings
from reward_functions.feedback.findings import EXPIRED, UNSCORED, Stopped
from reward_functions.feedback.messages import arrivals_of
from reward_functions.feedback.results import read
from reward_functions.rollouts.request.clock import from_wall, steady

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reward_functions.feedback.messages import Arrival
    from reward_functions.feedback.reports import Reports
    from reward_functions.feedback.scoring import Judged, PinnedRewards
    from reward_functions.feedback.settings import FeedbackSettings
    from reward_functions.rollouts.report.deferred import DeferredRecord
    from reward_functions.rollouts.report.intents import Stored, Target


PAUSES: Final = (15.0, 60.0)
"""Seconds before the second attempt, and before each later one, give or take a quarter."""

SPARE: Final = 5.0
"""Seconds from an invocation's last moment to when its messages may be received again."""


def pause(receives: int, left: Iterable[float], *, random: float) -> float:
    """Seconds until a message comes again: at most half of what any of its rollouts has left.

    Args:
        receives: how often it was received, 1 or more.
        left: seconds of the windows of its rollouts, as far as they are known.
        random: 0 or more and less than 1.
    """
    usual = PAUSES[min(receives, len(PAUSES)) - 1] * (0.75 + random / 2)
    return max(min([usual, *(each / 2 for each in left)]), 0.0)


def hide(client: Any, queue: str, seconds: Mapping[str, float]) -> str:
    """Hide messages for some seconds each; why not, where SQS hides one for the queue's own time.

    Args:
        client: boto3's for SQS.
        queue: its URL.
        seconds: by the receipts of the messages; whole ones are rounded up to.
    """
    why = ""
    for receipt, each in seconds.items():
        try:
            client.change_message_visibility(
                QueueUrl=queue, ReceiptHandle=receipt, VisibilityTimeout=ceil(each)
            )
        except ClientError as error:
            why = why or str(error.response.get("Error", {}).get("Code", ""))
        except (BotoCoreError, OSError) as error:
            why = why or type(error).__name__
    return why


REPORTING: Final = 20.0
"""Seconds of an invocation that are kept for reports: two attempts."""

ENDING: Final = 3.0
"""Seconds of an invocation that are kept for dead letters and the answer."""

AT_ONCE: Final = 10
"""Records that are read or reported at a time: a batch has no more messages."""

_jitter: Final = SystemRandom().random

REPORTED, DEAD = "rewards_reported", "dead_letters"
"""Metrics, beside `expired` and `unscored`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of the queue.

    Args:
        id: SQS's.
        body: what S3 wrote.
        receives: how often it was received, this time included.
        receipt: SQS's, of this time.
    """

    id: str
    body: str = field(repr=False)
    receives: int
    receipt: str = field(repr=False)


@dataclass(eq=False, slots=True)
class _Episode:
    """One object that a message announces, on its way.

    Args:
        message: which announces it.
        arrival: None where the message is no notification.
    """

    message: Message
    arrival: Arrival | None
    record: DeferredRecord | None = None
    target: Target | None = None
    stored: Sequence[Stored] = ()
    again: bool = False
    stopped: Stopped | None = None
    reported: bool = False


class Path:
    """One stage's feedback path.

    Args:
        settings: of the stage.
        s3: boto3's client.
        sqs: boto3's client.
        rewards: the stage's pinned versions.
        reports: how rollouts are reported.
        clock: seconds since the epoch.
        random: a number of 0 or more and less than 1.
    """

    def __init__(
        self,
        settings: FeedbackSettings,
        *,
        s3: Any,
        sqs: Any,
        rewards: PinnedRewards,
        reports: Reports,
        clock: Callable[[], float] = steady,
        random: Callable[[], float] = _jitter,
    ) -> None:
        self._settings = settings
        self._s3, self._sqs = s3, sqs
        self._rewards = rewards
        self._reports = reports
        self._clock, self._random = clock, random
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="feedback")

    def settle(
        self, messages: Sequence[Message], *, remaining: Callable[[], float]
    ) -> tuple[dict[str, Stopped], Counter[str]]:
        """Settle messages, and say which are to come again, and what is counted.

        Args:
            messages: of one batch.
            remaining: seconds of the invocation that are left.

        Returns:
            By its id, why a message is not settled; and metrics by their names.
        """
        until = self._clock() + remaining() - ENDING
        dying = remaining() + SPARE  # a right that is missing shows at the end
        hide(self._sqs, self._settings.queue, {each.receipt: dying for each in messages})
        episodes = [each for message in messages for each in _episodes(message)]
        self._each(self._opened, episodes)
        self._each(lambda episode: self._sent(episode, until), episodes)
        self._score(episodes, remaining, until)
        return self._closed(episodes)

    def _each(self, step: Callable[[_Episode], None], episodes: Iterable[_Episode]) -> None:
        """Take a step with each episode that still goes on, several at a time."""
        going = [each for each in episodes if each.stopped is None and each.arrival is not None]
        list(self._pool.map(partial(_taken, step), going))

    def _opened(self, episode: _Episode) -> None:
        """Read a record, and what the outbox has of its rollout."""
        if episode.arrival is None:
            return
        record = read(self._s3, episode.arrival, buckets=self._settings.buckets)
        episode.record = record
        episode.target = self._reports.target(record)
        episode.stored = self._reports.find(episode.target)
        episode.again = bool(episode.stored)
        if not _delivered(episode.stored):
            self._reports.require_time(record)
            if not episode.stored:
                self._rewards.require(record.scorer)

    def _score(
        self, episodes: Iterable[_Episode], remaining: Callable[[], float], until: float
    ) -> None:
        """Score what nobody has reported, and report each as soon as it is scored.

        A rollout that is there twice is scored once.
        """
        waiting: dict[str, list[_Episode]] = {}
        records: dict[str, DeferredRecord] = {}
        for each in episodes:
            if each.record is not None and each.stopped is None and not each.stored:
                records.setdefault(each.record.digest, each.record)
                waiting.setdefault(each.record.digest, []).append(each)
        judged = self._rewards.score(
            list(records.values()), seconds=lambda: remaining() - REPORTING
        )
        reporting = [
            self._pool.submit(_taken, partial(self._reported, found, until), each)
            for record, found in judged
            for each in waiting[record.digest]
        ]
        wait(reporting)

    def _reported(self, found: Judged, until: float, episode: _Episode) -> None:
        """Make a reward durable, and report it."""
        if isinstance(found, Stopped):
            raise found
        if episode.record is not None and episode.target is not None:
            episode.stored = self._reports.keep(episode.record, episode.target, found)
            self._sent(episode, until)

    def _sent(self, episode: _Episode, until: float) -> None:
        """Report what is durable, unless it is delivered."""
        if episode.stored and not _delivered(episode.stored):
            self._reports.send(episode.stored, until=until, again=episode.again)
            episode.reported = True

    def _closed(self, episodes: Iterable[_Episode]) -> tuple[dict[str, Stopped], Counter[str]]:
        """Dead letters of messages that are not tried again, and what is counted."""
        counts: Counter[str] = Counter()
        failed: dict[str, Stopped] = {}
        pauses: dict[str, float] = {}
        by_message: dict[str, list[_Episode]] = {}
        for each in episodes:
            by_message.setdefault(each.message.id, []).append(each)
            counts[REPORTED] += each.reported
            counts[UNSCORED] += each.stopped is not None and each.stopped.kind == UNSCORED
        for name, same in by_message.items():
            stopped = [each for each in same if each.stopped is not None]
            again = [each.stopped for each in stopped if each.stopped and each.stopped.again]
            last = same[0].message.receives >= self._settings.receives
            unsent = again[0] if again and not last else self._buried(stopped, counts)
            if unsent is not None:
                failed[name] = unsent
                left = [
                    from_wall(each.record.expires) - self._clock()
                    for each in same
                    if each.record is not None
                ]
                message = same[0].message
                pauses[message.receipt] = pause(message.receives, left, random=self._random())
        if why := hide(self._sqs, self._settings.queue, pauses):
            failed = {
                name: Stopped(each.kind, f"{each}; SQS hides it for the queue's own time: {why}")
                for name, each in failed.items()
            }
        return failed, counts

    def _buried(self, episodes: Iterable[_Episode], counts: Counter[str]) -> Stopped | None:
        """Send dead letters; why not, where SQS does not take one."""
        for each in episodes:
            if each.stopped is None:
                continue
            body = each.message.body if each.arrival is None else each.arrival.body
            where = each.message.id if each.arrival is None else each.arrival.where
            try:
                findings.send(self._sqs, self._settings.dead_letters, body, each.stopped, where)
            except (BotoCoreError, ClientError, OSError) as error:
                return Stopped("unreported", f"SQS took no dead letter: {type(error).__name__}")
            counts[DEAD] += 1
            counts[EXPIRED] += each.stopped.kind == EXPIRED
        return None


def _episodes(message: Message) -> list[_Episode]:
    try:
        arrivals = arrivals_of(message.body)
    except Stopped as stopped:
        return [_Episode(message, None, stopped=stopped)]
    return [_Episode(message, arrival) for arrival in arrivals]


def _taken(step: Callable[[_Episode], None], episode: _Episode) -> None:
    """Take a step with an episode, and keep why it stopped."""
    try:
        step(episode)
    except Stopped as stopped:
        episode.stopped = stopped
    except Exception as error:  # noqa: BLE001 - one message's accident is its own
        episode.stopped = Stopped(UNSCORED, f"an accident of ours: {type(error).__name__}")


def _delivered(stored: Sequence[Stored]) -> bool:
    """Whether the service has counted a rollout's reward."""
    return any(each.intent.operation == "reward" and each.state == "delivered" for each in stored)
