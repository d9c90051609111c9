"""The samples of a file, decoded as the Lambda would decode them.

All are read before any is scored, so that unusable input costs nothing and leaves nothing behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.serving.contract import decode_row
from reward_functions.tools.json_rows import read_rows

if TYPE_CHECKING:
    from reward_functions.core.types import Sample, Unscored


def read_samples(file: str) -> tuple[list[Sample | Unscored], list[str]]:
    """The samples of a file, and the place of each.

    Raises:
        BadInput: not UTF-8, not JSON, or not objects.
        OSError: the file cannot be read.
    """
    samples, places = [], []
    for position, row in enumerate(read_rows(file)):
        samples.append(decode_row(row.content, position))
        places.append(row.place)
    return samples, places
