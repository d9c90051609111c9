r"""Removing what is in a text but was not said: invisible content, and content struck out.

Invisible are `\phantom` and its kin, HTML comments, and zero-width characters; struck out are
`\cancel` and its kin, `~~…~~`, `<del>` and `<s>`. Content that is opened and never closed runs to
the end of the text.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.text.braces import group_end
from reward_functions.text.normal import visible

# Looking for plain strings is ten times as fast as for a pattern, and most texts have none.
_SIGNS: Final = ("phantom", "cancel", "\\so", "\\st", "~~", "<!--", "<d", "<s", "<D", "<S")
# The look-ahead lets the search skip to the next character that can begin anything.
_OPENING: Final = re.compile(
    r"(?=[\\<~])(?:"
    r"\\(?:[hv]?phantom|[bx]?cancel|sout|st)\s{0,8}(?P<group>\{)"
    r"|(?P<comment><!--)"
    r"|(?P<strike>~~)(?=\S)"
    r"|<(?P<tag>del|s|strike|DEL|S|STRIKE)>)"
)


def said(text: str) -> str:
    """The text without its invisible and struck-out parts. Linear; never raises."""
    text = visible(text)
    if not any(sign in text for sign in _SIGNS):
        return text
    kept: list[str] = []
    position = 0
    while opening := _OPENING.search(text, position):
        kept.append(text[position : opening.start()])
        position = _end_of(text, opening)
    return "".join([*kept, text[position:]])


def _end_of(text: str, opening: re.Match[str]) -> int:
    if opening["group"]:
        return group_end(text, opening.start("group")) or len(text)
    tag = f"</{opening['tag']}>" if opening["tag"] else "~~"
    closing = "-->" if opening["comment"] else tag
    found = text.find(closing, opening.end())
    return found + len(closing) if found >= 0 else len(text)
