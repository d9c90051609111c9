"""Find the tools that a response calls: beside its text, or else in the text that it ends with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.core.jsons import unique_names
from reward_functions.extraction.tool_call_forms import FORMS, behind_reasoning, text_tool_calls
from reward_functions.extraction.truncation import in_reasoning
from reward_functions.quantities.json_numbers import json_with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.types import FunctionCall, Sample

LONGEST: Final = 1_000_000
"""Characters of the arguments of all calls of a response."""

ENDS: Final = (
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "</s>"),
    *("<|observation|>", "<end_of_turn>", "<｜end▁of▁sentence｜>"),
)
"""What a turn ends with where the trainer leaves it in."""

BEGINS: Final = (*FORMS, "<function=", "<function_call>", "<tool_calls>", "<|tool_call")
"""What a line begins with that is to be a call."""

QUOTED: Final = ('"arguments"', '"parameters"')
"""A key of a call in JSON."""

KEYS: Final = frozenset({"name", "arguments", "parameters"})
_KEYED: Final = re.compile(r"""^[ \t]*+(?:\[\s*+)?\{\s*+["'](\w{4,10})["']""", re.MULTILINE)
"""What a line begins with that is to be a call in JSON, where the text has a key of one."""

TAGGED: Final = "<tool_call>"
"""What begins forms whose values have no quotes, unless an object follows: their 8000 may be a text
or a number."""


class DecodedCall(NamedTuple):
    """A call with its arguments decoded, each number a `JsonNumber`; unreadable without a name."""

    name: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}({json.dumps(self.arguments, ensure_ascii=False, default=str)})"


class CalledTools(NamedTuple):
    """The calls of a response.

    Attributes:
        calls: in order, unreadable ones among them.
        written: the same as they are written.
        untyped: whether their values have no quotes.
    """

    calls: tuple[DecodedCall, ...]
    written: Sequence[FunctionCall]
    untyped: bool


def decoded_call(call: FunctionCall) -> DecodedCall:
    """A call with its arguments; one that cannot be read has no name. No arguments are `{}`."""
    try:
        arguments = json_with_numbers(call.arguments.strip() or "{}")
    except ValueError:
        return DecodedCall("", {})
    arguments = {} if arguments is None else arguments
    return DecodedCall(call.name, arguments) if isinstance(arguments, dict) else DecodedCall("", {})


def called_tools(sample: Sample) -> CalledTools:
    """The calls of a response; of its text only where none stand beside it.

    A call inside reasoning that is never closed does not count. Calls with words between them are
    unreadable: some engines run the first one as well.
    """
    written: Sequence[FunctionCall] = sample.tool_calls
    text = "" if written or in_reasoning(sample.response) else sample.response.rstrip()
    for end in ENDS:
        text = text.removesuffix(end).rstrip()
    before, found = text_tool_calls(text, None)
    written = written or found
    long = sum(len(call.arguments) for call in written) > LONGEST
    if long or (found and begins_call(before)):
        return CalledTools((DecodedCall("", {}),) * len(written), written, untyped=False)
    inner = text[len(before) :].lstrip()
    untyped = inner.startswith(TAGGED) and inner[len(TAGGED) :].lstrip()[:1] != "{"
    return CalledTools(tuple(map(decoded_call, written)), written, untyped)


def begins_call(response: str) -> bool:
    """Whether a text begins a call, be it one that can be read or not."""
    text = response[behind_reasoning(response) :].strip()
    bare = text.removeprefix("```json").removeprefix("```").lstrip()
    if any(each in text for each in QUOTED) and bare.startswith(("{", "[")):
        return True
    spelled = text.replace("'", '"')
    if any(each in spelled for each in QUOTED) and not KEYS.isdisjoint(_KEYED.findall(text)):
        return True
    return any(line.lstrip(" \t").startswith(BEGINS) for line in text.splitlines())


def listed_in(value: Any) -> list[Any] | None:
    """The list that a value is, or is the JSON text of; None of any other."""
    if isinstance(value, str):
        try:
            value = json.loads(value, object_pairs_hook=unique_names)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, list) else None


def text_of_calls(calls: Sequence[DecodedCall]) -> str:
    """Calls as a policy writes them into its text, in the form of Hermes.

    Args:
        calls: their numbers as Python has them.
    """
    # An escape is no tag: what a reader takes for the answer is behind the last </think>.
    written = [json.dumps(call._asdict()).replace("<", "\\u003c") for call in calls]
    return "\n".join(f"<tool_call>{call}</tool_call>" for call in written)
