"""Patterns of what got lost in references, or was added, on their way."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

GLUED: Final = re.compile(
    r"\\(?P<command>leqslant|geqslant|leq|geq|neq|le|ge|lt|gt|ne|in|cdot|times|to|pm|max|min)"
    r"(?P<letters>[A-Za-z]{1,2})"
)
"""Commands of relations, operators and sets with one or two letters behind them."""

LETTER: Final = re.compile(
    r"(?<![A-Za-z\\])(?:[B-HJ-Zb-z]|[aAI](?!['’]|\s+"
    r"(?!(?:and|or|is|are|be|in|with|for|where|when|if|such|so)\b)[A-Za-z]))(?![A-Za-z])"
)
"""A lone letter that is a name; a noun follows the article, and a verb the pronoun."""

COMMANDS: Final = frozenset("cdots cdotp inf int top neg pmod pmb gets less gtr inj ind".split())
"""Commands of LaTeX that begin like one of these."""

STRAY: Final = re.compile(r"#|dots|[…⋯]|\.{3}|\d\.\s")
"""What a reference has that may be read in another way than it is written."""

FORMS: Final = re.compile(r"(?<![#\\])#\s?#(?!#)|\\#\s?\\#")
"""What stands between two forms of one value."""

SPACED: Final = re.compile(r"-?0\.\s++\d++[.。\s]*+")
"""A decimal with a space behind its point."""

SIDES: Final = re.compile(r"\\(?:leqslant|leq|le|lt|geqslant|geq|ge|gt)(?![a-zA-Z])|[<>≤≥⩽⩾]")
"""Signs of order."""

STRICT: Final = frozenset({"<", ">", r"\lt", r"\gt"})
DOWN: Final = frozenset({">", "≥", "⩾", r"\gt", r"\ge", r"\geq", r"\geqslant"})

ANY_OTHER: Final = re.compile(
    r"(?P<value>[^()（）]{1,100})[(（]\s?满足(?P<condition>[^()（）]{1,100}?)"
    r"(?:皆可|均可|即可|都可以?)[)）][.。\s]*"
)
"""A value with the remark that any other of a condition is right."""
