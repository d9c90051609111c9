"""Settings that stand in environment variables: each is one row, read, checked and written here.

    @dataclass(frozen=True, kw_only=True)
    class Mine(EnvSettings):
        PREFIX: ClassVar = "MINE_"
        workers: int = field(default=4, metadata=setting(number_within(1, 256, whole=True)))

    Mine.from_env({"MINE_WORKERS": "999"})     MINE_WORKERS takes a whole number from 1 to 256
    Mine(workers=8).to_env()                   {"MINE_WORKERS": "8"}

Of the standard library: importing pydantic takes as long as all the rest of a verifier does.
"""

from __future__ import annotations

import json
import os
from dataclasses import MISSING, Field, asdict, fields
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence


def _same(value: Any) -> Any:
    return value


class SettingKind(NamedTuple):
    """One type of value. A value of another type raises a ValueError, which quotes nothing.

    Args:
        words: what it takes, for a table.
        accept: the value as it is kept.
        read: the value of a variable's string; `accept` of the string where None.
        write: the variable's string; where None, a string as it is and JSON of any other value.
    """

    words: str
    accept: Callable[[Any], Any] = _same
    read: Callable[[str], Any] | None = None
    write: Callable[[Any], str] | None = None


ANY: Final = SettingKind("string")


def setting(kind: SettingKind) -> dict[str, SettingKind]:
    """The metadata of a field whose kind is not any string. Its sentence stands below it."""
    return {"kind": kind}


class EnvSettings:
    """The base of a dataclass whose fields are variables. All wrong values are told at once."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # made by the decorator of a subclass

    PREFIX: ClassVar[str]
    """With a field's name in capitals, its variable."""

    NAMED: ClassVar[Mapping[str, str]] = {}
    """Variables that are called otherwise, by field."""

    SHARED: ClassVar[bool] = False
    """Whether others' variables have the prefix too: none is unknown then, and "" is not set."""

    ERROR: ClassVar[type[ConfigurationError]] = ConfigurationError

    UNKNOWN: ClassVar[str] = "is not a setting"

    UNSET: ClassVar[str] = "is required"

    def __post_init__(self) -> None:
        problems = []
        for each in fields(self):
            value = getattr(self, each.name)
            try:
                if value is not None or each.default is not None:
                    object.__setattr__(self, each.name, setting_kind(each).accept(value))
            except ValueError as error:
                problems.append(self._problem(each.name, value, error))
        self._refuse(problems)

    @classmethod
    def variable(cls, name: str) -> str:
        """The environment variable of a field."""
        return cls.NAMED.get(name, cls.PREFIX + name.upper())

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The settings of these names; what is not named keeps its default.

        Raises:
            ConfigurationError: one is missing, unknown or wrong; the message names it.
        """
        cls._require_known(given, [each.name for each in fields(cls)])
        return cls(**given)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The settings in an environment; what it does not name keeps its default.

        Raises:
            ConfigurationError: a variable is missing, unknown or wrong; the message names each.
        """
        known = {cls.variable(each.name): each for each in fields(cls)}
        if cls.SHARED:
            environ = {name: environ[name] for name in known if environ.get(name)}
        cls._require_known(sorted(name for name in environ if name.startswith(cls.PREFIX)), known)
        values, problems = {}, []
        for name, each in known.items():
            kind = setting_kind(each)
            try:
                if name in environ:
                    values[each.name] = (kind.read or kind.accept)(environ[name])
                elif each.default is MISSING and each.default_factory is MISSING:
                    problems.append(f"{name} {cls.UNSET}")
            except ValueError as error:
                problems.append(f"{name} {error}")
        cls._refuse(problems)
        return cls(**values)

    def to_env(self) -> dict[str, str]:
        """The environment that says the same; what is None or "" is left out."""
        written = {}
        for each in fields(self):
            value, write = getattr(self, each.name), setting_kind(each).write
            if value is not None and value != "":
                written[self.variable(each.name)] = (write or _written)(value)
        return written

    def _problem(self, name: str, value: Any, error: ValueError) -> str:  # noqa: ARG002 - others do
        return f"{self.variable(name)} {error}"

    @classmethod
    def _require_known(cls, names: Iterable[str], known: Collection[str]) -> None:
        for name in names:
            if name not in known:
                raise cls.ERROR(f"{name} {cls.UNKNOWN}{did_you_mean(name, known)}")

    @classmethod
    def _refuse(cls, problems: Sequence[str]) -> None:
        if problems:
            raise cls.ERROR("; ".join(problems))


def setting_kind(each: Field[Any]) -> SettingKind:
    """The kind of a field."""
    kind: SettingKind = each.metadata.get("kind", ANY)
    return kind


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=asdict)


def _string(value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    raise ValueError("takes a string that is not empty")


STRING: Final = SettingKind("string", _string)
"""A string that is not empty."""


def chosen_from(choices: Sequence[str], *, upper: bool = False) -> SettingKind:
    """One of some words; `upper` where lower case stands for upper case."""

    def accept(value: Any) -> str:
        word = value.upper() if upper and isinstance(value, str) else value
        if word in choices:
            return str(word)
        raise ValueError(f"takes one of {', '.join(choices)}")

    return SettingKind(", ".join(f"`{each}`" for each in choices), accept)


def number_within(least: float, most: float = inf, *, whole: bool = False) -> SettingKind:
    """A finite number within bounds, both included; an integer passes for any."""
    bounds = f"{least:g} or more" if most == inf else f"{least:g} to {most:g}"
    words = f"{'whole number' if whole else 'number'}, {bounds}"
    problem = f"takes a {words.replace(',', ' of' if most == inf else ' from')}"

    def accept(value: Any) -> float:
        right = type(value) is int or (type(value) is float and not whole)
        if not right or not least <= value <= most or value == inf:
            raise ValueError(problem)
        return value if whole else float(value)

    def read(text: str) -> float:
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            raise ValueError(problem) from None
        return accept(value)

    return SettingKind(words, accept, read)


def _object(value: Any) -> dict[str, Any]:
    try:
        carried = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        carried = None
    if isinstance(value, dict) and carried == value:
        return value
    raise ValueError("takes a JSON object")


def json_in(text: str) -> Any:
    """The value of a JSON text; None otherwise."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def object_in(text: str) -> dict[str, Any]:
    """The object of a JSON text.

    Raises:
        ValueError: it is no JSON object.
    """
    return _object(json_in(text))


JSON_OBJECT: Final = SettingKind("JSON object", _object, object_in)
"""An object that JSON writes and reads back as it was."""
