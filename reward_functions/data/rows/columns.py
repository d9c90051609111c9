"""What a shape of rows is: the columns it is known by, and where the parts of a sample stand.

A value inside an object by a path with points: `reward_model.ground_truth`, `choices.0.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def at(content: Any, path: str) -> Any:
    """The value at a path; None where there is none, as where it is null.

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


REFERENCES: Final = (
    "reference_answer",
    "answer.aliases",
    "answer",
    "ground_truth",
    "solution",
    "reference",
    "target",
    "label",
    "expected_answer",
    "gold",
    "answers.text",
    "answers",
)
"""The names under which data sets of TRL's users keep the reference, the shortest answer first: of
`answer` and `solution`, the second is the worked one. Aliases are TriviaQA's: the answer is one of
them. `answers.text` are SQuAD's."""


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
    without: tuple[str, ...] = ()

    def fits(self, content: Mapping[str, Any]) -> bool:
        """Whether a row can be of this shape."""
        return all(_holds(content, condition) for condition in self.known_by) and not any(
            content.get(column) is not None for column in self.without
        )

    def names_columns(self, content: Mapping[str, Any]) -> bool:
        """Whether a row has the columns of this shape, whatever they hold."""
        return all(
            any(
                path.partition(".")[0] in content for path in condition.partition(":")[0].split("|")
            )
            for condition in self.known_by
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


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


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "": lambda value: value is not None,
    "text": _is_text,
    "messages": _is_messages,
    "turns": _is_turns,
    "object": _is_object,
    "list": _is_list,
}


def _holds(content: Mapping[str, Any], condition: str) -> bool:
    paths, _, kind = condition.partition(":")
    return any(_KINDS[kind](at(content, path)) for path in paths.split("|"))
