"""Electrons by shell: 1s^2 2s^2 2p^6, [Ar] 4s^1 3d^5."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

_SHELL: Final = re.compile(
    r"[ ,]?([1-7])([spdf])(?:\^?\{([0-9]{1,2})\}|(?:\^?([0-9]{1,2}?))?(?=[ ,]?[1-7][spdf]|$))"
)
_CORE: Final = re.compile(r"\[([A-Z][a-z])\]")
_ROOM: Final = {"s": 2, "p": 6, "d": 10, "f": 14}
"""Electrons that a shell has room for, by its letter."""

_CORES: Final = {
    "He": "1s2",
    "Ne": "[He]2s2 2p6",
    "Ar": "[Ne]3s2 3p6",
    "Kr": "[Ar]3d10 4s2 4p6",
    "Xe": "[Kr]4d10 5s2 5p6",
    "Rn": "[Xe]4f14 5d10 6s2 6p6",
}
"""The electrons of the noble gases."""

Shells = frozenset[tuple[str, int]]
"""The electrons of each shell."""


def shells(text: str) -> Shells | None:
    """The electrons that a text counts by shell, in any order; None for anything else.

    A lone 2p^3 may be a product, and 1s a second; 1s^2 and [He] 2s^1 are neither.
    """
    core = _CORE.match(text)
    if core and core[1] not in _CORES:
        return None
    inner = shells(_CORES[core[1]]) if core else frozenset()
    found: dict[str, int] = dict(inner or ())
    place, written, counted = core.end() if core else 0, 0, False
    while match := _SHELL.match(text, place):
        shell, electrons = match[1] + match[2], int(match[3] or match[4] or 1)
        if shell in found or electrons > _ROOM[match[2]]:
            return None
        found[shell] = electrons
        place, written = match.end(), written + 1
        counted = counted or bool(match[3] or match[4])
    known = bool(core) or (counted and (written > 1 or "1s" in found))
    return frozenset(found.items()) if place == len(text) and written and known else None
