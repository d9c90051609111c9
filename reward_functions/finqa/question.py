"""What a FinQA question fixes about its answer: scale, direction, and whether it is a percentage.

Only the question is read. The filing around it is full of "(in millions)", which fixes nothing
about the answer.
"""

from __future__ import annotations

import re
from typing import Final, Literal

MAX_QUESTION: Final = 2_000
"""Characters of a question that are read. The longest of the data set has about 300."""

_LEAD: Final = re.compile(r"[#*_> \t]*question[*_ \t]*:[*_ \t]*", re.IGNORECASE)

_SCALE: Final = re.compile(
    r"(?:(?<![\d.)] )\b(?P<word>thousand|million|billion|trillion)s\b"
    r"|\bin (?:(?:us ?)?\$ ?|u\.s\. |us )?(?:dollars? )?"
    r"(?P<single>thousand|million|billion|trillion)\b"
    r"|\bin (?:\$ ?)?(?P<short>mm|mn|bn|b)\b)",
    re.IGNORECASE,
)
_SIZES: Final = {
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "mm": 10**6,
    "mn": 10**6,
    "bn": 10**9,
    "b": 10**9,
}
_PERCENT: Final = re.compile(r"\bpercent|\bper cent\b|%|\brates? of change\b", re.IGNORECASE)
_BASIS_POINTS: Final = re.compile(r"\bbasis[ -]points?\b|\bbps?\b", re.IGNORECASE)
_DECREASE: Final = re.compile(
    r"\b(?:decreas(?:e|ed|ing)|declin(?:e|ed|ing)|reduc(?:tion|ed|e)|drop(?:ped)?|f[ae]ll)\b"
    r"|\b(?:lower|less|smaller) (?:is|was|are|were|than)\b"
    r"|\bwhat (?:is|was|were|are) (?:the )?(?:(?:percent(?:age)?|total|net|average|annual|amount"
    r"|of|the|operating|overall|realized|unrealized|pre-?tax|after-?tax|estimated) ){0,4}"
    r"loss(?:es)?\b"
    r"|\bhow much\b.{0,80}\blo(?:st|se)\b",
    re.IGNORECASE,
)
_OTHERWISE: Final = re.compile(
    r"\b(?:increas(?:e|ed|ing)|growth|gr[eo]w|r[io]se|chang(?:e|ed)|difference|ratio|variation)\b",
    re.IGNORECASE,
)
_GIVEN: Final = re.compile(
    r"\b(?:due to|because of|after|before|considering|given|without|with|if|when|assuming|excluding"
    r"|including|despite|from) (?:\S+ ){0,5}$",
    re.IGNORECASE,
)


def asked(prompt: str) -> str:
    """The question of a prompt: its last line that holds one; "" where none does."""
    for line in reversed(prompt[-MAX_QUESTION * 4 :].splitlines()):
        lead = _LEAD.match(line)
        if lead or line.rstrip().endswith("?") or "? " in line:
            return line[lead.end() if lead else 0 :].strip()[-MAX_QUESTION:]
    return ""


def scale(question: str) -> int:
    """What the question counts in ("in millions"): 1 where it names nothing."""
    named = list(_SCALE.finditer(question[:MAX_QUESTION]))
    if not named:
        return 1
    word = named[-1]["word"] or named[-1]["single"] or named[-1]["short"]
    return _SIZES[word.lower()]


def direction(question: str) -> Literal["decrease"] | None:
    """Whether the question asks for a decrease: a decline, a reduction, a loss.

    It does not where it asks for a change or an increase as well ("increase or decrease"), or where
    the decrease is a circumstance ("considering the reduction of the rate, …").
    """
    question = question[:MAX_QUESTION]
    named = _DECREASE.search(question)
    if named is None or _OTHERWISE.search(question) or _GIVEN.search(question[: named.start()]):
        return None
    return "decrease"


def says_basis_points(question: str) -> bool:
    """Whether the question asks for basis points."""
    return _BASIS_POINTS.search(question[:MAX_QUESTION]) is not None


def says_percent(question: str) -> bool:
    """Whether the question asks for a percentage or a rate of change."""
    return _PERCENT.search(question[:MAX_QUESTION]) is not None
