"""How long a response is, in the unit a shaper was given."""

from __future__ import annotations

import re
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import BadSample
from reward_functions.core.types import TOKENS

if TYPE_CHECKING:
    from reward_functions.core.types import Sample

Unit = Literal["words", "characters", "tokens"]

COUNT: Final = re.compile(r"[0-9]{1,9}")


def length(sample: Sample, unit: Unit) -> int:
    """The length of the response.

    Raises:
        BadSample: tokens are asked for, and the row does not count them. No tokenizer is guessed.
    """
    if unit == "characters":
        return len(sample.response)
    if unit == "words":
        return len(sample.response.split())
    given = sample.metadata.get(TOKENS)
    if given is None:
        raise BadSample(
            f"the row does not count its tokens; give it {TOKENS}, or set unit=words or "
            "unit=characters, in a composite beside the weight"
        )
    tokens = _count(given)
    if tokens is None:
        raise BadSample(f"{TOKENS} of the row is no whole number from 0 on")
    return tokens


def _count(tokens: Any) -> int | None:
    """A count as rows have it: a cell of a CSV file is a string, numpy's integers are its own."""
    whole = isinstance(tokens, Integral) and not isinstance(tokens, bool)
    if not whole and not (isinstance(tokens, str) and COUNT.fullmatch(tokens)):
        return None
    return counted if (counted := int(tokens)) >= 0 else None
