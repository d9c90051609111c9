"""The figures of results, which add up across shards in bounded memory.

They are those of `reports.score_report.digest.Digest`, and print the same summary. Counts, reasons,
errors, mean, standard deviation and range are exact for any number of rows. Groups and repeated ids
are exact up to `GROUPS` prompts and ids of a run (`GROUPS_OF_PART` of a part); of more, a share of
them is kept that is chosen by hash, and the figures are scaled up and say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reward_functions.core.spec import Scale
    from reward_functions.scoring.results import RowResult

GROUPS: Final = 1 << 18
GROUPS_OF_PART: Final = 1 << 15


class Facts:
    """The figures of the rows added so far.

    Args:
        reward: its name.
        scale: its range.
    """

    def __init__(self, reward: str, scale: Scale) -> None:
        raise NotImplementedError

    def add(self, results: Iterable[RowResult]) -> None:
        """Count further rows."""

    def merge(self, other: Facts) -> None:
        """Count the rows of a later part.

        The order of parts decides nothing but which error of a kind is shown.
        """

    def item(self) -> dict[str, Any]:
        """As JSON has it."""
        raise NotImplementedError

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Facts:
        """The facts that `item` wrote.

        Raises:
            ValueError: it is nothing of the kind.
        """
        raise NotImplementedError
