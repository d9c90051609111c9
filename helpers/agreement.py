"""Real money asks: what costs something in an account runs where its cell says `agree=True`.

The commands of `reward job` show the cost and ask at the terminal. A cell that is run with all the
others cannot be asked, so it stops with the cost, until somebody writes that they agree. On the
local emulator nothing costs anything, and nothing is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from helpers.here import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from helpers.here import Here
    from reward_functions.jobs.planned import Plan

HOSTING: Final = "hosting the tuned model, billed until job.clean_up(); dollars unknown"


def require_agreement(
    here: Here, step: str, costs: Callable[[], Sequence[str]], *, agree: bool
) -> None:
    """Stop before money is spent that nobody agreed to spend.

    Args:
        here: where the calls go.
        step: the cell's call, such as "job.baseline".
        costs: what is paid for, a sentence each; asked for only where the cell stops.
        agree: whether the cell says so.

    Raises:
        Stopped: the calls go to an account, and the cell does not agree. Nothing was asked,
            started or hosted.
    """
    if here.local or agree:
        return
    lines = " · ".join(costs())
    raise Stopped(
        f"{step} costs money in the account {here.account}: {lines}. To agree, write "
        f"{step}(…, agree=True)"
    )


def training_cost(planned: Plan) -> list[str]:
    """What a job costs, as far as a plan knows it."""
    figures = planned.figures
    if figures is None:
        return ["the training; its size and its price are unknown"]
    size = f"training for {figures.run.steps:,} steps, {figures.run.responses:,} rollouts"
    lines = [f"{size}; dollars {_dollars(figures.training_usd)}"]
    if planned.judged:
        judged = figures.judge.usd if figures.judge else None
        lines.append(f"the judge's calls; dollars {_dollars(judged)}")
    return lines


def _dollars(known: float | None) -> str:
    return "unknown" if known is None else f"about {known:,.2f}"
