"""Arithmetic in words, each pattern with the sign it stands for: "17 times 23", "the sum of"."""

from __future__ import annotations

import re
from typing import Final

SPELLED: Final = (
    (re.compile(r"(?<=[\d)])\s+squared\b"), "^2"),
    (re.compile(r"(?<=[\d)])\s+cubed\b"), "^3"),
    (re.compile(r"(?<=[\d)])\s+(?:times|multiplied by)\s+(?=[\d(])"), "*"),
    (re.compile(r"(?<=[\d)])\s+plus\s+(?=[\d(])"), "+"),
    (re.compile(r"(?<=[\d)])\s+minus\s+(?=[\d(])"), "-"),
    (re.compile(r"(?<=[\d)])\s+(?:divided by|over)\s+(?=[\d(])"), "/"),
    (re.compile(r"(?<=[\d)])\s+(?:to the power of|raised to the power of)\s+(?=[\d(])"), "^"),
    (re.compile(r"(?<=\d)\s*x\s*(?=\d)"), "*"),
)
_TWO: Final = r"\s+(\d{1,20})\s+and\s+(\d{1,20})(?!\w|\.\d)"
NAMED: Final = (
    (re.compile(r"\bsum of" + _TWO), r"\1+\2"),
    (re.compile(r"\bproduct of" + _TWO), r"\1*\2"),
    (re.compile(r"\bgreatest common (?:divisor|factor) of" + _TWO), r"\\gcd(\1,\2)"),
    (re.compile(r"\bleast common multiple of" + _TWO), r"\\operatorname{lcm}(\1,\2)"),
    (re.compile(r"\bsquare root of\s+(\d{1,20})(?!\w|\.\d)"), r"\\sqrt{\1}"),
    (re.compile(r"\bcube root of\s+(\d{1,20})(?!\w|\.\d)"), r"\\sqrt[3]{\1}"),
)
"""Operations between or of plain numbers as words name them."""
