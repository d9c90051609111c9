"""`reward judge`: checks of a judge before a policy is trained on its scores.

probe.py       probe       the output modes in which its models give structured verdicts
doctor.py      doctor      its resistance to attacks
calibrate.py   calibrate   its agreement with people
estimate.py    estimate    the cost of judging a training run: calls, dollars, quota, time
init.py        init        settings to begin with
verdicts.py    verdicts    the verdicts that `reward score` keeps
"""

from __future__ import annotations

import typer

from reward_functions.cli.judge import calibrate, doctor, estimate, init, probe, verdicts

__all__ = ["judge"]

judge = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Set up a judge, probe its models, attack it, calibrate it, and estimate its cost.",
)
judge.command("init")(init.init)
judge.command("probe")(probe.probe)
judge.command("doctor")(doctor.doctor)
judge.command("calibrate")(calibrate.calibrate)
judge.command("estimate")(estimate.estimate)
judge.command("verdicts")(verdicts.verdicts)
