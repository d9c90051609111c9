"""`re` for modules with many patterns: each is compiled when it is first used.

    from reward_functions.core import patterns as re

A first verdict needs a few of some hundred patterns, and compiling all of them would take longer
than everything else that a start does. A test compiles every one.
"""

from __future__ import annotations

import re
from re import ASCII as ASCII
from re import DOTALL as DOTALL
from re import IGNORECASE as IGNORECASE
from re import MULTILINE as MULTILINE
from re import VERBOSE as VERBOSE
from re import Match as Match
from re import Pattern as Pattern
from re import escape as escape
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Late:
    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        """A method; from then on all of them are attributes of their own."""
        if name not in _METHODS:
            raise AttributeError(name)
        made = re.compile(self.pattern, self.flags)
        vars(self).update({each: getattr(made, each) for each in _METHODS})
        return getattr(made, name)


compile: Final = cast("Callable[..., Pattern[str]]", _Late)  # noqa: A001 - the name that `re` has
"""A pattern that is compiled when the first of its methods is asked for."""
