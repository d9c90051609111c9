"""Cases with human labels: graded responses, or pairs of which one is better.

    {"id": …, "messages": […, {"role": "assistant", …}], "reference_answer": …, "label": 1}
    {"id": …, "instruction": …, "input": …, "response1": …, "response2": …, "label": 2}

The label of a graded response is a number on the judge's scale, or true or false. That of a pair is
1 or 2 for the better response, 0 for a tie; its prompt is `messages`, or PandaLM's `instruction`
and `input`. `votes`, where there are any, are labels by one person each; without a label, their
majority is the label. Both kinds become numbers from 0, the worst for the (first) response, to 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Message, Sample, Unscored
from reward_functions.data.json_rows import BadInput, read_rows, shown
from reward_functions.data.splitting import normal
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.data.json_rows import Row

Kind = Literal["graded", "pair"]

TIE: Final = 0.5
PAIR: Final[Mapping[int, float]] = {2: 0.0, 0: TIE, 1: 1.0}
"""The labels of a pair."""
PAIR_NAMES: Final = {0.0: "second", TIE: "tie", 1.0: "first"}

MAX_CLASSES: Final = 11
"""Different labels of graded responses: agreement is counted by class; 0 to 10 are eleven."""

LABEL: Final = "label"
"""The field with the label of people, where none is named."""

VOTES: Final = "votes"
"""The field with labels by one person each. No judge sees it, nor the one with the label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCase:
    """A response, or a pair, with its label.

    Args:
        id: from the file.
        where: the place in the file, for messages.
        sample: the prompt, and the (first) response.
        second_response: the second response of a pair.
        label: 0 to 1.
        votes: of one person each, 0 to 1; every case has equally many.
        prompt: a hash that cases of one prompt share, capitals and punctuation apart.
        row: of the file, with the recorded answers of other judges.
    """

    id: str
    where: str
    sample: Sample
    second_response: str = ""
    label: float
    votes: tuple[float, ...] = ()
    prompt: str
    row: Mapping[str, Any] = field(repr=False)

    @property
    def question(self) -> str:
        """The prompt to the letter: a judge that is asked another one need not answer alike."""
        return repr(self.sample.context)


@dataclass(frozen=True, slots=True)
class HumanLabels:
    """The notation of labels.

    Args:
        kind: of graded responses, or of pairs.
        scale: of the judge and of the grades.
    """

    kind: Kind
    scale: Scale

    def read(self, written: Any) -> float | None:
        """A label of a file as a number, 0 to 1; None for anything else."""
        if self.kind == "pair":
            return PAIR.get(written) if type(written) is int else None
        if not isinstance(written, bool | int | float) or not isfinite(written):
            return None
        minimum, maximum = (0, 1) if isinstance(written, bool) else self.scale
        share = (written - minimum) / (maximum - minimum)
        return share if 0 <= share <= 1 else None

    def name(self, label: float) -> str:
        """The name of a label."""
        if self.kind == "pair":
            return PAIR_NAMES[label]
        return f"{self.scale.minimum + label * (self.scale.maximum - self.scale.minimum):g}"

    @property
    def legal(self) -> str:
        """The legal labels, for a message."""
        if self.kind == "pair":
            return "1, 2 or 0 for a tie"
        return f"a number from {self.scale.minimum:g} to {self.scale.maximum:g}, true or false"


@dataclass(frozen=True, slots=True)
class LabelledCases:
    """A file of cases.

    Args:
        items: in the order of the file.
        labels: their notation.
        classes: the different labels, worst first.
        digest: SHA-256 of the cases.
    """

    items: Sequence[LabelledCase]
    labels: HumanLabels
    classes: tuple[float, ...]
    digest: str

    def nearest(self, value: float) -> float:
        """The class of a value from 0 to 1; the worse of two that are equally near."""
        return min(self.classes, key=lambda label: (round(abs(label - value), 9), label))

    @property
    def annotators(self) -> int:
        """The number of people who voted on each case."""
        return len(self.items[0].votes)


def read_cases(file: str, scale: Scale, *, label: str = LABEL) -> LabelledCases:
    """The cases of a JSONL file or of a JSON array.

    Args:
        file: its path; - is standard input.
        scale: of the judge.
        label: the field with the label of people. Votes stand in for it where a row lacks it, but
            not where another field than the default is named and no row has it.

    Raises:
        BadInput: a line is not a valid case; kinds are mixed; an id occurs twice; all labels are
            equal; no row has the label that is named.
        OSError: the file cannot be read.
    """
    rows = list(read_rows(file, whole=True))
    if not rows:
        raise BadInput(f"{shown(file)} holds no cases")
    if label != LABEL and all(row.content.get(label) is None for row in rows):
        fields = [str(name) for name in rows[0].content]
        raise BadInput(
            f"{shown(file)}: no row has the label {label!r}{did_you_mean(label, fields)}"
        )
    labels = HumanLabels("pair" if "response1" in rows[0].content else "graded", scale)
    items = [_case(row, labels, label) for row in rows]
    _check_together(items)
    labelled = {label for case in items for label in (case.label, *case.votes)}
    if len({case.label for case in items}) == 1:
        raise BadInput(f"{shown(file)}: all labels are the same, so that any judge agrees")
    classes = tuple(sorted(PAIR.values() if labels.kind == "pair" else labelled))
    if len(classes) > MAX_CLASSES:
        raise BadInput(f"{shown(file)}: {len(classes)} different labels; at most {MAX_CLASSES}")
    return LabelledCases(items, labels, classes, _digest(items))


def _digest(items: Sequence[LabelledCase]) -> str:
    """A digest of the cases: that of the list's `repr`, which is never made whole."""
    digest = sha256(b"[")
    for at, case in enumerate(items):
        content = (case.id, case.sample, case.second_response, case.label, case.votes)
        digest.update(f"{', ' if at else ''}{content!r}".encode("utf-8", "replace"))
    digest.update(b"]")
    return digest.hexdigest()


def _case(row: Row, labels: HumanLabels, field: str) -> LabelledCase:
    content, pair = row.content, labels.kind == "pair"
    if ("response1" in content) != pair:
        raise BadInput(f"{row.where}: pairs and graded responses stand in files of their own")
    name = content.get("id")
    if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
        raise BadInput(f"{row.where}: the case has no id")
    votes = _votes(row, labels)
    sample = _pair(row, field) if pair else _graded(row, field)
    return LabelledCase(
        id=str(name),
        where=row.where,
        sample=sample,
        second_response=_text(row, "response2") if pair else "",
        label=_label(row, labels, votes, field),
        votes=votes,
        prompt=_prompt(sample.context),
        row=content,
    )


def _prompt(context: Sequence[Message]) -> str:
    """A hash of a prompt, the same for prompts that are duplicates of each other in a data set."""
    turns = [(each.role, normal(each.content) or each.content, each.tool_calls) for each in context]
    return sha256(repr(turns).encode("utf-8", "replace")).hexdigest()


def _label(row: Row, labels: HumanLabels, votes: Sequence[float], field: str) -> float:
    written = row.content.get(field)
    if written is not None:
        label = labels.read(written)
        if label is None:
            raise BadInput(f"{row.where}: the label is {_described(written)}, not {labels.legal}")
        return label
    if not votes:
        raise BadInput(f"{row.where}: the case has no label: no {field!r}, and no votes")
    (label, most), *others = Counter(votes).most_common()
    if others and others[0][1] == most:
        raise BadInput(f"{row.where}: the case has no {field!r}, and the votes no majority")
    return label


def _votes(row: Row, labels: HumanLabels) -> tuple[float, ...]:
    written = row.content.get(VOTES, [])
    if not isinstance(written, list):
        raise BadInput(f"{row.where}: votes are a list of labels")
    votes = [labels.read(vote) for vote in written]
    if None in votes:
        wrong = _described(written[votes.index(None)])
        raise BadInput(f"{row.where}: a vote is {wrong}, not {labels.legal}")
    return tuple(vote for vote in votes if vote is not None)


def _graded(row: Row, field: str) -> Sample:
    shown_to_judges = {key: each for key, each in row.content.items() if key not in (field, VOTES)}
    sample = decode_row(shown_to_judges, 0)
    if isinstance(sample, Unscored):
        raise BadInput(f"{row.where}: {sample.error}")
    return sample


def _pair(row: Row, field: str) -> Sample:
    """The first response of a pair, and its prompt."""
    content, response = row.content, _text(row, "response1")
    if "messages" in content:
        messages = _graded(row, field).context
    else:
        given = [_text(row, key) for key in ("instruction", "input") if content.get(key)]
        messages = (Message(role="user", content="\n\n".join(filter(str.strip, given))),)
    if not any(message.content.strip() for message in messages):
        raise BadInput(f"{row.where}: the pair has no prompt: no messages, and no instruction")
    sample = Sample(id=str(content["id"]), messages=messages)
    return sample.answered(response)


def _text(row: Row, key: str) -> str:
    text = row.content.get(key)
    if not isinstance(text, str):
        raise BadInput(f"{row.where}: {key} is {_described(text)}, not a string")
    return text


def _check_together(items: Sequence[LabelledCase]) -> None:
    ids: set[str] = set()
    for case in items:
        if case.id in ids:
            raise BadInput(f"{case.where}: the id {case.id!r} comes twice")
        ids.add(case.id)
        if len(case.votes) != len(items[0].votes):
            raise BadInput(
                f"{case.where}: {len(case.votes)} votes, where {items[0].where} has "
                f"{len(items[0].votes)}; the same people vote on every case"
            )


def _described(value: Any) -> str:
    """A value for a message, which never quotes a string of the data."""
    if value is None:
        return "missing"
    return repr(value) if isinstance(value, bool | int | float) else f"a {type(value).__name__}"
