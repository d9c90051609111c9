r"""Removes what a reader of a response does not see: invisible content, and content struck out.

Invisible are `\phantom` and its kin, white text, boxes scaled to nothing, definitions of commands,
comments of HTML, TeX and Markdown, hidden elements, and zero-width characters; struck out are
`\cancel` and its kin, `~~…~~`, `<del>` and `<s>`. Invisible content that is never closed runs to
the end of the text; a strike that is never closed is none. Behind thousands of such parts nothing
is visible.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.extraction.latex_groups import group_end
from reward_functions.quantities.unicode_forms import visible

MAX_PARTS: Final = 10_000
"""Parts of a response that are looked through, strikes that are never closed included."""

# Most responses have none. A character is looked for at a fiftieth of a pattern's price, and a
# pattern that begins with one, and has no optional part right behind it, at a tenth of any other's.
_SIGNS: Final = (
    (
        "\\",
        re.compile(  # the first letters apart: one set costs less than a dozen alternatives
            r"\\[bcdhinprstvx](?:phantom|hantom|cancel|ancel|out|t|ffalse|egin\{comment"
            r"|extcolor|olor|calebox|ewcommand|enewcommand|rovidecommand|ef)"
        ).search,
    ),
    ("<", re.compile(r"<(?:!--|[>dsDS]|\w{1,12}\s)").search),
    ("~", re.compile("~~").search),
    ("%", re.compile(r"\n%").search),
    ("#", re.compile(r"#(?<=\]: #)").search),
)
# The look-ahead lets the search skip to the next character that can begin anything.
_OPENING: Final = re.compile(
    r"""(?=[\\~%\[]|<[!\w])(?:
    \\(?:[hv]?phantom|[bx]?cancel|sout|st
      |textcolor\s?\{\s?white\s?\}|scalebox\s?\{\s?0?\.?0*\s?\})\s{0,8}(?P<group>\{)
  | \\(?:(?:re)?newcommand|providecommand|def)\*?\s{0,8}
      (?:\{\s?\\[a-zA-Z]{1,40}\s?\}|\\[a-zA-Z]{1,40})
      (?:\[[^\[\]]{0,20}\]|\#\d){0,9}\s{0,8}(?P<definition>\{)
  | \\color\s?\{\s?(?P<white>white)\s?\}
  | (?P<comment><!--)
  | (?<!~)(?P<strike>~~)(?=[^\s~])
  | <(?P<tag>del|s|strike|DEL|S|STRIKE)(?:\s[^<>]{0,200})?>
  | <(?P<unseen>\w{1,12})\s[^<>]{0,200}
      (?:display:\s?none|visibility:\s?hidden|\bhidden\b|(?<![-\w])color[:=]\s?["']?(?:white|\#fff)
        |font-size:\s?0|opacity:\s?0(?!\.?[1-9]))[^<>]{0,200}>
  | (?P<iffalse>\\iffalse\b)
  | (?P<environment>\\begin\{comment\})
  | (?m:^)(?P<percent>%)
  | (?m:^)\[[^\[\]\n]{1,40}\]:\ (?:\#|<>)\ ?(?P<reference>["'(])
    )""",
    re.VERBOSE,
)


def strip_invisible(text: str) -> str:
    """The response without its invisible and struck-out parts. Linear; never raises."""
    text = visible(text)
    if not _may_hide(text):
        return text
    kept: list[str] = []
    missing: set[str] = set()
    position = 0
    for _ in range(MAX_PARTS):
        opening = _OPENING.search(text, position)
        if opening is None:
            return "".join([*kept, text[position:]])
        kept.append(text[position : opening.start()])
        position = _end_of(text, opening, missing)
        if position == opening.end():  # a strike that is never closed is what it looks like
            kept.append(opening[0])
    return "".join(kept)


def _may_hide(text: str) -> bool:
    for character, signs in _SIGNS:
        if character in text and signs(text):
            return True
    return text.startswith("%")


def _end_of(text: str, opening: re.Match[str], missing: set[str]) -> int:
    """Where the part ends; at its own opening when it is struck out and never closed.

    Args:
        text: the whole text.
        opening: what begins the part.
        missing: the closings that no longer follow. They grow, so that a flood of openings looks
            for each closing once.
    """
    kind = opening.lastgroup or ""  # each alternative has one group
    if kind in ("group", "definition"):
        return group_end(text, opening.start(kind)) or len(text)
    if kind == "white":
        return _end_of_group(text, opening.end())
    closing = _CLOSING.get(kind) or f"</{opening[kind]}>"
    found = -1 if closing in missing else text.find(closing, opening.end())
    if found < 0:
        missing.add(closing)
        return opening.end() if kind in ("strike", "tag") else len(text)
    return found + len(closing)


def _end_of_group(text: str, start: int) -> int:
    """Where the group ends in which a position stands, and the end of the text outside any."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth < 0:
            return brace.start()
    return len(text)


_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)
_CLOSING: Final = {
    "comment": "-->",
    "strike": "~~",
    "iffalse": "\\fi",
    "environment": "\\end{comment}",
    "percent": "\n",
    "reference": "\n",
}
