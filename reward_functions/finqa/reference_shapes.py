"""The reference of a sample, in any of the shapes that data sets have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_fields, reference_text
from reward_functions.finqa import question as asking
from reward_functions.finqa.reference import (
    answer_alone,
    classify,
    classify_record,
    prepared,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.types import Sample
    from reward_functions.finqa.agreement import Reference


def reference_of(sample: Sample) -> Reference:
    """The reference of a sample, in any of its shapes."""
    fields = reference_fields(sample.reference)
    if fields is None or fields.keys().isdisjoint(("unit", "exe_ans", "qa")):
        return _bare(sample)
    if "unit" in fields:
        return prepared(fields)
    if "qa" in fields:
        return classify_record(fields)
    return _own(fields, sample)


def _own(fields: Mapping[str, Any], sample: Sample) -> Reference:
    """The record's own fields, without its filing."""
    texts = {name: fields.get(name) or "" for name in ("answer", "program", "question")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadReference(f"{name} is of type {type(text).__name__}, not str")
    question = texts["question"] or asking.asked(sample.prompt)
    if fields["exe_ans"] is None:
        return answer_alone(texts["answer"], question=question)
    return classify(texts["answer"], fields["exe_ans"], program=texts["program"], question=question)


def _bare(sample: Sample) -> Reference:
    """An answer string alone, or a number, which is an executed answer alone."""
    text = reference_text(sample.reference)
    stated = (reference_fields(sample.reference) or {}).get("question")
    question = stated if isinstance(stated, str) and stated else asking.asked(sample.prompt)
    if isinstance(sample.reference, int | float):
        return classify("", sample.reference, question=question)
    return answer_alone(text, question=question)
