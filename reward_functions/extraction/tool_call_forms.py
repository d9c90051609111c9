"""Tool calls that a policy wrote into its text, because its engine did not read them.

**A call or an example.** Reasoning is taken away first. JSON, fenced or not, is a call where it is
the whole answer. A call with a marker begins a line, and nothing but calls and white space follows
it: an example in a sentence, in backticks or in a fence has something around it. Text that begins
    in a fence or in an open call, or directly after a call, is a part of it: a file that a cut call
    was to write runs nothing. A call counts where all calls of the answer are of tools that were
    offered, with the arguments in an object: otherwise the answer stays text.

Each form is read once from each of the first `PLACES` markers: the time is linear in the text.

**Forms.**

| form | looks like |
| --- | --- |
| Hermes, Qwen | `<tool_call>{"name": …, "arguments": {…}}</tool_call>` |
| Qwen3-Coder | `<tool_call><function=NAME><parameter=K>VALUE</parameter>…</function></tool_call>` |
| GLM-4.5 | `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>…</tool_call>` |
| Mistral to v7 | `[TOOL_CALLS][{"name": …, "arguments": {…}}]` |
| Mistral from v11 | `[TOOL_CALLS]NAME[ARGS]{…}`, or without `[ARGS]` |
| Llama 3.1 | `<|python_tag|>{"name": …, "parameters": {…}}`, several by `;` |
| DeepSeek V3 | `<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME`, a fence, `<｜tool▁call▁end｜>` |
| DeepSeek V3.1 | `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` |
| JSON | `{"name": …, "arguments" or "parameters": {…}}`, or a list of such |
| fenced JSON | the same between ```` ```json ```` and ```` ``` ```` |

Sources: NousResearch/Hermes-Function-Calling; the chat templates of Qwen2.5, Qwen3-Coder, GLM-4.5
and DeepSeek-V3; DeepSeek-V3.1's model card; mistral-common, tokenizers v3, v7, v11 and v13; Meta's
prompt format of Llama 3.1, whose models leave out the tag, too. A fence is what a model writes that
was asked for JSON.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.jsons import unique_names
from reward_functions.core.types import FunctionCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


MOST: Final = 128
"""Calls of one answer: what has more is left as it is."""


class WrongForm(Exception):
    """The text here is not of this form."""


class Reader:
    """A place in a text.

    Args:
        text: without reasoning.
        at: the place, in characters.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at

    def space(self) -> Reader:
        """Skip white space."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self

    def has(self, words: str) -> bool:
        """Whether these words stand here; then they are skipped."""
        found = self.text.startswith(words, self.at)
        self.at += len(words) * found
        return found

    def skip(self, words: str) -> None:
        """Skip words that must stand here."""
        if not self.has(words):
            raise WrongForm

    def until(self, words: str) -> str:
        """The text before some words, which are skipped too."""
        end = self.text.find(words, self.at)
        if end < 0:
            raise WrongForm
        found, self.at = self.text[self.at : end], end + len(words)
        return found

    def name(self) -> str:
        """A tool's name."""
        found = _NAME.match(self.text, self.at)
        if found is None:
            raise WrongForm
        self.at = found.end()
        return found.group()

    def json(self) -> Any:
        """A JSON value: strict, no name twice."""
        try:
            value, self.at = _DECODER.raw_decode(self.text, self.space().at)
        except (ValueError, RecursionError):
            raise WrongForm from None
        return value

    @property
    def ended(self) -> bool:
        """Whether only white space is left."""
        return self.space().at == len(self.text)


def whole_answer(reader: Reader) -> list[FunctionCall]:
    """An answer that is JSON, perhaps in a fence; a tool's own definition is no call of it."""
    fenced = reader.has("```json\n") or reader.has("```\n")
    value = reader.json()
    if fenced:
        reader.space().skip("```")
    listed = value if isinstance(value, list) else [value]
    if not reader.ended or any(map(_is_definition, listed)):
        raise WrongForm
    return [_call(each) for each in listed]


def _is_definition(value: Any) -> bool:
    schema = value.get("parameters") if isinstance(value, dict) else None
    return isinstance(schema, dict) and (
        "description" in value or {"type", "properties"} <= {*schema}
    )


def _hermes(reader: Reader) -> list[FunctionCall]:
    """`<tool_call>`, whatever stands in it; the last may lack its end."""
    calls: list[FunctionCall] = []
    while not reader.ended and len(calls) <= MOST:
        reader.skip("<tool_call>")
        reader.space()
        if reader.text.startswith("{", reader.at):
            calls.append(_call(reader.json()))
        elif reader.has("<function="):
            calls.append(_qwen_coder(reader))
        else:
            calls.append(_glm(reader))
        if not reader.space().has("</tool_call>") and not reader.ended:
            raise WrongForm
    return calls


def _qwen_coder(reader: Reader) -> FunctionCall:
    name, arguments = reader.until(">"), []
    while reader.space().has("<parameter="):
        key = reader.until(">")
        arguments.append((key, _trimmed(reader.until("</parameter>"))))
    reader.skip("</function>")
    return FunctionCall(name, _tagged(arguments))


def _glm(reader: Reader) -> FunctionCall:
    name, arguments = reader.name(), []
    while reader.space().has("<arg_key>"):
        key = reader.until("</arg_key>").strip()
        reader.space().skip("<arg_value>")
        arguments.append((key, reader.until("</arg_value>")))
    return FunctionCall(name, _tagged(arguments))


def _mistral(reader: Reader) -> list[FunctionCall]:
    calls: list[FunctionCall] = []
    while not reader.ended and len(calls) <= MOST:
        reader.skip("[TOOL_CALLS]")
        reader.space()
        if reader.text.startswith("[", reader.at):
            listed = reader.json()
            calls += map(_call, listed)
        else:
            name = reader.name()
            reader.has("[ARGS]")
            calls.append(_call({"name": name, "arguments": reader.json()}))
    return calls


def _llama(reader: Reader) -> list[FunctionCall]:
    reader.skip("<|python_tag|>")
    calls = [_call(reader.json())]
    while reader.space().has(";") and len(calls) <= MOST:
        calls.append(_call(reader.json()))
    if not reader.ended:
        raise WrongForm
    return calls


def _deepseek(reader: Reader) -> list[FunctionCall]:
    calls: list[FunctionCall] = []
    reader.skip("<｜tool▁calls▁begin｜>")
    while reader.space().has("<｜tool▁call▁begin｜>") and len(calls) <= MOST:
        name = reader.until("<｜tool▁sep｜>").strip()
        if name == "function" and not reader.text.startswith("{", reader.at):
            name = reader.until("\n").strip()
        fenced = reader.space().has("```json")
        arguments = reader.json()
        if fenced:
            reader.space().skip("```")
        reader.space().skip("<｜tool▁call▁end｜>")
        calls.append(_call({"name": name, "arguments": arguments}))
    reader.has("<｜tool▁calls▁end｜>")
    if not reader.ended:
        raise WrongForm
    return calls


class Form(NamedTuple):
    """How what follows a marker is read, and what ends it; "" where only the answer's end does."""

    read: Callable[[Reader], list[FunctionCall]]
    end: str


FORMS: Final = {
    "<tool_call>": Form(_hermes, "</tool_call>"),
    "[TOOL_CALLS]": Form(_mistral, ""),
    "<|python_tag|>": Form(_llama, ""),
    "<｜tool▁calls▁begin｜>": Form(_deepseek, "<｜tool▁calls▁end｜>"),
}
"""Markers that calls begin with."""


def _call(value: Any) -> FunctionCall:
    """A call from its JSON."""
    if not isinstance(value, dict):
        raise WrongForm
    name = value.get("name")
    arguments = value["arguments"] if "arguments" in value else value.get("parameters")
    if isinstance(arguments, str):
        reader = Reader(arguments, 0)
        arguments = reader.json()
        if not reader.ended:
            raise WrongForm
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise WrongForm
    return FunctionCall(name, _written(arguments))


def _tagged(pairs: list[tuple[str, str]]) -> str:
    """Arguments between tags as JSON: none twice, numbers as they are written."""
    try:
        arguments = unique_names([(key, _value(text)) for key, text in pairs])
    except ValueError:
        raise WrongForm from None
    numbers = {key: text.strip() for key, text in pairs if type(arguments[key]) in (int, float)}
    written = {**{key: _written(each) for key, each in arguments.items()}, **numbers}
    return f"{{{', '.join(f'{_written(key)}: {each}' for key, each in written.items())}}}"


def _written(arguments: Any) -> str:
    """Arguments as JSON that any client can send: half a surrogate pair stays an escape."""
    try:
        text = json.dumps(arguments, ensure_ascii=False)
        return text if _HALVES.search(text) is None else json.dumps(arguments)
    except RecursionError:
        raise WrongForm from None


def _value(text: str) -> Any:
    """A value between tags: JSON where it is, or else the text itself."""
    try:
        reader = Reader(text, 0)
        value = reader.json()
    except WrongForm:
        return text
    return value if reader.ended else text


def _trimmed(text: str) -> str:
    """A value without the line breaks that its template puts around it."""
    return text.removeprefix("\n").removesuffix("\n")


def _finite(number: str) -> float:
    """A number; NaN, infinities and what is read as one are refused."""
    value = float(number)
    if not isfinite(value):
        raise ValueError(number)
    return value


_SPACE: Final = re.compile(r"\s*+")
_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,256}")
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=unique_names, parse_constant=_finite, parse_float=_finite
)
_HALVES: Final = re.compile(r"[\ud800-\udfff]")


LONGEST: Final = 1_000_000
"""Characters of an answer that is looked into."""

PLACES: Final = 16
"""Markers of an answer, the first ones, from which calls are tried to be read."""

THINKING: Final = ("<think>", "</think>")


def text_tool_calls(text: str, offered: Iterable[str] | None) -> tuple[str, list[FunctionCall]]:
    """The calls that an answer ends with.

    Args:
        text: of the answer.
        offered: names of the tools that the policy was offered; None where any name counts.

    Returns:
        The text before the calls, reasoning included, and the calls; no calls where the text has
        none.
    """
    if len(text) > LONGEST or not _may_call(text):
        return text, []
    names = None if offered is None else set(offered)
    begin = behind_reasoning(text)
    for at, read in _places(text, begin):
        try:
            calls = read(Reader(text, at))
        except WrongForm:
            continue
        known = names is None or all(call.name in names for call in calls)
        return (text[:at].rstrip(), calls) if known and 0 < len(calls) <= MOST else (text, [])
    return text, []


def _may_call(text: str) -> bool:
    """Whether it is worth a look: most answers are prose."""
    return text.lstrip()[:1] in {"{", "[", "`"} or any(
        form in text for form in (*FORMS, "</think>")
    )


def behind_reasoning(text: str) -> int:
    """Where the reasoning ends; the end of the text where it does not."""
    opening, closing = THINKING
    end = text.rfind(closing)
    begin = text.find(opening, max(end, 0))
    if begin >= 0:
        return len(text)
    return 0 if end < 0 else end + len(closing)


def _places(text: str, begin: int) -> Iterator[tuple[int, Callable[[Reader], list[FunctionCall]]]]:
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
