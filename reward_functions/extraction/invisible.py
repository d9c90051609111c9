r"""Removes what a reader of a response does not see: invisible content, and content struck out.

| what | is not shown |
| --- | --- |
| LaTeX | the argument of `\phantom`, `\label`, `\index` and their kin; definitions, saved boxes |
| | white, transparent or size 0: as an argument, or to the end of the group |
| | `\iffalse … \fi`, environments `comment` and `filecontents` |
| | a box over other text (`\llap`), in a length (`\hspace`) or in a link's address (`\href`) |
| | a comment: a line that begins with `%`; a box after a `%` that begins a sentence, or that |
| | follows no digit and precedes the box: `5% \boxed{…}` is a percentage |
| HTML | comments; `<template>` and its kin; what is hidden, white or of size 0 |
| | a box in an attribute, in `<script>`, `<style>`, `<title>` and their kin |
| Markdown | definitions of links; a box in the title of a link, or in the text of an image |
| Unicode | zero-width characters |
| struck out | `\cancel` and its kin, `~~…~~`, `<del>`, `<s>` |

Invisible content that is never closed runs to the end of the text; a strike that is never closed
hides nothing. Behind thousands of such parts nothing is visible. Marks that only a renderer could
decide are not looked for: a branch of a conditional, a style sheet, a box moved off the page or
under another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.latex_groups import group_end
from reward_functions.quantities.unicode_forms import visible

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PARTS: Final = 10_000
"""Parts of a response that are looked through, strikes that are never closed included."""

# Most responses have none. A character is looked for at a fiftieth of a pattern's price, and a
# pattern that begins with one, and has no optional part right behind it, at a tenth of any other's.
_BEFORE_BOX: Final = re.compile(r"%(?=[^\n]{0,100}\\f?boxed)")
_SIGNS: Final[tuple[tuple[str, Callable[[str], object]], ...]] = (
    (
        "\\",
        # the first letters apart: one set costs less than a dozen alternatives. Without the look
        # ahead \fbox and \left would begin as \sbox and \def do
        re.compile(
            r"\\(?!fb|le)[bcdefghilmnprstvxDNPR](?:phantom|hantom|cancel|ancel|out|t|ffalse|egin\{(?:comm|filec)"
            r"|extcolor|olor|calebox|esizebox|ewcommand|enewcommand|rovidecommand|ef|def|eclare"
            r"|ewDocument|enewDocument|rovideDocument|avebox|box|etbox|abel|ndex|lossary|ocite"
            r"|ypeout|essage|pecial|nvisible|dfcomment|exttransparent|ransparent|tyle|tml|ullfont"
            r"|ontsize|lap|ath[clr]lap|space|ref|ypertarget|ssId|lass)"
        ).search,
    ),
    (
        "<",
        re.compile(r"<(?:!--|[>dsDS]|[A-Za-z]\w{0,11}\s|(?i:te|ti|no|ob|if|ca|au|vi|he))").search,
    ),
    ("~", re.compile("~~").search),
    ("%", lambda text: "\n%" in text or ("boxed" in text and _BEFORE_BOX.search(text))),
    ("#", re.compile(r"#(?<=\]: #)").search),
    ("]", re.compile(r"\]\([^\s()]{1,200}\s{1,4}[\"']").search),
    ("!", re.compile(r"!\[[^\[\]\n]{0,100}\\f?boxed").search),
)
_WHITE: Final = r"""(?:\[gray\]\s?\{\s?1(?:\.0{1,4})?|(?:\[\w{2,5}\])?\s?\{\s?
    (?:[wW]hite|transparent|\#?[fF]{6}|\#[fF]{3}
    |1(?:\.0{1,4})?(?:,\s?1(?:\.0{1,4})?){2}|255(?:,\s?255){2}))\s?\}"""
_NOTHING: Final = r"0(?:\.0{0,4})?\s?(?:pt|em|ex|px|cm|mm|in)?"
_UNSEEN: Final = r"""(?i:display:\s?none|visibility:\s?(?:hidden|collapse)
    |(?<!aria-)(?<!overflow:)(?<!overflow:\s)\bhidden\b
    |(?<![-\w])color[:=]\s?["']?
      (?:white|transparent|\#(?:fff){1,2}(?![\da-f])|rgba?\(\s?255,\s?255,\s?255)
    |(?:font-size|opacity):\s?0(?!\.?[1-9])|transform:\s?scale\(\s?0(?!\.?\d)
    |(?:text-indent|left|right|top|bottom):\s?-\d{3}|clip:\s?rect\(0|clip-path:\s?inset\((?:50|100)%)"""
_NAME: Final = r"(?:\{\s?\\[a-zA-Z]{1,40}\s?\}|\\[a-zA-Z]{1,40})"
# The look-ahead lets the search skip to the next character that can begin anything.
_OPENING: Final = re.compile(
    rf"""(?=[\\~%\[]|<[!\w]|!\[|\((?<=\]\())(?:
    \\(?:[hv]?phantom|[bx]?cancel|sout|st
      |label|index|glossary|nocite|typeout|message|special|invisible|pdfcomment
      |textcolor{_WHITE}|texttransparent\s?\{{\s?{_NOTHING}\s?\}}
      |(?:htmlStyle|style)\s?\{{[^{{}}]{{0,60}}{_UNSEEN}[^{{}}]{{0,60}}\}}
      |scalebox\s?\{{\s?0?\.?0*\s?\}}|resizebox\*?\s?\{{\s?{_NOTHING}\s?\}}\s?\{{[^{{}}]{{0,20}}\}}
      |s(?:ave)?box\s?(?:{_NAME}|\d{{1,3}})|setbox\s?\d{{1,3}}\s?=?\s?\\[hv]box
      )(?:\[[^\[\]]{{0,40}}\])?\s{{0,8}}(?P<group>\{{)
  | \\(?:(?:re)?newcommand|providecommand|[egx]?def|DeclareMathOperator|DeclareRobustCommand)\*?
      \s{{0,8}}{_NAME}
      (?:\[[^\[\]]{{0,20}}\]|\#\d){{0,9}}\s{{0,8}}(?P<definition>\{{)
  | \\(?:(?:Ren|N)ew|Provide|Declare)DocumentCommand\s{{0,8}}{_NAME}
      \s{{0,8}}\{{[^{{}}]{{0,40}}\}}\s{{0,8}}(?P<command>\{{)
  | \\(?:(?:math)?[clr]lap|[hv]space\*?|href|hypertarget|cssId|class|html(?:Id|Class|Data))
      \s{{0,8}}(?P<aside>\{{)(?=[^{{}}\n]{{0,40}}\\f?boxed)
  | \\(?:color{_WHITE}|transparent\s?\{{\s?{_NOTHING}\s?\}}|nullfont\b
      |fontsize\s?\{{\s?{_NOTHING}\s?\}}\s?\{{[^{{}}]{{0,9}}\}})(?P<switch>)
  | (?P<comment><!--)
  | (?<!~)(?P<strike>~~)(?=[^\s~])
  | <(?P<tag>del|s|strike|DEL|S|STRIKE)(?:\s[^<>]{{0,200}})?>
  | <(?:img|input|meta|link|br|hr|area|base|col|embed|source|track|wbr)
      \s[^<>]{{0,200}}{_UNSEEN}[^<>]{{0,200}}(?P<void>>)
  | <(?P<unseen>[A-Za-z]\w{{0,11}})\s[^<>]{{0,200}}{_UNSEEN}[^<>]{{0,200}}>
  | <(?P<element>(?i:template|noscript|datalist))(?:\s[^<>]{{0,200}})?>
  | <(?P<source>(?i:script|style))(?:\s[^<>]{{0,200}})?>
  | <(?P<closed>(?i:title|head|iframe|noframes|noembed|object|canvas|audio|video))
      (?:\s[^<>]{{0,200}})?>
  | <[A-Za-z]\w{{0,11}}\s[^<>]{{0,200}}=\s?["'][^<>"']{{0,200}}(?:\\f?boxed|\#{{4}})
      [^<>]{{0,200}}(?P<attribute>>)
  | (?P<iffalse>\\iffalse\b)
  | \\begin\{{(?P<environment>comment|filecontents\*?)\}}
  | (?P<percent>%)(?:(?m:(?<=^.))|(?<=[\n.!?]\s.)(?=[^\n]{{0,100}}\\f?boxed)
      |(?<=\n\s\s.)(?=[^\n]{{0,100}}\\f?boxed)|(?<![\\\d].)(?<!\d\s.)(?=\s{{0,8}}\\f?boxed))
  | (?m:^)\[[^\[\]\n]{{1,40}}\]:\ (?:\#|<>)\ ?(?P<reference>["'(])
  | (?<=\])\([^\s()]{{1,200}}\s{{1,4}}(?P<title>["'])
  | !\[[^\[\]\n]{{0,100}}\\f?boxed[^\[\]\n]{{0,100}}(?P<image>\])(?=\()
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
        end = _end_of(text, opening, missing)
        if end is None:
            kept.append(opening[0])
        position = opening.end() if end is None else end
    return "".join(kept)


def _may_hide(text: str) -> bool:
    for character, signs in _SIGNS:
        if character in text and signs(text):
            return True
    return text.startswith("%")


def _end_of(text: str, opening: re.Match[str], missing: set[str]) -> int | None:
    """Where the part ends; None where its opening is text, such as a strike that is never closed.

    Args:
        text: the whole text.
        opening: what begins the part.
        missing: what no longer follows. It grows, so that a flood of openings looks for each
            closing once.
    """
    kind = opening.lastgroup or ""  # each alternative has one group
    if kind in _GROUPS:
        return group_end(text, opening.start(kind)) or len(text)
    if kind == "switch":
        return _end_of_group(text, opening.end())
    if kind in _WHOLE:
        return opening.end()
    closing = _CLOSING.get(kind, "{}").format(opening[kind])
    found = _found(text, closing, opening.end(), missing)
    if found is None and kind in _ONLY_CLOSED:
        return None
    end = len(text) if found is None else found + len(closing)
    return end if kind not in _WITH_BOX or _holds_box(text, opening.end(), end, missing) else None


def _found(text: str, sought: str, start: int, missing: set[str]) -> int | None:
    found = -1 if sought in missing else text.find(sought, start)
    if found < 0:
        missing.add(sought)
    return None if found < 0 else found


def _holds_box(text: str, start: int, end: int, missing: set[str]) -> bool:
    """Whether a part states an answer by a box or `####`; looks behind it once for each."""
    if end == len(text):
        return any(_found(text, box, start, missing) is not None for box in _BOXES)
    return any(text.find(box, start, end) >= 0 for box in _BOXES)


def _end_of_group(text: str, start: int) -> int:
    """Where the group ends in which a position stands, and the end of the text outside any."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth < 0:
            return brace.start()
    return len(text)


_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)
_GROUPS: Final = frozenset({"group", "definition", "command", "aside"})
_WHOLE: Final = frozenset({"void", "attribute", "image"})
"""Kinds whose opening is the whole part."""

_ONLY_CLOSED: Final = frozenset({"strike", "tag", "closed", "title"})
"""Kinds that are text where nothing closes them."""

_WITH_BOX: Final = frozenset({"source", "closed"})
"""Hidden only with a box in them: source code may be an answer that a judge reads."""

_BOXES: Final = ("\\boxed", "####")

_CLOSING: Final = {
    "comment": "-->",
    "strike": "~~",
    "tag": "</{}>",
    "unseen": "</{}>",
    "element": "</{}>",
    "source": "</{}>",
    "closed": "</{}>",
    "iffalse": "\\fi",
    "environment": "\\end{{{}}}",
    "percent": "\n",
    "reference": "\n",
    "title": "{})",
}
"""What ends a part, by its kind; `{}` is what its group matched."""
