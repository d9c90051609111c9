"""Which shape the rows of a file have: known from the first of them, one for the whole file."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.jsons import json_kind
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import ASSISTANT_ROLES
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.canonical import SHAREGPT_ROLES
from reward_functions.data.rows.columns import at, first, top
from reward_functions.data.rows.mapping import overlaid
from reward_functions.data.rows.shapes import BY_NAME, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.data.rows.columns import Columns, Shape
    from reward_functions.data.rows.mapping import RowOptions

ANSWERING: Final = frozenset(ASSISTANT_ROLES) | SHAREGPT_ROLES.keys() - {"human"}

COLUMNS_SHOWN: Final = 20
NAME_SHOWN: Final = 40

USUAL: Final = {
    "prompt": (
        *("prompt", "messages", "question", "problem", "query", "instruction", "input", "user"),
        *("inputs", "conversation", "user_input", "text", "task", "q"),
    ),
    "response": (
        *("response", "completion", "output", "generation", "generated_text", "prediction"),
        *("model_answer", "model_output", "model_response", "output_text", "generated", "reply"),
        *("student_answer", "pred", "completions", "responses", "generations", "content"),
        *("outputs", "generated_solution", "assistant", "answer_text", "sampled"),
    ),
    "reference": (
        *("reference", "reference_answer", "ground_truth", "gold", "answer", "target", "label"),
        *("expected", "expected_answer", "correct_answer", "solution", "final_answer", "truth"),
        *("gold_answer", "gt", "gts", "ideal", "a"),
    ),
}
"""Names that columns often have, by what they hold, for a guess that the user confirms."""


WHOLE: Final = frozenset({"text", "content", "user", "task", "input", "inputs", "assistant"})
"""Names that say what a column holds only by themselves: `pre_text` is no prompt."""

NO_PART: Final = frozenset(
    {"model", "id", "ids", "type", "source", "tokens", "reason", "time", "cost", "length", "index"}
    | {"score", "count", "name", "rate", "hash", "prompt_id"}
)
"""Last words of names that hold no part of a sample: `generation_model`."""

INSIDE: Final = 2
"""Objects that the columns shown lead into."""

WRAPPED: Final = "{file}: the rows are inside {key!r}: write them out with {command}"
COLUMNWISE: Final = (
    "{file}: one object of columns, not one object for each row: write rows, as pandas does with "
    'to_json(orient="records", lines=True)'
)


class UnknownShape(BadInput):
    """The rows of a file have no known shape, or several. The message says what to type."""


def fitting(content: Mapping[str, Any]) -> list[Shape]:
    """The shapes a row can have.

    Of two that read it alike, the first; a shape that asks for more columns goes before one that
    asks for some of them.
    """
    fits = [shape for shape in SHAPES if shape.fits(content)]
    fits = [
        one for one in fits if not any(set(one.known_by) < set(other.known_by) for other in fits)
    ]
    return list({_read(shape, content): shape for shape in reversed(fits)}.values())[::-1]


def shape_of(file: str, rows: Sequence[Mapping[str, Any]]) -> Shape | None:
    """The shape of the first row that has one; None where no row has one.

    Raises:
        UnknownShape: that row has several.
    """
    for content in rows:
        found = fitting(content)
        if len(found) > 1:
            names = " or ".join(shape.name for shape in found)
            choices = " or ".join(f"--rows {shape.name}" for shape in found)
            raise UnknownShape(f"{file}: the rows can be {names}: say which with {choices}")
        if found:
            return found[0]
    return None


def columns_for(
    file: str, rows: Sequence[Mapping[str, Any]], options: RowOptions
) -> tuple[Columns, Shape | None]:
    """Where the parts of a file's rows stand, and its shape where it has one.

    Raises:
        UnknownShape: the rows have no shape, or several, and the options do not help; or a mapped
            column is in none of them.
    """
    missing = [
        (target, path)
        for target, path in options.map.items()
        if all(at(content, path) is None for content in rows)
    ]
    if missing and rows:
        raise UnknownShape(_no_column(file, rows, *missing[0]))
    if options.shape is not None:
        shape = BY_NAME[options.shape]
        return overlaid(shape.columns, options.map), None if options.map else shape
    if options.map:
        whole = {"prompt", "messages"} & options.map.keys() and {
            "response",
            "reference",
        } <= options.map.keys()
        known = None if whole else _quietly(file, rows)
        return overlaid(known.columns if known else None, options.map), None
    if len(rows) == 1 and _is_columnwise(rows[0]):
        raise UnknownShape(COLUMNWISE.format(file=file))
    found = shape_of(file, rows)
    if found is None:
        raise UnknownShape(_wrapped(file, rows) or _unknown(file, rows))
    return found.columns, found


def require_responses(
    file: str, rows: Sequence[Mapping[str, Any]], columns: Columns, shape: Shape | None
) -> None:
    """Refuse a data set where responses are to be scored: each would earn the minimum.

    Raises:
        UnknownShape: no row has a response where its shape, or the mapping, has one.
    """
    if any(first(content, columns.response) for content in rows):
        return
    turns = [at(content, path) for content in rows for path in columns.prompt]
    if any(map(_ends_with_response, turns)):
        return
    prompts = {top(path, rows[0]) for path in (*columns.prompt, *columns.id)}
    references = {top(path, rows[0]) for path in columns.reference} - set(USUAL["response"])
    names = [name for name in _names(rows) if name not in prompts | references]
    guess = _guessed(names).get("response", "COLUMN")
    kind = f" (the shape {shape.name})" if shape else ""
    raise UnknownShape(
        f"{file}: the rows hold no response{kind}: the columns are "
        f"{', '.join(map(_short, _names(rows)[:COLUMNS_SHOWN]))}; where one is the response, "
        f"add --map {quote(f'response={guess}')}"
    )


def _ends_with_response(turns: Any) -> bool:
    last = turns[-1] if isinstance(turns, list) and turns else None
    return isinstance(last, dict) and last.get("role", last.get("from")) in ANSWERING


def _quietly(file: str, rows: Sequence[Mapping[str, Any]]) -> Shape | None:
    """The shape beside a mapping, which says what is uncertain."""
    try:
        return shape_of(file, rows)
    except UnknownShape:
        return None


def _read(shape: Shape, content: Mapping[str, Any]) -> tuple[str | None, ...]:
    parts = shape.columns
    return tuple(first(content, paths) for paths in (parts.prompt, parts.response, parts.reference))


def _no_column(file: str, rows: Sequence[Mapping[str, Any]], target: str, path: str) -> str:
    names = _names(rows)
    return (
        f"{file}: no row has a value at {_short(path)!r} (--map {target}={_short(path)})"
        f"{did_you_mean(path, map(_short, names[:COLUMNS_SHOWN]))}"
    )


def _unknown(file: str, rows: Sequence[Mapping[str, Any]]) -> str:
    names = _leaves(rows)
    if not names:
        return f"{file}: the rows are empty objects"
    shown = ", ".join(f"{_short(name)} ({_kind(name, rows)})" for name in names[:COLUMNS_SHOWN])
    more = f" and {len(names) - COLUMNS_SHOWN} more" if len(names) > COLUMNS_SHOWN else ""
    advice = _advice(_for_parts(names, rows), rows)
    return f"{file}: rows of no known shape, with the columns {shown}{more}; {advice}"


def _for_parts(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Without the lists inside objects, which are options and positions: any of them, by a list."""
    inside = (name for name in names if name not in _names(rows))
    lists = {name for name in inside if not _of_objects(name, rows)}
    return [name for name in names if name not in lists]


def _of_objects(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    value = next((found for row in rows if (found := at(row, name)) is not None), None)
    return not isinstance(value, list) or all(isinstance(each, dict) for each in value)


def _advice(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """What to type: the parts that a column seems to hold, and a place for the response."""
    guess = _guessed(names)
    exchange = guess.get("prompt", "")
    if "response" not in guess and any(_ends_with_response(at(row, exchange)) for row in rows):
        reference = guess.get("reference")
        further = f",reference={reference}" if reference else ""
        return f"add --map {quote(f'messages={exchange}{further}')}"
    typed = {part: guess.get(part) for part in USUAL if part in guess or part == "response"}
    line = ",".join(f"{part}={name or 'COLUMN'}" for part, name in typed.items())
    open_parts = " and ".join(f"{part}=COLUMN" for part in USUAL if part not in typed)
    further = f" (and {open_parts} where a column holds it)" if open_parts else ""
    return f"add --map {quote(line)}{further}"


def _guessed(names: Sequence[str]) -> dict[str, str]:
    """A column for every part for which one has a usual name."""
    left = [name for name in names if _words(name)[-1:] not in ([word] for word in NO_PART)]
    guess: dict[str, str] = {}
    for exact in (True, False):
        for part, usual in USUAL.items():
            if part in guess:
                continue
            found = next(
                (name for word in usual for name in left if _like(name, word, exact)), None
            )
            if found is not None:
                guess[part] = found
                left.remove(found)
    return guess


def _wrapped(file: str, rows: Sequence[Mapping[str, Any]]) -> str | None:
    """What to do with a file that is one object, of rows under a key."""
    if len(rows) != 1:
        return None
    (content,) = rows
    for key, value in content.items():
        if (
            key in ("data", "rows", "samples", "examples", "instances", "items", "results")
            and isinstance(value, list)
            and value
            and all(isinstance(each, dict) for each in value)
        ):
            inner = "[].row" if set(value[0]) >= {"row_idx", "row"} else "[]"
            command = f"jq -c {quote(f'.{key}{inner}')} {quote(file)}"
            return WRAPPED.format(file=file, key=key, command=command)
    return None


def _is_columnwise(content: Mapping[str, Any]) -> bool:
    values = list(content.values())
    columns = len(values) > 1 and all(map(_is_column, values))
    return columns and len(set(map(len, values))) == 1


def _is_column(value: Any) -> bool:
    """Whether a value is a column: a list of cells, or cells by their numbers, as pandas has it."""
    if isinstance(value, dict):
        return bool(value) and all(key.isdecimal() for key in value)
    return isinstance(value, list) and not all(isinstance(each, dict) for each in value)


def _like(name: str, word: str, exact: bool) -> bool:  # noqa: FBT001 - of two passes
    words = _words(name)
    if exact:
        return "_".join(words) == word
    return word in words and len(word) > 1 and word not in WHOLE


def _words(name: str) -> list[str]:
    return re.split(r"[ _.-]", name.lower())


def _names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of the rows, each once, in their order."""
    return list(dict.fromkeys(name for content in rows for name in content))


def _leaves(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns, and instead of one that holds objects the paths into these."""
    names = _names(rows)
    for _ in range(INSIDE):
        names = [path for name in names for path in _inside(name, rows)]
    return names


def _inside(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    value = next((found for row in rows if (found := at(row, name)) is not None), None)
    return [f"{name}.{key}" for key in value] if isinstance(value, dict) and value else [name]


def _kind(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    value = next((found for row in rows if (found := at(row, name)) is not None), None)
    return json_kind(value).removeprefix("a ").removeprefix("an ")


def _short(name: str) -> str:
    return name if len(name) <= NAME_SHOWN else f"{name[:NAME_SHOWN]}…"
