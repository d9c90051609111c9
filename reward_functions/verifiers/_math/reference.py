"""The answer that a reference gives, in whatever shape; read once for a group of responses."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.core.alternatives import members, with_first_reference
from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_value, scalar_text
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.candidates.boxes import COMMAND
from reward_functions.extraction.cues import lists
from reward_functions.extraction.invisible import strip_invisible
from reward_functions.verifiers._math.answer import mathematical_answer
from reward_functions.verifiers._math.asked_order import asks_for_names
from reward_functions.verifiers._math.glued_commands import may_be_glued, unglued
from reward_functions.verifiers._math.stray_notation import others_allowed, tidied
from reward_functions.verifiers._math.truths import (
    affirmed,
    asks_for_truths,
    is_truth,
    truth_asked_for,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.types import Sample

KEPT: Final = 1024
"""References that are kept as they were read: all responses of a group meet the same one."""

KEPT_LENGTH: Final = 1000
"""Characters of a reference that is kept."""

_MARKUP: Final = (
    "#",
    "$",
    "<",
    "~",
    "\n",
    "\\box",
    "\\fbox",
    "\\(",
    "\\[",
    "nswer",
    "NSWER",
    "答案",
)
"""What a reference has that may be more than an answer: delimiters, markers, lines."""

_DIGITS: Final = frozenset({"0", "1"})

_ESCAPED_BRACE: Final = re.compile(r"\\[\\{}]")


class Reference(NamedTuple):
    """What a reference asks for.

    Attributes:
        text: the answer, as one string.
        members: of a list that is one answer, its two or more members as strings.
        flags: whether the members answer questions for yes or no in turn.
        truth: what the answer to a question for yes or no is; None for any other question.
        others: the interval of other numbers that are right as well; "" for none.
        affirmed: whether the value stands behind "Yes,", which an answer may leave out.
        written: the reference as it stands, where `text` was made of it; else "".
    """

    text: str
    members: tuple[str, ...] = ()
    flags: bool = False
    truth: bool | None = None
    others: str = ""
    affirmed: bool = False
    written: str = ""


class _Read(NamedTuple):
    """A reference as it is read without its prompt.

    Attributes:
        value: as it stands in its wrappings.
        plain: what it asks for, where it is no list; None for a list that is not text.
        asks: whether the prompt may say more of it.
        items: of a list of numbers or booleans, or of its text; else nothing.
    """

    value: Any
    plain: Reference | None
    asks: bool = False
    items: Sequence[Any] = ()


def reference_of(reference: Any, prompt: str, *, listed: bool = True) -> Reference:
    """What a reference asks for.

    Args:
        reference: of any shape but a list of alternatives.
        prompt: the question.
        listed: whether a list of numbers or booleans is one answer.

    Raises:
        BadReference: there is none, or it cannot be read.
    """
    short = isinstance(reference, str) and len(reference) <= KEPT_LENGTH
    read = _kept(reference) if short else _read(reference)
    if listed and read.items:
        several = len(read.items) > 1
        if several and not (read.plain and _may_be_interval(read.items, prompt)):
            return _of_members(read, prompt)
        read = read if several else _read(read.items[0])
    if read.plain is None:
        raise BadReference("the reference is a list")
    return _by_prompt(read.plain, prompt) if read.asks else read.plain


def _by_prompt(reference: Reference, prompt: str) -> Reference:
    """A reference that is read with its prompt: a glued command, or a word that may be a truth."""
    text = unglued(reference.text, prompt)
    if text != reference.text:
        return reference._replace(text=text, written=reference.written or reference.text)
    return reference._replace(truth=truth_asked_for(text, prompt))


def _of_members(read: _Read, prompt: str) -> Reference:
    """A list that is one answer."""
    each = tuple(map(_member, read.items))
    booleans = any(isinstance(item, bool) for item in read.items)
    flags = booleans or (set(each) <= _DIGITS and asks_for_truths(prompt))
    text = read.value if isinstance(read.value, str) else f"({', '.join(each)})"
    return Reference(text, each, flags)


def _member(item: Any) -> str:
    return str(item) if isinstance(item, bool) else scalar_text(item)


def _may_be_interval(items: Sequence[Any], prompt: str) -> bool:
    """Whether the text of a list may be an interval: its prompt does not ask for two members."""
    booleans = any(isinstance(item, bool) for item in items)
    if len(items) != 2 or booleans or not items[0] < items[1]:  # noqa: PLR2004 - the ends
        return False
    if lists.INTERVAL.search(prompt):
        return True
    return not lists.SEVERAL.search(prompt) and not asks_for_names(prompt, 2)


def right_response(sample: Sample) -> str:
    """A response that answers as the reference does; the first of several."""
    one = sample if members(sample.reference) else with_first_reference(sample)
    return rf"\boxed{{{reference_of(one.reference, one.prompt).text}}}"


def _read(reference: Any) -> _Read:
    value = reference_value(reference)
    items = members(value) or ()
    if isinstance(value, bool):
        return _Read(value, Reference(str(value), truth=value))
    if items and not isinstance(value, str):
        return _Read(value, None, items=items)
    written = scalar_text(value)
    bare, others = others_allowed(written)
    tidy = tidied(bare)
    text = _whole(_stated(tidy))
    behind = affirmed(text)
    as_it_stands = "" if tidy == written else written.strip(" $\n")
    plain = Reference(behind or text, others=others, affirmed=bool(behind), written=as_it_stands)
    return _Read(value, plain, is_truth(text) or may_be_glued(text), items)


_kept = lru_cache(KEPT)(_read)


def _stated(text: str) -> str:
    """The answer a reference states, when it is more than an answer."""
    if all(text.rfind(sign) < 0 for sign in _MARKUP):  # `in` takes longer than `rfind`
        return text
    text = strip_invisible(text)
    if symbolic.readable(text):
        return text
    found = mathematical_answer(text)
    if isinstance(found, Answer):
        return found.text
    if not text.strip() or "\n" in text.strip() or COMMAND in text:
        raise BadReference(f"the reference holds no answer: {found.reason}")
    return text


def _whole(reference: str) -> str:
    """The reference, unless it was cut off or garbled and no answer can be judged by it."""
    bare = _ESCAPED_BRACE.sub("", reference) if "\\" in reference else reference
    if bare.count("{") != bare.count("}"):
        raise BadReference("the reference cannot be read: its braces are not balanced")
    if "\0" in reference:
        raise BadReference("the reference cannot be read: it has a NUL character")
    return reference
