"""The markers that open and end a turn, which trainers leave in: `<s>5</s>`, `5<eoa>`, `5 [/INST]`.

A marker is a shape and not one of a list, since every tokenizer and every prompt names its own:

    <|…|>            also with the bars of DeepSeek, ｜
    <s> <eo…> <end…> <…_end> <bos> <pad> <sep> <cls> <unk> <done>
    </…>             where nothing opened it
    [EOS] [BOS] [END] [PAD] [SEP] [CLS] [INST] [/INST] [DONE]

At the ends of a response any number of them says nothing, glued to it or not, and so it is at the
end of a line. All but the tags of a strike may also begin a line, or an answer that they are glued
to. Everywhere else they are text. The tags that open and close reasoning are no markers here:
`reward_functions.extraction.reasoning` reads it.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re

if TYPE_CHECKING:
    from collections.abc import Iterator

THOUGHTS: Final = (
    "think",
    "thinking",
    "reasoning",
    "reasoning_content",
    "thought",
    "scratchpad",
    "reflection",
    "seed:think",
)
"""Names of the tags around reasoning."""

MOST: Final = 64
"""Characters at the end of a response in which its last marker begins."""

MAX_TAGS: Final = 10_000
"""Markers and tags of a text that are looked at: a flood of them states nothing."""

TAIL: Final = 100_000
"""Characters at the end of a response in which the markers stand that it ends with."""

_NAMED: Final = r"(?:bos|pad|sep|cls|unk|done)>|eo|end|\w{1,20}_end>"
MARKER: Final = (
    rf"<(?={_NAMED})\w{{3,40}}>"
    r"|<[|｜](?!channel[|｜]|(?:begin|end)_of_thought[|｜])[a-z▁][\w▁ :/.-]{1,60}[|｜]>"
    r"|\[(?:EOS|BOS|END|PAD|SEP|CLS|/?INST|DONE)\]"
)
"""Those that no closing tag is, of any case."""

_TAG: Final = re.compile(
    rf"(?P<token>{MARKER})|<(?P<closes>/)?(?P<name>[a-z][\w:.-]{{0,40}})(?:\s[^<>\n]{{0,200}})?/?>",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    rf"\s*+(?P<marker>{MARKER}|</?s>|(?<=[|｜]>)(?:assistant|model)(?=[ \t]{{0,8}}\n|<))",
    re.IGNORECASE,
)
"""A marker before an answer; behind one in bars also the role that it opens."""

HEADING: Final = re.compile(
    r"\s{0,8}(?:#{1,6} ?|\*\*)?(?:response|answer|assistant|output|solution) ?:(?:\*\*)?[ \t]{0,8}"
    r"\n",
    re.IGNORECASE,
)
"""The line that ends the template of a prompt, and opens the response."""

_LAST: Final = re.compile(rf"(?:{MARKER}|</?[a-z][\w:.-]{{0,40}}>)\Z", re.IGNORECASE)
# A character is looked for at a fiftieth of a pattern's price.
_SIGNS: Final = (
    ("<", re.compile(rf"<(?:[/|｜]|s>|{_NAMED})", re.IGNORECASE)),
    ("[", re.compile(r"\[/?[A-Za-z]{3,4}\]")),
)
_CLOSING: Final = " \t\r\n.。*_$"
_TEXT_ENDS: Final = re.compile(r"[\s.。*_$]*+\Z")
_LINE_ENDS: Final = re.compile(r"[ \t\r.。*_$]*+(?:\n|\Z)")
"""What may stand behind a run of markers: they are inside the sentence and the bold."""


def within_turn(text: str, kept: str = "") -> str:
    """A response without the markers that it begins and ends with. Linear.

    `<s>` and `</s>` also strike out what is between them: `<s>` opens a turn where the text begins
    with it, unless its `</s>` stands before the end.

    Args:
        text: what the model wrote.
        kept: the reference: a marker that it contains is text.
    """
    if text[:1] in "<[ \n\t\r" and text.lstrip()[:1] in ("<", "["):
        text = text[_begins(text, kept.casefold()) :]
    tail = text[-MOST:]
    if (">" in tail or "]" in tail) and _LAST.search(tail.rstrip(_CLOSING)):
        start = max(0, len(text) - TAIL)
        return text[:start] + _without(text[start:], kept, lines=False)
    return text


def without_line_ends(text: str, kept: str = "") -> str:
    """A response without the markers that its lines end with. Linear."""
    for character, signs in _SIGNS:
        if character in text and signs.search(text):
            return _without(text, kept, lines=True)
    return text


def _begins(text: str, kept: str) -> int:
    """Where a text begins behind its markers; where it is nothing else, they end it."""
    if not _goes_on(text, 0):
        return 0
    start = 0
    for _ in range(MAX_TAGS):
        marker = _OPENING.match(text, start)
        if marker is None:
            break
        tag = marker["marker"].casefold()
        if tag in kept or (tag == "<s>" and _strikes(text, marker.end())):
            break
        start = marker.end()
    return start


def _strikes(text: str, start: int) -> bool:
    """Whether the `<s>` that ends at a position strikes out a part of the text.

    Its `</s>` is looked for up to the next one, so that a flood is read once.
    """
    following = text.find("<s>", start)
    closing = text.find("</s>", start, following if following >= 0 else len(text))
    return closing >= 0 and _goes_on(text, closing)


def _goes_on(text: str, start: int) -> bool:
    """Whether more than markers stands behind a position."""
    for _ in range(MAX_TAGS):
        marker = _OPENING.match(text, start)
        if marker is None:
            break
        start = marker.end()
    return not text[start:].isspace() and start < len(text)


def _without(text: str, kept: str, *, lines: bool) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in _runs(text, kept.casefold(), " \t\r" if lines else None):
        behind = _LINE_ENDS.match(text, end) if lines else _TEXT_ENDS.match(text, end)
        if behind or (lines and _opens(text, start, end)):
            pieces.append(text[position:start])
            position = end
    return "".join([*pieces, text[position:]])


def _opens(text: str, start: int, end: int) -> bool:
    """Whether a run of markers begins a line, or an answer that it is glued to."""
    if text.startswith(("</", "<s>"), start):
        return False
    before = text[start - 1 : start]
    return before in ("", "\n") or (before in " :：】*$" and not text[end : end + 1].isspace())


def _runs(text: str, kept: str, between: str | None) -> Iterator[tuple[int, int]]:
    """The runs of markers in a text, with nothing but characters of `between` in them."""
    run: tuple[int, int] | None = None
    for start, end in _markers(text, kept):
        if run and not text[run[1] : start].strip(between):
            run = run[0], end
            continue
        if run:
            yield run
        run = start, end
    if run:
        yield run


def _markers(text: str, kept: str) -> Iterator[tuple[int, int]]:
    """Where markers stand: what opens a strike is none, nor is what closes a tag."""
    opened: Counter[str] = Counter()
    struck = text.rfind("</s>")
    ended = -1
    for tag in islice(_TAG.finditer(text), MAX_TAGS):
        name = (tag["name"] or "").lower()
        if tag["closes"] and opened[name]:
            opened[name] -= 1
        elif name and not tag["closes"] and not (name == "s" and _begins_turn(tag, ended, struck)):
            opened[name] += 1
        elif name not in THOUGHTS and not (kept and tag[0].casefold() in kept):
            ended = tag.end()
            yield tag.span()


def _begins_turn(tag: re.Match[str], ended: int, struck: int) -> bool:
    """Whether a `<s>` opens no strike: it is never closed, or stands behind another marker."""
    return tag.start() > struck or tag.start() == ended
