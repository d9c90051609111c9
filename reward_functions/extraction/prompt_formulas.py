r"""The formulas of a prompt, delimited or not: "Compute $2^{10}$", "17 * 23", "17 times 23".

A formula without delimiters is what stands between words and the ends of sentences. Nothing here
decides what a formula means, or whether it means anything.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.extraction.cues import operations as words

TAIL: Final = 20_000
"""Characters at the end of a prompt in which formulas are looked for: the question stands there."""

FORMULAS: Final = 40
"""Formulas of a prompt, the last ones. A long word problem has about twenty."""

LENGTH: Final = 300
"""Characters of one formula."""

_DELIMITED: Final = re.compile(
    r"\$\$?([^$]+)\$\$?|\\\(((?:[^\\]|\\[^()])*)\\\)|\\\[((?:[^\\]|\\[^\[\]])*)\\\]"
)
_OPERATION: Final = re.compile(
    r"[-+*/^!_=<>×·÷−√∗≤≥|⌊⌈]|\\[A-Za-z]|[\d)]\s*\(|[a-z]\(|\d[A-Za-z]|%"
)

_BETWEEN: Final = re.compile(
    r"(?<![\\A-Za-z{])"
    r"(?!(?:sin|cos|tan|cot|sec|csc|log|ln|lg|exp|sqrt|gcd|lcm|max|min|abs|floor|ceil|binom|pi)"
    r"(?![A-Za-z]))"
    r"[A-Za-z]{2,}(?:['’][a-z]{1,2})?"
    r"|\\(?:text|mbox|textbf)\s?\{[^{}]*\}"
    r"|[.?;:](?=\s|$)|\n"
)


def formulas(text: str) -> tuple[str, ...]:
    """The formulas of the tail of a prompt that have an operation, in their order, each once."""
    tail = text[-TAIL:]
    found: dict[str, None] = {}
    end = 0
    for span in _DELIMITED.finditer(tail):
        _take(found, _BETWEEN.split(_written(tail[end : span.start()])))
        inside = span[span.lastindex or 0]
        _take(found, [inside, *_BETWEEN.split(inside)])
        end = span.end()
    _take(found, _BETWEEN.split(_written(tail[end:])))
    return tuple(found)[-FORMULAS:]


def _written(prose: str) -> str:
    """Prose with operations on numbers as signs: "17 times 23", "the sum of 17 and 23"."""
    for spelled, sign in (*words.SPELLED, *words.NAMED):
        prose = spelled.sub(sign, prose)
    return prose


def _take(found: dict[str, None], pieces: list[str]) -> None:
    for piece in pieces:
        formula = piece.strip(" \t,.;:?$")
        if len(formula) <= LENGTH and _OPERATION.search(formula):
            found[formula] = None
