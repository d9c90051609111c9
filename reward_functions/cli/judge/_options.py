"""Options that the commands of `reward judge` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reward_functions.calibration.settings import require_judge
from reward_functions.scoring.rewards import parameter_values, reward_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.spec import RewardSpec

Replay = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Recorded answers in place of a model: JSONL."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print data in place of tables.")]


def judge_named(name: str, parameters: Sequence[str] | None) -> tuple[RewardSpec, dict[str, Any]]:
    """A judge, and its parameters as typed.

    Raises:
        ConfigurationError: no judge has that name, or it has no such parameter.
    """
    spec = require_judge(reward_named(name))
    return spec, parameter_values(spec, parameters or [])
