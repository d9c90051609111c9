"""Rewards that suit a file, by the looks of its references. Each is tried before it is offered.

| the references are | offered |
| --- | --- |
| numbers | gsm8k, then math |
| formulas and fractions | math |
| letters of options that the rows have | multiple_choice |
| JSON objects | json_fields |
| few labels that come back | answer_text with these labels, then without |
| letters of such labels, with an A | multiple_choice: answer_text refuses an article as a label |
| short texts | answer_text, then the judge `reference` |
| long texts | the judge `reference` |

`ASKED` has the form in which the prompts ask for the answer, since a reward pays what it can find.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import BadReference
from reward_functions.core.registry import get
from reward_functions.core.types import Unscored
from reward_functions.data.answers import LONG, complaint, kind_of, stated_answer
from reward_functions.data.splitting import prompt_of
from reward_functions.extraction.choices import options_in
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.spec import RewardSpec

MOST: Final = 0.9
"""Share of references that are of a kind, before the file counts as one of this kind."""

LABELS: Final = 12
"""Labels of a closed set, at most; each comes back so often on average:"""
AGAIN: Final = 5

WORDS: Final = 6
"""Words of a short text."""

NUMBERS: Final = frozenset({"whole number", "decimal", "percentage"})
NUMBER: Final = "a number"
FORMULA: Final = "a formula"
CHOICE: Final = "a letter"
OBJECT: Final = "a JSON object"
LABEL: Final = "a label"
LETTER: Final = "a letter as a label"
SHORT: Final = "a short text"
LONG_TEXT: Final = "a long text"

_LABEL: Final = re.compile(r"\w[\w .&/+-]{0,39}")
"""Labels become part of commands: rows that somebody else wrote bring no signs of a shell."""

_FORMULA: Final = re.compile(r"[\\^=√π{(]|\d/\d")

JUDGE: Final = "reference"
"""The judge that is offered for free text."""

LABELLED: Final = "End with one line that holds one of these answers: {labels}.\nANSWER: <answer>"

JSON_ALONE: Final = "Answer with one JSON object and nothing else."

ASKED: Final[Mapping[str, str]] = {
    "gsm8k": "hash",
    "math": "boxed",
    "math_then_judge": "boxed",
    "multiple_choice": "answer",
    "answer_text": "answer",
    "json_fields": JSON_ALONE,
}
"""By reward: a form of answer, as `reward data prepare --answer-format` takes it."""

MARKS: Final[Mapping[str, str]] = {"hash": "####", "boxed": "boxed", "answer": "ANSWER:"}
"""Part of a prompt that asks for such a form already."""


class Offer(NamedTuple):
    """A reward that may suit a file.

    Args:
        reward: its name.
        parameters: of it.
        usable: of the rows looked at, how many it can use.
        of: the rows looked at.
    """

    reward: str
    parameters: dict[str, Any]
    usable: int
    of: int


OFFERED: Final[Mapping[str, Sequence[str]]] = {
    NUMBER: ("gsm8k", "math"),
    FORMULA: ("math",),
    CHOICE: ("multiple_choice",),
    OBJECT: ("json_fields",),
    LABEL: ("answer_text labels", "answer_text"),
    LETTER: ("multiple_choice",),
    SHORT: ("answer_text", JUDGE),
    LONG_TEXT: (JUDGE,),
}

KINDS: Final[Sequence[tuple[str, frozenset[str]]]] = (
    (NUMBER, frozenset({NUMBER})),
    (CHOICE, frozenset({CHOICE})),
    (OBJECT, frozenset({OBJECT})),
    (FORMULA, frozenset({FORMULA, NUMBER})),
    (SHORT, frozenset({SHORT, CHOICE, NUMBER})),
)
"""A file is of the first kind that most of its references are; else its texts are long."""


def offers(rows: Sequence[dict[str, Any]]) -> list[Offer]:
    """The rewards that suit rows as a trainer sends them, the best first.

    A reward that can use fewer than half of them is not offered, and one that cannot use one in ten
    stands after the others.
    """
    references = (row.get("reference_answer") for row in rows)
    found = [each for each in references if each is not None and each != ""]
    kind = _kind(found, optional=2 * sum(map(_has_options, rows)) > len(rows))
    listed = [_offer(name, found, rows) for name in OFFERED.get(kind or "", ())]
    useful = [each for each in listed if each.usable and 2 * each.usable >= each.of]
    return sorted(useful, key=lambda each: each.usable < MOST * each.of)


def form_of(reward: str, parameters: Mapping[str, Any], prompts: Sequence[str]) -> str | None:
    """The form of answer that the prompts are to ask for; None where they do, or nobody need ask.

    Args:
        reward: its name.
        parameters: of it; the prompts name its labels.
        prompts: some of them.
    """
    form = ASKED.get(reward)
    labels = str(parameters.get("labels") or "")
    mark = MARKS.get(form or "", "JSON")
    asks = sum(mark in prompt for prompt in prompts)
    if form is None or 2 * asks > len(prompts):
        return None
    return LABELLED.format(labels=labels.replace(",", ", ")) if labels else form


def usable(spec: RewardSpec, parameters: Mapping[str, Any], rows: Sequence[dict[str, Any]]) -> int:
    """How many of the rows a reward can use."""
    found = 0
    for position, row in enumerate(rows):
        sample = decode_row(row, position)
        found += not isinstance(sample, Unscored) and complaint(spec, sample, parameters) is None
    return found


def _offer(name: str, references: Sequence[Any], rows: Sequence[dict[str, Any]]) -> Offer:
    reward, _, labelled = name.partition(" ")
    labels = _labels(references) if labelled else []
    if labelled and not labels:
        return Offer(reward, {}, 0, len(rows))
    parameters = {"labels": ",".join(labels)} if labels else {}
    return Offer(reward, parameters, usable(get(reward), parameters, rows), len(rows))


def _has_options(row: dict[str, Any]) -> bool:
    """Whether a letter can stand for an option of the row."""
    metadata = row.get("metadata") or {}
    return bool(options_in(prompt_of(row)) or metadata.get("choices") or metadata.get("options"))


def _kind(references: Sequence[Any], *, optional: bool) -> str | None:
    """The kind of most references; None without any.

    Args:
        references: that are not empty.
        optional: whether the rows have options to choose from.
    """
    kinds = Counter(map(_kind_of, references))
    if not kinds:
        return None
    for kind, members in KINDS:
        if (optional or kind != CHOICE) and sum(kinds[each] for each in members) >= MOST * len(
            references
        ):
            return _label(_labels(references)) or kind if kind == SHORT else kind
    return LONG_TEXT


def _label(labels: Sequence[str]) -> str | None:
    """The kind of labels; None without any."""
    letters = {label.casefold() for label in labels if len(label) == 1}
    if len(letters) == len(labels) and "a" in letters:
        return LETTER
    return LABEL if labels else None


def _kind_of(reference: Any) -> str:
    if _is_object(reference):
        return OBJECT
    try:
        answer, _ = stated_answer(reference)
    except BadReference:
        return LONG_TEXT
    if len(answer) > LONG or len(answer.split()) > WORDS:
        return LONG_TEXT
    kind = kind_of(answer)
    if kind == "formula" and not _FORMULA.search(answer):  # a date, the number of a part
        return SHORT
    return {"choice": CHOICE, "formula": FORMULA}.get(kind, NUMBER if kind in NUMBERS else SHORT)


def _is_object(reference: Any) -> bool:
    if isinstance(reference, str):
        try:
            reference = json.loads(reference) if reference.lstrip()[:1] == "{" else None
        except (ValueError, RecursionError):
            return False
    return isinstance(reference, dict)


def _labels(references: Sequence[Any]) -> list[str]:
    """The labels of a closed set, each of which comes back; none where the answers are open."""
    texts = [each.strip() for each in references if isinstance(each, str)]
    found = sorted(set(texts))
    closed = 1 < len(found) <= LABELS and len(texts) >= AGAIN * len(found)
    return found if closed and all(map(_LABEL.fullmatch, found)) else []
