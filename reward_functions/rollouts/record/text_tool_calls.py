"""Tool calls that a policy wrote into its text, because its engine did not read them.

**What is a call, and what an example.** Reasoning is taken away first. JSON, fenced or not, is a
call where it is the whole answer. A call with a marker begins a line, and nothing but calls and
white space follows it: an example in a sentence, in backticks or in a fence has something around
it. What begins in a fence or a call that is still open, or directly behind a call, is a part of it:
a file that a cut call was to write runs nothing. A call counts where all calls of the answer are of
tools that were offered, with the arguments in an object: otherwise the answer stays text.

Each form is read once from each of the first `PLACES` markers: the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.responses import RECOVERED, function_of
from reward_functions.rollouts.record.text_tool_call_forms import (
    FORMS,
    MOST,
    Called,
    Reader,
    WrongForm,
    whole_answer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LONGEST: Final = 1_000_000
"""Characters of an answer that is looked into."""

PLACES: Final = 16
"""Markers of an answer, the first ones, from which calls are tried to be read."""

THINKING: Final = ("<think>", "</think>")


def text_tool_calls(text: str, offered: Iterable[str]) -> tuple[str, list[Called]]:
    """The calls that an answer ends with.

    Args:
        text: of the answer.
        offered: names of the tools that the policy was offered.

    Returns:
        What stands before them, reasoning included, and the calls: none where there are none.
    """
    if len(text) > LONGEST or not _may_call(text):
        return text, []
    names = set(offered)
    begin = _behind_reasoning(text)
    for at, read in _places(text, begin):
        try:
            calls = read(Reader(text, at))
        except WrongForm:
            continue
        known = len(calls) <= MOST and all(call.name in names for call in calls)
        return (text[:at].rstrip(), calls) if calls and known else (text, [])
    return text, []


def recovered(message: Mapping[str, Any], tools: Iterable[Any]) -> dict[str, Any] | None:
    """A message whose tool calls were text, with `tool_calls` in OpenAI's form.

    Args:
        message: of an answer, in OpenAI's form; it is not changed.
        tools: that the policy was offered, in OpenAI's form, or their names.

    Returns:
        A copy, the text of the calls taken out of its content; None where there is nothing to
        recover. Ids follow from message and place, so that whoever recovers the calls again finds
        the same ones; a policy that writes the same message twice has the same ids twice.
    """
    if not isinstance(message, Mapping) or message.get("tool_calls"):
        return None
    text = text_of(message.get("content"))
    before, calls = text_tool_calls(text, names_of(tools))
    if not calls:
        return None
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    written = [
        {
            "id": f"{RECOVERED}{digest[:16]}_{at}",
            "type": "function",
            "function": call._asdict(),
        }
        for at, call in enumerate(calls)
    ]
    return {**message, "content": before or None, "tool_calls": written}


def names_of(tools: Any) -> list[str]:
    """The names of tools in OpenAI's form; what has none is left out."""
    if not isinstance(tools, list | tuple | set | frozenset | dict):
        return []
    named = (
        each if isinstance(each, str) else isinstance(each, Mapping) and function_of(each)
        for each in tools
    )
    return [each if isinstance(each, str) else each[0] for each in named if each]


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some are texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    parts = (each.get("text") for each in content if isinstance(each, Mapping))
    return "".join(part for part in parts if isinstance(part, str))


def without_reasoning(text: str) -> str:
    """A text behind its reasoning."""
    return text[_behind_reasoning(text) :]


def _may_call(text: str) -> bool:
    """Whether it is worth a look: most answers are prose."""
    return text.lstrip()[:1] in {"{", "[", "`"} or any(
        form in text for form in (*FORMS, "</think>")
    )


def _behind_reasoning(text: str) -> int:
    """Where the reasoning ends; the end of the text where it does not."""
    opening, closing = THINKING
    end = text.rfind(closing)
    begin = text.find(opening, max(end, 0))
    if begin >= 0:
        return len(text)
    return 0 if end < 0 else end + len(closing)


def _places(text: str, begin: int) -> Iterator[tuple[int, Callable[[Reader], list[Called]]]]:
    """Where calls may begin, from the front, and how they are read there.

    Not in a call or a fence that is open, and not directly behind a call.
    """
    first = Reader(text, begin).space().at
    yield first, whole_answer
    last, opened, end = first, 0, ""
    for marker, form in FORMS.items():
        if text.startswith(marker, first):
            yield first, form.read
            last, opened, end = first + len(marker), 1, form.end
    for match in islice(_LINES.finditer(text, first), PLACES):
        at, form = match.start(1), FORMS[match.group(1)]
        between = text[last:at]
        opened = max(0, opened - (between.count(end) if end else 0))
        behind = bool(end) and between.rstrip().endswith(end)
        if not (opened or behind or len(_FENCES.findall(text, first, at)) % 2):
            yield at, form.read
        last, opened, end = match.end(), opened + 1, form.end


_FENCES: Final = re.compile(r"^[ \t]*+```", re.MULTILINE)
_LINES: Final = re.compile(rf"\n[ \t]*+({'|'.join(map(re.escape, FORMS))})")
