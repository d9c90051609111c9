"""What one row, and all rows of one file, may take in memory; asked before they are decoded.

A few bytes can stand for gigabytes: `[[],[],…`, a gzip of zeros, a table whose cells all point at
one long string. So what is counted is what a value takes once it is decoded.
"""

from __future__ import annotations

import re
from typing import Final

MB: Final = 1 << 20

MAX_TEXT: Final = 8 * MB
"""Bytes of a row, as a line, an item of an array, or the cells of a table: no row of text is near
it. One character beyond the usual makes each of the others take four bytes."""

MAX_VALUES: Final = 500_000
"""Values of a row, such as token ids: twice those of a trajectory of 128,000 tokens with their
log-probabilities. An empty object takes 72 bytes, its text three."""

MAX_COLUMNS: Final = 2_000
"""Columns of a table: each takes about 20 kB while it is read."""

BATCH: Final = 8 * MB
"""Bytes of decoded rows that are held until they are handed on."""

_AT_A_TIME: Final = 64 * MB
_RATIO_AT_A_TIME: Final = 8

_STRINGS: Final = re.compile(rb'"[^"]*+"?')
"""Strings without escapes, one that is cut off at the end too."""


def has_too_many_values(text: bytes) -> bool:
    """Whether a JSON text holds more than `MAX_VALUES` values; exact where it may."""
    if len(text) < 2 * MAX_VALUES or _values(text) <= MAX_VALUES:
        return False
    unescaped = text.replace(rb"\\", b"").replace(rb"\"", b"")
    return _values(_STRINGS.sub(b"0", unescaped)) > MAX_VALUES


def _values(text: bytes) -> int:
    """The values of a JSON text, its names included; what strings hold is counted too."""
    return sum(map(text.count, (b",", b":", b"[", b"{")))


def allowance(size: int) -> int:
    """Bytes that what is unpacked at a time of a file may take, by the file's bytes on disk.

    A file of less than 10 MB gets 144 MB at most. A large one is written in large pieces, by
    writers that mean no harm: text shrinks to an eighth at the best.
    """
    return _AT_A_TIME + _RATIO_AT_A_TIME * size
