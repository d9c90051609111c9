"""A conversation as a part of a page: who speaks, what is written, and beside it what it took.

A turn has three columns where there is room, and is one below the other on a phone. Colour never
says alone who speaks: each turn has its name. Every text is escaped, and cut to its two ends.

A page that shows one has its `STYLE`.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.reports.pages.charts.drawing import inline
from reward_functions.reports.pages.page import Markup, excerpt, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Speaker = Literal["system", "user", "policy", "call", "result", "failed", "branch"]
"""Who speaks: "failed" is a call without an answer, or a result that is an error."""

BUDGET: Final = 1_500_000
"""Bytes of a page that all texts of a conversation may take."""

FIRST: Final = 1_500
LAST: Final = 300
"""Turns that are shown of a longer conversation, from either end."""

LONGEST: Final = 6_000
"""Bytes of one text at most."""

STYLE: Final = """
.talk { list-style: none; margin: 1rem 0; padding: 0; }
.talk > li { display: grid; grid-template-columns: 8.5rem minmax(0, 46rem) minmax(9rem, 1fr);
  gap: 0 1.2rem; padding: .5rem 0; }
.talk .who { font-weight: 600; padding-top: .1rem; }
.talk .text { border-left: 4px solid var(--line); padding-left: .8rem; min-width: 0; }
.talk .aside { color: var(--faint); font-size: .85rem; margin: .15rem 0; display: block; }
.talk .aside div { display: flex; gap: .5rem; justify-content: space-between; max-width: 14rem; }
.talk .aside .reward dd, .talk .aside .reward dt { color: var(--ink); font-weight: 700; }
.talk pre { margin: 0; font: inherit; font-size: .95rem; }
.talk .head { color: var(--faint); font-size: .9rem; margin: 0 0 .2rem; }
.talk .policy .text { border-color: var(--a); } .talk .user .text { border-color: var(--d); }
.talk .call, .talk .result, .talk .failed { padding-top: .1rem; }
.talk .call .text, .talk .result .text, .talk .failed .text { margin-left: 1.5rem;
  border-color: var(--c); }
.talk .failed .text { border-left: 8px double var(--b); }
.talk .call pre, .talk .result pre, .talk .failed pre { font-family: ui-monospace, monospace;
  font-size: .85rem; }
.talk .branch { border-top: 1px dashed var(--faint); margin-top: .8rem; }
@media (max-width: 60rem) { .talk > li { grid-template-columns: minmax(0, 1fr); }
  .talk .aside { display: flex; flex-wrap: wrap; gap: 0 1rem; }
  .talk .call .text, .talk .result .text, .talk .failed .text { margin-left: .8rem; } }
@media print { .talk > li { grid-template-columns: 5rem minmax(0, 1fr) 7rem;
  break-inside: avoid; } }
"""


class Utterance(NamedTuple):
    """One turn, or a tool's call or result within it.

    Attributes:
        speaker: decides how it looks.
        who: its name, one line.
        text: what is written; "" for nothing.
        head: one line above the text, such as the name of the tool; "" for none.
        aside: (name, value) pairs beside it, such as its seconds; "reward" stands out.
    """

    speaker: Speaker
    who: str
    text: str
    head: str = ""
    aside: Sequence[tuple[str, str]] = ()


def conversation_markup(turns: Sequence[Utterance]) -> Markup:
    """The list of turns, or of those at its two ends; texts share the room that there is."""
    left = len(turns) - FIRST - LAST
    if left > 0:
        between = Utterance("branch", "…", "", f"{left:,} turns, calls and results are left out")
        turns = [*turns[:FIRST], between, *turns[-LAST:]]
    room = min(LONGEST, BUDGET // max(1, len(turns)))
    items = "\n".join("".join(_item(each, room)) for each in turns)
    return Markup(f'<ol class="talk">\n{items}\n</ol>')


def _item(each: Utterance, room: int) -> Iterator[str]:
    yield f'<li class="{each.speaker}"><div class="who">{inline(each.who)}</div><div class="text">'
    if each.head:
        yield f'<p class="head">{inline(each.head)}</p>'
    if each.text:
        yield f"<pre>{escape(quoted(excerpt(each.text, room)))}</pre>"
    yield "</div>"
    if each.aside:
        yield '<dl class="aside">'
        for name, value in each.aside:
            kind = ' class="reward"' if name == "reward" else ""
            yield f"<div{kind}><dt>{inline(name)}</dt><dd>{inline(value)}</dd></div>"
        yield "</dl>"
    yield "</li>"
