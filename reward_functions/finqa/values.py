r"""The values an answer to a FinQA question gives: "a decrease of 29.9% (0.299)" gives one, twice.

One answer gives one value, possibly in several renderings; all of them are returned, and whoever
compares holds every one of them against the reference. So "12% (0.12)" is one answer, "12% or 13%"
is two, and this module need not guess which was meant.

    around the value    "approximately", "the change was", a scale, a unit, a direction: read
    context             years, "compared with 120", "(computed from 54 and 47)": set aside
    bounds and denials  "at least 12", "between 12 and 13", "not 12": no value at all

Numbers are read by `reward_functions.quantities.numerals`; the grammar here is that of the words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.extraction.markup import plain
from reward_functions.finqa import cues
from reward_functions.quantities import units
from reward_functions.quantities.numerals import Quantity, quantity
from reward_functions.quantities.precision import Precision, place, precision
from reward_functions.quantities.unicode_forms import typeset

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

MAX_LENGTH: Final = 400
"""Characters of an answer. Longer ones are not one answer."""

MAX_NUMBERS: Final = 12
"""Numbers of an answer, with those of its context."""

MAX_BRACKETS: Final = 4
"""Brackets within brackets."""

MAX_DENOMINATOR: Final = 100
"""Of a fraction that is an answer. 750/4938 is the question put differently."""

TIMES: Final = "times"
"""The unit of a multiple: "2.5x". Of a percentage it is the fraction, and never the points."""

COUNT: Final = "count"
"""The unit of things that are counted: years, shares, people."""

Sign = Literal["", "-", "+"]


class Value(NamedTuple):
    """A value as it was stated.

    Args:
        value: with its sign; scale words multiplied in, percent not divided out.
        precision: how exactly it is printed.
        unit: canonical, as in `Quantity`; None where none is stated.
        sign: what a sign, accounting parentheses or a word makes it; "" where none does.
    """

    value: Fraction
    precision: Precision
    unit: str | None = None
    sign: Sign = ""

    def __str__(self) -> str:
        return f"{self.value} {self.unit}" if self.unit else str(self.value)


@dataclass(frozen=True, slots=True)
class NoValue:
    """Why an answer gives no value, as one clause."""

    reason: str


def values(phrase: str, *, sentence: bool = False) -> list[Value] | NoValue:
    """Every rendering of the value an answer gives; at least one.

    Args:
        phrase: the words of the answer.
        sentence: whether they are a sentence that was not marked as the answer. It must then say of
            its value that it *is* something: "the table lists 12" mentions a number.
    """
    plainest = cues.PLAINEST.fullmatch(phrase)
    if plainest:
        return [_plainest(plainest)]
    if len(phrase) > MAX_LENGTH:
        return NoValue(f"the answer has more than {MAX_LENGTH} characters")
    text = _without_markup(phrase)
    if cues.REFUSAL.search(text):
        return NoValue("the answer refuses")
    text, comments = _without_comments(_right_hand_side(text))
    found = _tokens(text)
    if isinstance(found, NoValue):
        return found
    if not found:
        return _in_words(text)
    return _main(text, found, comments, sentence=sentence)


@dataclass(frozen=True, slots=True)
class _Token:
    """A number of an answer, and where it stands."""

    value: Value
    start: int
    end: int
    year: bool


def _plainest(match: re.Match[str]) -> Value:
    """A number such as "-1,234.5%": most answers, for a third of the price."""
    whole, fraction = match["whole"].replace(",", ""), match["fraction"] or ""
    digits = whole + fraction
    sign: Sign = match["sign"]  # type: ignore[assignment]
    return Value(
        Fraction(int(sign + digits), 10 ** len(fraction)),
        Precision(place(len(fraction)), len(digits.lstrip("0"))),
        "%" if match["percent"] else "USD" if match["dollar"] else None,
        sign,
    )


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
    return " ".join(cues.DATE.sub(" ", text).split())


def _right_hand_side(text: str) -> str:
    """What stands behind the last equals sign outside of brackets, where that has a number."""
    for sign in reversed(list(cues.EQUALS.finditer(text))):
        rest = text[sign.end() :]
        if rest.count("(") == rest.count(")") and cues.DIGIT.search(rest):
            return rest
    return text


def _without_comments(text: str) -> tuple[str, list[str]]:
    """The text without its bracketed comments, and those; a bracketed number is negative."""
    comments: list[str] = []

    def replaced(group: re.Match[str]) -> str:
        number = cues.ACCOUNTING.fullmatch(group[1])
        if number and not cues.DIGIT.search(text, 0, group.start()):
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


def _tokens(text: str) -> list[_Token] | NoValue:
    """The numbers of an answer; none that is part of a name ("10-K", "S&P 500", "4th")."""
    found: list[_Token] = []
    for match in cues.NUMBER.finditer(text):
        if cues.PART_OF_A_NAME.match(text, match.end()) or cues.NAMED.search(
            text[: match.start()][-12:]
        ):
            continue
        token = _token(text, match)
        if isinstance(token, NoValue):
            return token
        found.append(token)
        if len(found) > MAX_NUMBERS:
            return NoValue(f"the answer has more than {MAX_NUMBERS} numbers")
    return found


def _token(text: str, match: re.Match[str]) -> _Token | NoValue:
    read = _quantity(match)
    if read is None:
        return NoValue(f"{match[0].strip()!r} is not one number")
    bottom = match["core"].partition("/")[2]
    if cues.UNFINISHED.match(text, match.end()) or int(bottom or 1) > MAX_DENOMINATOR:
        return NoValue("a division is left to be done")
    before = text[: match.start()].rstrip()
    signs = (match["inner"] or "").strip()
    start = match.start()
    while before[-1:] in ("-", "+") and not cues.OPERAND.search(before[:-1]):
        before, signs, start = before[:-1].rstrip(), before[-1] + signs, len(before) - 1
    if len(signs) > 1:
        return NoValue("the answer has two signs")
    sign: Sign = signs  # type: ignore[assignment]
    value = -read.value if sign == "-" else read.value
    year = cues.YEAR.fullmatch(match[0].strip()) is not None
    unit = TIMES if match["times"] and read.unit is None else read.unit
    return _Token(
        Value(value, precision(match["core"], read.value), unit, sign),
        start,
        match.end(),
        year,
    )


def _quantity(match: re.Match[str]) -> Quantity | None:
    """The number with its currency, scale words and unit, its sign apart."""
    core, behind = match["number"], match["behind"] or ""
    currency = (match["currency"] or "").strip()
    short = match["short"] or match["spaced"]
    if short:  # "263M": in a filing that is no length
        read = quantity(f"{currency or '$'}{core}{short}{behind}")
        return read if currency or read is None else replace(read, unit=None)
    return quantity(f"{currency}{core} {behind}".strip())


def _main(
    text: str, found: list[_Token], comments: list[str], *, sentence: bool
) -> list[Value] | NoValue:
    """The value the text is about, with its sign by words, and every further rendering of it."""
    at, stated = _chosen(text, found)
    token = found[at]
    lead = text[: token.start]
    tail = text[token.end : found[at + 1].start if at + 1 < len(found) else len(text)]
    if cues.BOUND.search(lead) or cues.OPEN_END.match(tail) or cues.REFUSED.search(text):
        return NoValue("the answer is denied, asked or bounded")
    if sentence and not stated and (lead.strip() or tail.strip()):
        return NoValue("the last sentence states no value")
    value = _directed(token.value, lead, tail, comments)
    if isinstance(value, NoValue):
        return value
    value = _scaled(value, _scale_behind(tail, comments))
    if value.unit is None and cues.COUNTED.match(tail):
        value = value._replace(unit=COUNT)
    further = _further(text, found, at)
    if token.value.sign != "-":  # "a decrease of 12.5% or 0.125"; but "-12.5% or 12.5%" are two
        further = [_with_sign_of(value, each) for each in further]
    noted = _noted(comments)
    if isinstance(noted, NoValue):
        return noted
    return [value, *further, *(_with_sign_of(value, each) for each in noted)]


def _chosen(text: str, found: list[_Token]) -> tuple[int, bool]:
    """Which number is the value: the first that something *is*, else the first; and whether so."""
    for at, token in enumerate(found):
        if cues.COPULA.search(text[: token.start]):
            return at, True
    for at, token in enumerate(found):
        if _direction_before(text[: token.start]):
            return at, True
    return 0, cues.WEAK_COPULA.search(text[: found[0].start]) is not None


def _directed(value: Value, lead: str, tail: str, comments: list[str]) -> Value | NoValue:
    """The value with the sign that the words around it give it."""
    word = _direction_before(lead) or _direction_behind(tail)
    for comment in comments:
        word = word or _direction_behind(comment)
    if not word:
        return value
    if value.sign and value.sign != word:
        return NoValue("its sign contradicts its direction")
    return value._replace(value=-abs(value.value) if word == "-" else value.value, sign=word)


def _direction_before(lead: str) -> Sign:
    """The direction of "a decrease of", "fell by", "the decline in sales was", "negative"."""
    last = None
    for match in cues.DIRECTION.finditer(lead[-REACH:]):
        last = match
    if last is None:
        return ""
    gap = lead[-REACH:][last.end() :]
    if cues.NEGATIVE.search(lead):
        return "-"
    if cues.ADJACENT.fullmatch(gap):
        return "-" if last["down"] or last["loss"] else "+" if last["up"] else ""
    return "-" if last["down"] and cues.STATED_OF.search(gap) else ""


def _direction_behind(tail: str) -> Sign:
    """The direction of "12% lower", "12 (a decrease)"."""
    match = cues.DIRECTION_BEHIND.match(tail)
    return "" if match is None else "+" if match["up"] else "-"


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


def _further(text: str, found: list[_Token], at: int) -> list[Value]:
    """The numbers that are no context of the value: further renderings, or conflicting values."""
    others = _conflicting_numbers(text, found, at)
    return [
        token.value._replace(value=-token.value.value, sign="-")
        if not token.value.sign and _direction_before(text[: token.start]) == "-"
        else token.value
        for token in others
    ]


def _conflicting_numbers(text: str, found: list[_Token], at: int) -> Iterator[_Token]:
    last: _Token | None = None
    compared = False
    for index, token in enumerate(found):
        gap = text[last.end if last else 0 : token.start]
        listed = last is not None and last.year and "," in gap
        joined = bool(last) and not listed and cues.CONNECTOR.fullmatch(gap) is not None
        if index == at:
            compared = False
        elif cues.OR.search(gap):
            yield token
        elif cues.COMPARATOR.search(gap) or _is_new_level(text, found, at, index):
            compared = True
        elif token.year:
            dated = last is not None and last.year and joined
            if not (dated or compared or index < at or cues.PREPOSITION.search(gap)):
                yield token
        elif not _is_context(gap, joined=joined and compared, before=index < at):
            yield token
        last = token


def _is_new_level(text: str, found: list[_Token], at: int, index: int) -> bool:
    """Whether a number is what the value led to: "decreased by 5% to 95"."""
    return (
        index == at + 1
        and cues.NEW_LEVEL.fullmatch(text, found[at].end, found[index].start) is not None
        and cues.CHANGED_BY.search(text[: found[at].start]) is not None
    )


def _is_context(gap: str, *, joined: bool, before: bool) -> bool:
    """Whether the words before a number say that it is compared with, counted of, or given."""
    if joined:
        return True
    placed = cues.SUBJECT if before else cues.PREPOSITION
    return placed.search(gap) is not None and not cues.LISTED.search(gap)


def _noted(comments: list[str]) -> list[Value] | NoValue:
    """The renderings of the value that comments give; a comment must not offer another one."""
    found: list[Value] = []
    for comment in comments:
        if cues.OPEN_END.match(comment):
            return NoValue("the answer is bounded")
        lead = cues.SAME_AS.match(comment)
        start = lead.end() if lead else 0
        if cues.DIGIT.search(comment) and cues.HEDGE.search(comment, start):
            return NoValue("a comment on the answer offers another one")
        if cues.CALCULATION.search(comment) or cues.EXPLAINED.search(comment):
            continue
        tokens = _tokens(comment[start:])
        if isinstance(tokens, NoValue):
            return NoValue("a comment on the answer is another one")
        found.extend(_further(comment[start:], tokens, len(tokens)))
    return found


def _with_sign_of(value: Value, other: Value) -> Value:
    """A second rendering may leave the sign out: "-12.5% (12.5%)"."""
    if value.value < 0 and not other.sign:
        return other._replace(value=-other.value, sign=value.sign)
    return other if other.sign else other._replace(sign=value.sign)


def _in_words(text: str) -> list[Value] | NoValue:
    """A number in words, with a direction before it: "negative twelve percent"."""
    match = cues.WORDED.fullmatch(text)
    read = quantity(match["rest"]) if match else None
    if match is None or read is None:
        return NoValue("the answer has no number")
    value = Value(read.value, precision("", read.value), read.unit)
    directed = _directed(value, match["lead"], "", [])
    return directed if isinstance(directed, NoValue) else [directed]


NAME: Final = 12
"""Characters before a number that can make it part of a name: "S&P "."""

REACH: Final = 120
"""Characters before a value in which a direction may be named."""
