"""The signs and commands of a derivation that is set as a formula, as patterns."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

PIECE: Final = re.compile(
    r"""
    (?P<words>\\(?:text(?:bf|it|rm|normal)?|mbox)\s?(?=\{))
  | (?P<row>(?:\\\\(?:\[[^\]\n]{0,9}\])?|\\newline)[\s&]*+(?P<chain>=)?)
  | (?P<step>\\(?:implies|iff|(?:long|Long)?(?:left|Left)?[rR]ightarrow)(?![a-z])|[⇒⟹])
  | (?P<so>\\therefore(?![a-z])|∴)
  | (?P<layout>\\(?:begin|end)\s?\{(?:aligned|align\*?|gathered|gather\*?|split)\}|&|\\displaystyle)
  | (?P<opens>\\begin\s?\{[a-z*]{1,12}\}|\\left(?![a-z])|\\?[{(\[])
  | (?P<closes>\\end\s?\{[a-z*]{1,12}\}|\\right(?![a-z])|\\?[})\]])
  | (?P<sign>(?<!\\not)(?<![<>!:])=)
  | (?P<pause>[,;.:](?=[\s\\]|$)|\\q?quad(?![a-z]))
  | \\[A-Za-z]+ | \\. | [^\\=,;.:&{}()\[\]⇒⟹∴]+ | .
    """,
    re.VERBOSE | re.DOTALL,
)
"""The pieces of such a formula; those of no kind belong to its mathematics."""

POWER: Final = re.compile(r"\s?\^\s?\{?\s?([23])\s?\}?")
"""The power of a unit."""

SHORTENED: Final = ("e.g", "i.e", "sig", "fig", "approx", "resp", "no", "eq")
"""Words whose full stop ends no sentence."""

ASIDE: Final = re.compile(r"\s{0,4}\\(?:text|mbox)")
"""How words in brackets begin."""

IMPLIES: Final = re.compile(r"\\(?:implies|(?:long|Long)?[rR]ightarrow)(?![a-z])|[⇒⟹]")
WORDS: Final = re.compile(r"\\(?:text|mbox)|(?<![\\A-Za-z])[A-Za-z]{3}")
RELATION: Final = re.compile(r"[=<>≤≥≠]|\\(?:leq?|geq?|neq?|lt|gt|in)(?![a-z])")
