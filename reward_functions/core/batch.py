"""Score a batch: same length, same order, same ids, one result per sample, whatever happens.

This is the only place of the library that catches everything (the sympy worker, a process of its
own, aside): a reward function raises freely, and the exception becomes an `Unscored` that says why.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import DeadlineReached
from reward_functions.core.groups import Group
from reward_functions.core.spec import Needs, spec_of
from reward_functions.core.types import RewardResult, Sample, Scored, Unscored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import Message, Score


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
            bounded time inside one is the reward's own duty.
        workers: threads; what the reward declares it needs where not given.

    Returns:
        One result per sample, in order. Never raises for a sample.
    """

    def group_of(sample: Sample) -> dict[str, Any]:
        return {"group": groups[sample.context]} if groups and sample.context else {}

    def score(sample: Sample | Unscored) -> RewardResult:
        if isinstance(sample, Unscored):
            return sample
        if deadline is not None and monotonic() >= deadline:
            return Unscored(sample.id, DeadlineReached("the batch's deadline passed before it"))
        try:
            return Scored(sample.id, call(sample, **group_of(sample)))
        except Exception as error:  # noqa: BLE001 - the one place; see the module's docstring
            return Unscored(sample.id, error)

    spec = spec_of(reward)
    needs = spec.needs if spec else Needs()
    samples = list(samples)
    groups = _groups(samples) if needs.group else {}
    call: Callable[..., Score] = reward
    threads = min(workers or needs.workers, len(samples))
    if threads <= 1:
        return [score(sample) for sample in samples]

    from reward_functions.core.threads import mapped  # noqa: PLC0415 - verifiers never need it

    return mapped(score, samples, threads)


def _groups(
    samples: Iterable[Sample | Unscored],
) -> dict[tuple[Message, ...], Group]:
    """The samples by the messages before their responses."""
    groups: dict[tuple[Message, ...], list[Sample]] = {}
    for sample in samples:
        if isinstance(sample, Sample):
            groups.setdefault(sample.context, []).append(sample)
    return {context: Group(group) for context, group in groups.items()}
