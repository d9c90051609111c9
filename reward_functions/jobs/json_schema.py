r"""A document against a JSON schema that a service published a moment ago.

Checked: type, enum, const, required, properties, additionalProperties, propertyNames.maxLength,
items, minItems, maxItems, minLength, maxLength, minimum, maximum, exclusiveMinimum,
exclusiveMaximum, pattern, allOf, anyOf, oneOf, and $ref to a part of the schema itself.

Not checked, and so never a reason to refuse: format, if/then/else, not, dependencies, contains,
uniqueItems, multipleOf, patternProperties, references to other documents, and a pattern that could
take long. The service checks those itself.

A schema is as hostile as any other answer: it is looked at in a bounded number of steps, and a
pattern only where it repeats no group, looks at nothing behind or ahead, and has two open
repetitions at most; its value has 1,024 characters at most.

Source: "JSON Schema Validation", drafts 7 and 2020-12.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_STEPS: Final = 20_000
"""Values and schemas that are looked at, in all."""

MAX_DEPTH: Final = 48
"""Schemas within schemas."""

LONGEST_PATTERN: Final = 400

LONGEST_MATCHED: Final = 1_024
"""Characters of a value that a pattern reads."""

MOST_OPEN: Final = 2
"""Repetitions of a pattern whose number is open; one that may begin anywhere counts as one more."""

SHOWN: Final = 96
"""Characters of a name or a pattern that a problem quotes."""

_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        not isinstance(value, bool)
        and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
}

_ATOM: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{[0-9,]*\}|.", re.DOTALL)
"""A pattern's parts: an escape, a class, a count, any other character."""

_RANGE: Final = re.compile(r"\{[0-9]*,[0-9,]*\}")


class BadSchema(ConfigurationError):
    """A schema that cannot be read: of the service's making, and no fault of the document."""


@dataclass(slots=True)
class _Looking:
    """One document against one schema; counts its steps."""

    whole: dict[str, Any]
    steps: int = 0

    def problems(self, schema: Any, value: Any, where: str, depth: int) -> Iterator[str]:
        self.steps += 1
        if self.steps > MAX_STEPS or depth > MAX_DEPTH:
            raise BadSchema("the schema is too large, or refers to itself without an end")
        if schema is False:
            yield f"{_place(where)} is not allowed"
        if not isinstance(schema, dict):
            return
        target = self._referred(schema.get("$ref"))
        if target is not None:
            yield from self.problems(target, value, where, depth + 1)
        if wrong := _wrong_type(schema.get("type"), value):
            yield f"{_place(where)} is not {wrong}"
            return
        yield from _single(schema, value, where)
        if isinstance(value, dict):
            yield from self._object(schema, value, where, depth)
        if isinstance(value, list):
            yield from self._array(schema, value, where, depth)
        yield from self._joined(schema, value, where, depth)

    def _object(
        self, schema: dict[str, Any], value: dict[str, Any], where: str, depth: int
    ) -> Iterator[str]:
        for name in _strings(schema.get("required")):
            if name not in value:
                yield f"{_place(_under(where, name))} is required"
        known = schema.get("properties")
        known = known if isinstance(known, dict) else {}
        further = (
            True if "patternProperties" in schema else schema.get("additionalProperties", True)
        )
        longest = schema.get("propertyNames")
        longest = longest.get("maxLength") if isinstance(longest, dict) else None
        for name, each in value.items():
            if isinstance(longest, int) and len(name) > longest:
                yield f"{_place(_under(where, name))}: its name has more than {longest} characters"
            if name not in known and further is False:
                yield f"{_place(_under(where, name))} is not known to this version of the schema"
            else:
                inner = known.get(name, further)
                yield from self.problems(inner, each, _under(where, name), depth + 1)

    def _array(
        self, schema: dict[str, Any], value: list[Any], where: str, depth: int
    ) -> Iterator[str]:
        yield from _sized(schema, ("minItems", "maxItems"), len(value), "items", where)
        for number, each in enumerate(value):
            yield from self.problems(schema.get("items"), each, f"{where}[{number}]", depth + 1)

    def _joined(self, schema: dict[str, Any], value: Any, where: str, depth: int) -> Iterator[str]:
        for part in _listed(schema.get("allOf")):
            yield from self.problems(part, value, where, depth + 1)
        for word, most in (("anyOf", len(_listed(schema.get("anyOf")))), ("oneOf", 1)):
            parts = _listed(schema.get(word))
            if not parts:
                continue
            tried = [[*self.problems(part, value, where, depth + 1)] for part in parts]
            holding = sum(not each for each in tried)
            if holding > most:
                yield f"{_place(where)} has the form of {holding} things of which it may be one"
            elif not holding:
                fewest = min(tried, key=len)
                yield f"{_place(where)} is none of the forms it may have: {fewest[0]}"

    def _referred(self, reference: Any) -> Any:
        """The part of the schema that a reference names; None where it names another document."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found: Any = self.whole
        for part in filter(None, reference[1:].split("/")[:MAX_DEPTH]):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        if found is None:
            raise BadSchema(f"the schema refers to {reference[:SHOWN]!r}, which it does not have")
        return found


def schema_problems(schema: Any, document: Any) -> list[str]:
    """What a document breaks of a schema: sentences without an end, which quote no value.

    Args:
        schema: as the service published it, decoded.
        document: what is to be sent.

    Returns:
        At most one sentence a place and rule, in the schema's order; empty where it fits.

    Raises:
        BadSchema: the schema is no object, has no end, or refers to what it does not have.
    """
    if not isinstance(schema, dict):
        raise BadSchema("the schema is no object")
    return [*_Looking(schema).problems(schema, document, "", 0)]


def _single(schema: dict[str, Any], value: Any, where: str) -> Iterator[str]:
    """The rules about one value by itself."""
    allowed = schema.get("enum")
    if isinstance(allowed, list) and not any(_same(value, each) for each in allowed):
        named = ", ".join(str(each)[:SHOWN] for each in allowed[:20])
        yield f"{_place(where)} is none of {named}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{_place(where)} is not {str(schema['const'])[:SHOWN]}"
    if isinstance(value, str):
        yield from _sized(schema, ("minLength", "maxLength"), len(value), "characters", where)
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not matches(pattern, value):
            yield f"{_place(where)} has not the form {pattern[:SHOWN]}"
    if _TYPES["number"](value):
        yield from _ranged(schema, value, where)


_BOUNDS: Final[dict[str, tuple[Callable[[float, float], bool], str]]] = {
    "minimum": (lambda value, bound: value >= bound, "below"),
    "maximum": (lambda value, bound: value <= bound, "above"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "not above"),
    "exclusiveMaximum": (lambda value, bound: value < bound, "not below"),
}


def _ranged(schema: dict[str, Any], value: float, where: str) -> Iterator[str]:
    for name, (holds, words) in _BOUNDS.items():
        bound = schema.get(name)
        if (
            isinstance(bound, int | float)
            and not isinstance(bound, bool)
            and not holds(value, bound)
        ):
            yield f"{_place(where)} is {words} {bound:g}"


def _sized(
    schema: dict[str, Any], names: tuple[str, str], size: int, what: str, where: str
) -> Iterator[str]:
    least, most = (schema.get(name) for name in names)
    if isinstance(least, int | float) and size < least:
        yield f"{_place(where)} has {size:,} {what}, fewer than {least:,.0f}"
    if isinstance(most, int | float) and size > most:
        yield f"{_place(where)} has {size:,} {what}, more than {most:,.0f}"


def matches(pattern: str, value: str) -> bool:
    """Whether a value fits a pattern; True where the pattern, or the value, could take long."""
    if not quick(pattern) or len(value) > LONGEST_MATCHED:
        return True
    try:
        return re.search(pattern, value) is not None
    except (re.error, OverflowError, RecursionError):
        return True


def quick(pattern: str) -> bool:
    """Whether a pattern takes quadratic time at most: a conservative look at its text."""
    if len(pattern) > LONGEST_PATTERN:
        return False
    parts = _ATOM.findall(pattern)
    open_ends = 0 if pattern.startswith("^") else 1
    before = ""
    for at, part in enumerate(parts):
        following = parts[at + 1] if at + 1 < len(parts) else ""
        if part == "(" and following == "?" and parts[at + 2 : at + 3] != [":"]:
            return False
        if part[:1] == "\\" and part[1:2].isdigit():
            return False
        repeats = part in "*+?" or (part[0] == "{" and len(part) > 1)
        if repeats and before == ")":
            if part != "?":
                return False
        elif part in "*+" or _RANGE.fullmatch(part):
            open_ends += 1
        before = part
    return open_ends <= MOST_OPEN


def _wrong_type(named: Any, value: Any) -> str:
    """What the value should be, in words; "" where it is."""
    names = [named] if isinstance(named, str) else _strings(named)
    known = [name for name in names if name in _TYPES]
    if not known or any(_TYPES[name](value) for name in known):
        return ""
    return " or ".join(f"{'an' if name[0] in 'aeio' else 'a'} {name}" for name in known)


def _same(first: Any, second: Any) -> bool:
    """Equal in JSON, where true is not 1."""
    return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)


def _strings(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _under(where: str, name: str) -> str:
    name = name[:SHOWN]
    return f"{where}.{name}" if where else name


def _place(where: str) -> str:
    return where or "the document"
