"""Which shape the rows of a file have, and each row in the one shape that everything here reads.

The shape is known from the first rows, one for the whole file, unless the user says what stands
where: `--map prompt=question,response=completion,reference=answer`. A row of any shape becomes rows
as a trainer sends them, one for each response it holds:

    {"id", "messages", "reference_answer", "metadata"}

What a row holds besides goes into the metadata under its own name. A row without a response is one
without an assistant turn: training data.
"""

from __future__ import annotations

import json
import re
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import BadSample, ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import ASSISTANT_ROLES
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.shapes import BY_NAME, SHAPES, Columns, at, first, top

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.data.rows.shapes import Shape


TARGETS: Final = ("prompt", "response", "reference", "id", "system", "messages")
"""What a column can be mapped to; `messages` is a prompt that is a list, or a whole exchange."""

_BETWEEN: Final = re.compile(r",(?=[ ]{0,4}[A-Za-z_]{1,40}=)")
"""A comma separates two pairs where a target follows: the name of a column may hold one."""


class RowOptions(NamedTuple):
    """How the rows of a file are read.

    Args:
        map: path by target, as `parse_map` reads it.
        shape: the name of a shape; None to recognise it.
    """

    map: Mapping[str, str] = {}
    shape: str | None = None

    @classmethod
    def parse(cls, pairs: Sequence[str] | None, shape: str | None) -> RowOptions:
        """What was typed after `--map` and `--rows`.

        Raises:
            ConfigurationError: a target or a shape is unknown, or a pair is not PART=COLUMN.
        """
        if shape is not None and shape not in BY_NAME:
            raise ConfigurationError(
                f"--rows {shape}: no shape of rows is called so{did_you_mean(shape, BY_NAME)}"
            )
        return cls(parse_map(pairs or ()), shape)


def parse_map(typed: Sequence[str]) -> dict[str, str]:
    """The path of every target.

    Raises:
        ConfigurationError: a target is unknown or named twice, or a pair is not PART=COLUMN.
    """
    found: dict[str, str] = {}
    for pair in (pair.strip() for pairs in typed for pair in _BETWEEN.split(pairs)):
        target, equals, path = pair.partition("=")
        if not equals or not path.strip():
            raise ConfigurationError(f"--map takes PART=COLUMN, not {pair!r}")
        if target not in TARGETS:
            raise ConfigurationError(
                f"--map: {target!r} is not a part of a sample{did_you_mean(target, TARGETS)}"
            )
        if target in found:
            raise ConfigurationError(f"--map names {target} twice")
        found[target] = path.strip()
    if "messages" in found and "prompt" in found:
        raise ConfigurationError("--map names prompt and messages: a row has one of them")
    return found


def overlaid(columns: Columns | None, mapping: Mapping[str, str]) -> Columns:
    """The columns of a shape, where any, with those that the user named in place of its own.

    A column that the user gave a part is no other part's.
    """
    base = columns or Columns(needed=())
    named = set(mapping.values()) | {top(path, {}) for path in mapping.values()}
    kept: dict[str, Any] = {
        part: tuple(path for path in paths if path not in named)
        for part, paths in base._asdict().items()
        if part != "needed"
    }
    needed = set(base.needed)
    for target, path in mapping.items():
        part = "prompt" if target == "messages" else target
        kept[part] = (path,)
        needed |= {part} & {"prompt", "response"}
    return Columns(**kept, needed=tuple(sorted(needed)))


MAX_WRAPPINGS: Final = 3
"""A text in a message in a choice is the deepest shape there is."""

MAX_RESPONSES: Final = 4_096
"""Responses of one row: above every group size, and one line cannot become a file."""


ALIASES: Final = "aliases"
"""How a column is called whose list is always one of alternatives."""

SHAREGPT_ROLES: Final = {"human": "user", "gpt": "assistant", "chatgpt": "assistant"}
"""The roles of OpenAI's by those of ShareGPT's."""


def canonical(content: Mapping[str, Any], columns: Columns) -> list[dict[str, Any]]:
    """The rows that a row stands for, in the order of its responses.

    Several responses of a row with an id are called `ID-1`, `ID-2`, …

    Raises:
        BadSample: the prompt or the response is missing, or of another type.
    """
    prompt, response, reference, name, system = (
        first(content, paths)
        for paths in (
            columns.prompt,
            columns.response,
            columns.reference,
            columns.id,
            columns.system,
        )
    )
    _require(columns, prompt, response)
    context = [path for path in columns.context if at(content, path)]
    turns = _turns(content, prompt, system, context)
    row: dict[str, Any] = {}
    if name is not None:
        row["id"] = at(content, name)
    if reference is not None:
        value = at(content, reference)
        row["reference_answer"] = _aliases(value) if reference.endswith(ALIASES) else value
    used = {
        top(path, content) for path in (prompt, response, reference, name, system, *context) if path
    }
    if metadata := _metadata(content, columns, used):
        row["metadata"] = metadata
    if response is None:
        return [row | {"messages": turns}]
    answers = _responses(at(content, response), response)
    return [
        row | _numbered(row, number, len(answers)) | {"messages": _exchange(turns, answer)}
        for number, answer in enumerate(answers, 1)
    ]


def _aliases(value: Any) -> Any:
    """Aliases as strings: a list of numbers would be one answer to some rewards."""
    if not isinstance(value, list):
        return value
    numbers = [isinstance(each, int | float) for each in value]
    return [json.dumps(each) for each in value] if value and all(numbers) else value


def _exchange(turns: list[dict[str, Any]], answer: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a sample. Columns may overlap: either may hold the whole exchange."""
    if turns and answer[: len(turns)] == turns:
        return answer
    if turns[-len(answer) :] == answer:
        return turns
    return [*turns, *answer]


def _require(columns: Columns, prompt: str | None, response: str | None) -> None:
    for part, found in (("prompt", prompt), ("response", response)):
        paths = columns.prompt if part == "prompt" else columns.response
        if found is None and part in columns.needed and paths:
            raise BadSample(f"{' or '.join(paths)} is missing")


def _numbered(row: Mapping[str, Any], number: int, count: int) -> dict[str, Any]:
    named = count > 1 and isinstance(row.get("id"), str | int)
    return {"id": f"{row['id']}-{number}"} if named else {}


def _metadata(content: Mapping[str, Any], columns: Columns, used: set[str]) -> dict[str, Any]:
    """The columns that nothing was read from, and the fields of the objects of metadata."""
    inner: dict[str, Any] = {}
    for path in columns.metadata:
        value = at(content, path)
        if isinstance(value, dict):
            inner |= value
            used = used | {path}
    return {key: value for key, value in content.items() if key not in used} | inner


def _turns(
    content: Mapping[str, Any], prompt: str | None, system: str | None, context: list[str]
) -> list[dict[str, Any]]:
    """The messages before the response."""
    turns = [] if prompt is None else _prompt_turns(at(content, prompt), prompt)
    for path in context:
        if prompt is not None and isinstance(at(content, prompt), str):
            turns = [turns[0] | {"content": f"{turns[0]['content']}\n\n{at(content, path)}"}]
    if system is None:
        return turns
    instructions = at(content, system)
    if not isinstance(instructions, str):
        raise BadSample(f"{system} is {json_kind(instructions)}, not a string")
    return [{"role": "system", "content": instructions}, *turns]


def _prompt_turns(value: Any, where: str) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if isinstance(value, list):
        if _are_blocks(value):
            return [{"role": "user", "content": value}]
        return [_turn(each) for each in value]
    raise BadSample(f"{where} is {json_kind(value)}, not a string or a list of messages")


def _turn(value: Any) -> Any:
    """A message; a turn of ShareGPT's is one under other names."""
    if isinstance(value, dict) and "role" not in value and isinstance(value.get("from"), str):
        role = SHAREGPT_ROLES.get(value["from"], value["from"])
        return {"role": role, "content": value.get("value")}
    return value


def _responses(value: Any, where: str) -> list[list[dict[str, Any]]]:
    """The turns of each response: one, or several of a list."""
    if not isinstance(value, list) or _are_turns(value) or _are_blocks(value):
        return [_answer(value, where)]
    if not value:
        raise BadSample(f"{where} is an empty list")
    found = []
    for at_, each in enumerate(value):
        place = f"{where}[{at_}]"
        nested = isinstance(each, list) and not _are_turns(each) and not _are_blocks(each)
        found += (
            [_answer(inner, f"{place}[{deep}]") for deep, inner in enumerate(each)]
            if nested
            else [_answer(each, place)]
        )
        if len(found) > MAX_RESPONSES:
            raise BadSample(f"{where} holds more than {MAX_RESPONSES:,} responses")
    return found


def _answer(value: Any, where: str, depth: int = MAX_WRAPPINGS) -> list[dict[str, Any]]:
    """The turns of one response: a string, blocks, a message, messages, or a choice of an API."""
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}]
    if isinstance(value, list):
        if _are_turns(value):
            return [turn for turn in value if "role" in turn]
        if _are_blocks(value):
            return [{"role": "assistant", "content": value}]
    elif isinstance(value, dict):
        if isinstance(value.get("role"), str):
            return [value]
        for key in ("message", "text", "content", "outputText") if depth else ():
            if value.get(key) is not None:
                return _answer(value[key], f"{where}.{key}", depth - 1)
    raise BadSample(f"{where} is {json_kind(value)}, not a string or a message")


def _are_turns(value: list[Any]) -> bool:
    """Whether a list is messages, with or without the other items of OpenAI's Responses API."""
    dicts = all(isinstance(turn, dict) for turn in value)
    return (
        dicts
        and any(isinstance(turn.get("role"), str) for turn in value)
        and all(isinstance(turn.get("role", turn.get("type")), str) for turn in value)
    )


def _are_blocks(value: list[Any]) -> bool:
    """Whether a list is the content blocks of one message."""
    return bool(value) and all(
        isinstance(block, dict)
        and "role" not in block
        and "message" not in block
        and (isinstance(block.get("type"), str) or "reasoningContent" in block)
        for block in value
    )


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
