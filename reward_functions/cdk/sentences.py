"""What is wrong in `cdk.json`, as one sentence: where it stands, and what may have been meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel, ValidationError


def sentence(error: ValidationError, models: Mapping[str, type[BaseModel]]) -> str:
    """The first problem.

    Args:
        error: of the model that `models` has under "".
        models: what fields hold, by their names.
    """
    first = error.errors(include_url=False, include_input=True, include_context=True)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        *path, unknown = first["loc"]
        holder = next((part for part in reversed(path) if isinstance(part, str)), "")
        known = set(models[holder].model_fields) - (set() if holder else {"name"})
        return f"{where} is not a setting{did_you_mean(str(unknown), known)}"
    if first["type"] == "literal_error":
        allowed = first["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"{where}: {first['input']!r} is unknown{did_you_mean(str(first['input']), allowed)}"
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    shown = f", not {first['input']!r}" if isinstance(first["input"], str | int | float) else ""
    return f"{where}: {message}{shown}" if where else message
