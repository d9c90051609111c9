r"""A formula that holds a derivation, as the prose that it is, so that sentences can be read in it.

`\text{Since }n=5,\ \text{we get }2n=10\Rightarrow n^2=25.` is "Since $n$ = $5$, we get $2n$ = $10$,
so $n^2$ = $25$.": words as they are, each side of an equation a formula, an arrow "so", a new row a
new sentence.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.candidates.clauses import hidden
from reward_functions.extraction.cues import clauses as words
from reward_functions.extraction.cues import derivations as marks
from reward_functions.extraction.cues import endings
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.latex_groups import group_end

_LAYOUT: Final = re.compile(r"((?:\s|\\[,;:! ])+)")
_AMOUNT: Final = re.compile(r"[\d\0]")
_OPEN: Final = words.OPEN | words.DENIED | words.DOUBTED
_ORDINALS: Final = ("st", "nd", "rd", "th")
_POWERS: Final = {"2": "²", "3": "³"}
_JOINTS: Final = {"step": ", so ", "so": ". Therefore, ", "sign": " = ", "layout": ""}
"""What stands in prose for what joins the pieces of a formula."""


def prose(formula: str, *, nested: bool = False) -> str:
    """A formula with words, arrows or rows in it, as prose; prose as it is.

    Args:
        formula: what a box or a pair of delimiters holds.
        nested: whether it stands in brackets, where no further brackets are looked into.
    """
    if "$" in formula or "\\(" in formula:
        return formula
    out: list[str] = []
    math: list[str] = []
    at = depth = 0
    aside = False
    while piece := marks.PIECE.match(formula, at):
        at, kind = piece.end(), piece.lastgroup or ""
        if kind == "opens" and not depth and not nested and marks.ASIDE.match(formula, at):
            aside = True
            out.append(_formula(math))
            math.clear()
        depth = max(0, depth + (kind == "opens") - (kind == "closes"))
        if depth or kind in ("opens", "closes", ""):
            math.append(piece[0])
            if aside and not depth:
                aside = False
                out.append(f" ({prose(''.join(math[1:-1]), nested=True)})")
                math.clear()
            continue
        out.append(_formula(math))
        math.clear()
        if kind == "words":
            end = group_end(formula, at) or len(formula)
            text = formula[at + 1 : end - 1]
            power = marks.POWER.match(formula, end)
            text += _POWERS[power[1]] if power else ""
            out.append(text if text.startswith((*_ORDINALS, " ")) else f" {text}")
            at = power.end() if power else end
        elif kind == "pause":
            out.append(", " if piece[0].startswith("\\") else f"{piece[0]} ")
        elif kind in ("row", "chain"):
            out.append(" = " if piece["chain"] else ". ")
        else:
            out.append(_JOINTS[kind])
    return "".join([*out, _formula(math)])


def _formula(pieces: list[str]) -> str:
    """A formula between dollars, or words and marks as they are."""
    parts = _LAYOUT.split("".join(pieces))
    text = "".join(parts[0 if parts[0] else 2 : len(parts) if parts[-1] else -2])
    bare = "$" in text or not any(map(str.isalnum, text))
    return text if bare or ("\\" not in text and words.WORD.search(text)) else f"${text}$"


def _is_label(before: str) -> bool:
    """Whether what stands before a colon only names what stands behind it."""
    return not (_AMOUNT.search(before) or words.PROPOSES.match(before) or says(before, _OPEN))


def last_of(text: str) -> str:
    """The last sentence of prose, without its full stop; what stands before a colon is a label.

    Not where it has a value: "Ann: 7, Bob: 9" is one sentence.
    """
    text = text.rstrip(" \n\t.!。*_")
    shown, start = hidden(text), 0
    for stop in endings.STOP.finditer(shown):
        before = shown[start : stop.start()]
        if before.endswith(marks.SHORTENED):
            continue
        if stop[0] != ":" or _is_label(before):
            start = stop.end()
    return text[start:].strip()
