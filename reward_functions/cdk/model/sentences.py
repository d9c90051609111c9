"""What is wrong in `cdk.json`, as one sentence: where it stands, and what may have been meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.cdk.model.inheritance import EXTENDS
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel, ValidationError

WITHHELD: Final = frozenset({"secret", "secrets", "environment", "endpoint"})
"""Fields whose values are not shown: somebody may have written a key there, or a password."""

WITH_A_USER: Final = re.compile(r"://[^/\s]*@")
"""A URL that names a user, and so may hold a password."""

LONGEST_SHOWN: Final = 200
"""Characters of a value that a sentence repeats."""

LONGEST: Final = 600
"""Characters of a sentence; what somebody wrote may be a file."""

OF_JSON: Final = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "an object",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a string",
    "tuple_type": "a list",
}
"""What a field must be, by the error of a model that speaks of Python's types."""

OF_LENGTH: Final = {
    "too_long": "must name {max_length} at most",
    "too_short": "must name {min_length} at least",
}
"""The same of lists and objects, by their bounds."""


def sentence(error: ValidationError, models: Mapping[str, type[BaseModel]]) -> str:
    """The first problem.

    Args:
        error: of the model that `models` has under "".
        models: what fields hold, by their names.
    """
    problem = _problem(error, models)
    if len(problem) <= LONGEST:
        return problem
    return f"{problem[: LONGEST // 2]} … {problem[-LONGEST // 2 :]}"


def _problem(error: ValidationError, models: Mapping[str, type[BaseModel]]) -> str:
    first = error.errors(include_url=False, include_input=True, include_context=True)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        *path, unknown = first["loc"]
        holder = next(
            (part for part in reversed(path) if isinstance(part, str) and part in models), ""
        )
        known = set(models[holder].model_fields)
        if not holder:
            known = known - {"name"} | {EXTENDS}
        return f"{where} is not a setting{did_you_mean(str(unknown), known)}"
    if first["type"] == "literal_error":
        allowed = first["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"{where}: {first['input']!r} is unknown{did_you_mean(str(first['input']), allowed)}"
    if first["type"] == "missing":
        return f"{where} is missing"
    if wanted := OF_JSON.get(first["type"]):
        first["msg"] = f"must be {wanted}"
    if bounded := OF_LENGTH.get(first["type"]):
        first["msg"] = bounded.format(**first["ctx"])
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    shown = f", not {first['input']!r}" if _may_be_shown(first["input"], first["loc"]) else ""
    return f"{where}: {message}{shown}" if where else message


def _may_be_shown(value: Any, path: tuple[int | str, ...]) -> bool:
    """Whether a value is plain and short, and no key that somebody wrote in the wrong place."""
    if not isinstance(value, str | int | float) or WITHHELD & {*path}:
        return False
    return len(str(value)) <= LONGEST_SHOWN and WITH_A_USER.search(str(value)) is None
