"""Score a batch: same length, same order, same ids, one result per sample in every case.

This is the only place of the library that catches everything (the sympy worker, a process of its
own, aside): a reward function raises freely, and the exception becomes an `Unscored` that says why.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.core.deadlines import DEADLINE
from reward_functions.core.errors import DeadlineReached, SampleBlocked
from reward_functions.core.spec import Needs, spec_of
from reward_functions.core.types import Group, RewardResult, Sample, Scored, Unscored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import Message, Score

LATE: Final = 0.5
"""Seconds after the deadline until a thread is given up. Judges return at the deadline, with an
error that says more."""


def score_batch(
    reward: RewardFunction,
    samples: Iterable[Sample | Unscored],
    *,
    deadline: float | None = None,
    workers: int | None = None,
) -> list[RewardResult]:
    """Score every sample; each one that could not be scored carries its exception.

    Args:
        reward: a spec, a partial of one, or a combination.
        samples: what to score. A row that is not a valid sample comes as an `Unscored`, which is
            returned in its place.
        deadline: the reading of `time.monotonic()` after which no further sample is begun; what is
            left comes back Unscored with `DeadlineReached`. A sample already begun is finished:
            bounded time inside one is the reward's own duty, which finds the deadline in
            `core.deadlines`. In threads, and of a judge, one that has not returned `LATE` seconds
            after the deadline is Unscored with `SampleBlocked`.
        workers: threads; what the reward declares it needs where not given.

    Returns:
        One result per sample, in order. Never raises for a sample.
    """
    samples = list(samples)
    score = scorer(reward, samples, deadline)
    threads = threads_of(reward, len(samples), workers)
    is_left = deadline is not None and _needs(reward).judge
    if threads <= 1 and not is_left:
        return [score(sample) for sample in samples]

    from reward_functions.core.threads import mapped  # noqa: PLC0415 - verifiers never need it

    if deadline is None:
        return mapped(score, samples, threads)
    return mapped(score, samples, threads, until=deadline + LATE, late=_late)


def scorer(
    reward: RewardFunction, samples: Sequence[Sample | Unscored], deadline: float | None = None
) -> Callable[[Sample | Unscored], RewardResult]:
    """The function that scores one sample of a batch, and never raises for it.

    Args:
        reward: as of `score_batch`.
        samples: the whole batch, for a reward that looks at groups.
        deadline: as of `score_batch`.
    """

    def score(sample: Sample | Unscored) -> RewardResult:
        if isinstance(sample, Unscored):
            return sample
        if deadline is not None and monotonic() >= deadline:
            return not_reached(sample)
        before = DEADLINE.set(deadline if deadline is not None else DEADLINE.get())
        try:
            if groups and sample.context:
                return Scored(sample.id, call(sample, group=groups[sample.context]))
            return Scored(sample.id, call(sample))
        except Exception as error:  # noqa: BLE001 - the one place; see the module's docstring
            return Unscored(sample.id, error)
        finally:
            DEADLINE.reset(before)

    groups = _groups(samples) if _needs(reward).group else {}
    call: Callable[..., Score] = reward
    return score


def threads_of(reward: RewardFunction, samples: int, workers: int | None = None) -> int:
    """The threads that a batch of so many samples is scored with.

    Args:
        reward: as of `score_batch`.
        samples: how many.
        workers: a number that replaces what the reward declares.
    """
    return min(workers or _needs(reward).workers, samples)


def not_reached(sample: Sample) -> Unscored:
    """A sample whose turn did not come before the deadline."""
    return Unscored(sample.id, DeadlineReached("the batch's deadline passed before it"))


def _late(sample: Sample | Unscored, begun: bool) -> RewardResult:  # noqa: FBT001 - of `mapped`
    """A sample that no thread has returned from, or that none has begun."""
    if isinstance(sample, Unscored):
        return sample
    return blocked(sample) if begun else not_reached(sample)


def blocked(sample: Sample) -> Unscored:
    """A sample from which the reward function did not return before the deadline."""
    return Unscored(sample.id, SampleBlocked("the reward did not return before the deadline"))


def _needs(reward: RewardFunction) -> Needs:
    spec = spec_of(reward)
    return spec.needs if spec else Needs()


def _groups(
    samples: Iterable[Sample | Unscored],
) -> dict[tuple[Message, ...], Group]:
    """The samples by the messages before their responses."""
    groups: dict[tuple[Message, ...], list[Sample]] = {}
    for sample in samples:
        if isinstance(sample, Sample):
            groups.setdefault(sample.context, []).append(sample)
    return {context: Group(group) for context, group in groups.items()}
