r"""A composite declared as data: a TOML or JSON file, or an object in `cdk.json`.

    name = "acme.tutor"
    version = 1
    weighted = { math = 0.8, think_format = 0.2 }

    [[examples]]
    kind = "positive"
    response = '<think>3 + 1</think>\boxed{4}'
    reference = "4"
    score = 1.0

| key | holds |
| --- | --- |
| `weighted` | a weight for each part, or an object with `weight`, `reward` and parameters |
| `gated` | an object: `gate`, `reward`, and `threshold`, `minimum` |
| `clipped` | an object: `reward`, `low`, `high` |
| `cascade` | a list of parts, or an object: `rewards`, `enough` |
| others | as `combine.Declaration` takes them |

A part is the name of a registered reward, an object with `reward`, perhaps a `name`, and its
parameters, or another of these composites.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, get_args

from reward_functions.core.combine import cascade, clipped, gated, weighted
from reward_functions.core.errors import BadComposite, ConfigurationError
from reward_functions.core.jsons import json_kind, unique_names
from reward_functions.core.spec import Example, Kind
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reward_functions.core.spec import RewardSpec

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 8

DECLARED: Final = ("name", "version", "summary", "outranks", "gold_response", "examples")

TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "name": (str, "a string"),
    "version": (int, "a whole number"),
    "summary": (str, "a string"),
    "outranks": (bool, "true or false"),
    "gold_response": (str, 'a string such as "{math}"'),
    "examples": (list, "a list of objects"),
}


def composite_file(path: Path) -> RewardSpec:
    """The composite that a file declares; its name is the file's where it declares none.

    Raises:
        ConfigurationError: the file is not TOML or JSON, or what it declares is no composite.
        OSError: it cannot be read.
    """
    try:
        return composite_of({"name": path.stem, **_content(path)})
    except (ConfigurationError, ValueError) as error:
        raise BadComposite(f"{path}: {error}") from error


def composite_of(declaration: Mapping[str, Any]) -> RewardSpec:
    """The composite that an object declares.

    Raises:
        BadComposite: it is not such an object; the message names the key.
        UnknownReward: a part is not registered.
        BadParameter: a part has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    return _made(declaration, depth=0)


def _content(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise BadComposite(f"it has more than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
        if path.suffix == ".json":
            found = json.loads(text, object_pairs_hook=unique_names)
        else:
            import tomllib  # noqa: PLC0415 - a composite registered by name never needs it

            found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadComposite(f"not {path.suffix[1:].upper()}: {error}") from error
    if not isinstance(found, dict):
        raise BadComposite(f"a composite is an object, not {json_kind(found)}")
    return found


def kind_of(declaration: Mapping[str, Any]) -> str:
    """The composite that an object declares.

    Raises:
        BadComposite: none, or several.
    """
    kinds = [kind for kind in MADE if kind in declaration]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        raise BadComposite(f"it is {kinds[0]} or {kinds[1]}, not both: put one inside the other")
    unknown = next((key for key in declaration if key not in DECLARED), "")
    raise BadComposite(
        f"{unknown} is not a composite{did_you_mean(unknown, MADE)}"
        if unknown
        else f"it declares no composite; there are {', '.join(MADE)}"
    )


def _made(declaration: Mapping[str, Any], depth: int) -> RewardSpec:
    if depth > MAX_DEPTH:
        raise BadComposite(f"composites are nested more than {MAX_DEPTH} deep")
    kind = kind_of(declaration)
    others = {key: value for key, value in declaration.items() if key != kind}
    for key, value in others.items():
        if key not in DECLARED:
            raise BadComposite(f"{key} is not a key{did_you_mean(key, [*MADE, *DECLARED])}")
        wanted, words = TYPES[key]
        if type(value) is not wanted:
            raise BadComposite(f"{key} is {words}, not {json_kind(value)}")
    if "examples" in others:
        others["examples"] = [
            _example(each, f"example {place}") for place, each in enumerate(others["examples"], 1)
        ]
    return MADE[kind](declaration[kind], others, depth)


def _weighted(given: Any, others: dict[str, Any], depth: int) -> RewardSpec:
    parts = _object("weighted", given)
    return weighted({name: _weighed(part, depth) for name, part in parts.items()}, **others)


def _weighed(given: Any, depth: int) -> Any:
    """A weight, or an object that holds one, its composite made."""
    if not isinstance(given, Mapping) or not _is_composite(given):
        return _known_reward(given, depth)
    inner = {key: value for key, value in given.items() if key != "weight"}
    weight = {"weight": given["weight"]} if "weight" in given else {}
    return {"reward": _part(inner, depth), **weight}


def _gated(given: Any, others: dict[str, Any], depth: int) -> RewardSpec:
    found = _object("gated", given, ("gate", "reward"), ("threshold", "minimum"))
    gate, reward = (_part(found.pop(key), depth) for key in ("gate", "reward"))
    return gated(gate, reward, **found, **others)


def _clipped(given: Any, others: dict[str, Any], depth: int) -> RewardSpec:
    found = _object("clipped", given, ("reward", "low", "high"))
    return clipped(_part(found.pop("reward"), depth), **found, **others)


def _cascade(given: Any, others: dict[str, Any], depth: int) -> RewardSpec:
    found = {"rewards": given} if isinstance(given, list) else given
    found = _object("cascade", found, ("rewards",), ("enough",))
    rewards = found.pop("rewards")
    if not isinstance(rewards, list):
        raise BadComposite(f"the rewards of a cascade are a list, not {json_kind(rewards)}")
    return cascade(*[_part(each, depth) for each in rewards], **found, **others)


MADE: Final[Mapping[str, Callable[[Any, dict[str, Any], int], RewardSpec]]] = {
    "weighted": _weighted,
    "gated": _gated,
    "clipped": _clipped,
    "cascade": _cascade,
}
"""The composites, by their keys."""


def _part(given: Any, depth: int) -> Any:
    """A part as `parts` takes it, a composite in it made."""
    if isinstance(given, Mapping) and _is_composite(given):
        # Only of the whole must a correct response outrank an incorrect one.
        return _made({"name": kind_of(given), "outranks": False, **given}, depth + 1)
    if not isinstance(given, str | Mapping):
        raise BadComposite(f"a part is the name of a reward or an object, not {json_kind(given)}")
    return _known_reward(given, depth)


def _known_reward(given: Any, depth: int) -> Any:
    """The same; what is under `reward` may be a composite too."""
    if isinstance(given, Mapping) and isinstance(given.get("reward"), Mapping):
        return {**given, "reward": _part(given["reward"], depth)}
    if isinstance(given, Mapping) and not isinstance(given.get("reward", ""), str):
        raise BadComposite(f"reward is the name of one, not {json_kind(given['reward'])}")
    if isinstance(given, Mapping) and not isinstance(given.get("name", ""), str):
        raise BadComposite(f"name is a string, not {json_kind(given['name'])}")
    return given


def _is_composite(given: Mapping[str, Any]) -> bool:
    return "reward" not in given and any(kind in given for kind in MADE)


def _object(
    kind: str, given: Any, required: Sequence[str] = (), optional: Sequence[str] = ()
) -> dict[str, Any]:
    """The content of a composite or of an example, all of its keys known.

    Raises:
        BadComposite: it is not an object, or a key is missing or unknown.
    """
    if not isinstance(given, Mapping):
        raise BadComposite(f"{kind} is an object, not {json_kind(given)}")
    known = (*required, *optional)
    if known and (unknown := next((key for key in given if key not in known), None)):
        raise BadComposite(f"{kind} takes no {unknown}{did_you_mean(unknown, known)}")
    if missing := next((key for key in required if key not in given), None):
        raise BadComposite(f"{kind} needs {missing}")
    return dict(given)


def _example(given: Any, place: str) -> Example:
    """A worked example.

    Raises:
        BadComposite: a key is missing, unknown, or of another type.
    """
    taken = [each for each in fields(Example) if each.name != "parameters"]
    needed = [each.name for each in taken if each.default is each.default_factory is MISSING]
    _object(place, given, needed, [each.name for each in taken])
    _insist_on_types(given, place)
    return Example(**given)


def _insist_on_types(given: Mapping[str, Any], place: str) -> None:
    if given["kind"] not in get_args(Kind):
        raise BadComposite(f"{place}: kind is one of {', '.join(get_args(Kind))}")
    for key in ("response", "prompt", "why"):
        if not isinstance(given.get(key, ""), str):
            raise BadComposite(f"{place}: {key} is a string, not {json_kind(given[key])}")
    if type(given["score"]) not in (int, float) or not isfinite(given["score"]):
        raise BadComposite(f"{place}: score is a finite number, not {json_kind(given['score'])}")
    for key, kind in (("metadata", dict), ("verdicts", list)):
        if not isinstance(given.get(key, kind()), kind):
            raise BadComposite(f"{place}: {key} is of another type than {kind.__name__}")
    if not all(isinstance(verdict, dict) for verdict in given.get("verdicts", ())):
        raise BadComposite(f"{place}: each verdict is an object")
