"""The parts of a composite: rewards by name, by declaration, or with parameters set.

"math"                                      a registered reward
get("math"), get("math").bind({…})          a reward at hand
{"reward": "math", "rounded": 2}            with parameters; `name` is what it is called here

Intervals show what a composite of them can earn, and whether a correct response always outranks an
incorrect one:

| a part | a correct response earns | an incorrect one earns |
| --- | --- | --- |
| decides the truth | its maximum | its partial credit at most |
| pays for form alone: its partial credit is its maximum | its minimum, at least | its maximum, at most |

A reward looks at form alone too, if it declares no partial credit and its examples have nothing to
be right about: no reference, prompt, further field or verdict. Otherwise it would pass for the
truth by mistake. A response is correct where every part that decides the truth finds it so, and of
a cascade, where one of them does. The bounds of a composite are the same four numbers again, so
that composites nest.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.declaring import NAME
from reward_functions.core.errors import BadComposite
from reward_functions.core.means import weighted_sum
from reward_functions.core.registry import get
from reward_functions.core.spec import RewardFunction, RewardSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MARGIN: Final = 1e-9
"""The least share of the scale that must lie between the two: less is rounding."""


class Bounds(NamedTuple):
    """The least and the most that a reward can earn.

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
    """The bounds of a gated reward; `closed` is earned where the gate's value is less."""
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


PartLike = str | RewardFunction | tuple[RewardFunction | str, float] | Mapping[str, Any]
"""What a part may be given as."""

MAX_PARTS: Final = 32
MAX_WEIGHT: Final = 1e9


class Part(NamedTuple):
    """One part of a composite.

    Args:
        name: in metrics and reasons.
        spec: the reward.
        parameters: that are set, checked.
        weight: of a sum.
    """

    name: str
    spec: RewardSpec
    parameters: Mapping[str, Any]
    weight: float

    @property
    def alike(self) -> bool:
        """Whether it knows right responses, and pays wrong ones as much."""
        spec = self.spec
        return spec.gold_response is not None and spec.most_undeserved >= spec.scale.maximum

    @property
    def bounds(self) -> Bounds:
        """What it can earn."""
        return getattr(self.spec.function, "bounds", None) or declared_bounds(self.spec)


def part_of(given: PartLike, name: str = "", weight: float = 1.0) -> Part:
    """A part as it was given.

    Args:
        given: see the module.
        name: what it is called; the reward's own name where empty.
        weight: of a sum.

    Raises:
        BadComposite: it is no reward, or a parameter without a default is missing.
        UnknownReward: it is not registered.
        BadParameter: there is no such parameter, or its value is of another type.
    """
    spec, parameters, own = _reward(given)
    name = name or own or spec.name
    if not NAME.fullmatch(name):
        raise BadComposite(f"{name!r} does not name a part: lower case, digits, underscores")
    spec.bind(parameters)
    for parameter in spec.parameters.values():
        if not parameter.has_default and parameter.name not in parameters:
            raise BadComposite(f"{name}: {spec.name} needs the parameter {parameter.name!r}")
    return Part(name, spec, parameters, weight)


def parts_of(given: Sequence[PartLike]) -> tuple[Part, ...]:
    """Several parts, each under a name of its own.

    Raises:
        BadComposite: two have one name; and as `part_of`.
    """
    parts = tuple([part_of(each) for each in given])
    names = [part.name for part in parts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadComposite(
            f"two parts are called {twice!r}: name one otherwise, such as "
            f'{{"reward": {twice!r}, "name": "strict"}}'
        )
    return parts


def weighted_parts(given: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of a sum, with their weights.

    Raises:
        BadComposite: no part, too many parts, or a weight that is not a finite number; and as
            `part_of`.
    """
    if not isinstance(given, Mapping) or not given:
        raise BadComposite('a weighted sum is written {"math": 0.8, "think_format": 0.2}')
    if len(given) > MAX_PARTS:
        raise BadComposite(f"{len(given)} parts are more than {MAX_PARTS}")
    return tuple([_weighed(name, each) for name, each in given.items()])


def _weighed(name: str, given: Any) -> Part:
    if isinstance(given, tuple) and len(given) == 2:  # noqa: PLR2004 - a reward and its weight
        reward, weight = given
    elif isinstance(given, Mapping):
        reward = {key: value for key, value in given.items() if key != "weight"}
        weight = given.get("weight")
        reward.setdefault("reward", name)
    else:
        reward, weight = name, given
    if type(weight) not in (int, float) or not isfinite(weight) or abs(weight) > MAX_WEIGHT:
        shown = "is missing" if weight is None else f"is not {weight!r}"
        raise BadComposite(f"the weight of {name} {shown}: write a finite number, such as 0.2")
    return part_of(reward, name, float(weight))


def _reward(given: Any) -> tuple[RewardSpec, dict[str, Any], str]:
    """The reward, its parameters and the name it is given."""
    if isinstance(given, str):
        return get(given), {}, ""
    if isinstance(given, RewardSpec):
        return given, {}, ""
    if isinstance(given, partial) and not given.args:
        spec, parameters, name = _reward(given.func)
        return spec, parameters | given.keywords, name
    if isinstance(given, Mapping):
        return _declared(given)
    what = getattr(given, "__name__", type(given).__name__)
    raise BadComposite(
        f"a part is the name of a reward, or a function under @reward_function, not {what}"
    )


def _declared(given: Mapping[str, Any]) -> tuple[RewardSpec, dict[str, Any], str]:
    own = given.get("name", "")
    if "reward" not in given:
        raise BadComposite(f'a part says its "reward"; this one says {", ".join(sorted(given))}')
    parameters = {key: value for key, value in given.items() if key not in ("reward", "name")}
    spec, before, _ = _reward(given["reward"])
    return spec, before | parameters, own
