"""A page as its readers have it: strictly read, by every rule of the gallery, and its words."""

from collections import Counter
from dataclasses import dataclass

from tests.gallery.parsed import parsed
from tests.gallery.rules import findings

HEADINGS = ("h1", "h2", "h3", "h4")


@dataclass
class ParsedPage:
    """What a test asks of a page.

    Args:
        tags: how often each element is there; one in a drawing is "svg text".
        headings: (order, words) in order of reading.
        text: all words.
    """

    tags: Counter
    headings: list
    text: str


def harmless(html):
    """The page, which keeps every rule of the gallery: it loads, runs and hides nothing."""
    assert findings(html) == []
    page = parsed(html)
    return ParsedPage(
        tags=Counter(f"svg {each.name}" if each.inside("svg") else each.name for each in page),
        headings=[(int(each.name[1]), each.words) for each in page.all(*HEADINGS)],
        text=page.words,
    )
