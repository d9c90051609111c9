"""How much of a check was measured, and the exit status that follows: one rule for every gate.

| measured | exit status |
| --- | --- |
| everything, and nothing is wrong | 0 |
| everything, and something is wrong; or only a part | 1 |
| nothing | 2 |

Measured is what has a figure: a row with a score, an attack with a valid verdict. Verdicts of a
judge's prefilter or code are counted apart: no model was asked about them, and a run of nothing
else measured nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PASSED: Final = 0
INCOMPLETE: Final = 1
"""Something is wrong, or a part was not measured."""
NOTHING: Final = 2
"""Nothing was measured, or the input or the arguments cannot be used."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The items of a check, counted.

    Args:
        items: what they are, in the plural: "rows".
        measured: those with a figure, from 0.
        missing: those that should have one and have none, from 0.
        unasked: those that a judge decided without its model, from 0; in neither of the others.
    """

    items: str
    measured: int
    missing: int = 0
    unasked: int = 0

    def __add__(self, other: Measured) -> Measured:
        """The items of two checks of the same kind."""
        return Measured(
            self.items,
            self.measured + other.measured,
            self.missing + other.missing,
            self.unasked + other.unasked,
        )

    def status(self, *, failed: bool = False) -> int:
        """The exit status, 0 to 2.

        Args:
            failed: whether something that was measured is wrong.
        """
        if not self.measured:
            return NOTHING
        return INCOMPLETE if failed or self.missing else PASSED

    @property
    def sentence(self) -> str:
        """How much was measured: "98 of 100 rows measured, 30 decided without a model"."""
        total = self.measured + self.missing
        parts = [f"{self.measured:,} of {total:,} {self.items} measured"] if total else []
        if self.unasked:
            parts.append(f"{self.unasked:,} decided without a model")
        nothing = "" if self.measured else "nothing was measured: "
        return f"{nothing}{', '.join(parts) or f'there are no {self.items}'}"
