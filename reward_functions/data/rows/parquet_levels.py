"""How many values of a list the longest row has, by the levels of repetition in a column's pages.

    level 0: another row begins; any other: the row goes on

The levels are runs, and groups of eight that are packed into bits. Source:
github.com/apache/parquet-format, "Run Length Encoding / Bit-Packing Hybrid". No value is decoded,
and no run is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.data.rows.parquet_pages import BadPage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reward_functions.data.rows.parquet_pages import Page

    Read = Callable[[Page], bytes]

_LENGTH: Final = 4
"""Bytes of the length before levels that are packed with the rest."""

_LONGEST_VARINT: Final = 5

_STRETCH: Final = 1 << 16
"""Bytes of packed levels that are looked at together."""


def _signs(width: int) -> tuple[str, ...]:
    """By a byte of levels of so many bits: "0" for a row that begins, "1" for one that goes on."""
    places = range(0, 8, width)
    return tuple(
        "".join("01"[byte >> place & (1 << width) - 1 > 0] for place in places)
        for byte in range(256)
    )


_SIGNS: Final = {width: _signs(width) for width in (1, 2, 4)}


def longest_row(pages: Iterable[Page], deepest: int, unpacked: Read, apart: Read) -> int | None:
    """The most values that a row of a column has; None where its levels are of another kind.

    Args:
        pages: of the column, with values.
        deepest: its largest level.
        unpacked: gives all bytes of a page.
        apart: gives the levels of one that has them apart.

    Raises:
        BadPage: the levels of a page are cut off.
    """
    width = deepest.bit_length()
    if width not in _SIGNS:
        return None
    rows = _Rows()
    for page in pages:
        if page.levels is not None:
            levels = apart(page)
        else:
            text = unpacked(page)
            length = int.from_bytes(text[:_LENGTH], "little")
            levels = text[_LENGTH : _LENGTH + length]
        _read(levels, width, page.values, rows)
    return rows.longest


class _Rows:
    """The rows of a column so far: the values of the longest, and of the last."""

    def __init__(self) -> None:
        self.longest = self._last = 0

    def run(self, count: int, *, begins: bool) -> None:
        """So many values, each of a row of its own, or all of the row at hand."""
        self._last = 1 if begins and count else self._last + count * (not begins)
        self.longest = max(self.longest, self._last)

    def signs(self, signs: str) -> None:
        """Values one by one, as `_SIGNS` writes them."""
        first, *others = signs.split("0")
        self.run(len(first), begins=False)
        if others:
            self.longest = max(self.longest, 1 + max(map(len, others)))
            self._last = 1 + len(others[-1])


def _read(levels: bytes, width: int, values: int, rows: _Rows) -> None:
    """Count the values of one page."""
    at = seen = 0
    while seen < values:
        head, at = _varint(levels, at)
        if head & 1:
            size = (head >> 1) * width
            if at + size > len(levels) or not size:
                raise BadPage("the levels of a page are cut off")
            for begins in range(at, at + size, _STRETCH):
                packed = levels[begins : min(begins + _STRETCH, at + size)]
                signs = "".join(map(_SIGNS[width].__getitem__, packed))[: values - seen]
                rows.signs(signs)
                seen += len(signs)
            at += size
        else:
            count = min(head >> 1, values - seen)
            if at >= len(levels) or not count:
                raise BadPage("the levels of a page are cut off")
            rows.run(count, begins=levels[at] == 0)
            at, seen = at + 1, seen + count


def _varint(text: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(_LONGEST_VARINT):
        if at >= len(text):
            break
        byte, at = text[at], at + 1
        value |= (byte & 127) << (7 * place)
        if byte < 128:  # noqa: PLR2004 - the bit that says that more follow
            return value, at
    raise BadPage("the levels of a page are cut off")
