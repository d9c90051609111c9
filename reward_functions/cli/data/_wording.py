"""How the prompts are to be worded, as typed, and whether the reward sees the form they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.cli._console import remark
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Unscored
from reward_functions.data.answers import complaint, unseen_format
from reward_functions.data.wording import Wording, answer_format_of, typed
from reward_functions.scoring.rows import samples_of
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from reward_functions.core.spec import RewardSpec


def wording_of(
    system: str | None, template: str | None, answer_format: str | None, *, no_system: bool
) -> tuple[Wording, str | None]:
    """The wording, and a response of the form that is asked for, where that form is known.

    Raises:
        ConfigurationError: something in it cannot be used.
        OSError: a file cannot be read.
    """
    if system is not None and no_system:
        raise ConfigurationError("--system and --no-system: give one of them")
    turn = "" if no_system else None if system is None else typed("--system", system)
    asked, pattern = answer_format_of(answer_format) if answer_format is not None else (None, None)
    filled = None if template is None else typed("--template", template)
    return Wording(turn, filled, asked).checked(), pattern


def complaints(
    spec: RewardSpec, parameters: Mapping[str, Any]
) -> Callable[[dict[str, Any], int], str | None]:
    """What says why a reward cannot use a row, at a position."""

    def complained(content: dict[str, Any], position: int) -> str | None:
        sample = decode_row(content, position)
        if isinstance(sample, Unscored):
            return str(sample.error)
        return complaint(spec, sample, parameters)

    return complained


def warn_of_format(
    spec: RewardSpec, parameters: Mapping[str, Any], file: Path, pattern: str
) -> None:
    """Say so where the reward pays nothing for the form of answer that the prompts ask for."""
    first = next(samples_of(str(file), answered=False)).sample
    if isinstance(first, Unscored):
        return
    note = unseen_format(spec, first, parameters, pattern)
    if note:
        remark(note, "yellow")
