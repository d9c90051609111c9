r"""The values an answer to a FinQA question gives: "a decrease of 29.9% (0.299)" gives one, twice.

One answer gives one value, possibly in several renderings. All of them are returned; the caller
holds every one of them against the reference. So "12% (0.12)" is one answer, "12% or 13%" is two,
and this module need not guess which was meant.

    around the value    "approximately", "the change was", a scale, a unit, a direction: read
    context             years, "compared with 120", "(computed from 54 and 47)": set aside
    bounds and denials  "at least 12", "between 12 and 13", "not 12": no value at all

Numbers are read by `reward_functions.quantities.numerals`; the grammar here is that of the words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.markup import plain
from reward_functions.finqa import cues
from reward_functions.finqa.claims import claims, qualified
from reward_functions.finqa.numbers import number_alone, numbers
from reward_functions.finqa.renderings import (
    directed,
    direction_before,
    further_renderings,
    with_sign_of,
)
from reward_functions.finqa.syntax import COUNT, NoValue, Value
from reward_functions.quantities import units
from reward_functions.quantities.numerals import quantity
from reward_functions.quantities.precision import Precision, precision
from reward_functions.quantities.unicode_forms import typeset

if TYPE_CHECKING:
    import re

    from reward_functions.finqa.numbers import Number

MAX_LENGTH: Final = 400
"""Characters of an answer. Longer ones are not one answer."""


MAX_BRACKETS: Final = 4
"""Brackets within brackets."""


def values(phrase: str, *, sentence: bool = False, question: str = "") -> list[Value] | NoValue:
    """Every rendering of the value an answer gives; at least one.

    Args:
        phrase: the words of the answer.
        sentence: whether they are a sentence that was not marked as the answer. It must then say of
            its value that it *is* something: "the table lists 12" mentions a number.
        question: what was asked; an unmarked sentence may claim its value in the question's words.
    """
    if len(phrase) > MAX_LENGTH:  # a number, too: Python reads no more than 4,300 digits
        return NoValue("finqa-too-long", f"the answer has more than {MAX_LENGTH} characters")
    plainest = cues.PLAINEST.fullmatch(phrase)
    if plainest:
        return [number_alone(plainest)]
    text = _without_markup(phrase)
    if cues.OR_WORD.search(text):
        return NoValue("finqa-two-values", "the answer is a number or else a word")
    if says(text, cues.REFUSAL):
        return NoValue("finqa-refusal", "the answer refuses")
    text, comments = _without_comments(_right_hand_side(text))
    found = numbers(text)
    if isinstance(found, NoValue):
        return found
    if not found:
        return _in_words(text)
    if sentence and qualified(text, question):
        return NoValue("finqa-mentioned", "the last sentence states a part, or leaves it open")
    return _main(text, found, comments, sentence=sentence, question=question)


def _without_markup(phrase: str) -> str:
    """One line of plain words: no Markdown, no delimiters, no typographic signs."""
    text = typeset(plain(phrase.strip()))
    text = text.rstrip(" .!").strip("\"'` ")
    if "<" in text:
        text = cues.TAG.sub("", text)
    if text[:1] + text[-1:] in ("[]", "{}"):
        text = text[1:-1]
    if text[-1:] == "]":
        text = cues.NOTE.sub(r"(\1)", text)
    for mark, spelled in cues.MARKS.items():
        if mark in text:
            text = text.replace(mark, spelled)
    if text.count("$") > 1:
        text = cues.MATHEMATICS.sub(r"\1", text)
    text = " ".join(cues.DATE.sub(" ", text).split())
    period = cues.PERIOD.match(text)
    return text[period.end() :] if period else text


def _right_hand_side(text: str) -> str:
    """What stands behind the last equals sign outside of brackets, where that has a number."""
    for sign in reversed(list(cues.EQUALS.finditer(text))):
        rest = text[sign.end() :]
        if rest.count("(") == rest.count(")") and any(map(str.isdecimal, rest)):
            return rest
    return text


def _without_comments(text: str) -> tuple[str, list[str]]:
    """The text without its bracketed comments, and those; a bracketed number is negative."""
    comments: list[str] = []

    def replaced(group: re.Match[str]) -> str:
        number = cues.ACCOUNTING.fullmatch(group[1])
        if number and not any(map(str.isdecimal, text[: group.start()])):
            return number[0] if number["sign"] else f"-{number[0]}"
        if not cues.FACTOR.match(group.string, group.end()):  # else a part of a calculation
            comments.append(group[1].strip())
        return " "

    for _ in range(MAX_BRACKETS):
        inner, count = cues.BRACKETS.subn(replaced, text)
        if not count:
            break
        text = inner
    return text, comments


def _main(
    text: str, found: list[Number], comments: list[str], *, sentence: bool, question: str
) -> list[Value] | NoValue:
    """The value the text is about, with its sign by words, and every further rendering of it."""
    at, stated = _chosen(text, found, question, sentence=sentence)
    number = found[at]
    lead = text[: number.start]
    tail = text[number.end : found[at + 1].start if at + 1 < len(found) else len(text)]
    if cues.BOUND.search(lead) or cues.OPEN_END.match(tail) or cues.REFUSED.search(text):
        return NoValue("finqa-bound", "the answer is denied, asked or bounded")
    if sentence and not stated and (lead.strip() or tail.strip()):
        return NoValue("finqa-mentioned", "the last sentence states no value")
    value = directed(number.value, lead, tail, comments)
    if isinstance(value, NoValue):
        return value
    value = _scaled(value, _scale_behind(tail, comments))
    if value.unit is None and cues.COUNTED.match(tail):
        value = value._replace(unit=COUNT)
    further = further_renderings(text, found, at)
    if number.value.sign != "-":  # "a decrease of 12.5% or 0.125"; but "-12.5% or 12.5%" are two
        further = [with_sign_of(value, each) for each in further]
    noted = _noted(comments)
    if isinstance(noted, NoValue):
        return noted
    return [value, *further, *(with_sign_of(value, each) for each in noted)]


def _chosen(text: str, found: list[Number], question: str, *, sentence: bool) -> tuple[int, bool]:
    """Which number is the value, and whether the text states it.

    It is the first that something *is*, else the first. A sentence asserts the only number that it
    holds, years apart, where its verb claims a result or is the question's own, unless it gives
    somebody's words, a plan or a step.
    """
    for at, number in enumerate(found):
        if cues.COPULA.search(text[: number.start]):
            return at, True
    asserted = not sentence or not cues.UNASSERTED.search(text)
    for at, number in enumerate(found):
        if direction_before(text[: number.start]):
            return at, asserted
    if not sentence or not asserted:
        return 0, False
    counted = [at for at, number in enumerate(found) if not number.year]
    if len(counted) == 1:
        only = found[counted[0]]
        return counted[0], claims(text[: only.start], text[only.end :], question)
    return 0, cues.WEAK_COPULA.search(text[: found[0].start]) is not None


def _scale_behind(tail: str, comments: list[str]) -> int:
    """The scale of "263 (in millions)" and of "263, in millions"."""
    for text in (tail, *comments):
        match = cues.IN_SCALE.match(text)
        if match:
            return units.SCALES[match[1].lower()]
    return 1


def _scaled(value: Value, scale: int) -> Value:
    if scale == 1:
        return value
    step, digits = value.precision.step, value.precision.digits
    return value._replace(value=value.value * scale, precision=Precision(step * scale, digits))


def _noted(comments: list[str]) -> list[Value] | NoValue:
    """The renderings of the value that comments give; a comment must not offer another one."""
    found: list[Value] = []
    for comment in comments:
        if cues.OPEN_END.match(comment):
            return NoValue("finqa-bound", "the answer is bounded")
        lead = cues.SAME_AS.match(comment)
        start = lead.end() if lead else 0
        if any(map(str.isdecimal, comment)) and says(comment[start:], cues.HEDGE):
            return NoValue("finqa-two-values", "a comment on the answer offers another one")
        if cues.CALCULATION.search(comment) or says(comment, cues.EXPLAINED):
            continue
        tokens = numbers(comment[start:])
        if isinstance(tokens, NoValue):
            return NoValue("finqa-two-values", "a comment on the answer is another one")
        found.extend(further_renderings(comment[start:], tokens, len(tokens)))
    return found


def _in_words(text: str) -> list[Value] | NoValue:
    """A number in words, with a direction before it: "negative twelve percent"."""
    match = cues.WORDED.fullmatch(text)
    read = quantity(match["rest"]) if match else None
    if match is None or read is None:
        return NoValue("finqa-no-number", "the answer has no number")
    value = Value(read.value, precision("", read.value), read.unit)
    signed = directed(value, match["lead"], "", [])
    return signed if isinstance(signed, NoValue) else [signed]
