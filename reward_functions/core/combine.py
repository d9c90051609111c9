"""Reward functions from reward functions: weigh, gate, clip, try in turn.

A combination is a plain callable; declare it to give it a name, a version and examples:

    tutor = reward_function(name="tutor", version=1, metrics=("answer", "format"), examples=[…])(
        weighted({"answer": gsm8k, "format": tidy}, weights={"answer": 0.9, "format": 0.1})
    )

All are frozen values and picklable. An exception of a part is the exception of the whole: a
combination never scores what one of its parts could not. A combination reports its parts' values
and not their own metrics, because a part that was not run has none and every score of a reward
carries the same names; `clipped`, which always runs its part, passes them on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from reward_functions.core.means import weighted_sum
from reward_functions.core.types import Metric, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.spec import RewardFunction


@dataclass(frozen=True, slots=True)
class _Weighted:
    parts: tuple[tuple[str, RewardFunction, float], ...]

    def __call__(self, sample: Sample, /) -> Score:
        scores = [(name, weight, part(sample)) for name, part, weight in self.parts]
        return Score(
            weighted_sum(
                [score.value for _, _, score in scores], [weight for _, weight, _ in scores]
            ),
            metrics=tuple(Metric(name, score.value, "Reward") for name, _, score in scores),
            answer=scores[0][2].answer,
            reason=" + ".join(
                f"{weight:g} × {name} {score.value:g}" for name, weight, score in scores
            ),
        )


def weighted(parts: Mapping[str, RewardFunction], weights: Mapping[str, float]) -> RewardFunction:
    """The weighted sum of several rewards; each part's value is a metric of type "Reward".

    Args:
        parts: the rewards, by the name their metric gets.
        weights: one finite number per part. They are used as given: weights that sum to 1 keep a
            scale of 0 to 1.

    Raises:
        ValueError: no parts, or weights that are not one finite number for each.
    """
    if not parts or set(parts) != set(weights):
        raise ValueError(f"weights for {sorted(weights)} do not match the parts {sorted(parts)}")
    if not all(isfinite(weight) for weight in weights.values()):
        raise ValueError("weights are finite numbers")
    return _Weighted(tuple((name, part, weights[name]) for name, part in parts.items()))


@dataclass(frozen=True, slots=True)
class _Gated:
    gate: RewardFunction
    reward: RewardFunction
    threshold: float
    minimum: float

    def __call__(self, sample: Sample, /) -> Score:
        gate = self.gate(sample)
        if gate.value < self.threshold:
            reason = f"the gate is closed: {gate.reason or gate.value}"
            return Score(self.minimum, (Metric("gate", 0.0),), gate.answer, reason, gate.evidence)
        return replace(self.reward(sample), metrics=(Metric("gate", 1.0),))


def gated(
    gate: RewardFunction, reward: RewardFunction, *, threshold: float = 1.0, minimum: float = 0.0
) -> RewardFunction:
    """A reward that is called only when a gate opens; metric `gate` is 0 or 1.

    Args:
        gate: scored first, cheap by preference.
        reward: scored when the gate's value is at least the threshold.
        threshold: on the gate's scale.
        minimum: what a closed gate earns.
    """
    return _Gated(gate, reward, threshold, minimum)


@dataclass(frozen=True, slots=True)
class _Clipped:
    reward: RewardFunction
    low: float
    high: float

    def __call__(self, sample: Sample, /) -> Score:
        score = self.reward(sample)
        return replace(score, value=min(max(score.value, self.low), self.high))


def clipped(reward: RewardFunction, low: float, high: float) -> RewardFunction:
    """A reward whose value is held inside a range.

    Raises:
        ValueError: the range is empty.
    """
    if not low < high:
        raise ValueError(f"nothing lies between {low} and {high}")
    return _Clipped(reward, low, high)


@dataclass(frozen=True, slots=True)
class _Cascade:
    rewards: tuple[RewardFunction, ...]
    enough: float

    def __call__(self, sample: Sample, /) -> Score:
        stage, score = 0, self.rewards[0](sample)
        while score.value < self.enough and stage + 1 < len(self.rewards):
            stage += 1
            score = self.rewards[stage](sample)
        return replace(score, metrics=(Metric("stage", stage),))


def cascade(*rewards: RewardFunction, enough: float = 1.0) -> RewardFunction:
    """Rewards tried in turn, cheapest first, until one is good enough; metric `stage` counts.

    Put a strict and cheap reward before a lenient and expensive one. The last one's score is final.

    Args:
        rewards: at least two.
        enough: the value that ends the search.

    Raises:
        ValueError: fewer than two rewards.
    """
    if len(rewards) < 2:  # noqa: PLR2004 - a cascade of one is that one
        raise ValueError("a cascade takes at least two rewards")
    return _Cascade(rewards, enough)
