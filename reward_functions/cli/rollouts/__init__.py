"""`reward rollouts`: an agent's episodes are run and scored, and their rewards delivered.

run.py      run                                      a data set's rollouts, as a trainer runs them
score.py    score                                    recorded responses, by another pinned reward
report.py   report                                   what they come to
doctor.py   doctor                                   whether a reward of this machine arrives
redrive.py  redrive                                  dead letters of deferred rewards, sent back
outbox.py   outbox list · replay · purge · create    what is durable, and what became of it
"""

from __future__ import annotations

import typer

from reward_functions.cli.rollouts import doctor, outbox, redrive, report, run, score

__all__ = ["rollouts"]

rollouts = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Agents' episodes: run them as a trainer does, score them, deliver their rewards.",
)
rollouts.command("run")(run.run)
rollouts.command("score")(score.score)
rollouts.command("report")(report.report)
rollouts.command("doctor")(doctor.doctor)
rollouts.command("redrive")(redrive.redrive)
rollouts.add_typer(outbox.app, name="outbox")
