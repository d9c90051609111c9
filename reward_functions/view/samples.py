"""The prompts and responses that scores are of, from the file that was scored.

A file of scores holds neither. A row is found by its id, or by its place where ids repeat and both
files have as many rows.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.references import reference_text
from reward_functions.core.types import Sample
from reward_functions.reports.pages.page import ending, excerpt
from reward_functions.view.reading import UNREADABLE, decoded, lines, opened_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reward_functions.reports.pages.page import Case

ROOM: Final = 6_000
"""Bytes of a text on a page."""

SEVERAL: Final = -1
"""The place of an id that several rows have."""


@dataclass
class ScoredSamples:
    """The rows of a file of JSON lines, by their ids.

    Args:
        path: of the file, which the user named: it may lie anywhere.
    """

    path: Path
    _offsets: array[int] = field(default_factory=lambda: array("q"))
    _places: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> ScoredSamples:
        """The file, read once.

        Raises:
            ConfigurationError: it holds no JSON lines.
            Gone: it cannot be read.
        """
        made = cls(path.resolve())
        with opened_in(made.path.parent, made.path.name) as stream:
            for line in lines(stream, 0):
                made._add(line.offset, line.text)
            rest = stream.seek(0, 2) > 0
        if rest and not made._places:
            raise ConfigurationError(
                f"--samples {path}: name the file of JSON lines that was scored, with an id in each"
            )
        return made

    def _add(self, offset: int, text: bytes | None) -> None:
        try:
            name = str(decoded(text or b"")["id"])
        except UNREADABLE:
            return
        self._places[name] = SEVERAL if name in self._places else len(self._offsets)
        self._offsets.append(offset)

    def beside(self, case: Case, row: Any, at: int, rows: int) -> Case:
        """A case with the texts of its sample; as it is where no sample is found.

        Args:
            case: of the row.
            row: as its file has it.
            at: its position, from 0.
            rows: of its file.
        """
        try:
            sample = self._sample(str(row["id"]), at, rows)
        except UNREADABLE:
            return case
        if sample is None:
            return case
        return replace(
            case,
            quotations=[*case.quotations, ("end of the response", ending(sample.response, ROOM))],
            texts=[*case.texts, *_texts(sample)],
        )

    def _sample(self, name: str, at: int, rows: int) -> Sample | None:
        from reward_functions.scoring.rows import samples_in  # noqa: PLC0415 - where they are shown

        place = self._places.get(name)
        if place == SEVERAL and rows == len(self._offsets):
            place = at
        if place is None or place == SEVERAL:
            return None
        with opened_in(self.path.parent, self.path.name) as stream:
            line = next(lines(stream, self._offsets[place]))
        item = decoded(line.required)
        (found,), _ = samples_in([item])
        return found if isinstance(found, Sample) and str(item["id"]) == name else None


def _texts(sample: Sample) -> Iterator[tuple[str, str]]:
    texts = {"prompt": sample.prompt, "response": sample.response}
    for name, text in texts.items():
        yield f"{name}, {len(text):,} characters", excerpt(text, ROOM)
    try:
        yield "reference", excerpt(reference_text(sample.reference), ROOM)
    except UNREADABLE:
        return
