"""A baseline as tables, for a terminal, and as one page of HTML.

An example of each reason is the end of one answer, where answers stand; a model wrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.bars import tallies
from reward_functions.reports.pages.charts.spans import Row, Span, spans
from reward_functions.reports.pages.page import Page, Section, Warned
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.aws.deployed.findings import CheckFinding
    from reward_functions.jobs.baseline import Baseline
    from reward_functions.reports.group_figures import Share
    from reward_functions.reports.pages.page import Part

EXAMPLE: Final = 160
"""Characters of an answer that is shown as an example."""


def shares(measured: Baseline) -> dict[str, Share | None]:
    """The figures that have an interval; None where nothing was scored."""
    return {
        "mean, of the scale": measured.mean,
        "share at the minimum": measured.at_minimum,
        "share at the maximum": measured.at_maximum,
        "prompts whose answers differ in reward": measured.mixed,
        "share cut off": measured.cut,
    }


def counts(measured: Baseline) -> dict[str, str]:
    """The figures that have none."""
    return {
        "prompts × answers": f"{measured.prompts:,} × {measured.each}",
        "unscored": f"{measured.unscored:,}",
        "withheld by a filter": f"{measured.filtered:,}",
        "tokens of an answer": f"{measured.output:,.0f}",
    }


def page(
    measured: Baseline,
    findings: Sequence[CheckFinding],
    model: str,
    facts: Sequence[tuple[str, str]] = (),
) -> Page:
    """The whole page.

    Args:
        measured: the figures.
        findings: what a job can learn from them; empty of a tuned model.
        model: which one answered.
        facts: what else there is to say of the measurement.
    """
    return Page(
        f"Baseline of {model}",
        "What the model earns before any training, as the deployed version scores it.",
        facts=facts,
        sections=list(_sections(measured, findings)),
    )


def _sections(measured: Baseline, findings: Sequence[CheckFinding]) -> Iterator[Section]:
    if findings:
        yield Section("What a job can learn from it", [_judged(each) for each in findings])
    yield Section("What it earns", [_intervals(measured), _figures(measured)])
    if measured.reasons:
        reasons = [(each.text, each.answers) for each in measured.reasons]
        drawn = tallies("Answers by the reason of their reward", reasons, x="answers")
        yield Section("Reasons", [drawn, _reasons(measured)])
    if measured.errors:
        rows = [(error, f"{count:,}") for error, count in measured.errors.items()]
        yield Section("Without a reward", [Sheet("Without a reward", ("error", "answers"), rows)])


def _judged(finding: CheckFinding) -> Part:
    if finding.verdict == "ok":
        return f"{finding.message}."
    failed = "" if finding.verdict == "warning" else f"{finding.verdict}: "
    return Warned(f"{failed}{finding.message}.")


def _intervals(measured: Baseline) -> Part:
    rows = [
        Row(name, [Span(share.value, (share.low, share.high))])
        for name, share in shares(measured).items()
        if share is not None
    ]
    label = "Shares of the baseline with their 95% intervals"
    return spans(label, rows, x="share, with its 95 % interval by prompt", names={})


def _figures(measured: Baseline) -> Sheet:
    known = [
        (name, f"{share.value:.1%}", f"{share.low:.1%} to {share.high:.1%}")
        for name, share in shares(measured).items()
        if share is not None
    ]
    others = [(name, value, "") for name, value in counts(measured).items()]
    return Sheet("Figures", ("figure", "value", "95 % interval"), [*known, *others])


def _reasons(measured: Baseline) -> Sheet:
    return Sheet(
        "Reasons",
        ("reason", "answers", "reward", "an answer ends"),
        [
            (each.text, f"{each.answers:,}", f"{each.reward:g}", each.example[-EXAMPLE:])
            for each in measured.reasons
        ],
        words=("an answer ends",),
    )
