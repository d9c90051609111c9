"""The shapes of rows, which of them a file has, and each row in the one that everything here reads.

`shapes.toml` holds the shapes that trainers and evaluations write. A shape is known by its columns,
and by what they hold where that tells two shapes apart: from the first rows, one for the whole
file, unless the user says what stands where: `--map prompt=question,response=completion`. A row of
any shape becomes rows as a trainer sends them, one for each response it holds:

    {"id", "messages", "reference_answer", "metadata"}

Other fields of a row go into the metadata under their own names. A row without a response is one
without an assistant turn: training data. A value inside an object is named by a path with points:
`reward_model.ground_truth`, `choices.0.text`.
"""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import BadSample, ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import ASSISTANT_ROLES
from reward_functions.data.json_rows import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


def at(content: Any, path: str) -> Any:
    """The value at a path; None without one, as where it is null.

    A key that holds points itself comes first: `a.b` is the column "a.b" where there is one.
    A part of digits counts the items of a list from 0.
    """
    if isinstance(content, dict) and (path in content or "." not in path):
        return content.get(path)
    head, point, rest = path.partition(".")
    inner = _step(content, head)
    if not point:
        return inner
    return None if inner is None else at(inner, rest)


def first(content: Mapping[str, Any], paths: Iterable[str]) -> str | None:
    """The first of several paths that leads to a value."""
    for path in paths:
        if at(content, path) is not None:
            return path
    return None


def top(path: str, content: Mapping[str, Any]) -> str:
    """The column that a path begins with."""
    return path if path in content else path.partition(".")[0]


def _step(content: Any, key: str) -> Any:
    if isinstance(content, dict):
        return content.get(key)
    if isinstance(content, list) and key.isdecimal() and len(key) < 6:  # noqa: PLR2004 - an index
        index = int(key)
        return content[index] if index < len(content) else None
    return None


class Columns(NamedTuple):
    """Where the parts of a sample stand in a row: paths. The first that leads to a value counts.

    Args:
        prompt: a string, or a list of messages.
        context: strings that go on a prompt that is a string, after an empty line.
        response: a string, content blocks, or a list of messages; of several, each is a sample.
        reference: anything; a list means any of these.
        id: the sample's name.
        system: the system prompt, a string.
        metadata: objects whose fields are metadata. So is every column that is read by no path.
        needed: of "prompt" and "response", the parts without which a row is not valid.
    """

    prompt: tuple[str, ...] = ()
    response: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    id: tuple[str, ...] = ("id",)
    system: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ("metadata",)
    needed: tuple[str, ...] = ("prompt",)


class Shape(NamedTuple):
    """One shape of rows.

    Args:
        name: what `--rows` takes.
        title: whose it is.
        known_by: columns, as alternatives `a|b`, each with what it must hold: `prompt:text`.
        without: columns that no row of this shape has.
        columns: where the parts stand.
        source: where the shape is published.
    """

    name: str
    title: str
    known_by: tuple[str, ...]
    columns: Columns
    source: str
    without: frozenset[str] = frozenset()

    def fits(self, content: Mapping[str, Any]) -> bool:
        """Whether a row can be of this shape. Loops, since it is asked of every row of a file."""
        for condition in self.known_by:
            if not _holds(content, condition):
                return False
        if self.without.isdisjoint(content):
            return True
        return all(content.get(column) is None for column in self.without)

    def names_columns(self, content: Mapping[str, Any]) -> bool:
        """Whether a row has the columns of this shape, with any values."""
        return all(
            any(
                path.partition(".")[0] in content for path in condition.partition(":")[0].split("|")
            )
            for condition in self.known_by
        )


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_message, value))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_turns(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_turn, value))


def _is_turn(value: Any) -> bool:
    return _is_message(value) or (
        isinstance(value, dict) and isinstance(value.get("from"), str) and "value" in value
    )


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "": lambda value: value is not None,
    "text": lambda value: isinstance(value, str),
    "messages": _is_messages,
    "turns": _is_turns,
    "object": lambda value: isinstance(value, dict),
    "list": lambda value: isinstance(value, list),
}


def _holds(content: Mapping[str, Any], condition: str) -> bool:
    paths, is_kind = _alternatives(condition)
    for path in paths:  # noqa: SIM110 - half the price of `any`, for every row of a file
        if is_kind(at(content, path)):
            return True
    return False


@cache
def _alternatives(condition: str) -> tuple[list[str], Callable[[Any], bool]]:
    """The alternatives of a condition, and what one of them must hold."""
    paths, _, kind = condition.partition(":")
    return paths.split("|"), _KINDS[kind]


BEDROCK: Final = "bedrock"
"""The shape that every other is read as: its rows are passed on as they are."""

_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

USUAL: Final[Mapping[str, Sequence[str]]] = _TABLE["usual"]
"""Names that columns often have, by what they hold, for a guess that the user confirms."""


def _listed(words: Iterable[str]) -> tuple[str, ...]:
    """The words, and the names of a list for what stands for it: `item.@references`."""
    found: list[str] = []
    for word in words:
        before, named, name = word.partition("@")
        found += [before + each for each in _TABLE["lists"][name]] if named else [word]
    return tuple(found)


_PARTS: Final = frozenset(Columns._fields)


def _shape(row: Mapping[str, Any]) -> Shape:
    return Shape(
        name=row["name"],
        title=row["title"],
        source=row["source"],
        known_by=tuple(["|".join(_listed(each.split("|"))) for each in row["known_by"]]),
        without=frozenset(_listed(row.get("without", ()))),
        columns=Columns(**{part: _listed(row[part]) for part in _PARTS & row.keys()}),
    )


SHAPES: Final = tuple(map(_shape, _TABLE["shapes"]))

BY_NAME: Final = {shape.name: shape for shape in SHAPES}


TARGETS: Final = ("prompt", "response", "reference", "id", "system", "messages")
"""What a column can be mapped to; `messages` is a prompt that is a list, or a whole exchange."""

_BETWEEN: Final = re.compile(r",(?=[ ]{0,4}[A-Za-z_]{1,40}=)")
"""A comma separates two pairs where a target follows: the name of a column may hold one."""


class RowOptions(NamedTuple):
    """How the rows of a file are read.

    Args:
        map: path by target, as `parse_map` reads it.
        shape: the name of a shape; None to recognise it.
        comma: whether references have a decimal comma: they are read with a point.
    """

    map: Mapping[str, str] = {}
    shape: str | None = None
    comma: bool = False

    def __repr__(self) -> str:
        """As it was before it had `comma`: an interrupted run keeps it, and goes on by it."""
        comma = ", comma=True" if self.comma else ""
        return f"RowOptions(map={self.map!r}, shape={self.shape!r}{comma})"

    @classmethod
    def parse(cls, pairs: Sequence[str] | None, shape: str | None) -> RowOptions:
        """Parse the values of `--map` and `--rows`.

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

CALL: Final = "function_call"
"""The type of an item of OpenAI's Responses API that is a call of a tool: `name`, `arguments`."""

SHAREGPT_ROLES: Final = {"human": "user", "gpt": "assistant", "chatgpt": "assistant"}
"""The roles of OpenAI's by those of ShareGPT's."""


def canonical(content: Mapping[str, Any], columns: Columns) -> list[dict[str, Any]]:
    """The rows that a row stands for, in the order of its responses.

    Several responses of a row with an id are called `ID-1`, `ID-2`, …

    Raises:
        BadSample: the prompt or the response is missing, or of another type.
    """
    parts = (columns.prompt, columns.response, columns.reference, columns.id, columns.system)
    prompt, response, reference, name, system = (first(content, paths) for paths in parts)
    for part, found, paths in (
        ("prompt", prompt, columns.prompt),
        ("response", response, columns.response),
    ):
        if found is None and part in columns.needed and paths:
            raise BadSample(f"{' or '.join(paths)} is missing")
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
    answers = _written_or(at(content, response), response)
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
    asked = None if prompt is None else at(content, prompt)
    if isinstance(asked, str):
        asked = "\n\n".join([asked, *(str(at(content, path)) for path in context)])
    if isinstance(asked, str) or (isinstance(asked, list) and _are_blocks(asked)):
        turns = [{"role": "user", "content": asked}]
    elif isinstance(asked, list):
        turns = [_turn(each) for each in asked]
    elif prompt is None:
        turns = []
    else:
        raise BadSample(f"{prompt} is {json_kind(asked)}, not a string or a list of messages")
    if system is None:
        return turns
    instructions = at(content, system)
    if not isinstance(instructions, str):
        raise BadSample(f"{system} is {json_kind(instructions)}, not a string")
    return [{"role": "system", "content": instructions}, *turns]


def _turn(value: Any) -> Any:
    """A message; a turn of ShareGPT's is one under other names."""
    if isinstance(value, dict) and "role" not in value and isinstance(value.get("from"), str):
        role = SHAREGPT_ROLES.get(value["from"], value["from"])
        return {"role": role, "content": value.get("value")}
    return value


def _written_or(value: Any, where: str) -> list[list[dict[str, Any]]]:
    """The responses; JSON in a cell of a table that is no message is a response as it is written.

    Raises:
        BadSample: it is no response.
    """
    try:
        return _responses(value, where)
    except BadSample:
        written = getattr(value, "written", None)
        if not written:
            raise
        return [[{"role": "assistant", "content": written}]]


def _responses(value: Any, where: str) -> list[list[dict[str, Any]]]:
    """The turns of each response: one, or several of a list."""
    if _are_calls(value):
        return [[{"role": "assistant", "content": "", "tool_calls": value}]]
    if not isinstance(value, list) or _are_turns(value) or _are_blocks(value):
        return [_answer(value, where)]
    if not value:
        raise BadSample(f"{where} is an empty list")
    found: list[list[dict[str, Any]]] = []
    for number, each in enumerate(value):
        place = f"{where}[{number}]"
        if isinstance(each, list) and not _are_turns(each) and not _are_blocks(each):
            found += [_answer(inner, f"{place}[{deep}]") for deep, inner in enumerate(each)]
        else:
            found.append(_answer(each, place))
        if len(found) > MAX_RESPONSES:
            raise BadSample(f"{where} holds more than {MAX_RESPONSES:,} responses")
    return found


def _answer(value: Any, where: str, depth: int = MAX_WRAPPINGS) -> list[dict[str, Any]]:
    """The turns of one response: a string, blocks, a message, messages, or a choice of an API."""
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}]
    if isinstance(value, list):
        if _are_turns(value):
            return _with_calls(value)
        if _are_blocks(value):
            return [{"role": "assistant", "content": value}]
    elif isinstance(value, dict):
        if isinstance(value.get("role"), str):
            return [value]
        if _are_calls(value.get("tool_calls")):
            return [{"content": "", **value, "role": "assistant"}]
        for key in ("message", "text", "content", "outputText") if depth else ():
            if value.get(key) is not None:
                return _answer(value[key], f"{where}.{key}", depth - 1)
    hint = ": JSON that a model wrote stands in a string" if isinstance(value, dict) else ""
    raise BadSample(f"{where} is {json_kind(value)}, not a string or a message{hint}")


def _are_calls(value: Any) -> bool:
    """Whether a list is the calls of one message, as chat completions list them."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(each, dict)
            and each.get("type") == "function"
            and isinstance(each.get("function"), dict)
            for each in value
        )
    )


def _with_calls(items: list[Any]) -> list[dict[str, Any]]:
    """The messages of a list; a call that is an item of its own is one of the answer before it."""
    turns: list[dict[str, Any]] = []
    for item in items:
        if "role" in item:
            turns.append(item)
        elif item.get("type") == CALL:
            if not turns or turns[-1]["role"] != "assistant":
                turns.append({"role": "assistant", "content": ""})
            turns[-1] = {**turns[-1], "tool_calls": [*(turns[-1].get("tool_calls") or ()), item]}
    return turns


def _are_turns(value: list[Any]) -> bool:
    """Whether a list is messages, with or without the other items of OpenAI's Responses API."""
    dicts = all(isinstance(turn, dict) for turn in value)
    return (
        dicts
        and any(isinstance(turn.get("role"), str) or turn.get("type") == CALL for turn in value)
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

INSIDE: Final = 2
"""Objects that the columns shown lead into."""

WRAPPERS: Final = ("data", "rows", "samples", "examples", "instances", "items", "results")
"""Keys that hold the rows of a file that is one object."""

WRAPPED: Final = "{file}: the rows are inside {key!r}: write them out with {command}"
KEPT_ANSWERS: Final = frozenset({"answers", "setup"})
"""The first line of a file of `reward job baseline --out` and of `evaluate --out`."""

ANSWERS: Final = (
    "{file}: answers that `reward job baseline` or `evaluate` keeps, without their prompts and "
    "references: `reward explain NAME ROWS --answers {quoted} --worst 5` reads them with the rows "
    "that were asked"
)
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
        known, named = None, options.map.keys()
        if not (named & {"prompt", "messages"} and named >= {"response", "reference"}):
            with suppress(UnknownShape):  # the mapping says what is uncertain
                known = shape_of(file, rows)
        return overlaid(known.columns if known else None, options.map), None
    if len(rows) == 1 and _is_columnwise(rows[0]):
        raise UnknownShape(COLUMNWISE.format(file=file))
    if rows and rows[0].keys() == KEPT_ANSWERS:
        raise UnknownShape(ANSWERS.format(file=file, quoted=quote(file)))
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
    guess = guessed_columns(names).get("response", "COLUMN")
    kind = f" (the shape {shape.name})" if shape else ""
    raise UnknownShape(
        f"{file}: the rows hold no response{kind}: the columns are "
        f"{', '.join(map(_short, _names(rows)[:COLUMNS_SHOWN]))}; where one is the response, "
        f"add --map {quote(f'response={guess}')}"
    )


def _ends_with_response(turns: Any) -> bool:
    last = turns[-1] if isinstance(turns, list) and turns else None
    return isinstance(last, dict) and last.get("role", last.get("from")) in ANSWERING


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
    shown = ", ".join(
        f"{_short(name)} ({_kind(_value(name, rows))})" for name in names[:COLUMNS_SHOWN]
    )
    more = f" and {len(names) - COLUMNS_SHOWN} more" if len(names) > COLUMNS_SHOWN else ""
    advice = _advice(_for_parts(names, rows), rows)
    return f"{file}: rows of no known shape, with the columns {shown}{more}; {advice}"


def _for_parts(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Without the lists inside objects, which are options and positions: any of them, by a list."""
    inside = (name for name in names if name not in _names(rows))
    lists = {name for name in inside if not _of_objects(_value(name, rows))}
    return [name for name in names if name not in lists]


def _of_objects(value: Any) -> bool:
    return not isinstance(value, list) or all(isinstance(each, dict) for each in value)


def _advice(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """What to type: the parts that a column seems to hold, and a place for the response."""
    guess = guessed_columns(names)
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


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of rows, in their order; instead of one that holds objects the paths into it."""
    return _for_parts(_leaves(rows), rows)


def guessed_columns(names: Sequence[str]) -> dict[str, str]:
    """A column for every part, as `USUAL` calls them, for which one has a usual name."""
    left = [
        name
        for name in names
        if _words(name)[-1:] not in ([word] for word in _TABLE["words"]["no_part"])
    ]
    guess: dict[str, str] = {}
    for like in (_is_word, _has_word):
        for part in [part for part in USUAL if part not in guess]:
            found = [name for word in USUAL[part] for name in left if like(name, word)]
            if found:
                guess[part] = found[0]
                left.remove(found[0])
    return guess


def _wrapped(file: str, rows: Sequence[Mapping[str, Any]]) -> str | None:
    """What to do with a file that is one object, of rows under a key."""
    if len(rows) != 1:
        return None
    for key in [key for key in rows[0] if key in WRAPPERS]:
        value = rows[0][key]
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
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


def _is_word(name: str, word: str) -> bool:
    return "_".join(_words(name)) == word


def _has_word(name: str, word: str) -> bool:
    return word in _words(name) and len(word) > 1 and word not in _TABLE["words"]["whole"]


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
    value = _value(name, rows)
    return [f"{name}.{key}" for key in value] if isinstance(value, dict) and value else [name]


def _value(name: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    """What the first row holds that has the column."""
    return next((found for row in rows if (found := at(row, name)) is not None), None)


def _kind(value: Any) -> str:
    return json_kind(value).removeprefix("a ").removeprefix("an ")


def _short(name: str) -> str:
    return name if len(name) <= NAME_SHOWN else f"{name[:NAME_SHOWN]}…"
