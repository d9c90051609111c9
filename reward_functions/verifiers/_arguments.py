"""Whether a value of a call is the one that is wanted, and where it is not.

In the place of a wanted value `{"any_of": [1, 2]}` means any of these; with `"optional": true`
beside it, the value may be left out. One that is left out, and that its JSON Schema does not
require, has the default of the schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.extraction.tool_schemas import field_object
from reward_functions.quantities.json_numbers import JsonNumber, json_or_none
from reward_functions.quantities.unicode_forms import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.extraction.called_tools import DecodedCall

WORDS: Final = (("true", True), ("false", False), ("null", None))
"""Texts that JSON takes for something else."""

_ABSENT: Final = object()


class CallRules(NamedTuple):
    """How calls are compared.

    Attributes:
        schemas: JSON Schemas of arguments, by the names of tools.
        required: compare those alone that the schema requires.
        case: whether capital letters of strings count.
        untyped: whether values have no quotes, so that a text may look like a number.
    """

    schemas: dict[str, Any]
    required: bool
    case: bool
    untyped: bool = False


def unusable_choices(wanted: Any) -> bool:
    """Whether a value, or one inside it, has an `any_of` that is no list of alternatives."""
    if _has_choices(wanted):
        listed = wanted["any_of"]
        if not isinstance(listed, list) or not (listed or _is_optional(wanted)):
            return True
    inner = wanted.values() if isinstance(wanted, dict) else wanted
    return isinstance(wanted, dict | list) and any(map(unusable_choices, inner))


def _has_choices(wanted: Any) -> bool:
    return isinstance(wanted, dict) and {"any_of"} <= wanted.keys() <= {"any_of", "optional"}


def _is_optional(wanted: Any) -> bool:
    return _has_choices(wanted) and wanted.get("optional") is True


def difference(wanted: DecodedCall, given: DecodedCall, rules: CallRules) -> str:
    """The argument in which a call is another one, "?" for the tool; "" where it is the same."""
    if wanted.name != given.name:
        return "?"
    schema = rules.schemas.get(wanted.name, {})
    names = schema["required"] if rules.required else (*wanted.arguments, *given.arguments)
    return _fields_differ(wanted.arguments, given.arguments, schema, rules, names)


def _differs(wanted: Any, given: Any, schema: Any, rules: CallRules, place: str) -> str:
    """Where a value is another one, such as `stops[2].city`; "" where it is the same."""
    if _has_choices(wanted):
        same = any(not _differs(each, given, schema, rules, place) for each in wanted["any_of"])
        return "" if same else place
    if isinstance(wanted, dict) and isinstance(given, dict):
        found = _fields_differ(wanted, given, schema, rules, (*wanted, *given))
        return found and f"{place}.{found}"
    if isinstance(wanted, list) and isinstance(given, list) and len(wanted) == len(given):
        items = field_object(schema, "items")
        pairs = enumerate(zip(wanted, given, strict=True))
        places = (_differs(*pair, items, rules, f"{place}[{at}]") for at, pair in pairs)
        return next(filter(None, places), "")
    return "" if _same(wanted, given, rules) else place


def _fields_differ(
    wanted: Any, given: Any, schema: Any, rules: CallRules, names: Iterable[str]
) -> str:
    """The same of some fields of two objects; one that may be left out has its default."""
    known, needed = field_object(schema, "properties"), _needed(schema)
    for name in dict.fromkeys(names):  # twice would be 2^depth times
        inner = field_object(known, name)
        default = inner.get("default", _ABSENT)
        left = wanted.get(name, default)
        right = given.get(name, _ABSENT if name in needed else default)
        if left is right or (name not in given and _is_optional(left)):
            continue
        if left is _ABSENT or right is _ABSENT:
            return name or '""'
        if not (isinstance(left, str) and left == right) and (
            found := _differs(left, right, inner, rules, name or '""')
        ):
            return found
    return ""


def _needed(schema: Any) -> list[Any]:
    """The fields that a schema requires."""
    needed = schema.get("required") if isinstance(schema, dict) else None
    return needed if isinstance(needed, list) else []


def _same(wanted: Any, given: Any, rules: CallRules) -> bool:
    """Whether two values are the same, of which one is neither an object nor a list."""
    if isinstance(wanted, JsonNumber) and isinstance(given, JsonNumber):
        return wanted.equals(given)
    if isinstance(wanted, str) and isinstance(given, str):
        one, two = canonical_text(wanted), canonical_text(given)
        return one == two if rules.case else one.casefold() == two.casefold()
    if isinstance(wanted, str) and rules.untyped and isinstance(given, JsonNumber):
        return wanted == given.text
    if isinstance(wanted, str) and rules.untyped:
        inside = isinstance(given, dict | list) and given == json_or_none(wanted)
        return inside or (wanted, given) in WORDS
    return type(wanted) is type(given) and bool(wanted == given)


def a_right_value(value: Any) -> Any:
    """A value of a reference as a right response has it: the first of alternatives."""
    if _has_choices(value):
        return a_right_value(next(iter(value["any_of"]), None))
    if isinstance(value, JsonNumber):
        return value.plain
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if not _is_optional(each)}
        return {key: a_right_value(each) for key, each in kept.items()}
    return [a_right_value(each) for each in value] if isinstance(value, list) else value
