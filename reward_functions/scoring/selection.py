"""Which rows of a scored file are written, and in which order; the summary is about all of them."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.reports.score_report.row_facts import CUT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.reports.score_report.row_facts import RowFacts
    from reward_functions.scoring import Only, Sort

_CHOSEN: Final[Mapping[Only, Callable[[RowFacts, Scale], bool]]] = {
    "minimum": lambda facts, scale: facts.value == scale.minimum,
    "maximum": lambda facts, scale: facts.value == scale.maximum,
    "partial": lambda facts, scale: (
        facts.value is not None and scale.minimum < facts.value < scale.maximum
    ),
    "unscored": lambda facts, _: facts.value is None,
    "truncated": lambda facts, _: bool(facts.signs & CUT),
    "disagree": lambda _facts, _scale: True,  # known at the end, from the labels
}


@dataclass(slots=True)
class Selection:
    """The rows to write: a bit of each, and what they are sorted by.

    Args:
        scale: of the reward.
        only: which rows; None for all.
        sort: by what; None for the order of the file. "-" for the largest first.
    """

    scale: Scale
    only: Only | None = None
    sort: Sort | None = None
    _chosen: array[int] = field(default_factory=lambda: array("Q"))
    _values: array[float] = field(default_factory=lambda: array("d"))
    _ids: list[str] = field(default_factory=list)

    def require_labels(self, label: str | None) -> None:
        """Refuse to look for disagreement with nothing.

        Raises:
            ConfigurationError: there are no labels.
        """
        if self.only == "disagree" and label is None:
            raise ConfigurationError("--only disagree needs the labels: add --label FIELD")

    @property
    def in_order(self) -> bool:
        """Whether a row is known to be written, and where, as soon as it is looked at."""
        return self.sort is None and self.only != "disagree"

    def add(self, at: int, id: str, facts: RowFacts) -> bool:  # noqa: A002 - the wire's own word
        """Look at the row of a position, and say whether it is chosen."""
        chosen = self.only is None or _CHOSEN[self.only](facts, self.scale)
        if chosen:
            self._chosen.append(at)
            key = (self.sort or "").removeprefix("-")
            if key == "id":
                self._ids.append(id)
            elif key == "value":
                last = -inf if key != self.sort else inf
                self._values.append(last if facts.value is None else facts.value)
            elif key == "length":
                self._values.append(facts.length)
        return chosen

    def positions(
        self, limit: int | None, disagreements: Collection[int] | None = None
    ) -> Sequence[int]:
        """The rows to write.

        Args:
            limit: how many at most.
            disagreements: those that differ from their labels.
        """
        found: Sequence[int] = self._chosen
        if self.sort:
            keys: Sequence[str] | Sequence[float] = self._ids or self._values
            order = sorted(
                range(len(found)), key=keys.__getitem__, reverse=self.sort.startswith("-")
            )
            found = array("Q", (found[at] for at in order))
        if self.only == "disagree":
            differing = set(disagreements or ())
            found = array("Q", (at for at in found if at in differing))
        return array("Q", islice(found, limit))
