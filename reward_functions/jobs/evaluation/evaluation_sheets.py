"""The tables of an evaluation, for a terminal, for Markdown and for a page.

Shares of the scale are percentages; differences are points, hundredths of the scale, tuned less
base. Answers stand in the table of flips only where a record holds them, and are cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.jobs.evaluation.words import ends, points
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.jobs.evaluation.evaluation_record import (
        Beside,
        EvaluationRecord,
        Flip,
        Interval,
    )

EXAMPLE: Final = 120
"""Characters of an answer in a table: its end, where answers stand."""

MOST_FLIPS: Final = 200
"""Rows of the table of flips, of each direction half; the record has all."""

SMALLEST_P: Final = 0.001

HEADS: Final = ("base", "tuned", "difference", "95 % interval", "prompts")


def facts(record: EvaluationRecord) -> list[tuple[str, str]]:
    """The settings of the evaluation, for people."""
    reward = f"{record.reward}, version {record.reward_version}" if record.reward else "not known"
    sampled = (
        f"{record.answers} at temperature {record.temperature:g}" if record.answers else "none"
    )
    return [
        *([("job", record.job)] if record.job else []),
        ("base", record.base),
        ("tuned", record.tuned),
        ("reward", reward),
        ("grader", record.grader),
        ("split", f"{record.split}, SHA-256 {record.split_sha256}"),
        ("shares no prompt with", " and ".join(record.compared_with)),
        ("greedy answers", "1 at temperature 0"),
        ("sampled answers to a prompt", sampled),
        ("tokens of an answer", f"at most {record.max_tokens:,}"),
        ("right", f"from {record.success:.0%} of the scale"),
        ("seed", f"{record.seed}"),
        ("measured", f"{record.measured_at:%Y-%m-%d %H:%M} UTC"),
    ]


def sheets(record: EvaluationRecord) -> Iterator[Sheet]:
    """All tables, what decides first."""
    yield differences(record)
    yield tests(record)
    if record.pass_at_k:
        yield pass_at_k(record)
    yield groups(record)
    if record.beside:
        yield beside(record)
    if record.flips:
        yield flips(record)


def differences(record: EvaluationRecord) -> Sheet:
    """The means of both models."""
    both = [each for each in (record.greedy, record.sampled) if each is not None]
    return Sheet(
        "What they earn, of the scale",
        ("answers", *HEADS),
        [(each.mode, *_row(each.base, each.tuned, each.difference)) for each in both],
        note="Differences are points, hundredths of the scale: tuned less base. The interval is "
        "the bootstrap's over prompts.",
        spare=("prompts",),
    )


def tests(record: EvaluationRecord) -> Sheet:
    """McNemar's test."""
    test = record.mcnemar
    mid = "-" if test.mid_p is None else p_value(test.mid_p)
    return Sheet(
        "Prompts that turned",
        ("test", "wrong to right", "right to wrong", "p", "mid-p"),
        [
            (
                f"McNemar, {test.test}",
                f"{test.gained:,}",
                f"{test.lost:,}",
                p_value(test.p_value),
                mid,
            )
        ],
        note="p is that of the named test, two-sided.",
    )


def pass_at_k(record: EvaluationRecord) -> Sheet:
    """pass@k of both models."""
    return Sheet(
        "pass@k",
        ("k", *HEADS),
        [(f"{each.k}", *_row(each.base, each.tuned, each.difference)) for each in record.pass_at_k],
        note="The unbiased estimate of Chen et al. (2021).",
        spare=("prompts",),
    )


def groups(record: EvaluationRecord) -> Sheet:
    """A row for each group of prompts."""
    rows = [
        (
            each.name,
            *_row(each.base, each.tuned, each.difference),
            f"+{each.gained:,} -{each.lost:,}",
            p_value(each.adjusted),
        )
        for each in record.groups
    ]
    return Sheet(
        f"By {record.grouped_by}",
        ("group", *HEADS, "turned", "p, adjusted"),
        rows,
        note="Greedy answers. p is McNemar's, adjusted by Holm for the number of groups; the "
        "intervals are not adjusted.",
        spare=("turned", "base", "tuned"),
    )


def beside(record: EvaluationRecord) -> Sheet:
    """What stands beside the means."""
    return Sheet(
        "Beside the mean",
        (
            *("model", "answers", "tokens", "p95", "cut off", "empty", "filtered", "unscored"),
            *("seconds, p50", "p95 s", "dollars"),
        ),
        [_beside(each) for each in record.beside],
        note="Unscored answers count as nothing, and never as 0. Dollars are those of asking. "
        + ("A simulation's seconds say nothing." if record.simulation else ""),
        words=(),
        spare=("filtered", "p95", "p95 s", "dollars"),
    )


def flips(record: EvaluationRecord) -> Sheet:
    """The prompts that turned, those that turned wrong first."""
    half = MOST_FLIPS // 2
    shown: list[Flip] = []
    for turned in ("wrong", "right"):
        shown += [flip for flip in record.flips if flip.turned == turned][:half]
    texts = any(flip.base_text is not None for flip in shown)
    heads = ("row", "turned", "base", "tuned", "why: base", "why: tuned")
    rows = [
        (
            flip.place,
            flip.turned,
            f"{flip.base_score:.2f}",
            f"{flip.tuned_score:.2f}",
            flip.base_reason or "-",
            flip.tuned_reason or "-",
            *((_end(flip.base_text), _end(flip.tuned_text)) if texts else ()),
        )
        for flip in shown
    ]
    left_out = len(record.flips) - len(shown)
    answers = ("the base ends", "the tuned ends") if texts else ()
    return Sheet(
        "Flips",
        (*heads, *answers),
        rows,
        note=f"{left_out:,} more are in the JSON." if left_out else "",
        words=("turned", "why: base", "why: tuned", *answers),
        spare=("why: base", "why: tuned", "base", "tuned"),
    )


def p_value(value: float) -> str:
    """Three digits; "< 0.001" below."""
    return f"{value:.3f}" if value >= SMALLEST_P else "< 0.001"


def _row(base: float, tuned: float, difference: Interval) -> tuple[str, str, str, str, str]:
    return (
        f"{base:.1%}",
        f"{tuned:.1%}",
        points(difference.value),
        ends(difference),
        f"{difference.prompts:,}",
    )


def _beside(each: Beside) -> tuple[str, ...]:
    def seconds(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    return (
        f"{each.side}, {each.mode}",
        f"{each.answers:,}",
        f"{each.tokens_mean:,.0f}",
        f"{each.tokens_p95:,.0f}",
        f"{each.cut / each.answers:.1%}",
        f"{each.empty:,}",
        f"{each.filtered:,}",
        f"{each.unscored:,}",
        seconds(each.seconds_p50),
        seconds(each.seconds_p95),
        "-" if each.usd is None else f"{each.usd:.4f}",
    )


def _end(text: str | None) -> str:
    if text is None:
        return "-"
    return text if len(text) <= EXAMPLE else f"…{text[-EXAMPLE:]}"
