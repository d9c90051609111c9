"""Tables that are shown in several places: in a terminal, in Markdown, on a page.

Cells are strings. The caller that shows cells from data escapes them for its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SPECIAL: Final = str.maketrans({each: f"\\{each}" for each in "\\`*_[]<>|#"})


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with what there is to say about it.

    Args:
        title: above it.
        heads: of the columns; the first is the rows' name.
        rows: of cells.
        note: below it; "" for nothing.
        words: the columns that hold words, beside the first; the others hold numbers.
        spare: the columns that a narrow terminal can do without, the first to go first.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    words: Sequence[str] = ()
    spare: Sequence[str] = ()

    @property
    def numbers(self) -> list[str]:
        """The columns that hold numbers, which are set to the right."""
        return [head for head in self.heads[1:] if head not in self.words]

    def without(self, column: str) -> Sheet:
        """The table without a column, where it has it."""
        kept = [at for at, head in enumerate(self.heads) if head != column]
        return replace(
            self,
            heads=[self.heads[at] for at in kept],
            rows=[[row[at] for at in kept] for row in self.rows],
        )

    def first(self, count: int) -> Sheet:
        """The table with so many rows at most; its note says how many it lacks."""
        left = len(self.rows) - count
        if left <= 0:
            return self
        lacking = f"{left:,} more rows are not shown"
        note = "; ".join(filter(None, (self.note, lacking)))
        return replace(self, rows=self.rows[:count], note=note)

    def markdown(self) -> Iterator[str]:
        """The lines of the table, a heading above and the note below."""
        yield f"## {self.title}"
        yield ""
        yield _row(map(escaped, self.heads))
        yield _row("---:" if head in self.numbers else "---" for head in self.heads)
        for row in self.rows:
            yield _row(map(escaped, row))
        if self.note:
            yield ""
            yield escaped(self.note)


def markdown_document(
    title: str,
    paragraphs: Iterable[str],
    facts: Iterable[tuple[str, str]],
    sheets: Iterable[Sheet],
) -> str:
    """A document of Markdown.

    Args:
        title: of data.
        paragraphs: Markdown.
        facts: (name, value); values are of data.
        sheets: in their order.
    """
    lines = [f"# {escaped(title)}", ""]
    for paragraph in paragraphs:
        lines += [paragraph, ""]
    lines += [f"- {name}: {escaped(value)}" for name, value in facts]
    for sheet in sheets:
        lines += ["", *sheet.markdown()]
    return "\n".join([*lines, ""])


def quotes(texts: Iterable[str]) -> list[str]:
    """A paragraph that stands out for each text of data."""
    return [f"> {escaped(text)}" for text in texts]


def escaped(text: str) -> str:
    """A text on one line that Markdown shows as it is; what does not print by its escape."""
    line = " ".join(text.split())
    if not line.isprintable():
        line = "".join(
            char if char.isprintable() else char.encode("unicode_escape").decode() for char in line
        )
    return line.translate(_SPECIAL)


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"
