"""Other readings of a comma: 70,110 is a number or a list of two, 3,5 a list or a decimal.

And of 2e+3 beside a power of ten, of (±1, ±2) beside a list of points, which may be four, and of
the letters in 2E_{16}, which may be digits.

The form of the reference decides. A reference is a number unless something in it shows a list, and
its commas never mark decimals. A candidate may mean either list or number where three digits
follow. A decimal comma is read in it only where the reference is a single value, so that no list is
meant, and only a comma that cannot group digits: 3,5 and 1.234,5 but not 3,500.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.quantities.numerals import as_printed
from reward_functions.symbolic.expr.nodes import (
    Based,
    Braces,
    Bracket,
    BuiltSet,
    Listing,
    Matrix,
    Union,
)
from reward_functions.symbolic.parsing.bases import LETTERS_ABOVE
from reward_functions.symbolic.parsing.document import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.symbolic.parsing.document import Document

_GROUPED: Final = re.compile(r"[0-9],[0-9]{3}")
_LISTED: Final = re.compile(
    r"""\\{ | [(\[] | ,\\?\s          # brackets, a spaced comma
      | (?<![0-9,])0[0-9]*, | [0-9]{4},  # a member that begins no groups
      | ,[0-9]{1,2}(?![0-9]) | ,[0-9]{4}  # or is none
    """,
    re.VERBOSE,
)
_BRACKETS: Final = re.compile(r"[(\[\]]|\\\{")
_DECIMAL_COMMA: Final = re.compile(
    r"(?<![0-9.])([0-9]{1,3}(?:\.[0-9]{3})+(?=,)|[0-9]+(?=(?:,|\{,\})(?:[0-9]{1,2}|[0-9]{4,})(?![0-9])))"
    r"(?:,|\{,\})([0-9]+)(?![0-9.])"
)
_POWER_OF_TEN: Final = re.compile(r"10\s*\^|[0-9][eE][+-]?[0-9]")
_POINT: Final = re.compile(r"\s*+(?:\\left)?\(([^()]{1,200})\)\s*")
_PLUS_MINUS: Final = re.compile(r"\\pm(?![a-z])|±")
_COLLECTIONS: Final = (Listing, Braces, Bracket, BuiltSet, Matrix, Union)


def other_readings(reference: str, candidate: str) -> Iterator[tuple[Document, Document]]:
    """The pairs of readings beside the usual one, in which a comma on one side means another thing.

    Every one of them has its tree.
    """
    mine, theirs = read(reference), read(candidate)
    pairs = []
    if _GROUPED.search(reference) and _LISTED.search(reference):
        pairs.append((read(reference, group_digits=False), theirs))
    if _GROUPED.search(candidate):
        pairs.append((mine, read(candidate, group_digits=False)))
    if not isinstance(mine.tree, _COLLECTIONS) and (pointed := _with_point(candidate)):
        pairs.append((mine, read(pointed)))
    if "e" in candidate and _POWER_OF_TEN.search(reference):
        pairs.append((mine, read(as_printed(candidate))))
    if isinstance(mine.tree, Listing | Braces) and (points := _signs_apart(candidate)):
        pairs.append((mine, read(points)))
    if LETTERS_ABOVE.search(reference) or LETTERS_ABOVE.search(candidate):
        pairs.append((read(reference, letter_digits=True), read(candidate, letter_digits=True)))
    for pair in pairs:
        if all(document.tree is not None for document in pair):
            yield pair


def in_other_bases(reference: str, candidate: str) -> bool:
    """Whether letters that may be digits stand in both, in bases of which they differ: A3_{16}."""
    if not (LETTERS_ABOVE.search(reference) and LETTERS_ABOVE.search(candidate)):
        return False
    mine = read(reference, letter_digits=True).tree
    theirs = read(candidate, letter_digits=True).tree
    return isinstance(mine, Based) and isinstance(theirs, Based) and mine.value != theirs.value


def _signs_apart(text: str) -> str:
    """The points that one with two or three signs ± stands for, each sign chosen apart."""
    point = _POINT.fullmatch(text)
    pieces = _PLUS_MINUS.split(point[1].removesuffix(r"\right")) if point else []
    if not 2 < len(pieces) < 5 or r"\mp" in text or "∓" in text:  # noqa: PLR2004
        return ""
    chosen = product(("", "-"), repeat=len(pieces) - 1)
    points = (
        pieces[0] + "".join(sign + piece for sign, piece in zip(signs, pieces[1:], strict=True))
        for signs in chosen
    )
    return ", ".join(f"({each})" for each in points)


def _with_point(text: str) -> str:
    """A string whose only comma marks decimals, with a point instead; else nothing."""
    if text.count(",") != 1 or _BRACKETS.search(text):
        return ""
    pointed, changes = _DECIMAL_COMMA.subn(
        lambda number: f"{number[1].replace('.', '')}.{number[2]}", text
    )
    return pointed if changes else ""
