"""The types a function's setting can have: each reads a variable, checks it and names itself.

    Number(1, 256, whole=True).read("64")        64
    Number(1, 256, whole=True).accept(999)       ValueError: takes a whole number from 1 to 256

Of the standard library: importing pydantic takes as long as all the rest of a verifier does.
"""

from __future__ import annotations

import json
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from reward_functions.judge_runtime.config_reading import Misread, config_of

if TYPE_CHECKING:
    from reward_functions.judge_runtime.config import JudgeConfig


class Kind(Protocol):
    """One type of value. A value of another type raises a ValueError, which quotes nothing."""

    @property
    def words(self) -> str:
        """What it takes, for a table."""

    def read(self, text: str) -> Any:
        """The value of an environment variable's string."""

    def accept(self, value: Any) -> Any:
        """The value, as it is kept."""


class String:
    """A string that is not empty."""

    words: Final = "string"

    def read(self, text: str) -> str:
        """The string."""
        return self.accept(text)

    def accept(self, value: Any) -> str:
        """The string."""
        if isinstance(value, str) and value:
            return value
        raise ValueError("takes a string that is not empty")


class Choice(NamedTuple):
    """One of some words.

    Args:
        choices: the words.
        upper: whether lower case stands for upper case.
    """

    choices: tuple[str, ...]
    upper: bool = False

    @property
    def words(self) -> str:
        """All of them."""
        return ", ".join(f"`{choice}`" for choice in self.choices)

    def read(self, text: str) -> str:
        """The word."""
        return self.accept(text)

    def accept(self, value: Any) -> str:
        """The word."""
        word = value.upper() if self.upper and isinstance(value, str) else value
        if word in self.choices:
            return str(word)
        raise ValueError(f"takes one of {', '.join(self.choices)}")


class Number(NamedTuple):
    """A finite number within bounds, both included.

    Args:
        least: the lower bound.
        most: the upper bound.
        whole: whether it must be an integer.
        optional: whether None stands for no number.
    """

    least: float
    most: float = inf
    whole: bool = False
    optional: bool = False

    @property
    def words(self) -> str:
        """Its bounds."""
        bounds = (
            f"{self.least:g} or more" if self.most == inf else f"{self.least:g} to {self.most:g}"
        )
        return f"{'whole number' if self.whole else 'number'}, {bounds}"

    def read(self, text: str) -> float | None:
        """The number that a string spells."""
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            raise self._refusal() from None
        return self.accept(value)

    def accept(self, value: Any) -> float | None:
        """The number; an integer passes for any."""
        if value is None and self.optional:
            return None
        if type(value) not in ((int,) if self.whole else (int, float)):
            raise self._refusal()
        if not (self.least <= value <= self.most and value < inf):
            raise self._refusal()
        return value if self.whole else float(value)

    def _refusal(self) -> ValueError:
        return ValueError(
            f"takes a {self.words.replace(',', ' of' if self.most == inf else ' from')}"
        )


class JsonObject(NamedTuple):
    """An object that JSON writes and reads back as it was.

    Args:
        optional: whether None stands for no object.
    """

    optional: bool = False

    @property
    def words(self) -> str:
        """What it takes."""
        return "JSON object"

    def read(self, text: str) -> dict[str, Any]:
        """The object in a JSON string."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise self._refusal() from None
        return self.accept(value) or {}

    def accept(self, value: Any) -> dict[str, Any] | None:
        """The object."""
        if value is None and self.optional:
            return None
        try:
            carried = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            raise self._refusal() from None
        if not isinstance(value, dict) or carried != value:
            raise self._refusal()
        return value

    def _refusal(self) -> ValueError:
        return ValueError("takes a JSON object")


class JudgeObject:
    """A judge's settings: a `JudgeConfig`, or a JSON object of its fields; None for none."""

    words: Final = "JSON object"

    def read(self, text: str) -> JudgeConfig | None:
        """The settings in a JSON string."""
        return self.accept(JsonObject().read(text))

    def accept(self, value: Any) -> JudgeConfig | None:
        """The settings.

        Raises:
            BadJudge: it contradicts itself.
        """
        if value is None:
            return None
        try:
            return config_of(value)
        except Misread as error:
            raise ValueError(f"is wrong: {error}") from None
