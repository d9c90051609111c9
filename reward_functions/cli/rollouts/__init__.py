"""`reward rollouts`: an agent's episodes are run and scored, and their rewards delivered.

run.py      run                                      a data set's rollouts, as a trainer runs them
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

from typing import ClassVar, Final

import typer

from reward_functions.cli._group import LazyGroup

__all__ = ["rollouts"]

ROWS: Final = {
    "run": "Run an agent on a data set as a trainer does: n rollouts of each row, one reward for "
    "each.",
    "report": "Show what rollouts earned, how they ended, and what a trainer would learn from "
    "them.",
    "trajectories": "Show what agents did: turns, tool calls, tokens, failures; or one trajectory.",
    "export": "Write trajectories as a trainer's rows, and say what is left out and why.",
    "doctor": "Check what a report needs: settings, credentials, clock, endpoint, permissions, "
    "outbox.",
    "relay": "Relay agents to an inference engine, and keep token ids and log-probabilities by "
    "session.",
    "redrive": "Send dead letters of deferred rewards back to be scored and reported, once the "
    "cause is gone.",
    "outbox": "Reports of rollouts that are durable: delivered, to be sent, refused, or too late.",
    "sessions": "AgentCore sessions that were started and not stopped: each is paid for until it "
    "is idle.",
}


class RolloutsCommands(LazyGroup):
    """The commands of `reward rollouts`."""

    package = __name__
    rows = ROWS
    targets: ClassVar = {"outbox": "outbox:app", "sessions": "sessions:app"}


rollouts = typer.Typer(cls=RolloutsCommands, no_args_is_help=True)
