"""A simulated run as one page of HTML: no script, no network, readable in the light and the dark.

It is headed SIMULATION, and says in its first sentence that no language model was trained. Every
string of a job is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from reward_functions.tools.calibration.page import POLICY, STYLE, html_table
from reward_functions.tools.sheets import Sheet
from reward_functions.tools.training_double import plots
from reward_functions.tools.training_double.strategies import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.tools.training_double.state import Job
    from reward_functions.tools.training_double.training import Step

WARNING: Final = (
    "This is a simulation: no language model was trained. A choice among nine ways to write an "
    "answer learned from the scores of the reward function. It shows what that reward pays, and "
    "nothing about how a language model would fare."
)


def page_of(job: Job, status: str = "") -> str:
    """The course of a job so far; whoever asks holds the state's lock.

    Args:
        job: whichever service it is of.
        status: what it is about to have; its own where not given.
    """
    facts = {
        "job": job.id,
        "status": status or job.status,
        "failure": job.failure,
        "base": job.base,
        "grader": job.grader,
        **{name: str(value) for name, value in job.hyperparameters.items()},
    }
    return simulation_page(
        job.name, {name: value for name, value in facts.items() if value}, job.steps
    )


def simulation_page(title: str, facts: Mapping[str, str], steps: Sequence[Step]) -> str:
    """The whole page.

    Args:
        title: of the run, such as the job's name.
        facts: what to say of the job, by name.
        steps: as they were published, from the first on; may be empty.
    """
    return "\n".join(_lines(f"SIMULATION: {title}", facts, steps)) + "\n"


def _lines(title: str, facts: Mapping[str, str], steps: Sequence[Step]) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>"
    yield f'<h1>{escape(title)}</h1>\n<p class="warning">{escape(WARNING)}</p>'
    yield "<dl>"
    for name, value in facts.items():
        yield f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
    yield "</dl>"
    if steps:
        yield f"<h2>Reward over the steps (simulation)</h2>\n{plots.rewards(steps)}"
        for kind in steps[-1].shares:
            heading = f"Strategies where the answer is: {kind} (simulation)"
            yield f"<h2>{escape(heading)}</h2>\n{plots.shares(steps, kind)}"
        yield "<h2>Shares at the end (simulation)</h2>"
        yield from html_table(shares_sheet(steps))
    else:
        yield "<p>No step was done.</p>"
    yield "</body>\n</html>"


def shares_sheet(steps: Sequence[Step]) -> Sheet:
    """The shares after the last step: a row for each strategy, a column for each kind of answer."""
    last = steps[-1]
    return Sheet(
        title=f"Simulation: shares of the strategies after step {last.number} of {last.total}",
        heads=["strategy", "correct", *last.shares],
        rows=[
            [
                one.name,
                "yes" if one.correct else "no",
                *(f"{shares[one.name]:.3f}" for shares in last.shares.values()),
            ]
            for one in STRATEGIES
        ],
        note="No language model was trained.",
        words=["correct"],
    )
