"""The tail of an error message about a name that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`". Did you mean 'x'?"` where a known name is near, else the list of known names."""
    from difflib import get_close_matches  # noqa: PLC0415 - only ever needed in an error

    names = sorted(known)
    folded = {each.lower(): each for each in names}
    near = get_close_matches(name.lower(), folded, n=1)
    if near:
        return f". Did you mean {folded[near[0]]!r}?"
    return f"; there are {', '.join(names)}" if names else "; it has none"
