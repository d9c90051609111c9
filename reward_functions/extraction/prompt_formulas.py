r"""The formulas of a prompt, delimited or not: "Compute $2^{10}$", "17 * 23", "17 times 23".

A formula without delimiters is what stands between words and the ends of sentences. Nothing here
decides what a formula means, or whether it means anything; but which ones are asked for, the words
before them say.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues import asking
from reward_functions.extraction.cues import operations as words
from reward_functions.quantities.unicode_forms import half_width

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

TAIL: Final = 20_000
"""Characters at the end of a prompt in which formulas are looked for: the question stands there."""

FORMULAS: Final = 40
"""Formulas of a prompt, the last ones. A long word problem has about twenty."""

LENGTH: Final = 300
"""Characters of one formula."""

BEFORE: Final = 90
"""Characters before a formula in which it is asked for; felt right."""

_DELIMITED: Final = re.compile(
    r"\$\$?([^$]+)\$\$?|(?<!\\)\\\(((?:[^\\]|\\[^()])*)\\\)|(?<!\\)\\\[((?:[^\\]|\\[^\[\]])*)\\\]"
)
_OPERATION: Final = re.compile(
    r"[-+*/^!_=<>×·÷−√∗≤≥|⌊⌈]|\\[A-Za-z]|[\d)]\s*\(|[a-z]\(|\d[A-Za-z]|%"
)

_BETWEEN: Final = re.compile(
    r"(?<![\\A-Za-zÀ-ÖØ-öø-ɏ{])"
    r"(?!(?:sin|cos|tan|cot|sec|csc|log|ln|lg|exp|sqrt|gcd|lcm|max|min|abs|floor|ceil|binom|pi)"
    r"(?![A-Za-z]))"
    r"(?:[A-Za-zÀ-ÖØ-öø-ɏ]{2,}+|[À-ÖØ-öø-ɏ])(?:['’][a-z]{1,2})?(?![\^_]|\((?!e?s\)))"
    r"|(?:(?!\d)[Ѐ-ԯ֐-๿ᄀ-ᇿ぀-ヿ㐀-鿿가-힣])+|[。？！；，：、]"
    r"|\\(?:text|mbox|textbf)\s?\{[^{}]*\}"
    r"|[.?;:](?=\s|$)|\n"
)
_WORD: Final = re.compile(r"[a-z]+(?:['’][a-z]+)?|[^\sa-z]")


KEPT: Final = 512
"""Prompts whose formulas are kept: all responses of a group answer the same one."""


def formulas(text: str) -> tuple[str, ...]:
    """The formulas of the tail of a prompt that have an operation, in their order, each once."""
    return _read(text[-TAIL:])[0]


def asked_formulas(text: str) -> tuple[str, ...]:
    """The formulas and numbers that a prompt asks for in so many words, in their order."""
    return _read(text[-TAIL:])[1]


@lru_cache(KEPT)
def _read(tail: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pieces = list(_pieces(half_width(tail)))
    return _with_operation(pieces), _asked_for(pieces)


def _with_operation(pieces: Sequence[tuple[str, str | None]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for formula, _ in pieces:
        if len(formula) <= LENGTH and _OPERATION.search(formula):
            found[formula] = None
    return tuple(found)[-FORMULAS:]


def _asked_for(pieces: Sequence[tuple[str, str | None]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    asked = False
    for formula, before in pieces:
        if before is None:
            continue
        together = asked and before.strip() in asking.JOINING
        asked = together or _asks(before)
        if asked and 0 < len(formula) <= LENGTH:
            found[formula] = None
    return tuple(found)[-FORMULAS:]


def _asks(before: str) -> bool:
    """Whether the words before a formula ask for it."""
    stated = _WORD.findall(before[-BEFORE:].lower())
    if stated and stated[-1] in asking.KINDS:
        stated.pop()
    for word in reversed(stated):
        if word in asking.ASKING:
            return True
        if word not in asking.CARRYING:
            return False
    return False


def _pieces(tail: str) -> Iterator[tuple[str, str | None]]:
    """Everything between words that may be a formula, with the words since the one before it.

    A delimited formula comes as a whole, and then in the pieces between its own words, with None.
    """
    tail = words.NAMED.sub(_formula_of, tail)
    end, before = 0, ""
    for span in _DELIMITED.finditer(tail):
        before = yield from _in_prose(tail[end : span.start()], before)
        inside = span[span.lastindex or 0]
        yield _bare(inside), before
        yield from ((_bare(piece), None) for piece in _BETWEEN.split(inside))
        end, before = span.end(), ""
    yield from _in_prose(tail[end:], before)


def _in_prose(prose: str, before: str) -> Generator[tuple[str, str], None, str]:
    """The pieces of prose with the words before each; returns the words behind the last one."""
    for spelled in (words.POWER, words.SPELLED):
        prose = spelled.sub(_sign_of, prose)
    end, start = 0, 0
    for word in _BETWEEN.finditer(prose):
        piece = _bare(prose[end : word.start()])
        if any(map(str.isalnum, piece)) and piece not in ("a", "A", "I"):
            yield piece, before + prose[start:end]
            before, start = "", word.start()
        end = word.end()
    piece = _bare(prose[end:])
    if any(map(str.isalnum, piece)) and piece not in ("a", "A", "I"):
        yield piece, before + prose[start:end]
        return ""
    return before + prose[start:]


def _bare(piece: str) -> str:
    return piece.strip(" \t\n,.;:?$=")


def _sign_of(spelled: re.Match[str]) -> str:
    return words.SIGNS[spelled[spelled.lastindex or 0]]


def _formula_of(named: re.Match[str]) -> str:
    """The formula of an operation in words; the words where the operands are not as many."""
    row = next(place for place in range(1, len(words.FORMULAS) + 1) if named[place])
    template = words.FORMULAS[row - 1][1]
    found = words.OPERAND.findall(named[len(words.FORMULAS) + 1])
    operands = [_in_brackets(each.strip("$ ")) for each in found]
    wanted = template.count("{}")
    if len(operands) < wanted or (wanted == 1 and len(operands) > 1):
        return named[0]
    if wanted == 1:
        return template.format(operands[0])
    between = template.format("\0", "\0").split("\0")[1]
    return template.format(operands[0], between.join(operands[1:]))


def _in_brackets(operand: str) -> str:
    return operand if operand.isalnum() or operand[1:].isalpha() else f"({operand})"
