"""An evaluation as Markdown. Strings from rows and models are escaped and stay on their line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.jobs.evaluation.evaluation_sheets import facts, sheets
from reward_functions.reports.sheets import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.jobs.evaluation.evaluation_record import EvaluationRecord

SIMULATION: Final = "SIMULATION: the training double answered, and no language model."


def markdown(record: EvaluationRecord) -> str:
    """The whole document."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: EvaluationRecord) -> Iterator[str]:
    yield f"# Evaluation of {escaped(record.job or record.tuned)}"
    yield ""
    if record.simulation:
        yield f"> {SIMULATION}"
        yield ""
    yield f"**{escaped(record.conclusion)}.**"
    yield ""
    for warning in record.warnings:
        yield f"> {escaped(warning)}"
        yield ""
    for name, value in facts(record):
        yield f"- {name}: {escaped(value)}"
    for sheet in sheets(record):
        yield ""
        yield from sheet.markdown()
