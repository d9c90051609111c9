r"""Whether an answer is only a part of the formula it stands in: `10-\boxed{5}`, `\boxed{5}x`.

A box is the value when it stands alone, is a side of an equation or of an inequality
(`x=\boxed{5}`, `x\ge\boxed{5}`), or follows an arrow. It is not when an operator, a function, a
number or a letter is glued to it: then the whole has another value. Brackets around nothing but the
box are looked through: `2(\boxed{5})`.

Prose uses the same characters. A spaced dash, a lone letter and an exclamation mark count only
between the delimiters of a formula.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.quantities.units import canonical

REACH: Final = 40
"""Characters before an answer that can be glued to it: `\\sqrt[3]{`, `(3, 4, `."""

PARAGRAPH: Final = 400
"""Characters before an answer that are searched for the delimiter that opens its formula."""

MAX_BRACKETS: Final = 4
"""Pairs of brackets around an answer that are looked through."""


def inside_larger_formula(text: str, start: int, end: int, *, last: bool = False) -> bool:
    """Whether what is glued to text[start:end] makes it a part of a longer number or formula.

    Args:
        text: the response.
        start: where the answer begins.
        end: where it ends.
        last: whether nothing but closing marks follow, which glue nothing to it.
    """
    if text[max(0, start - REACH) : start].rstrip().endswith(_UNGLUED):
        return not last and _glued_after(text, start, end)
    for _ in range(MAX_BRACKETS):
        closing = _CLOSING.match(text, end)
        opening = closing and _OPENING.search(text[max(0, start - _OPENING_REACH) : start])
        if not closing or not opening:
            break
        start, end = start - len(opening[0]), closing.end()
    return _glued_before(text, start, end) or (not last and _glued_after(text, start, end))


def _glued_before(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - REACH) : start]
    last = before.rstrip()
    if not last or last[-1] == ";" or last.endswith(_UNGLUED) or _in_words(last):
        return False
    if _OPERATED.search(before) or _listed(text, before, end):
        return True
    return _OPERATED_IN_FORMULA.search(before) is not None and _in_formula(text, start)


def _in_words(before: str) -> bool:
    """Whether text ends with a word, "is" or "is:", or in bold: no operator and no bracket."""
    word = before.rsplit(maxsplit=1)[-1].rstrip(".:")
    return before.endswith("**") or (len(word) > 1 and word.isascii() and word.isalpha())


def _glued_after(text: str, start: int, end: int) -> bool:
    following = text[end : end + 3].lstrip(" ")
    if following.startswith(_CLOSED):
        return False
    if not following or following[0] in "$.\n}]|":
        return bool(_NUMBER_GOES_ON.match(text, end))
    if _CONTINUED.match(text, end):
        return True
    letter = _LETTER.match(text, end)
    if letter and not canonical(letter["name"]):
        return not letter["space"] or _in_formula(text, start)
    return _CONTINUED_IN_FORMULA.match(text, end) is not None and _in_formula(text, start)


def _listed(text: str, before: str, end: int) -> bool:
    r"""Whether it is an entry of a tuple, an interval or a set with others: `(3, \boxed{5})`."""
    if _ENTRIES_BEFORE.search(before):
        return _ENTRY_ENDS.match(text, end) is not None
    return _FIRST_ENTRY.search(before) is not None and bool(_ENTRY_AFTER.match(text, end))


def _in_formula(text: str, start: int) -> bool:
    r"""Whether a formula opened by `$`, `$$`, `\(`, `\[` or `\begin` is open at a position.

    A single `$` opens one that ends on its own line; any other is a dollar.
    """
    paragraph = text[max(0, start - PARAGRAPH) : start].rpartition("\n\n")[2].replace("\\$", "")
    opened = max(map(paragraph.rfind, ("\\(", "\\[", "\\begin{")))
    closed = max(map(paragraph.rfind, ("\\)", "\\]", "\\end{")))
    if opened > closed or paragraph.count("$$") % 2:
        return True
    line = paragraph.rpartition("\n")[2].replace("$$", "")
    rest = text[start : start + PARAGRAPH].partition("\n")[0].replace("\\$", "")
    return line.count("$") % 2 == 1 and "$" in rest


_UNGLUED: Final = ("$", "=", "&", "\\(", "\\[")
"""What a formula, or a side of it, begins behind: no operator and no bracket is glued over it."""

_OPENING_REACH: Final = 12
_OPENING: Final = re.compile(r"(?:\\left\s?)?(?<!\\)(?:[(\[{]|\\\{)(?:\s|\\[,;:! ])*$")
_CLOSING: Final = re.compile(r"(?:\s|\\[,;:! ])*(?:\\right\s?)?(?:[)\]}]|\\\})")

_NAMES: Final = (
    r"pi|alpha|beta|gamma|delta|epsilon|theta|lambda|mu|phi|varphi|psi|rho|sigma|tau|omega|infty"
)
_RELATIONS: Final = r"neq?|subset(?:eq)?|notin|n?mid"  # the sides of an inequality are whole values
_OPERATORS: Final = r"times|cdot|div|ast|cup|cap|setminus|oplus|choose|over|bmod|wedge|vee|circ"
# What may stand between an operator and its operand.
_SPACING: Final = (
    r"(?:\s|~|\\[,;:! ]|\\q?quad\b|\\left\b|\\displaystyle\b|\\[bB]igg?l?\b|[({\[]){0,4}$"
)
_OPERAND: Final = rf"(?:[\d)}}!\]]|\\(?:{_NAMES})|(?<![A-Za-z\\/])[A-Za-z])"
_OPERATED: Final = re.compile(
    r"(?:\\(?:sqrt(?:\[[^\[\]]{0,9}\])?|[dtc]?frac(?:\s?\{[^{}]{0,20}\})?|[dt]?binom(?:\s?\{[^{}]{0,20}\})?"
    r"|ln|log(?:_\{?\w{1,3}\}?)?|exp|(?:arc)?(?:sin|cos|tan)|sec|csc|cot|det|gcd|neg|lnot"
    r"|lfloor|lceil|[lr]?vert|overline|bar"
    rf"|{_OPERATORS}|{_RELATIONS}|{_NAMES})"
    rf"|{_OPERAND}[ \t]{{0,2}}(?:[+*/×·÷^±≠]|\\[pm][pm]\b|(?<!\s)[-−–]|\\boxed)"
    r"|[\w)}][ \t]{0,2}[\^_]|±"
    r"|\\boxed\{[^{}]{0,20}\}\s?:"
    r")" + _SPACING + r"|\d\Z|(?<!\d)0\.\Z|(?:\d|(?<![A-Za-z\\])[A-Za-z])\(\Z"
)
_OPERATED_IN_FORMULA: Final = re.compile(
    rf"(?:{_OPERAND}[ \t]{{0,2}}[-−–]|\d ?[.:]){_SPACING}"
    r"|(?:\d|(?<![A-Za-z\\&])[A-Za-z]|(?<!\([a-z\d])\)|[\^_]\{[^{}]{1,20}\}) ?(?:\\left\b)?\(? ?\Z"
    r"|(?:(?<![\\|])\||\\(?:left|big)\|) ?\Z"
    r"|(?:[$(\[{=]|\\[(\[])\s?[-−]?\d{1,20}\s?,\s?$"
    r"|\\[dt]?frac\s?\{[^{}]{1,20}\}\s?\{[^{}]{1,20}\}\s?$"
)
_ENTRIES_BEFORE: Final = re.compile(
    r"[(\[{]\s?(?:[^()\[\]{}$A-Za-z\\\n]|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])|\\[a-zA-Z]{1,9}){1,30},"
    r"(?:\s|\\[,;:! ])*$"
)
_ENTRY_ENDS: Final = re.compile(r"(?:\s|\\[,;:! ])*(?:\\right\s?|\\)?[,)\]}]")
_FIRST_ENTRY: Final = re.compile(r"(?<!\\)[(\[{]\s?$")
_ENTRY_AFTER: Final = re.compile(
    r"\s?,\s?(?:[-−]?\d|\\(?!text|quad|mbox|mathrm)[a-z]|[A-Za-z](?![A-Za-z]))[^$\n]{0,30}[)\]}]"
)
_CLOSED: Final = ("\\)", "\\]")
_NUMBER_GOES_ON: Final = re.compile(r"[.,:]?\d")
_UNIT: Final = r"(?!\s?\{?\s?\\(?:mathrm|text|mbox|rm)\b)"
_CONTINUED: Final = re.compile(
    r"[.,:]?\d|_\{?\d|[ \t]000(?!\d)"
    r"|[ \t]{0,2}(?:\^(?!\{?\s?\\(?:circ|prime))|[*×·+/]\s?\d|[-−]\d|≠"
    rf"|\\(?!mu\b)(?:{_OPERATORS}|{_RELATIONS}|{_NAMES}|pm|mp|sqrt|[dt]?frac)(?![a-zA-Z]){_UNIT})"
)
_LETTER: Final = re.compile(r"(?P<space> ?)(?P<name>[A-Za-z])(?![A-Za-z'’.)])")
_CONTINUED_IN_FORMULA: Final = re.compile(
    r"[ \t]{0,2}(?:!(?![=!])|_|(?:\\left)?\((?!\s?(?:\\text|[A-Za-z]{2}))|:\s?\d"
    rf"|[-−+*×·/]{_UNIT}\s?(?:\d|[A-Za-z](?![A-Za-z])|\\[a-z]|\()|\||,\s?[-−]?\d)"
)
