"""Reward functions from reward functions: weigh, gate, clip, try in turn.

    tutor = weighted({"math": 0.8, "think_format": 0.2}, name="acme.tutor", version=1, examples=[…])

Each makes a `RewardSpec`, which is registered, explained, checked and deployed like any other. What
it can earn follows from its parts: its scale, what it needs, its partial credit, and whether a
correct response always outranks an incorrect one (`ranking`), without which it is not made. A part
that cannot score makes the whole unscored, under the part's name. Every number that a part reports
is reported by the whole: the part's value under its name, as a `Reward`; its own metrics as
`PART_METRIC`. Where a part may be passed over, `PART_ran` is 1 or 0 and its other numbers are 0
where it was, so that the mean of `PART` over that of `PART_ran` is the mean where it ran.

| composite | value |
| --- | --- |
| `weighted` | the sum of weight × value |
| `gated` | the reward's value where the gate opens, else a minimum |
| `clipped` | the part's value, held inside a range |
| `cascade` | the value of the first part that earns enough, else of the last |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from reward_functions.core import ranking
from reward_functions.core.composition import Composition, composed
from reward_functions.core.errors import BadComposite
from reward_functions.core.means import weighted_sum
from reward_functions.core.parts import part_of, parts_of, weighted_parts
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.composition import Run
    from reward_functions.core.parts import PartLike
    from reward_functions.core.ranking import Bounds
    from reward_functions.core.spec import Example, GoldResponse, RewardSpec


class Declaration(TypedDict, total=False):
    r"""What every composite declares beside its parts.

    Attributes:
        name: as `RewardSpec` takes it; that of the function where not given.
        version: raised by one whenever a score can change; 0, a prototype, where not given. The
            versions of the parts are beside it in `reward show`.
        examples: as `RewardSpec` takes them.
        gold_response: a function; or a template with the name of a part in braces, for which that
            part's gold response is put in: `"<think>So.</think>\n{math}"`.
        outranks: False where a correct response need not earn more than an incorrect one.
        summary: the first line of its documentation; what it computes where not given.
    """

    name: str
    version: int
    examples: Sequence[Example]
    gold_response: GoldResponse | str | None
    outranks: bool
    summary: str


@dataclass(frozen=True)
class _Weighted(Composition):
    @property
    def formula(self) -> str:
        return " + ".join(f"{part.weight:g} × {part.name}" for part in self.parts)

    @cached_property
    def bounds(self) -> Bounds:
        weights = [part.weight for part in self.parts]
        return ranking.of_weighted([part.bounds for part in self.parts], weights)

    def remedy(self) -> str:
        forms = [part for part in self.parts if not part.bounds.truth and part.weight]
        if not forms:
            return "let its parts declare a smaller partial_credit"
        heaviest = max(forms, key=lambda part: abs(part.weight) * _width(part.bounds))
        return f"weigh {heaviest.name} less"

    def compute(self, run: Run) -> tuple[float, str]:
        scores = [run.score(part) for part in self.parts]
        value = weighted_sum(
            [score.value for score in scores], [part.weight for part in self.parts]
        )
        return value, " + ".join(f"{part.weight:g} × {run.described(part)}" for part in self.parts)


def weighted(
    parts: Mapping[str, PartLike | float], **declaration: Unpack[Declaration]
) -> RewardSpec:
    """The weighted sum of several rewards, as a reward.

    Args:
        parts: by the name that a part has in metrics and reasons. A number is the weight of the
            registered reward of that name; a pair is a reward and its weight; an object has the
            `weight`, the `reward` where it is called otherwise, and its parameters:
            `{"math": 0.8, "answer": (my_reward, 0.2), "loose": {"reward": "math", "weight": 0.1,
            "rounded": 2}}`. Weights are finite and used as given: those that sum to 1 keep a scale
            of 0 to 1. A weight of 0 reports a part without paying for it.
        declaration: see `Declaration`.

    Raises:
        BadComposite: no parts, a weight that is not a number, a name twice; or a correct response
            may earn as little as an incorrect one, with the two numbers.
        UnknownReward: a part is not registered.
        BadParameter: a part has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    return composed(_Weighted(weighted_parts(parts)), **_named("weighted", declaration))


@dataclass(frozen=True)
class _Gated(Composition):
    threshold: float = 1.0
    minimum: float = 0.0

    optional = 1
    """The parts from this place on may be passed over."""

    @property
    def formula(self) -> str:
        gate, reward = self.parts
        return (
            f"{reward.name} where {gate.name} is at least {self.threshold:g}, else {self.minimum:g}"
        )

    @cached_property
    def bounds(self) -> Bounds:
        gate, reward = self.parts
        return ranking.of_gated(gate.bounds, reward.bounds, self.threshold, self.minimum)

    def remedy(self) -> str:
        gate, reward = self.parts
        if gate.bounds.truth:
            return "let the gate's threshold be more than its partial credit"
        return f"swap {gate.name} and {reward.name}, or weigh them"

    def compute(self, run: Run) -> tuple[float, str]:
        gate, reward = self.parts
        if run.score(gate).value < self.threshold:
            return self.minimum, f"the gate is closed: {run.described(gate)}"
        return run.score(reward).value, f"{run.described(gate)} opens {run.described(reward)}"


def gated(
    gate: PartLike,
    reward: PartLike,
    *,
    threshold: float = 1.0,
    minimum: float = 0.0,
    **declaration: Unpack[Declaration],
) -> RewardSpec:
    """A reward that is scored only where a gate opens, as a reward.

    Args:
        gate: scored first, cheap by preference.
        reward: scored where the gate's value is at least the threshold.
        threshold: on the gate's scale, above its minimum and not above its maximum.
        minimum: what is earned behind a closed gate.
        declaration: see `Declaration`.

    Raises:
        BadComposite: the gate never opens or never closes; and as `weighted`.
        UnknownReward: a part is not registered.
        BadParameter: a part has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    _insist_on_numbers(threshold=threshold, minimum=minimum)
    parts = parts_of([gate, reward])
    least, most = parts[0].spec.scale
    if not least < threshold <= most:
        never = "opens" if threshold > most else "closes"
        raise BadComposite(
            f"the gate {parts[0].name} earns {least:g} to {most:g} and never {never} at "
            f"{threshold:g}: let its threshold be above {least:g}, and {most:g} at most"
        )
    made = _Gated(parts, threshold=float(threshold), minimum=float(minimum))
    return composed(made, **_named("gated", declaration))


@dataclass(frozen=True)
class _Clipped(Composition):
    low: float = 0.0
    high: float = 1.0

    @property
    def formula(self) -> str:
        return f"{self.parts[0].name}, from {self.low:g} to {self.high:g}"

    @cached_property
    def bounds(self) -> Bounds:
        return ranking.of_clipped(self.parts[0].bounds, self.low, self.high)

    def remedy(self) -> str:
        return "widen the range"

    def compute(self, run: Run) -> tuple[float, str]:
        (part,) = self.parts
        score = run.score(part)
        value = min(max(score.value, self.low), self.high)
        held = "" if value == score.value else f", held at {value:g}"
        return value, f"{run.described(part)}{held}"


def clipped(
    reward: PartLike, low: float, high: float, **declaration: Unpack[Declaration]
) -> RewardSpec:
    """A reward whose value is held inside a range, as a reward.

    Args:
        reward: the part.
        low: the least that is earned.
        high: the most.
        declaration: see `Declaration`.

    Raises:
        BadComposite: the range is empty, or all of the part's values are on one side of it; and as
            `weighted`.
        UnknownReward: the part is not registered.
        BadParameter: it has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    _insist_on_numbers(low=low, high=high)
    if not low < high:
        raise BadComposite(f"nothing lies between {low:g} and {high:g}")
    made = _Clipped((part_of(reward),), low=float(low), high=float(high))
    return composed(made, **_named("clipped", declaration))


@dataclass(frozen=True)
class _Cascade(Composition):
    enough: float = 1.0

    optional = 1
    """The parts from this place on may be passed over."""

    @property
    def formula(self) -> str:
        return f"the first of {', '.join(part.name for part in self.parts)} to earn {self.enough:g}"

    @cached_property
    def bounds(self) -> Bounds:
        return ranking.of_cascade([part.bounds for part in self.parts], self.enough)

    def remedy(self) -> str:
        return "let `enough` be more than what its parts pay an incorrect response"

    def compute(self, run: Run) -> tuple[float, str]:
        value, tried = 0.0, []
        for part in self.parts:
            value = run.score(part).value
            tried.append(run.described(part))
            if value >= self.enough:
                break
        return value, ", then ".join(tried)


def cascade(
    *rewards: PartLike, enough: float = 1.0, **declaration: Unpack[Declaration]
) -> RewardSpec:
    """Rewards tried in turn, cheapest first, until one earns enough; as a reward.

    Put a strict and cheap reward before a lenient and expensive one. The last one's score is final.

    Args:
        rewards: at least two.
        enough: the value that ends the search.
        declaration: see `Declaration`.

    Raises:
        BadComposite: fewer than two rewards, or one that is never reached; and as `weighted`.
        UnknownReward: a part is not registered.
        BadParameter: a part has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    _insist_on_numbers(enough=enough)
    parts = parts_of(rewards)
    if len(parts) < 2:  # noqa: PLR2004 - a cascade of one is that one
        raise BadComposite("a cascade takes at least two rewards")
    for part, following in pairwise(parts):
        if part.spec.scale.minimum >= enough:
            raise BadComposite(
                f"{part.name} always earns {enough:g} or more, so that {following.name} is never "
                "reached: raise `enough`"
            )
    return composed(_Cascade(parts, enough=float(enough)), **_named("cascade", declaration))


def _named(kind: str, declaration: Declaration) -> dict[str, Any]:
    known = Declaration.__annotations__
    if unknown := next((key for key in declaration if key not in known), None):
        raise TypeError(f"{kind} takes no {unknown}{did_you_mean(unknown, known)}")
    return {"name": kind, **declaration}


def _width(bounds: Bounds) -> float:
    return bounds.most - bounds.least


def _insist_on_numbers(**given: object) -> None:
    for name, value in given.items():
        if type(value) not in (int, float) or not isfinite(value):  # type: ignore[arg-type]
            raise BadComposite(f"{name} is a finite number, not {value!r}")
