"""The tools that a response calls, with their arguments: beside its text, or written into it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import BadReference
from reward_functions.core.files import NO_FILE, File
from reward_functions.core.function_calls import calls_in
from reward_functions.core.references import reference_value
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, FunctionCall, Metric, Sample, Score
from reward_functions.extraction.called_tools import (
    DecodedCall,
    begins_call,
    called_tools,
    decoded_call,
    listed_in,
    text_of_calls,
)
from reward_functions.extraction.tool_schemas import has_required, offered_schemas, schemas_of_file
from reward_functions.extraction.visible import visible_response
from reward_functions.verifiers._arguments import (
    CallRules,
    a_right_value,
    difference,
    unusable_choices,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST: Final = 128
"""Calls that are matched with others."""

PART: Final = 0.2
"""The most that the names of the tools earn."""

SHOWN: Final = 2_000
"""Characters of calls that are shown."""

KEYS: Final = ("tool_calls", "calls", "answer", "ground_truth", "value", "text")
"""Keys of an object under which the calls of a reference stand."""

METRICS: Final = ("called", "matched", "named")

WANTED: Final = [{"name": "weather", "arguments": {"city": "Paris", "days": 3}}]
TIME: Final = {"name": "time", "arguments": {"city": {"any_of": ["Rome", "Roma"]}}}
TOOLS: Final = [{"name": "weather", "parameters": {"properties": {"days": {"default": 3}}}}]
RIGHT: Final = (
    '<tool_call>{"name": "weather", "arguments": {"city": "Paris", "days": 3.0}}</tool_call>'
)
BARE: Final = '{"name": "weather", "arguments": {"city": "Paris"}}'
ROMA: Final = '<tool_call>{"name": "time", "arguments": {"city": "Roma"}}</tool_call>'
SHOWING: Final[tuple[tuple[Any, ...], ...]] = (
    ("positive", RIGHT, WANTED, 1.0, {}, "JSON knows one number: 3.0 is 3"),
    ("positive", f"{ROMA}\n{RIGHT}", [*WANTED, TIME], 1.0, {}, "in any order, one of two names"),
    ("positive", BARE, {"calls": WANTED, "tools": TOOLS}, 1.0, {}, "the tool's own default"),
    ("attack", RIGHT, [], 0.0, {}, "none is wanted"),
    ("partial", BARE, WANTED, PART, {"share": True}, "the tool alone"),
    ("negative", RIGHT.replace("Paris", "Lyon"), WANTED, 0.0, {}, "another argument"),
    ("attack", f"{RIGHT}\n{ROMA}", WANTED, 0.0, {}, "each call counts"),
    ("attack", f"{RIGHT}\n{RIGHT}", [*WANTED, TIME], 0.0, {}, "a call is used once"),
    ("attack", RIGHT.replace("3.0", "true"), WANTED, 0.0, {}, "true is no number"),
    ("attack", f"{RIGHT}\n" * 100, WANTED, 0.0, {}, "a hundred calls, each of them right"),
    ("attack", "", [], 0.0, {}, "nothing is no answer"),
    ("attack", "<tool_call>{", [], 0.0, {}, "a call that cannot be read is one"),
)


def _wanted(sample: Sample) -> tuple[DecodedCall, ...]:
    """The calls of a reference. Raises BadReference where they cannot be read."""
    value = listed_in(reference_value(sample.reference, KEYS))
    if value is None or len(value) > MOST:
        raise BadReference(f"the reference is no list of at most {MOST} calls; [] wants none")
    return _read(calls_in({"tool_calls": value}))


@lru_cache(256)
def _read(calls: tuple[FunctionCall, ...]) -> tuple[DecodedCall, ...]:
    found = tuple(map(decoded_call, calls))
    for at, call in enumerate(found, 1):
        if not call.name or calls[at - 1].arguments == "null":
            raise BadReference(f"call {at} of the reference has no name, or no arguments")
        if unusable_choices(call.arguments):
            raise BadReference(f"call {at} of the reference has an any_of without alternatives")
    return found


def _matched(equal: Sequence[Sequence[int]]) -> set[int]:
    """The wanted calls that have a given one of their own: as many as can be.

    Args:
        equal: for each wanted call the given ones that equal it.
    """
    taken: dict[int, int] = {}

    def place(call: int, seen: set[int]) -> bool:
        for at in equal[call]:
            if at not in seen:
                seen.add(at)
                if at not in taken or place(taken[at], seen):
                    taken[at] = call
                    return True
        return False

    return {call for call in range(len(equal)) if place(call, set())}


def _scored(sample: Sample, wanted: Sequence[DecodedCall], rules: CallRules, order: str) -> Score:
    """1 or 0, without a share."""
    given, written, untyped = called_tools(sample)
    rules = rules._replace(untyped=untyped)
    shown = " ".join(f"{call.name}({call.arguments})" for call in written)[:SHOWN]
    most = max(len(wanted), len(given), 1)
    names = Counter(call.name for call in wanted) & Counter(call.name for call in given)
    places = [
        [
            difference(call, each, rules) if order == "any" or at == where else "?"
            for where, each in enumerate(given[:MOST])
        ]
        for at, call in enumerate(wanted)
    ]
    matched = _matched([[at for at, each in enumerate(row) if not each] for row in places])
    rule, reason = "same-calls", ""
    if not wanted:
        rule, reason = "no-call", _uncalled(sample, bool(given))
    elif len(given) != len(wanted):
        rule, reason = "call-count", f"{len(given)} calls where {len(wanted)} are wanted"
    elif len(matched) < most:
        at = min({*range(most)} - matched)
        place = next((each for each in places[at] if each not in {"", "?"}), "")
        rule = "call-argument" if place else "call-tool"
        reason = f"call {at + 1}: {place[:100] or 'the tool'} is another"
    values = (bool(given), 1.0 if not reason else len(matched) / most, names.total() / most)
    return Score(
        float(not reason),
        tuple(Metric(name, float(each)) for name, each in zip(METRICS, values, strict=True)),
        shown or None,
        reason
        or ("the calls are the wanted ones" if wanted else "no call is wanted, and none made"),
        Evidence(rule, shown, " ".join(map(str, wanted))[:SHOWN]),
    )


def _uncalled(sample: Sample, called: bool) -> str:  # noqa: FBT001
    """Why a response does not earn what one without a call does; "" where it does."""
    if called or begins_call(sample.response):
        return "a call where none is wanted"
    text = visible_response(sample.response, sample.prompt)
    return "" if any(map(str.isalnum, text)) else "nothing is answered"


def _right(sample: Sample) -> str:
    wanted = [call._replace(arguments=a_right_value(call.arguments)) for call in _wanted(sample)]
    return text_of_calls(wanted) or "No tool is needed."


def _check(*, tools: File, **_: Any) -> object:
    return tools and schemas_of_file(tools)


@reward_function(
    version=1,
    gold_response=_right,
    metrics=METRICS,
    check=_check,
    partial_credit=PART,
    examples=[
        Example(kind, response=text, reference=right, score=score, parameters=given, why=why)
        for kind, text, right, score, given, why in SHOWING
    ],
)
def tool_calls(
    sample: Sample,
    *,
    order: Literal["any", "given"] = "any",
    arguments: Literal["exact", "required"] = "exact",
    case: bool = True,
    share: bool = False,
    tools: File = NO_FILE,
) -> Score:
    """The response calls the tools of the reference, with its arguments, and no other.

    Reference: a list of `{"name": …, "arguments": {…}}`, alone, as JSON text, or in an object under
    `tool_calls`, `calls`, `answer`, `ground_truth`, `value` or `text`. `[]`: no call is wanted, and
    a text is. `{"any_of": [1, 2]}` in the place of a value means any of these; with `"optional":
    true` beside it, it may be left out. Scale: 0.0 to 1.0. Calls are those beside the text
    (`tool_calls` of the message), or else those that it ends with, in any of ten forms. Metrics:
    `called` (0 or 1), `matched` (share of the calls that are right), `named` (share whose tool is
    wanted).

    Numbers without point and exponent are exact, others but for a relative 1e-9 (beside a whole one
    at most 1e-6 in all); 3.0 is 3, `true` is not 1. Strings are exact in NFC. Schemas (of `tools`
    in the row or the reference, OpenAI's list, else of the file) say which value an argument has
    that is left out, and not required.

    Not handled: `$ref` in schemas, arguments that are code, calls before the last turn. Source of
    the cases: BFCL's AST checker (Patil et al., 2025), which strips `,./-_*^` of strings and so
    pays "3.14" for "314".

    Args:
        sample: the response and its reference.
        order: whether the calls may stand in any order.
        arguments: compare all, or those alone that the schema requires.
        case: whether capital letters of strings count; names of tools and arguments are exact.
        share: pay a wrong response 0.2 of the share of calls whose tool is wanted.
        tools: a JSON file with OpenAI's list of tools, for rows without one.

    Raises:
        BadReference: there is no reference, or it or the row's tools cannot be read, or one of its
            calls is of a tool that they do not have.
    """
    wanted, schemas = _wanted(sample), offered_schemas(sample, tools)
    required = arguments == "required"
    for at, call in enumerate(wanted, 1):
        if call.name not in schemas and (schemas or required):
            raise BadReference(
                f"call {at} of the reference is of a tool that tools do not have: "
                f"{call.name[:60]!r}"
            )
        if required and not has_required(schemas[call.name]):
            raise BadReference(f"the schema of call {at} of the reference has no list `required`")
    score = _scored(sample, wanted, CallRules(schemas, required, case), order)
    part = PART * score.metrics[-1].value if share and wanted else 0.0
    return score if score.value else replace(score, value=part)
