"""The hyperparameters of a recipe's document: `{name: {type, default, min, max, enum, required}}`.

The document comes from S3. What is not of its kind is left out, a range that is none among them, so
that a broken entry takes nothing from the others; the service checks the values itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.jobs.drivers.fields import number, text
from reward_functions.jobs.hyperparameters import TYPES, Hyperparameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.jobs.hyperparameters import Kind
    from reward_functions.jobs.job import HyperparameterValue

MAX_ENTRIES: Final = 500
"""Hyperparameters of a document that are read."""

MAX_NAME: Final = 256

MAX_CHOICES: Final = 200

KINDS: Final[dict[str, Kind]] = {
    "int": "integer",
    "integer": "integer",
    "long": "integer",
    "double": "float",
    "float": "float",
    "number": "float",
    "bool": "boolean",
    "boolean": "boolean",
    "str": "string",
    "string": "string",
}
"""Types of the documents; one that is none of these counts as a string."""


def hyperparameters_of(document: Mapping[str, Any]) -> dict[str, Hyperparameter]:
    """Those of a document, in its order."""
    found = list(document.items())[:MAX_ENTRIES]
    return {
        name: _one(name, entry if isinstance(entry, dict) else {"default": entry})
        for name, entry in found
        if 0 < len(name) <= MAX_NAME and name.isprintable()
    }


def _one(name: str, entry: Mapping[str, Any]) -> Hyperparameter:
    default = entry.get("default")
    kind = KINDS.get(text(entry.get("type")).lower()) or _kind_of(default)
    least, most = (_bound(entry.get(each), kind) for each in ("min", "max"))
    if least is not None and most is not None and least > most:
        least = most = None
    return Hyperparameter(
        name,
        kind,
        minimum=least,
        maximum=most,
        choices=tuple(_choices(entry.get("enum"), kind)),
        default=_default(default),
        required=entry.get("required") is True and _default(default) is None,
    )


def _choices(found: Any, kind: Kind) -> Iterator[HyperparameterValue]:
    """Those that a value of the kind can be."""
    for each in found[:MAX_CHOICES] if isinstance(found, list) else ():
        of_kind = isinstance(each, TYPES[kind]) and isinstance(each, bool) == (kind == "boolean")
        if of_kind and (each.isprintable() if isinstance(each, str) else number(each) is not None):
            yield each


def _kind_of(default: Any) -> Kind:
    """The kind of a hyperparameter whose type is not stated."""
    kinds: tuple[Kind, ...] = ("boolean", "integer", "float")
    return next((kind for kind in kinds if isinstance(default, TYPES[kind])), "string")


def _default(value: Any) -> HyperparameterValue | None:
    if isinstance(value, str | bool):
        return value
    return value if isinstance(value, int | float) and number(value) is not None else None


def _bound(value: Any, kind: Kind) -> float | None:
    found = number(value) if kind in ("integer", "float") else None
    return int(found) if found is not None and kind == "integer" and found.is_integer() else found
