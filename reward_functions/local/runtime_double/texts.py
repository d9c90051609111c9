"""The texts of the latest turns: so many bytes of all trajectories, and older ones give way.

Whoever waits for a rollout reads the response of its last turn, so that the latest texts are those
that are missed. The numbers of a turn stay.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reward_functions.local.runtime_double.trajectory import Turn


class KeptTexts:
    """What is kept of the texts of turns; under its owner's lock.

    Args:
        most: bytes of all of them.
    """

    def __init__(self, most: int) -> None:
        self._most, self._used = most, 0
        self._places: deque[tuple[list[Turn], int]] = deque()

    def append(self, turns: list[Turn], turn: Turn) -> None:
        """Add a turn to those of its trajectory, with its texts unless they alone are too large."""
        if _size(turn) > self._most:
            turn = _without_texts(turn)
        while self._used + _size(turn) > self._most:
            self._give_way()
        self._used += _size(turn)
        self._places.append((turns, len(turns)))
        turns.append(turn)

    def clear(self) -> None:
        """Forget all of them."""
        self._places.clear()
        self._used = 0

    def _give_way(self) -> None:
        turns, number = self._places.popleft()
        self._used -= _size(turns[number])
        turns[number] = _without_texts(turns[number])


def _size(turn: Turn) -> int:
    return len(turn.request) + len(turn.response)


def _without_texts(turn: Turn) -> Turn:
    return replace(turn, request=b"", response=b"")
