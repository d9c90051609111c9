"""The parts of a composite: rewards by name, by declaration, or with parameters set.

"math"                                      a registered reward
get("math"), get("math").bind({…})          a reward at hand
{"reward": "math", "rounded": 2}            with parameters; `name` is what it is called here
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, Final, NamedTuple

from reward_functions.core.declaring import NAME
from reward_functions.core.errors import BadComposite
from reward_functions.core.ranking import Bounds, declared_bounds
from reward_functions.core.registry import get
from reward_functions.core.spec import RewardFunction, RewardSpec

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
        BadComposite: there are none, or too many, or a weight is not a finite number; and as
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
