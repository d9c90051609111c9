"""An evaluation as one page of HTML: the difference first, then what it is made of.

An evaluation as Markdown. Strings from rows and models are escaped and stay on their line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.jobs.evaluation.evaluation_sheets import (
    beside,
    differences,
    facts,
    flips,
    groups,
    pass_at_k,
    sheets,
    tests,
)
from reward_functions.reports.pages.charts.plots import Course, lines
from reward_functions.reports.pages.charts.rows import Row, Span, spans
from reward_functions.reports.pages.page import Case, Page, Section
from reward_functions.reports.sheets import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.jobs.evaluation.evaluation_record import EvaluationRecord, Flip, Interval
    from reward_functions.reports.pages.charts.drawing import Chart


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


MOST_CASES: Final = 50
"""Flips whose answers the page shows, of each direction half."""


def page(record: EvaluationRecord) -> Page:
    """The whole page; answers are in it where the record holds them."""
    warnings = [SIMULATION] if record.simulation else []
    return Page(
        f"Evaluation of {record.job or record.tuned}",
        f"{record.conclusion[:1].upper()}{record.conclusion[1:]}.",
        warnings=[*warnings, *(f"{warning}." for warning in record.warnings)],
        facts=facts(record),
        sections=list(_sections(record)),
    )


def _sections(record: EvaluationRecord) -> Iterator[Section]:
    yield Section("The difference", [drawn_difference(record), differences(record), tests(record)])
    if record.pass_at_k:
        yield Section("pass@k", [_passes(record), pass_at_k(record)])
    sheet = groups(record)
    drawn = [drawn_groups(record)] if record.groups else []
    yield Section(sheet.title, [*drawn, sheet])
    if record.beside:
        yield Section("Beside the mean", [_lengths(record), beside(record)])
    if record.flips:
        yield Section("Flips", [flips(record)])
    cases = [_case(flip) for flip in _shown(record)]
    if cases:
        yield Section("Answers of flips", cases)


def drawn_difference(record: EvaluationRecord) -> Chart:
    """The mean difference of each way of drawing, with its interval."""
    both = [each for each in (record.greedy, record.sampled) if each is not None]
    rows = [Row(each.mode, [_span(each.difference)], limit=0.0) for each in both]
    return spans(
        "The mean difference of both models with its 95 % interval",
        rows,
        x="points of the scale, tuned less base",
        limit="no difference",
        includes=(0.0,),
    )


def drawn_groups(record: EvaluationRecord) -> Chart:
    """The mean difference of each group of prompts, with its interval."""
    rows = [Row(each.name, [_span(each.difference)], limit=0.0) for each in record.groups]
    return spans(
        "The mean difference in each group of prompts with its 95 % interval",
        rows,
        x="points of the scale, tuned less base",
        limit="no difference",
        includes=(0.0,),
    )


def _span(difference: Interval) -> Span:
    value, low, high = (100 * end for end in (difference.value, difference.low, difference.high))
    return Span(value, (low, high))


def _passes(record: EvaluationRecord) -> Chart:
    base = [(float(each.k), each.base) for each in record.pass_at_k]
    tuned = [(float(each.k), each.tuned) for each in record.pass_at_k]
    return lines(
        "pass@k of both models",
        [Course("base", base), Course("tuned", tuned, "b")],
        x="k",
        y="pass@k",
        includes=(0.0, 1.0),
    )


def _lengths(record: EvaluationRecord) -> Chart:
    """The median of each model's tokens, with a line to the 95th percentile."""
    rows = [
        Row(
            f"{each.side}, {each.mode}",
            [Span(each.tokens_p50, (each.tokens_p50, max(each.tokens_p50, each.tokens_p95)))],
        )
        for each in record.beside
    ]
    label = "The length of each model's answers, from the median to the 95th percentile"
    return spans(label, rows, x="tokens, median to 95th percentile", includes=(0.0,))


def _shown(record: EvaluationRecord) -> Iterator[Flip]:
    for turned in ("wrong", "right"):
        flips_of = [each for each in record.flips if each.turned == turned]
        yield from (each for each in flips_of[: MOST_CASES // 2] if each.base_text is not None)


def _case(flip: Flip) -> Case:
    why = [("base", flip.base_reason), ("tuned", flip.tuned_reason)]
    return Case(
        f"{flip.place}: turned {flip.turned}",
        facts=[(f"why, {side}", reason) for side, reason in why if reason],
        texts=[("base", flip.base_text or ""), ("tuned", flip.tuned_text or "")],
    )
