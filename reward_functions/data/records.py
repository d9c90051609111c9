"""The input and the output: records of a public data set, rows a trainer is given.

    Record ──(one module for each data set)──→ Row | Dropped | BadRecord

A `Row` is a line of Bedrock's training data: the messages of a prompt, the reference the reward
reads, and metadata for you to look at later. A record that becomes no row is an object as well, so
that it can be counted and reported; nothing disappears.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reward_functions.core.jsons import json_kind
from reward_functions.data.json_rows import BadInput
from reward_functions.data.wording import ANSWER_FORMAT, QUESTION, BadTemplate, filled
from reward_functions.quantities.unicode_forms import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.data.wording import Wording

Read = TypeVar("Read")
Asked = TypeVar("Asked", bound="Hashable")

MISSING: Final = object()

SYNTHETIC: Final = "synthetic"
"""The key of a row's metadata that is true in rows of `reward data generate`."""

BESIDE: Final = ("metadata", "extra_info", "info")
"""Where rows hold their metadata: Bedrock's, verl's and verifiers'; others hold them at the top."""

TRIED: Final = 32
"""Rows that lack what a template names before the template is at fault, not the row."""


class BadRecord(BadInput):
    """A record that cannot become a row. The message names the file, the line and the field.

    Args:
        message: for a person.
        why: the class it is counted under; "" where each is its own.
    """

    def __init__(self, message: str, why: str = "") -> None:
        super().__init__(message)
        self.why = why


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a public file.

    Args:
        content: the object.
        where: the file and the line, for messages: "test.jsonl, line 3".
        split: the official split it belongs to; None where the data set has none.
        name: its place in the data set, where the file's path holds it: "algebra/12".
    """

    content: Mapping[str, Any]
    where: str
    split: str | None = None
    name: str = ""

    def bad(self, path: str, problem: str) -> BadRecord:
        """The error that says what is wrong with a field."""
        return BadRecord(f"{self.where}: {path} {problem}")

    def get(self, path: str, default: Any = MISSING) -> Any:
        """The value of a field; `qa.question` is a field of an object.

        Raises:
            BadRecord: the field is missing and has no default; or its holder is not an object.
        """
        value: Any = self.content
        keys = path.split(".")
        for at, key in enumerate(keys):
            if not isinstance(value, dict):
                raise self.bad(".".join(keys[:at]), f"is {json_kind(value)}, not an object")
            value = value.get(key, MISSING)
            if value is MISSING:
                break
        if value is MISSING and default is MISSING:
            raise self.bad(path, "is missing")
        return default if value is MISSING else value

    def text(self, path: str) -> str:
        """A field that holds a string that is not blank.

        Raises:
            BadRecord: it does not.
        """
        value = self.get(path)
        if not isinstance(value, str):
            raise self.bad(path, f"is {json_kind(value)}, not a string")
        if not value.strip():
            raise self.bad(path, "is empty")
        return value

    def strings(self, path: str) -> list[str]:
        """A field that holds a list of strings.

        Raises:
            BadRecord: it does not.
        """
        value = self.get(path)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.bad(path, "is not a list of strings")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A prompt with its reference: a line of training data.

    Args:
        id: the same in any file, with any of its neighbours left out.
        system: the system turn; "" for none.
        question: what is asked.
        reference: what the reward reads; None without one.
        request: says the form in which the reward expects the answer; "" where nothing does.
        template: of the user turn, with `{question}`, `{answer_format}` and the `fields`; "" for
            the question, and below it the request where there is one.
        fields: what else a template may name.
        earlier: the turns between the system turn and the question.
        metadata: about the row; `dataset` and `split` are added, and rows that must stay on one
            side of a split share `page` or `prompt`.
        split: the official split; None where the data set has none.
        counted: the class of row it is counted under in the report.
        where: the file and the line, for messages; "" where nobody asks.
    """

    id: str
    system: str
    question: str
    reference: Any
    request: str = ""
    template: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    earlier: Sequence[Mapping[str, Any]] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    split: str | None = None
    counted: str = ""
    where: str = ""

    def worded(self, wording: Wording) -> Row:
        """The row as the user words its prompt."""
        kept = (self.system, self.template, self.request)
        system, template, request = (
            own if stated is None else stated for own, stated in zip(kept, wording, strict=True)
        )
        return replace(self, system=system, template=template, request=request)

    @property
    def prompt(self) -> str:
        """The user turn.

        Raises:
            BadTemplate: the template names a field that the row has not.
        """
        fields = {**self.fields, QUESTION: self.question, ANSWER_FORMAT: self.request}
        usual = "{question}\n\n{answer_format}" if self.request else "{question}"
        return filled(self.template or usual, fields)

    def wire(self, dataset: str) -> dict[str, Any]:
        """The row as Bedrock reads it."""
        official = {"split": self.split} if self.split else {}
        system = [{"role": "system", "content": self.system}] if self.system else []
        reference = {} if self.reference is None else {"reference_answer": self.reference}
        return {
            "id": self.id,
            "messages": [*system, *self.earlier, {"role": "user", "content": self.prompt}],
            **reference,
            "metadata": {"dataset": dataset, **official, **self.metadata},
        }


@dataclass(frozen=True, slots=True)
class Dropped:
    """A record left out on purpose, and the class of reason it is counted under."""

    id: str
    why: str


RecordOutcome = Row | Dropped | BadInput
"""What becomes of a record, or of a line that is none."""


def each(
    records: Iterable[Read | BadInput], row: Callable[[Read], Row | Dropped]
) -> Iterator[RecordOutcome]:
    """The outcome of every record on its own: a bad one does not touch its neighbours."""
    for record in records:
        try:
            yield record if isinstance(record, BadInput) else row(record)
        except BadRecord as error:
            yield error


def unrepeated(
    outcomes: Iterable[RecordOutcome],
    references: Mapping[Asked, set[Any]],
    asked: Callable[[Row], Asked],
    *,
    repeated: str,
    conflict: str,
) -> Iterator[RecordOutcome]:
    """The outcomes without the rows that ask again, and those that have several references.

    Args:
        outcomes: in order.
        references: those of all rows, by what is asked.
        asked: what two rows that ask the same have in common.
        repeated: the class that the second such row is counted under.
        conflict: the class of rows of which nobody knows which reference is right.
    """
    seen: set[Asked] = set()
    for row in outcomes:
        if not isinstance(row, Row):
            yield row
        elif len(references[asked(row)]) > 1:
            yield Dropped(row.id, conflict)
        elif asked(row) in seen:
            yield Dropped(row.id, repeated)
        else:
            seen.add(asked(row))
            yield row


def worded(outcomes: Iterable[RecordOutcome], wording: Wording) -> Iterator[RecordOutcome]:
    """The outcomes, the rows among them as the user words their prompts.

    Raises:
        BadTemplate: none of the first `TRIED` rows has a field that the template names. Once one
            had it, a row that has not is a `BadRecord`.
    """
    failed: list[BadTemplate] | None = []
    for outcome in outcomes:
        if not isinstance(outcome, Row):
            yield outcome
            continue
        if failed == [] and (lacking := wording.lacking(outcome.template)):
            raise BadTemplate(
                f"--template: it has no {{{lacking[0]}}}, without which nobody can answer"
            )
        row = outcome.worded(wording)
        try:
            row.prompt  # noqa: B018 - filled in to find out whether it can be
        except BadTemplate as error:
            if failed is not None:
                failed.append(error)
                if len(failed) == TRIED:
                    raise
            lacks = f"it has nothing for {{{error.name}}}"
            yield BadRecord(f"{row.where or row.id}: {lacks}", lacks)
        else:
            failed = None
            yield row
    if failed:
        raise failed[0]


def digest(*texts: str) -> str:
    """Twelve characters that stand for strings, however they are spaced and capitalised."""
    joined = "\0".join(folded(text) for text in texts)
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or a list of blocks with a `text`."""
    if isinstance(content, list):
        blocks = [block.get("text") for block in content if isinstance(block, dict)]
        return "\n".join(text for text in blocks if isinstance(text, str))
    return content if isinstance(content, str) else ""


def is_synthetic(content: Mapping[str, Any]) -> bool:
    """Whether a row says of itself that it was generated, in any shape that rows are written in.

    Args:
        content: of the row, as its file has it; an object inside may be JSON text.
    """
    return any(place.get(SYNTHETIC) in (True, "true", "True") for place in _beside(content))


def _beside(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The row, and the objects of what it says beside prompt and reference."""
    yield content
    for name in BESIDE:
        found = content.get(name)
        if isinstance(found, str) and SYNTHETIC in found:
            with suppress(ValueError, RecursionError):
                found = json.loads(found)
        if isinstance(found, dict):
            yield found
