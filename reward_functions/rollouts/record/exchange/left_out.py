"""What gives no training row, and why: counted by reason, and never a number in its place."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class LeftOut(NamedTuple):
    """A rollout, or a turn of it, that a trainer does not get.

    Args:
        rollout: its id.
        reason: in a few words, the same for all of a kind.
        turn: the turn's index; None where it is the whole rollout.
    """

    rollout: str
    reason: str
    turn: int | None = None


def counted(left_out: Iterable[LeftOut]) -> dict[str, int]:
    """How many rollouts and turns there are for each reason; the most frequent first."""
    words = Counter(
        f"{'rollout' if each.turn is None else 'turn'}: {each.reason}" for each in left_out
    )
    return dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0])))
