"""A JSON object against the one that is right, leaf by leaf: the F1 of values at their paths."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.files import NO_FILE, File, json_of
from reward_functions.core.jsons import is_too_deep, json_kind, no_constant, unique_names
from reward_functions.core.references import fields_text, reference_fields
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.extraction.answer import NoAnswer
from reward_functions.extraction.cues.matching import disqualifying_cue
from reward_functions.extraction.cues.phrase import RULES
from reward_functions.extraction.json_answer import in_array
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.extraction.scores import METRICS, not_answered, partly, with_truncation
from reward_functions.extraction.text_metrics import rouge_of_words, words_in
from reward_functions.extraction.visible import MIN_ECHO
from reward_functions.quantities.numerals import is_short, quantity
from reward_functions.quantities.unicode_forms import canonical_text
from reward_functions.verifiers._matching import most_matched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Equal = Callable[[Any, Any], bool]

LONGEST: Final = 200_000
"""Characters of a response that is read."""

MOST_MATCHED: Final = 200
"""Elements of an array, on either side, that are matched in any order."""

MOST_COMPARED: Final = 50_000
"""Leaves of one response that are compared; from there on arrays are compared in order."""

Extract = Literal["only", "whole", "fence", "last"]

_LEAF: Final = 1 << 24
"""What an equal leaf counts in a sum in which a null that is given for a null counts 1."""

MOST_OBJECTS: Final = 256
MOST_BROKEN: Final = 16
"""Objects of a response, and broken ones; a response with more has no object."""

_LONG_INTEGER: Final = 4_000
"""Digits above which Python converts no text to an `int`."""

_OPENING: Final = re.compile(r'\{\s{0,80}["}]')
_RESUME: Final = re.compile(r"\n(?=\{)|```")
_FENCE: Final = re.compile(r"```\w{0,12}\s{0,80}\Z")
_CLOSING: Final = re.compile(r"\s{0,80}```")
_WRITTEN_RULE: Final = re.compile(r"(number±|rouge_l>=)(\d{1,12}(?:\.\d{1,12})?)|by (\S.{0,99})")

_MISSING: Final = object()


class Found(NamedTuple):
    """An object of a text, and where it stands; None where a text only begins as one does."""

    value: dict[str, Any] | None
    start: int
    end: int


def exactly(right: Any, given: Any) -> bool:
    """Whether two leaves are the same JSON value: 3.0 is 3, true is not 1."""
    if isinstance(right, int | Decimal) and isinstance(given, int | Decimal):
        return isinstance(right, bool) is isinstance(given, bool) and right == given
    return type(right) is type(given) and bool(right == given)


def _plain(value: Any) -> Any:
    """A leaf in one spelling: a text in NFC, a whole number as an `int`."""
    if isinstance(value, str):
        return canonical_text(value)
    whole = isinstance(value, Decimal) and is_short(value) and value == value.to_integral_value()
    return int(value) if whole else value


def _date(text: str) -> str:
    """A date or a time in one spelling; any other text as it stands."""
    try:
        return datetime.fromisoformat(text.strip()).isoformat()
    except ValueError:
        return text


TEXTS: Final[Mapping[str, Callable[[str], str]]] = {
    "casefold": str.casefold,
    "strip": str.strip,
    "casefold strip": lambda text: text.casefold().strip(),
    "iso": _date,
}
"""Rules of strings: what is done to both before they are compared."""


def _changed(change: Callable[[str], str], value: Any) -> Any:
    return canonical_text(change(value)) if isinstance(value, str) else _plain(value)


def _number(value: Any) -> Any:
    """A number as a fraction, also the one that a text states; any other value, or a huge one."""
    if isinstance(value, str) and (found := quantity(value)):
        return found.value
    number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return Fraction(value) if number and is_short(Decimal(value)) else _plain(value)


def _within(tolerance: Fraction, right: Any, given: Any) -> bool:
    numbers = isinstance(right, Fraction) and isinstance(given, Fraction)
    return abs(right - given) <= tolerance if numbers else exactly(right, given)


def _worded(value: Any) -> Any:
    """A text with its words, as a tuple; any other value as it stands."""
    return (canonical_text(value), *words_in(value)) if isinstance(value, str) else value


def _alike(least: float, right: Any, given: Any) -> bool:
    texts = isinstance(right, tuple) and isinstance(given, tuple)
    return exactly(right, given) or (texts and rouge_of_words(given[1:], right[1:]) >= least)


class Rule(NamedTuple):
    """How the values of a path are compared.

    Attributes:
        prepared: what is done to each, once.
        equal: whether two that are prepared are the same.
    """

    prepared: Callable[[Any], Any] = _plain
    equal: Equal = exactly


EXACT: Final = Rule()


class Rules(NamedTuple):
    """The rules in `fields`, by path: `lines[].sku` is a leaf, `lines[]` the elements of an array.

    Attributes:
        leaves: how values are compared.
        arrays: the name by which elements find each other; "" for their order.
    """

    leaves: Mapping[str, Rule]
    arrays: Mapping[str, str]


@lru_cache(8)
def rules_of(fields: str) -> Rules:
    """The rules of a parameter `fields`.

    Raises:
        ConfigurationError: it is no object of texts, or a text is no rule.
    """
    given = json_of(fields) if fields else {}
    if not isinstance(given, dict):
        raise ConfigurationError(f"json_fields: fields is {json_kind(given)}, not an object")
    leaves: dict[str, Rule] = {}
    arrays: dict[str, str] = {}
    for path, rule in given.items():
        found = _WRITTEN_RULE.fullmatch(rule) if isinstance(rule, str) else None
        if path.endswith("[]") and (rule == "in order" or (found and found[3])):
            arrays[path] = found[3] if found else ""
        elif isinstance(rule, str) and rule in TEXTS:
            leaves[path] = Rule(partial(_changed, TEXTS[rule]))
        elif found and found[1] == "number±":
            leaves[path] = Rule(_number, partial(_within, Fraction(found[2])))
        elif found and found[1] and 0 < float(found[2]) <= 1:
            leaves[path] = Rule(_worded, partial(_alike, float(found[2])))
        else:
            known = ", ".join((*TEXTS, "number±0.01", "rouge_l>=0.5"))
            raise ConfigurationError(
                f"json_fields: {path!r} has no rule {rule!r}: there are {known}, and for elements "
                "of an array, whose path ends in [], in order and by NAME"
            )
    return Rules(leaves, arrays)


def _breach(schema: str, value: Any) -> str:
    """Where a value breaks a schema, and by which of its keywords; "" where it does not."""
    checks = _validator(schema)
    try:
        if checks.is_valid(value):
            return ""
        error = next(iter(checks.iter_errors(value)))
    except ValueError:
        return "by half of a surrogate pair, which no text may have"
    place = ".".join(map(str, error.instance_path))
    keyword = error.schema_path[-1] if error.schema_path else "false"
    return f"at {json.dumps(place[:100])}, by its {keyword}" if place else f"by its {keyword}"


@lru_cache(8)
def _validator(schema: str) -> Any:
    """What validates by a schema.

    Raises:
        ConfigurationError: it is no schema, or it refers to another machine.
    """
    from jsonschema_rs import validator_for  # noqa: PLC0415 - an extra

    try:
        return validator_for(json_of(schema), offline=True)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise ConfigurationError(f"json_fields: the schema cannot be used: {reason}") from None


def _check(*, schema: str, fields: str, **_: object) -> None:
    rules_of(fields)
    if schema:
        _validator(schema)


class Comparison:
    """One object beside the right one.

    Args:
        rules: of its fields.

    Attributes:
        in_order: whether an array was too long to be matched in any order.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.compared = 0
        self.in_order = False

    def same(self, right: Any, given: Any, path: str = "") -> int:
        """What two values share: `_LEAF` for each equal leaf, 1 for each null given for a null."""
        if isinstance(right, dict) and right and isinstance(given, dict):
            names = [name for name in right if name in given]
            return sum(self.same(right[name], given[name], _inside(path, name)) for name in names)
        if isinstance(right, list) and right and isinstance(given, list):
            return self._array(right, given, f"{path}[]")
        self.compared += 1
        if right is None:
            return int(given is None)
        return _LEAF * self.rules.leaves.get(path, EXACT).equal(right, given)

    def prepared(self, value: Any, path: str = "") -> Any:
        """A value whose leaves are ready to be compared."""
        if isinstance(value, dict) and value:
            return {name: self.prepared(each, _inside(path, name)) for name, each in value.items()}
        if isinstance(value, list) and value:
            return [self.prepared(each, f"{path}[]") for each in value]
        return self.rules.leaves.get(path, EXACT).prepared(value)

    def _array(self, right: list[Any], given: list[Any], path: str) -> int:
        name = self.rules.arrays.get(path)
        if not name:
            return (self._matched if name is None else self._zipped)(right, given, path)
        groups: dict[str, tuple[list[Any], list[Any]]] = {}
        for side, elements in enumerate((right, given)):
            for each in elements:
                key = each.get(name) if isinstance(each, dict) else None
                groups.setdefault(_text(key), ([], []))[side].append(each)
        return sum(self._matched(*each, path) for each in groups.values())

    def _zipped(self, right: list[Any], given: list[Any], path: str) -> int:
        self.in_order = self.in_order or self.rules.arrays.get(path) != ""
        return sum(map(self.same, right, given, repeat(path)))

    def _matched(self, right: list[Any], given: list[Any], path: str) -> int:
        """The most that elements share, each with one other at most; equal ones are partners."""
        if max(len(right), len(given)) > MOST_MATCHED:
            return self._zipped(right, given, path)
        left: dict[str, list[Any]] = {}
        for each in given:
            left.setdefault(_text(each), []).append(each)
        equal, rest = 0, []
        for each in right:
            if twins := left.get(_text(each)):
                equal += self.same(each, twins.pop(), path)
            else:
                rest.append(each)
        others = [each for twins in left.values() for each in twins]
        self.compared += len(others) * _length(rest) + len(rest) * _length(others)
        if self.compared + len(others) * sum(map(size, rest)) // _LEAF > MOST_COMPARED:
            return equal + self._zipped(rest, others, path)
        shared = [[self.same(each, other, path) for other in others] for each in rest]
        return equal + most_matched(shared)

    def wrong(self, right: Any, given: Any, path: str = "") -> str:
        """The path of the first field that differs, by name; an array is named as a whole."""
        if not isinstance(right, dict) or not isinstance(given, dict):
            return path
        for name in sorted({*right, *given}):
            here = _inside(path, name)
            if name not in right or name not in given:
                if right.get(name, _MISSING) is not None:
                    return here
            elif self.same(right[name], given[name], here) // _LEAF != size(
                right[name]
            ) // _LEAF or size(given[name]) > size(right[name]):
                return self.wrong(right[name], given[name], here)
        return path


def size(value: Any) -> int:
    """The leaves of a value as `Comparison.same` counts them; an empty array is one."""
    return sum(map(size, _inner(value))) or (1 if value is None else _LEAF)


def _length(value: Any) -> int:
    """What the words of a value take beside its leaves."""
    return len(value) // 4 if isinstance(value, tuple) else sum(map(_length, _inner(value)))


def _inner(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _inside(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _text(value: Any) -> str:
    """A value as a text that is equal for equal values."""
    return json.dumps(value, sort_keys=True, default=repr)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) < _LONG_INTEGER else Decimal(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=unique_names,
    parse_float=Decimal,
    parse_int=_integer,
    parse_constant=no_constant,
)


def objects_in(text: str) -> Iterator[Found]:
    """The outermost objects of a text in order; one that is broken has no value.

    After a broken one the search goes on at a fence, or where a line begins with an object.
    """
    at = broken = count = 0
    while opening := _OPENING.search(text, at):
        start, value = opening.start(), None
        count += 1
        if max(count / MOST_OBJECTS, broken / MOST_BROKEN) >= 1:
            yield Found(None, start, len(text))
            return
        try:
            value, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError, InvalidOperation):
            resumed = _RESUME.search(text, opening.end())
            at = resumed.end() if resumed else len(text)
        if value is None or is_too_deep(value) or in_array(text, start, at):
            value, broken = None, broken + 1
        fence, closing = _FENCE.search(text, max(0, start - 100), start), _CLOSING.match(text, at)
        if value is not None and fence and closing:
            yield Found(value, fence.start(), closing.end())
        else:
            yield Found(value, start, at)


def _object(text: str, extract: Extract) -> Found | NoAnswer:
    """The object that is the answer of a text without its reasoning."""
    if len(text) > LONGEST:
        return NoAnswer(f"it has more than {LONGEST:,} characters", "no-object")
    found = [*objects_in(text)]
    if extract == "fence":
        found = [each for each in found if text.startswith("```", each.start)]
    alone = extract in ("only", "whole")
    if not found or any(each.value is None for each in (found if alone else found[-1:])):
        return NoAnswer("the response has no JSON object, or a broken one", "no-object")
    last = found[-1]
    if alone and any(each.value != last.value for each in found):
        return NoAnswer("the response has several objects", "one-object")
    if extract == "whole" and text[: last.start].strip() + text[last.end :].strip():
        return NoAnswer("something stands beside the object", "whole-response")
    cue = disqualifying_cue(text, last.start, last.end, form="box")
    return NoAnswer(f"the object {cue}", RULES[cue]) if cue else last


def _right(sample: Sample) -> str:
    return json.dumps(_gold(sample.reference), ensure_ascii=False, default=float)


def _gold(reference: Any) -> dict[str, Any]:
    """The right object, its decimals exact.

    Raises:
        BadReference: the reference is no object, or it has nothing but nulls.
    """
    found = reference_fields(reference)
    if found is None and isinstance(reference, dict):
        found = reference  # its one field is called as a trainer's wrapper is
    if not found:
        raise BadReference("the reference is no JSON object with a field")
    try:
        gold = _decoded(fields_text(reference) or json.dumps(found))
    except (TypeError, ValueError, RecursionError, InvalidOperation):
        raise BadReference("the reference is no JSON: NaN, or a name twice") from None
    if size(gold) < _LEAF:
        raise BadReference("every field of the reference is null")
    return gold


@lru_cache(64)
def _decoded(text: str) -> dict[str, Any]:
    gold: dict[str, Any] = _DECODER.decode(text)
    if is_too_deep(gold):
        raise ValueError(text[:1])
    return gold


def _credit(sample: Sample) -> float:
    """The F1 of all fields and one that nobody asked for."""
    right = size(_gold(sample.reference)) // _LEAF
    return 2 * right / (2 * right + 1)


_TOTAL: Final = {"total": 12.5, "lines": [{"sku": "A", "count": 1}, {"sku": "B", "count": 2}]}


@reward_function(
    version=1,
    gold_response=_right,
    metrics=(*METRICS, "precision", "recall"),
    check=_check,
    partial_credit=_credit,
    examples=[
        Example(
            "positive",
            response='Here it is:\n```json\n{"paid": true, "total": 12.50}\n```',
            reference={"total": 12.5, "paid": True},
            score=1.0,
            why="12.50 is 12.5, and the order of names is free",
        ),
        Example(
            "partial",
            response='{"lines": [{"sku": "A", "count": 2}, {"sku": "B", "count": 1}]}',
            reference=_TOTAL,
            score=4 / 9,
            why="2 of 5 values are right, and 4 were given: elements are matched whole",
        ),
        Example("negative", response='{"paid": 1}', reference={"paid": True}, score=0.0),
        Example(
            "attack",
            response='{"total": null, "lines": null}',
            reference=_TOTAL,
            score=0.0,
            why="a name alone earns nothing",
        ),
        Example(
            "attack",
            response='{"total": 12.5} or {"total": 13}',
            reference={"total": 12.5},
            score=0.0,
        ),
    ],
)
def json_fields(
    sample: Sample,
    *,
    schema: File = NO_FILE,
    fields: File = NO_FILE,
    extract: Extract = "only",
    nulls_are_absent: bool = False,
) -> Score:
    """The JSON object of a response has the values of the right one: micro-F1 over its leaves.

    Reference: an object, or its JSON text; `{"text": …}` around it is taken off. Scale: 0.0 to 1.0.
    A leaf is a value at its path, or an empty object or array; a name alone is nothing. Values are
    compared exactly: texts after NFC, numbers as decimals, true is not 1. Elements of an array are
    matched whole, each with one, so that the most leaves are equal. A null of the reference may be
    given or left out. Metrics: `answered`, `truncated`, `precision` and `recall` (of the leaves).

    Not handled: an array as the whole answer; arrays of more than 200 elements in any order, which
    are compared in order.

    Args:
        sample: the response and its reference.
        schema: a JSON Schema, as a file or as text; an object that breaks it earns the minimum, a
            reference that does is the data set's failure. Needs the extra `json`.
        fields: rules by path, as a JSON object in a file or as text: `{"total": "number±0.01",
            "date": "iso", "note": "rouge_l>=0.5", "name": "casefold strip", "lines[]": "by sku"}`.
            A path is `a.b` of `{"a": {"b": 1}}`, and `lines[].sku` of an array.
        extract: the response holds one object only, is nothing but that object (in a fence or not),
            or the last fence or the last object counts.
        nulls_are_absent: whether a name with null is a name that is not there.

    Raises:
        BadReference: the reference is no object with a value, or breaks the schema.
        ConfigurationError: the schema or a rule cannot be read.
    """
    gold = _gold(sample.reference)
    if schema and (breach := _breach(schema, gold)):
        raise BadReference(f"the reference breaks the schema {breach}")
    text = without_reasoning(sample.response, str(sample.reference))
    if len(sample.prompt) >= MIN_ECHO and _OPENING.search(sample.prompt):
        text = text.replace(sample.prompt, "\n")
    found = _object(text, extract)
    if schema and isinstance(found, Found) and (breach := _breach(schema, found.value)):
        found = NoAnswer(f"the object breaks the schema {breach}", "schema")
    if isinstance(found, NoAnswer):
        score = not_answered(found.reason, found.rule, further=_shares(0, 1, 1))
    else:
        given = text[found.start : found.end]
        score = _compared(gold, found.value, given, rules_of(fields), absent=nulls_are_absent)
    return with_truncation(score, sample.response)


def _compared(gold: Any, value: Any, text: str, rules: Rules, *, absent: bool) -> Score:
    if absent:
        gold, value = _without_nulls(gold), _without_nulls(value)
    comparison = Comparison(rules)
    gold, value = comparison.prepared(gold), comparison.prepared(value)
    same, free = divmod(comparison.same(gold, value), _LEAF)
    asked = size(gold) // _LEAF
    given = sum(divmod(size(value), _LEAF)) - free
    f1 = 2 * same / (asked + given)
    reason = f"{same} of {asked} values are right, {given} were given"
    if comparison.in_order:
        reason += "; a long array was compared in order"
    if f1 == 1.0:
        evidence = Evidence("same-fields", text, "")
    else:
        place = comparison.wrong(gold, value)
        reason += f"; the first that differs is {json.dumps(place[:100])}"
        evidence = Evidence("some-fields", text, place[:100])
    return partly(f1, text, evidence, *_shares(same, asked, given), reason=reason)


def _shares(same: int, asked: int, given: int) -> tuple[Metric, Metric]:
    return Metric("precision", same / max(given, 1)), Metric("recall", same / asked)
