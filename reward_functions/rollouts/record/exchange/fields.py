"""JSON objects of other systems: any further field is kept, and one of another type is refused.

    fields = Fields({"reward": 1, "extra": 2}, "trace record")
    fields.any("reward")            1
    fields.rest                     {"extra": 2}

Nothing that they hold is in a message: it names the object, the field and the type.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind, no_constant, unique_names
from reward_functions.rollouts.request.errors import RolloutError

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_LINE: Final = 256 * 1024 * 1024
"""Bytes of an object that is read: a long episode with every token is a few megabytes."""


MOST: Final = 100_000
"""Steps, trajectories or rewards of one list."""


class BadTrace(RolloutError, ConfigurationError, ValueError):
    """Another system wrote a trace that we cannot read. The message names the field."""


def read_object(line: str | bytes, kind: str) -> dict[str, Any]:
    """The JSON object of a line.

    Args:
        line: UTF-8.
        kind: what it should be, for messages.

    Raises:
        BadTrace: it is too large, no JSON, no object, holds NaN, or names something twice.
    """
    if len(line) > LARGEST_LINE:
        raise BadTrace(f"a {kind} has more than {LARGEST_LINE:,} bytes")
    try:
        found = json.loads(line, object_pairs_hook=unique_names, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise BadTrace(f"a {kind} is one JSON object, in which no name stands twice") from None
    if not isinstance(found, dict):
        raise BadTrace(f"a {kind} is a JSON object, not {json_kind(found)}")
    return found


class Fields:
    """The fields of an object; each is read once, and `rest` is what was not read.

    Args:
        given: the object; anything else is refused.
        kind: what it is, for messages.

    Raises:
        BadTrace: it is no object.
    """

    def __init__(self, given: Any, kind: str) -> None:
        if not isinstance(given, dict):
            raise BadTrace(f"a {kind} is an object, not {json_kind(given)}")
        self.kind = kind
        self.rest: dict[str, Any] = dict(given)

    def any(self, name: str, default: Any = None) -> Any:
        """A field of any type."""
        return self.rest.pop(name, default)

    def text(self, name: str, default: str = "") -> str:
        """A string; null counts as absent."""
        return str(self._typed(name, str, "a string", default))

    def object(self, name: str) -> dict[str, Any]:
        """An object; {} where it is absent or null."""
        return dict(self._typed(name, dict, "an object", {}))

    def list(self, name: str, most: int = MOST) -> list[Any]:
        """A list; [] where it is absent or null.

        Raises:
            BadTrace: it is no list, or longer than `most`.
        """
        found = list(self._typed(name, list, "a list", []))
        if len(found) > most:
            raise BadTrace(f"{name} of a {self.kind} has more than {most:,} values")
        return found

    def whole(self, name: str, default: int | None = None) -> int | None:
        """A whole number; null counts as absent."""
        found = self._typed(name, int, "a whole number", default)
        return found if found is None else int(found)

    def _typed(self, name: str, kind: type, words: str, default: Any) -> Any:
        value = self.rest.pop(name, None)
        if value is None:
            return default
        if type(value) is not kind:
            raise BadTrace(f"{name} of a {self.kind} is {words}, not {json_kind(value)}")
        return value


def chosen(given: Mapping[str, Any], *empty: Any) -> dict[str, Any]:
    """The fields that say something: none that is None, or of the values named empty."""
    return {
        name: value
        for name, value in given.items()
        if value is not None and not any(value == each for each in empty)
    }
