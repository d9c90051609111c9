"""The prompts and responses that scores are of, from the file that was scored.

A file of scores holds neither. A row is found by its id, or by its place where ids repeat and both
files have as many rows. A row without an id has the one that `reward score` gives it.
"""

from __future__ import annotations

from array import array
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.references import reference_text
from reward_functions.core.types import Sample
from reward_functions.reports.pages.page import ending, excerpt
from reward_functions.view.reading import UNREADABLE, Gone, decoded, lines, opened_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from reward_functions.data.json_rows import Row
    from reward_functions.data.rows.reading import Recognised
    from reward_functions.reports.pages.page import Case
    from reward_functions.scoring.rows import Read

ROOM: Final = 6_000
"""Bytes of a text on a page."""

SEVERAL: Final = -1
"""The place of an id that several rows have."""


@dataclass
class ScoredSamples:
    """The rows of a file of JSON lines, by their ids as `reward score` names them.

    Args:
        path: of the file, which the user named: it may lie anywhere.
    """

    path: Path
    _how: Recognised | None = None
    _offsets: array[int] = field(default_factory=lambda: array("q"))
    _lines: array[int] = field(default_factory=lambda: array("q"))
    _numbers: array[int] = field(default_factory=lambda: array("L"))
    _places: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> ScoredSamples:
        """The file, read once.

        Raises:
            ConfigurationError: it holds no JSON lines that can be scored.
            Gone: it cannot be read.
        """
        from reward_functions.data.json_rows import BadInput  # noqa: PLC0415 - where it is given
        from reward_functions.data.rows import reading  # noqa: PLC0415 - as above

        if not path.exists():
            raise Gone(f"--samples {path}: there is no such file")
        made = cls(path.resolve())
        with opened_in(made.path.parent, made.path.name) as stream:
            rows = made._rows(stream)
            ahead = list(islice(rows, reading.AHEAD))
            if not ahead and not stream.seek(0, 2):
                return made
            try:
                made._how = reading.recognised("rows", [row.content for row in ahead])
                made._name(chain(ahead, rows))
            except BadInput:
                raise ConfigurationError(
                    f"--samples {path}: name the file of JSON lines that was scored"
                ) from None
        return made

    def _name(self, rows: Iterable[Row]) -> None:
        for place, (line, number, read) in enumerate(self._read(rows)):
            name = read.sample.id
            self._places[name] = SEVERAL if name in self._places else place
            self._lines.append(line)
            self._numbers.append(number)

    def _rows(self, stream: IO[bytes]) -> Iterator[Row]:
        """The objects of the file's lines, whose numbers from 0 are their places."""
        from reward_functions.data.json_rows import Row  # noqa: PLC0415 - as above

        for line in lines(stream, 0):
            with suppress(*UNREADABLE):
                found = decoded(line.required)
                if isinstance(found, dict):
                    at = len(self._offsets)
                    self._offsets.append(line.offset)
                    yield Row(f"{at}", found, "")

    def _read(self, rows: Iterable[Row], before: int = 0) -> Iterator[tuple[int, int, Read]]:
        """Each sample, with the number of its line and which one of that line it is, from 0."""
        from reward_functions.data.rows.reading import canonical_rows  # noqa: PLC0415 - as above
        from reward_functions.scoring.rows import unread  # noqa: PLC0415 - as above

        assert self._how is not None
        last, number = -1, 0
        for each in unread(canonical_rows(rows, self._how), before):
            line = int(each.place.partition(",")[0])
            number = number + 1 if line == last else 0
            last = line
            yield line, number, each.read()

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
        from reward_functions.data.json_rows import Row  # noqa: PLC0415 - as above

        place = self._places.get(name)
        if place == SEVERAL and rows == len(self._lines):
            place = at
        if place is None or place == SEVERAL:
            return None
        with opened_in(self.path.parent, self.path.name) as stream:
            line = next(lines(stream, self._offsets[self._lines[place]]), None)
        if line is None:
            return None
        row, number = Row("0", decoded(line.required), ""), self._numbers[place]
        found = [read.sample for _, _, read in self._read([row], place - number)]
        sample = found[number] if number < len(found) else None
        return sample if isinstance(sample, Sample) and sample.id == name else None


def _texts(sample: Sample) -> Iterator[tuple[str, str]]:
    texts = {"prompt": sample.prompt, "response": sample.response}
    for name, text in texts.items():
        yield f"{name}, {len(text):,} characters", excerpt(text, ROOM)
    try:
        yield "reference", excerpt(reference_text(sample.reference), ROOM)
    except UNREADABLE:
        return
