"""Whether a correct response always outranks an incorrect one: proven from scales, by intervals.

| a part | a correct response earns | an incorrect one earns |
| --- | --- | --- |
| decides the truth | its maximum | its partial credit at most |
| pays for form alone: its partial credit is its maximum | its minimum, at least | its maximum, at most |

A reward that declares no partial credit, and none of whose examples has anything to be right about
(a reference, a prompt, further fields, a verdict), looks at form alone too: it would be taken for
the truth by mistake.

A response is correct where every part that decides the truth finds it so, and of a cascade, where
one of them does. The bounds of a composite follow from those of its parts, and are the same four
numbers again, so that composites nest.
"""  # noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.means import weighted_sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.core.spec import RewardSpec

MARGIN: Final = 1e-9
"""The least share of the scale that must lie between the two: less is rounding."""


class Bounds(NamedTuple):
    """What a reward can earn.

    Attributes:
        least: of any response.
        most: of any response.
        correct: the least of a correct response.
        incorrect: the most of an incorrect response.
        truth: whether it tells the two apart; form alone does not.
    """

    least: float
    most: float
    correct: float
    incorrect: float
    truth: bool

    @property
    def outranks(self) -> bool:
        """Whether every correct response earns more than every incorrect one."""
        return self.correct - self.incorrect > MARGIN * (self.most - self.least)

    def form_alone(self) -> Bounds:
        """The same range, of a reward that does not look at the truth."""
        return Bounds(self.least, self.most, self.least, self.most, truth=False)


def declared_bounds(spec: RewardSpec) -> Bounds:
    """The bounds of a reward that is no composite, as it declares them."""
    least, most = spec.scale
    bounds = Bounds(least, most, most, spec.most_undeserved, truth=True)
    if spec.partial_credit is None and _sees_form_alone(spec):
        return bounds.form_alone()
    return bounds if bounds.outranks else bounds.form_alone()


def _sees_form_alone(spec: RewardSpec) -> bool:
    """Whether there are examples, and in none of them anything to be right about."""
    return bool(spec.examples) and not any(
        example.reference is not None or example.prompt or example.metadata or example.verdicts
        for example in spec.examples
    )


def of_weighted(parts: Sequence[Bounds], weights: Sequence[float]) -> Bounds:
    """The bounds of a weighted sum; a part of weight 0 decides nothing."""

    def total(ends: Iterable[tuple[float, float]], best: bool) -> float:  # noqa: FBT001
        pick = max if best else min
        chosen = [
            pick(each, key=weight.__mul__) for each, weight in zip(ends, weights, strict=True)
        ]
        return weighted_sum(chosen, weights)

    whole = [(part.least, part.most) for part in parts]
    least, most = total(whole, best=False), total(whole, best=True)
    true = [at for at, part in enumerate(parts) if part.truth and weights[at]]
    if not true:
        return Bounds(least, most, least, most, truth=False)
    sure = [(part.correct, part.most) for part in parts]
    failing = (
        total([*whole[:at], (parts[at].least, parts[at].incorrect), *whole[at + 1 :]], best=True)
        for at in true
    )
    return Bounds(least, most, total(sure, best=False), max(failing), truth=True)


def of_gated(gate: Bounds, reward: Bounds, threshold: float, closed: float) -> Bounds:
    """The bounds of a reward behind a gate; `closed` is earned where the gate's value is less."""
    shut = [closed] if gate.least < threshold else []
    least, most = min([*shut, reward.least]), max([*shut, reward.most])
    if not (gate.truth or reward.truth):
        return Bounds(least, most, least, most, truth=False)
    correct = min([reward.correct, *(shut if gate.correct < threshold else [])])
    failing = [*shut]
    if gate.truth and gate.incorrect >= threshold:
        failing.append(reward.most)
    if reward.truth:
        failing.append(reward.incorrect)
    return Bounds(least, most, correct, max(failing, default=reward.most), truth=True)


def of_clipped(part: Bounds, low: float, high: float) -> Bounds:
    """The bounds of a reward held inside a range."""
    least, most, correct, incorrect = (min(max(value, low), high) for value in part[:4])
    return Bounds(least, most, correct, incorrect, truth=part.truth)


def of_cascade(parts: Sequence[Bounds], enough: float) -> Bounds:
    """The bounds of rewards tried in turn until one earns enough; the last one's value stands."""
    *early, last = parts
    accepted = [max(part.least, enough) for part in early if part.most >= enough]
    least = min([*accepted, last.least])
    most = max([*(part.most for part in early if part.most >= enough), last.most])
    if not any(part.truth for part in parts):
        return Bounds(least, most, least, most, truth=False)
    correct = min(
        _found_correct_by(at, parts, enough) for at, part in enumerate(parts) if part.truth
    )
    failing = [part.incorrect for part in early if part.incorrect >= enough]
    return Bounds(least, most, correct, max([*failing, last.incorrect]), truth=True)


def _found_correct_by(at: int, parts: Sequence[Bounds], enough: float) -> float:
    """The least that a response earns which the part at this place finds correct."""
    *early, last = [
        Bounds(part.correct, part.most, part.correct, part.most, part.truth)
        if place == at
        else part
        for place, part in enumerate(parts)
    ]
    earned = []
    for part in early:
        if part.most >= enough:
            earned.append(max(part.least, enough))
        if part.least >= enough:
            return min(earned)
    return min([*earned, last.least])
