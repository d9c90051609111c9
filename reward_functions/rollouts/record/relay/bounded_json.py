"""JSON of somebody else: an object, no deeper than anybody needs, and every number a number."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from reward_functions.core.jsons import MAX_DEPTH, is_too_deep, may_be_too_deep, no_constant


class Malformed(ValueError):
    """What is not what its sender says it is. The message is one sentence without its content."""


def read_object(content: bytes | str) -> dict[str, Any]:
    """An object of JSON.

    Raises:
        Malformed: it is none, it is nested too deeply, or it holds NaN, an infinity, or a number
            beyond those of a float.
    """
    try:
        value = json.loads(content, parse_constant=no_constant, parse_float=_finite)
    except Malformed:
        raise
    except (ValueError, RecursionError):
        raise Malformed("what was sent is not JSON") from None
    if not isinstance(value, dict):
        raise Malformed("what was sent is not a JSON object")
    if may_be_too_deep(content) and is_too_deep(value):
        raise Malformed(f"what was sent is nested more than {MAX_DEPTH} deep")
    return value


def written(value: Any) -> bytes:
    """JSON without spaces."""
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a pair, as a stream may cut one: JSON writes it escaped
        return json.dumps(value, separators=(",", ":")).encode()


def _finite(text: str) -> float:
    """A number; one that is too large for a float would be written as no JSON."""
    value = float(text)
    if not isfinite(value):
        raise Malformed("a number is too large")
    return value
