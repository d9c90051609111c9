"""Recorded responses, scored again by a pinned reward.

| the records name | without `repin` | with it |
| --- | --- | --- |
| this pin | scored | scored |
| no pin: the agent rewarded itself | scored; the reward of the agent is the old one | likewise |
| another pin | ScorerMismatch | scored, by another reward, which the new file names |

The result is a file of its own: what the responses earned before stays what it is. What cannot be
scored is `failed`, by the type of the error. Rollouts that failed or timed out are left as they
were, and lost ones unless `lost` is set: their last turn may be the middle of an episode.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.core.means import mean
from reward_functions.reports.measured import Measured
from reward_functions.rollouts.drive.records import pin_words
from reward_functions.rollouts.request.errors import ScorerMismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.rollouts.drive.driving import Scores
    from reward_functions.rollouts.drive.records import RolloutRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """Records before and after.

    Args:
        before: as they were.
        after: by the pinned reward, in the same order.
    """

    before: Sequence[RolloutRecord]
    after: Sequence[RolloutRecord]

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """The old and the new reward of what has both."""
        both = zip(self.before, self.after, strict=True)
        return [
            (old.reward, new.reward)
            for old, new in both
            if old.reward is not None and new.reward is not None
        ]

    @property
    def means(self) -> tuple[float, float] | None:
        """Of the old and of the new rewards, of what has both; None where nothing has."""
        pairs = self.pairs
        if not pairs:
            return None
        old, new = (mean(column) for column in zip(*pairs, strict=True))
        return old, new

    @property
    def flips(self) -> tuple[int, int]:
        """How many earn more than before, and how many less."""
        pairs = self.pairs
        return sum(new > old for old, new in pairs), sum(new < old for old, new in pairs)

    @property
    def unscored(self) -> int:
        """How many responses could not be scored."""
        return sum(new.status == "failed" and bool(new.scored_by) for new in self.after)

    @property
    def measured(self) -> Measured:
        """How many of the responses that were to be scored have a reward."""
        tried = sum(bool(new.scored_by) for new in self.after)
        return Measured("responses", tried - self.unscored, self.unscored)


def rescored(
    records: Sequence[RolloutRecord],
    scorer: Scores,
    pin: Mapping[str, Any],
    *,
    repin: bool = False,
    lost: bool = False,
    advance: Callable[[int], object] = lambda _: None,
) -> Rescored:
    """Score recorded responses again.

    Args:
        records: of one run.
        scorer: the pinned reward.
        pin: its, as JSON.
        repin: whether records of another pin are scored.
        lost: whether lost rollouts are scored, too.
        advance: called with 1 for each record.

    Raises:
        ScorerMismatch: they name another pin.
        ConfigurationError: no record holds a response, or the reward cannot score at all.
    """
    found = records[0].setup.scorer
    if found is not None and found != pin and not repin:
        raise ScorerMismatch(
            f"the records were scored by {pin_words(found)}, and this is {pin_words(pin)}: "
            "--repin scores them by it, into a file of its own"
        )
    if not any(map(_kept, records)):
        raise ConfigurationError(
            "no record holds a response to score: `reward rollouts run` keeps them unless "
            "--no-responses is given"
        )
    after = []
    for record in records:
        ended = record.status == "rewarded" or bool(record.scored_by)
        chosen = _kept(record) and (ended or (lost and record.status == "lost"))
        named = replace(record, setup=replace(record.setup, scorer=pin))
        after.append(_again(named, scorer) if chosen else named)
        advance(1)
    return Rescored(before=records, after=after)


def _kept(record: RolloutRecord) -> bool:
    return record.response is not None and record.content is not None


def _again(record: RolloutRecord, scorer: Scores) -> RolloutRecord:
    try:
        score = scorer.score(record.content, record.response)
    except ConfigurationError:  # of every record
        raise
    except RewardError as error:
        problem = type(error.__cause__ or error).__name__
        return replace(record, status="failed", rewards=(), scored_by="scorer", error=problem)
    return replace(record, status="rewarded", rewards=(score.value,), scored_by="scorer", error="")
