"""What is wrong with a written configuration, in one sentence that names the field and the remedy.

pydantic finds it; `SENTENCES` says it, a row for each kind of error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import ValidationError

SHOWN: Final = 40
"""Characters of a refused value in a sentence."""

SENTENCES: Final[Mapping[str, str]] = {
    "bool_parsing": "{at} is {value}: write true or false",
    "bool_type": "{at} is {value}: write true or false",
    "dict_type": "{at} is {value}: write a table, [{at}]",
    "literal_error": "{at} is {value}: write {expected}",
    "model_type": "{at} is {value}: write a table, [{at}]",
    "path_type": "{at} is {value}: write the path of a file, in quotes",
    "string_pattern_mismatch": "{at} is {value}: write letters and digits, with single hyphens "
    "between them",
    "string_too_long": "{at} has more than {max_length} characters",
    "string_type": "{at} is {value}: write a text, in quotes",
    "too_long": "{at} takes {max_length} entries at most",
    "too_short": "{at} needs {min_length} or more entries",
    "tuple_type": "{at} is {value}: write a list, in square brackets",
    "value_error": "{at}: {error}",
}
"""By pydantic's names of errors (docs.pydantic.dev/latest/errors/validation_errors)."""

OPTIONS: Final = {"model": "--model, or ", "deployment": "--deployment, or "}
"""What names a field on the command line."""


def complaint(
    error: ValidationError, model: type[BaseModel], file: str, elsewhere: Mapping[str, str]
) -> str:
    """The sentence for the first thing that is wrong.

    Args:
        error: of validating the configuration.
        model: of the whole configuration.
        file: that holds it, or would.
        elsewhere: fields that belong somewhere else, each with the remedy.
    """
    problems = error.errors(include_url=False)
    # A misspelt field is why another is missing.
    first = min(problems, key=lambda each: each["type"] != "extra_forbidden")
    place = first["loc"]
    at = ".".join(map(str, place)) or "the configuration"
    if first["type"] == "missing":
        *above, name = place
        below = f" below [{'.'.join(map(str, above))}]" if above else ""
        return f"{at} is missing: {OPTIONS.get(at, '')}{name} = …{below} in {file}"
    if first["type"] == "extra_forbidden":
        return _unknown(at, list(place), model, file, elsewhere)
    sentence = SENTENCES.get(first["type"], f"{{at}} is {{value}}: {first['msg']}")
    return sentence.format(at=at, value=_shown(first["input"]), **first.get("ctx", {}))


def _unknown(
    at: str,
    place: list[int | str],
    model: type[BaseModel],
    file: str,
    elsewhere: Mapping[str, str],
) -> str:
    *above, name = place
    if at in elsewhere:
        return f"{at} {elsewhere[at]}"
    inside = model
    for part in above:
        if isinstance(part, str):  # a number counts the entries of a list
            inside = next(table_of(inside.model_fields[part].annotation), inside)
    return f"{file} has no field {at!r}{did_you_mean(str(name), inside.model_fields)}"


def table_of(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in the type of a field: itself, or inside of `| None` and `tuple[…]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from table_of(part)


def _shown(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
