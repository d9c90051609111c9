"""`reward rollouts`: an agent's episodes are run and scored, and their rewards delivered.

run.py      run                                      a data set's rollouts, as a trainer runs them
score.py    score                                    recorded responses, by another pinned reward
report.py   report                                   what they come to
trajectories.py  trajectories                        what agents did: turns, tools, tokens
export.py   export                                   trajectories as a trainer's rows
doctor.py   doctor                                   whether a reward of this machine arrives
relay.py    relay                                    between agents and an engine; keeps tokens
redrive.py  redrive                                  dead letters of deferred rewards, sent back
sessions.py sessions list · stop                     AgentCore sessions that nobody stopped
outbox.py   outbox list · replay · purge · create    what is durable, and what became of it
"""

from __future__ import annotations

import typer

from reward_functions.cli.rollouts import (
    doctor,
    export,
    outbox,
    redrive,
    relay,
    report,
    run,
    score,
    sessions,
    trajectories,
)

__all__ = ["rollouts"]

rollouts = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Agents' episodes: run them as a trainer does, score them, deliver their rewards.",
)
rollouts.command("run")(run.run)
rollouts.command("score")(score.score)
rollouts.command("report")(report.report)
rollouts.command("trajectories")(trajectories.trajectories)
rollouts.command("export")(export.export)
rollouts.command("doctor")(doctor.doctor)
rollouts.command("relay")(relay.relay)
rollouts.command("redrive")(redrive.redrive)
rollouts.add_typer(outbox.app, name="outbox")
rollouts.add_typer(sessions.app, name="sessions")
