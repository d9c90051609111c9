"""Plain copies of what agents and engines send, each kept once, within a number of bytes.

An agent sends its whole history with every call: an episode of 100 turns would hold each early
message 100 times. Equal messages are one object here, and a turn refers to it.

| what is given | kept |
| --- | --- |
| JSON data | a copy; what the agent changes afterwards changes nothing here |
| NaN, a number beyond a float, an object of Python's, levels below `DEEPEST` | `Unreadable` |
| more than `most` bytes in all | nothing: `Full` is raised |
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.types import LARGEST_NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.rollouts.record.types import Message

MOST: Final = 64 * 2**20
"""Bytes of one episode: of its texts, at a character each, and of the references to them."""

DEEPEST: Final = 64
"""Levels of a message: a tool's JSON schema has a dozen."""

VALUE: Final = 64
"""Bytes that a value costs beside its text."""

REFERENCE: Final = 8
"""Bytes that a turn's reference to a message costs."""

ALIKE: Final = 16
"""Messages of one fingerprint that a new one is compared with, the latest first."""


class Unreadable(Exception):
    """A value that is not JSON data."""


class Full(Exception):
    """No more is kept."""


class BoundedPool:
    """Copies of JSON data, equal ones once. Not safe for threads: its owner locks.

    Args:
        most: bytes in all.

    Attributes:
        size: bytes so far.
    """

    def __init__(self, most: int = MOST) -> None:
        self.size = 0
        self._most = most
        self._found: defaultdict[Any, deque[Message]] = defaultdict(lambda: deque(maxlen=ALIKE))

    def messages(self, given: Any) -> tuple[Message, ...]:
        """A list of messages, or of tools.

        Raises:
            Unreadable: it is no list of objects of JSON data.
            Full: they do not fit; of what came before, all stays.
        """
        if not isinstance(given, list | tuple):
            raise Unreadable
        self.take(REFERENCE * len(given))
        return tuple(map(self.message, given))

    def message(self, given: Any) -> Message:
        """One message: the object that an equal one is already, or a copy.

        Raises:
            Unreadable: it is no object of JSON data.
            Full: it does not fit.
        """
        if not isinstance(given, Mapping):
            raise Unreadable
        alike = self._found[_fingerprint(given)]
        for known in reversed(alike):
            if known is given or _same(known, given):
                return known
        copied: Message = self.copy(given)
        alike.append(copied)
        return copied

    def copy(self, given: Any) -> Any:
        """A copy of JSON data.

        Raises:
            Unreadable: it is none.
            Full: it does not fit.
        """
        left = [self._most - self.size]
        copied = _copied(given, DEEPEST, left)
        self.size = self._most - left[0]
        return copied

    def text(self, given: str) -> str:
        """A string that is kept.

        Raises:
            Full: it does not fit.
        """
        self.take(len(given) + VALUE)
        return given

    def take(self, size: int) -> None:
        """Count bytes of what is kept elsewhere.

        Raises:
            Full: they do not fit.
        """
        if self.size + size > self._most:
            raise Full
        self.size += size


def _copied(given: Any, levels: int, left: list[int]) -> Any:
    """A copy, its size taken from what is left."""
    left[0] -= VALUE + (len(given) if isinstance(given, str) else 0)
    if left[0] < 0:
        raise Full
    if given is None or isinstance(given, bool | str):
        return given
    if isinstance(given, int | float):
        if not abs(given) <= LARGEST_NUMBER:
            raise Unreadable
        return given
    if not levels:
        raise Unreadable
    if isinstance(given, Mapping):
        return {_name(name, left): _copied(each, levels - 1, left) for name, each in given.items()}
    if isinstance(given, list | tuple):
        return [_copied(each, levels - 1, left) for each in given]
    raise Unreadable


def _name(given: Any, left: list[int]) -> str:
    if not isinstance(given, str):
        raise Unreadable
    left[0] -= len(given)
    return given


def _same(known: Message, given: Mapping[str, Any]) -> bool:
    """Whether a copy is of what is given now; Python's `1 == True` is no equality of JSON.

    What cannot be compared is not the same: objects of Python's may raise, or answer anything.
    """
    try:
        return len(known) == len(given) and _equal(known, given, DEEPEST)
    except RecursionError:
        return False


def _equal(known: Any, given: Any, levels: int) -> bool:
    if isinstance(known, str) or known is None:
        return type(given) is type(known) and bool(known == given)
    if isinstance(known, dict):
        return (
            isinstance(given, Mapping)
            and bool(levels)
            and len(known) == len(given)
            and all(
                name in given and _equal(value, given[name], levels - 1)
                for name, value in known.items()
            )
        )
    if isinstance(known, list):
        return (
            isinstance(given, list | tuple)
            and bool(levels)
            and len(known) == len(given)
            and _all_equal(known, given, levels - 1)
        )
    return type(known) is type(given) and bool(known == given)


def _all_equal(known: Sequence[Any], given: Iterable[Any], levels: int) -> bool:
    return all(_equal(one, other, levels) for one, other in zip(known, given, strict=True))


def _fingerprint(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What equal messages have in common, cheaply: Python keeps the hash of a string.

    Answers that only call tools differ by what they call.
    """
    called = given.get("tool_calls")
    first = called[0] if isinstance(called, list | tuple) and called else None
    function = first.get("function") if isinstance(first, Mapping) else None
    inner = function if isinstance(function, Mapping) else {}
    return tuple(
        value if isinstance(value, str) else _length(value)
        for value in (
            *(given.get(name) for name in ("role", "tool_call_id", "content")),
            first.get("id") if isinstance(first, Mapping) else None,
            *(inner.get(name) for name in ("name", "arguments")),
        )
    )


def _length(value: Any) -> int:
    """Of a list or an object."""
    return len(value) if isinstance(value, list | tuple | dict) else 0
