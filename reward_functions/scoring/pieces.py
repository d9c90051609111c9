"""Rows scored a piece at a time, in order, however many pieces are under way at once.

A piece is one row for threads, which wait for a judge, and as many rows as take a moment for what
computes: this process or several interpreters. What is read ahead is bounded, so that memory does
not grow with the file.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from reward_functions.scoring.results import RowResult
    from reward_functions.scoring.rows import Unread

LARGEST: Final = 256
"""Rows of a piece: 1 MB of long responses, and enough that handing it over costs little."""

LONGEST: Final = 4 << 20
"""Bytes of a piece's rows, which may be beside those of many other pieces."""

MOMENT: Final = 0.1
"""Seconds that a piece should take: what Ctrl-C loses, and how often the bar moves."""

AHEAD: Final = 2
"""Pieces read ahead for each that is being scored."""


class Piece(NamedTuple):
    """Rows with their positions in the file."""

    positions: list[int]
    rows: list[Unread]


class Pieces:
    """The rows to score, cut into pieces that take a moment each.

    Args:
        rows: of the file, with their positions.
        largest: rows of a piece.
    """

    def __init__(self, rows: Iterable[tuple[int, Unread]], largest: int = LARGEST) -> None:
        self._rows = iter(rows)
        self._largest = largest
        self._size = 1

    def __iter__(self) -> Iterator[Piece]:
        while taken := list(self._taken()):
            positions, rows = zip(*taken, strict=True)
            yield Piece(list(positions), list(rows))

    def _taken(self) -> Iterator[tuple[int, Unread]]:
        """The rows of the next piece: fewer where they are long."""
        size = 0
        for at, row in islice(self._rows, self._size):
            yield at, row
            size += row.size
            if size > LONGEST:
                return

    def took(self, piece: Piece, seconds: float) -> None:
        """Let the next pieces be larger or smaller."""
        if seconds < MOMENT / 2 and len(piece.rows) >= self._size:
            self._size = min(self._largest, self._size * 2)
        elif seconds > MOMENT:
            self._size = max(1, self._size // 2)


class Run:
    """Pieces with their results, in order.

    Args:
        pieces: of the file.
        score: the results of a piece; called from as many threads as there are workers.
        workers: pieces at once; 1 for this thread alone.
    """

    def __init__(
        self, pieces: Pieces, score: Callable[[Piece], list[RowResult]], workers: int
    ) -> None:
        self._pieces = pieces
        self._score = score
        self._workers = workers
        self._pool = Threads(self._timed, workers) if workers > 1 else None
        self._begun: deque[tuple[Piece, Future[list[RowResult]]]] = deque()

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        if self._pool:
            for _, future in self._begun:
                future.cancel()
            self._pool.close()

    def __iter__(self) -> Iterator[tuple[Piece, list[RowResult]]]:
        if not self._pool:
            for piece in self._pieces:
                yield piece, self._timed(piece)
            return
        for piece in self._pieces:
            self._begun.append((piece, self._pool.submit(piece)))
            if len(self._begun) > self._workers * AHEAD:
                yield self._first()
        while self._begun:
            yield self._first()

    def finished(self, patience: float) -> Iterator[tuple[Piece, list[RowResult]]]:
        """After an interrupt: begin nothing more, and wait for what is under way.

        Args:
            patience: seconds of waiting in all; what is not finished then is left.
        """
        for _, future in self._begun:
            future.cancel()
        end = monotonic() + patience
        while self._begun:
            piece, future = self._begun.popleft()
            if future.cancelled():
                continue
            try:
                failed = future.exception(max(0.0, end - monotonic()))
            except TimeoutError:
                continue
            if not failed:
                yield piece, future.result()

    @property
    def under_way(self) -> int:
        """How many pieces are being scored."""
        return sum(future.running() for _, future in self._begun)

    def _first(self) -> tuple[Piece, list[RowResult]]:
        piece, future = self._begun[0]
        results = future.result()
        self._begun.popleft()
        return piece, results

    def _timed(self, piece: Piece) -> list[RowResult]:
        start = perf_counter()
        results = self._score(piece)
        self._pieces.took(piece, perf_counter() - start)
        return results
