"""Find the ground truth inside a reference, in any shape that a data set or a trainer gives it.

AWS's own pages and samples put it in a string, an object, an object encoded as a JSON string, or a
string that the trainer wrapped as `{"text": …}`. A reward names the keys it reads, in order of
preference; this module finds the first of them.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadReference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ANSWER_KEYS: Final = ("final_answer", "answer", "ground_truth", "value", "text")

MAX_WRAPPINGS: Final = 4
"""An object in a JSON string in an object in a `text` wrapper is the deepest shape ever seen."""


def reference_text(reference: Any, keys: Sequence[str] = ANSWER_KEYS) -> str:
    """The ground truth as a string.

    Args:
        reference: a string, a number, an object with one of the keys, or a JSON string of such an
            object; wrapped up to four times.
        keys: the keys read, first match first. A key whose value is null counts as absent.

    Raises:
        BadReference: it is missing or empty, or it has another shape.
    """
    return scalar_text(reference_value(reference, keys))


def reference_value(reference: Any, keys: Sequence[str] = ANSWER_KEYS) -> Any:
    """The ground truth as it stands in its wrappings, of any type but an object.

    Args:
        reference: as `reference_text` takes it.
        keys: likewise.

    Raises:
        BadReference: an object has none of the keys, or there are too many wrappings.
    """
    for _ in range(MAX_WRAPPINGS):
        reference = _unwrapped(reference)
        if not isinstance(reference, dict):
            return reference
        key = first_key(reference, keys)
        if key is None:
            raise BadReference(f"the reference is an object without any of {', '.join(keys)}")
        reference = reference[key]
    raise BadReference(f"the reference is wrapped more than {MAX_WRAPPINGS} times")


def first_key(reference: Mapping[str, Any], keys: Sequence[str] = ANSWER_KEYS) -> str | None:
    """The first of the keys whose value is not null; None where an object has none."""
    for key in keys:
        if reference.get(key) is not None:
            return key
    return None


def reference_fields(reference: Any) -> dict[str, Any] | None:
    """The object a reference is, for a reward that reads several of its fields; None for any other.

    Args:
        reference: as `reference_text` takes it. An object with `text` alone is a wrapper.
    """
    for _ in range(MAX_WRAPPINGS):
        reference = _unwrapped(reference)
        if not isinstance(reference, dict):
            return None
        if reference.keys() != {"text"}:
            return reference
        reference = reference["text"]
    return None


def fields_text(reference: Any) -> str | None:
    """The JSON of the object that `reference_fields` finds, with its numbers as they are written.

    Raises:
        TypeError, ValueError: it is a Python object that JSON cannot say.
    """
    for _ in range(MAX_WRAPPINGS):
        written, reference = reference, _unwrapped(reference)
        if not isinstance(reference, dict):
            return None
        if reference.keys() != {"text"}:
            return written if isinstance(written, str) else json.dumps(reference)
        reference = reference["text"]
    return None


def _unwrapped(reference: Any) -> Any:
    """The object a JSON string holds; anything else as it is.

    Only objects are decoded: `18` and `"yes"` stay strings, and `{1, 2}` is a set, not JSON.
    """
    if isinstance(reference, str) and reference.lstrip().startswith("{"):
        try:
            decoded = json.loads(reference)
        except (ValueError, RecursionError):
            return reference
        return decoded or reference
    return reference


def scalar_text(reference: Any) -> str:
    """A string or a number as a string.

    Raises:
        BadReference: it is empty, not finite, or of another type.
    """
    if reference is None:
        raise BadReference("there is no reference")
    if isinstance(reference, str):
        if not reference.strip():
            raise BadReference("the reference is empty")
        return reference
    if isinstance(reference, float) and not isfinite(reference):
        raise BadReference("the reference is a number that is not finite")
    if isinstance(reference, int | float) and not isinstance(reference, bool):
        try:
            return str(reference)
        except ValueError:
            raise BadReference("the reference is a number of too many digits") from None
    raise BadReference(f"the reference is of type {type(reference).__name__}")
