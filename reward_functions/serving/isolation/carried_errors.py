"""An exception of another process: its class, its words if they are ours, and its lines.

An exception itself cannot always be pickled, and reading one back would import what raised it. So
a stand-in is made here: of the same class where that is ours, else of a class of the same name,
derived from the nearest that is ours, or from `Exception`. Words of others stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.errors import RewardError
from reward_functions.serving.observability import RAISED_AT, lines_of

if TYPE_CHECKING:
    from reward_functions.serving.observability import Line

OURS: Final = "reward_functions."

MAX_WORDS: Final = 2000
"""Characters of a message. Ours name shapes and fields."""


class CarriedError(NamedTuple):
    """What crosses.

    Args:
        name: of its class.
        base: that class if it is ours, else the nearest above it that is ours, or `Exception`.
        words: the message of an error of ours; empty for any other.
        lines: where it was raised, the innermost last.
    """

    name: str
    base: type[Exception]
    words: str
    lines: tuple[Line, ...]

    @classmethod
    def of(cls, error: BaseException) -> CarriedError:
        """An exception as it can cross."""
        kind = type(error)
        ours = (each for each in kind.__mro__ if each.__module__.startswith(OURS))
        base = next((each for each in ours if issubclass(each, RewardError)), Exception)
        words = str(error)[:MAX_WORDS] if base is not Exception else ""
        return cls(kind.__name__, base, words, tuple(lines_of(error)))

    def error(self) -> Exception:
        """The stand-in."""
        kind = self.base
        if kind.__name__ != self.name:
            kind = type(self.name, (kind,), {})
        error = kind(self.words) if self.words else kind()
        setattr(error, RAISED_AT, self.lines)
        return error
