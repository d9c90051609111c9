"""The quantiles that lengths and times are reported in."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Number = TypeVar("Number", int, float)


def quantile(values: Sequence[Number], share: float) -> Number:
    """The smallest value that at least this share of the values does not exceed.

    Args:
        values: at least one.
        share: above 0, at most 1.
    """
    return sorted(values)[ceil(share * len(values)) - 1]
