"""What the steps of a training job show: their results as tables, with a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from helpers.shown import Shown
from reward_functions.jobs.baseline_page import counts, shares
from reward_functions.jobs.plan_sheets import sheets as plan_sheets
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.aws.deployed.findings import CheckFinding
    from reward_functions.jobs.asking import AskingCost
    from reward_functions.jobs.baseline import Baseline
    from reward_functions.jobs.evaluation.preparing import Prepared
    from reward_functions.jobs.leftovers import Leftover
    from reward_functions.jobs.planned import Plan
    from reward_functions.reports.group_figures import Share

SIMULATION: Final = "SIMULATION: the training double answers and trains; no language model does."


def plan(planned: Plan) -> Shown:
    """The job, its hyperparameters, what it comes to; what is assumed, and what to look at."""
    notes = [f"assumed: {each}" for each in planned.assumptions]
    return Shown(
        list(plan_sheets(planned)), [*notes, *(f"warning: {each}" for each in planned.warnings)]
    )


def asking_cost(costs: AskingCost) -> str:
    """What asking the model costs, in a sentence."""
    dollars = "unknown" if costs.usd is None else f"{costs.usd:,.4f} at most"
    return (
        f"{costs.calls:,} calls, about {costs.input:,} tokens read, {costs.output:,} written at "
        f"most; dollars {dollars}"
    )


def evaluation_costs(made: Prepared) -> list[str]:
    """What an evaluation costs, a sentence for each model and way of drawing."""
    with made.askings(None) as askings:
        costs = askings.costs()
    lines = [
        f"{one.side}, {one.mode}: {asking_cost(each)}"
        for one, each in zip(made.asked, costs, strict=True)
    ]
    if made.scorer.judges:
        calls = sum(each.calls for each in costs)
        lines.append(f"the deployed judge: calls for up to {calls:,} answers beside")
    return lines


def baseline(
    found: Baseline, findings: Iterable[CheckFinding], notes: Sequence[str], *, simulated: bool
) -> Shown:
    """The figures with their intervals, the most frequent reasons, what a job can learn.

    A deployed judge gives no reasons here.
    """
    title = "What the base model earns" + (" (SIMULATION)" if simulated else "")
    rows = [[name, *_share(figure)] for name, figure in shares(found).items()]
    rows += [[name, count, ""] for name, count in counts(found).items()]
    why = [[each.text, f"{each.answers:,}", f"{each.reward:g}"] for each in found.reasons]
    figures = Sheet(title, ("figure", "value", "95 % interval"), rows)
    return Shown(
        [figures, Sheet("Why", ("reason", "answers", "reward"), why)] if why else [figures],
        [*(f"{each.verdict}: {each.message}" for each in findings), *notes],
    )


def findings(found: Iterable[CheckFinding], title: str) -> Shown:
    """Every answer of a check."""
    heads = ("verdict", "asked", "answer")
    rows = [[each.verdict, each.question, each.message] for each in found]
    return Shown([Sheet(title, heads, rows, words=heads)])


def leftovers(found: Sequence[Leftover], title: str) -> Shown:
    """What a job left, and what becomes of each."""
    rows = [[each.kind, each.note, each.stays or "goes", each.id] for each in found]
    heads = ("kind", "what", "becomes", "id")
    return Shown(
        [Sheet(title, heads, rows, words=heads)] if rows else [],
        [] if rows else ["nothing is left"],
    )


def removed(done: Mapping[Leftover, str], stay: Sequence[Leftover]) -> Shown:
    """What is gone, what could not go, and what stays."""
    rows = [[each.kind, problem or "removed", each.id] for each, problem in done.items()]
    rows += [[each.kind, f"stays: {each.stays}", each.id] for each in stay]
    heads = ("kind", "what became of it", "id")
    return Shown([Sheet("Cleaned up", heads, rows, words=heads)])


def _share(figure: Share | None) -> tuple[str, str]:
    if figure is None:
        return "-", "-"
    return f"{figure.value:.1%}", f"{figure.low:.1%} to {figure.high:.1%}"
