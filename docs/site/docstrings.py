"""A Google docstring, as its text and its sections, and as Markdown with field lists."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, Final, NamedTuple

from docs.site.markdown import fenced, prose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADING: Final = re.compile(r"^(Args|Attributes|Returns|Yields|Raises):$", re.MULTILINE)
_ITEM: Final = re.compile(r"^    (?! )(\*{0,2}[\w.]+(?:, \w+)*): ?", re.MULTILINE)

_COLUMNS: Final = re.compile(r"^[^\s|]+ {2,}\S", re.MULTILINE)
"""A list of names, each with what it is in a column of its own."""

_FIELDS: Final = {"Args": "param", "Attributes": "ivar", "Raises": "raises"}
"""The field that each item of a section becomes."""


class Docstring(NamedTuple):
    """A docstring in parts.

    Args:
        text: what stands before the sections.
        items: of a section that has items, what each says by its name.
        returns: what the function returns or yields; empty where it does not say.
    """

    text: str
    items: Mapping[str, Mapping[str, str]]
    returns: str


def parsed(docstring: str | None) -> Docstring:
    """The parts of a docstring."""
    text, *sections = _HEADING.split(cleandoc(docstring or ""))
    bodies = dict(zip(sections[::2], sections[1::2], strict=True))
    returns = bodies.pop("Returns", "") or bodies.pop("Yields", "")
    items = {section: dict(_items(body)) for section, body in bodies.items()}
    return Docstring(text.strip(), items, _joined(returns))


def markdown(docstring: str | None) -> str:
    """A docstring as Markdown: the sections become a field list of the directive around it."""
    parts = parsed(docstring)
    fields = [
        f":{_FIELDS[section]} {name.lstrip('*')}: {prose(about)}"
        for section, items in parts.items.items()
        for name, about in items.items()
    ]
    if parts.returns:
        fields.append(f":returns: {prose(parts.returns)}")
    return "\n\n".join(filter(None, [body(parts.text), "\n".join(fields)]))


def body(text: str) -> str:
    """The text of a docstring: prose, but for columns, indented lines and tables, which stay."""
    return "\n\n".join(map(_paragraph, text.split("\n\n")))


def _paragraph(text: str) -> str:
    if _COLUMNS.search(text):
        return fenced(text)
    return "\n".join(
        line if line.startswith(("    ", "|")) else prose(line) for line in text.splitlines()
    )


def _items(section: str) -> Iterator[tuple[str, str]]:
    _, *rest = _ITEM.split(section)
    for name, about in zip(rest[::2], rest[1::2], strict=True):
        yield name, _joined(about)


def _joined(lines: str) -> str:
    return " ".join(lines.split())
