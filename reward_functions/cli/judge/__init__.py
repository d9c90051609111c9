"""`reward judge`: what to know of a judge before a policy is trained on its word.

warm.py        warm        whether its models give structured verdicts, and how
doctor.py      doctor      whether it can be talked into a reward
calibrate.py   calibrate   how far it agrees with people
estimate.py    estimate    what a training run asks of it: calls, money, quota, time
"""

from __future__ import annotations

import typer

from reward_functions.cli.judge import calibrate, doctor, estimate, warm

__all__ = ["judge"]

judge = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Try a judge model, attack it, calibrate it, and count what it will cost.",
)
judge.command("warm")(warm.warm)
judge.command("doctor")(doctor.doctor)
judge.command("calibrate")(calibrate.calibrate)
judge.command("estimate")(estimate.estimate)
