"""The words around several values: the names that a prompt asks for, and what joins members."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

_GREEK: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
    " upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()
GREEK: Final = str.maketrans(
    {
        letter: f"\\{name}"
        for letter, name in zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", _GREEK, strict=True)
    }
)
"""Letters as the commands that answers write."""

NAMED: Final = re.compile(
    r"(?<![A-Za-z\\])(?:\\(?:angle|overline|vec|overrightarrow|triangle)[\s{]{0,2})?(?:\\?[A-Za-z]++|[Α-Ωα-ω])"
    r"(?:_(?:\{\\?[A-Za-z0-9]{1,8}\}|\\?[A-Za-z0-9]++))?'{0,2}(?:\([^()\n]{1,60}\))?"
)
"""A name, and what a function of that name is taken at; words of prose look the same."""

LONE: Final = re.compile(
    r"(?:[A-Za-z]|\\(?!left|right|text|quad|qquad|frac|in|to|le|ge|lt|gt)[A-Za-z]+)"
    r"(?:_\w+)?'{0,2}(?:\(.*\))?"
)
"""A name that no word of prose looks like."""

FILLER: Final = re.compile(
    r"[\s$(){}\[\]?？]++|\\(?:left|right|text|quad|qquad)(?![A-Za-z])|\\[,;]"
    r"|\b(?:the|both|values?|of|find)\b"
)
"""What may stand between two names of a list beside what joins them."""

JOINT: Final = re.compile(r"=?(?:[,;，；、]|and|和|与|及){1,2}")
"""What joins two names of a list, the sign of a blank before it."""

BLANK: Final = re.compile(r"\\underline\s?\{(?:[^{}]|\{[^{}]*\}){0,40}\}|\\?_(?:\\?_)+|＿++")
"""A place that is left for an answer."""

NAMED_BLANK: Final = re.compile(
    rf"(?:[A-Za-z]|\\[a-zA-Z]{{2,8}})[\s$]{{0,3}}[=＝][\s$]{{0,3}}(?:{BLANK.pattern})"
)
"""One that has a name: a = ____."""

AND: Final = re.compile(r"\\(?:text|mathrm|mbox)\s?\{\s?and\s?\}|\band\b|\\q?quad\b")
"""What joins the last member of a list, beside a comma."""

SEVERAL: Final = re.compile(
    r"\b(?:lists?|tuples?|pairs?|vectors?|arrays?|coordinates|respective(?:ly)?|in\sturn|roots?"
    r"|eigenvalues?|separately)\b|分别|依次",
    re.IGNORECASE,
)
"""What a prompt says that asks for several values."""

INTERVAL: Final = re.compile(
    r"\b(?:intervals?|domain|range|inequalit(?:y|ies)|for\swhich|set\sof|bounds?)\b"
    r"|区间|定义域|值域|范围|不等式",
    re.IGNORECASE,
)
"""What one says that asks for an interval."""

MEANT: Final = re.compile(
    r"\$?(?P<list>[\[(][^()\[\]]{1,300}[\])])\$?,?\s(?:meaning|where|which|with|since|because|i\.e)\b"
    r"(?!.*(?:\bor\b|[\[(]))",
    re.IGNORECASE | re.DOTALL,
)
"""A list and what its members mean: "[1, 0], meaning yes and no"."""

ARROW: Final = re.compile(r"\\(?:to|rightarrow|longrightarrow)(?![a-zA-Z])|[→⟶]|-{1,2}>")
"""What leads from one member of a path to the next."""

JOINED: Final = re.compile(r"[,;{]|\b(?:and|or)\b")
"""What joins members that no arrow joins."""
