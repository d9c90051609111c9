"""How far a job is and how long it took, in words for a terminal and for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reward_functions.jobs.job import Progress

MINUTE: Final = 60

HOUR: Final = 3_600


def progress_words(progress: Progress) -> str:
    """How far a job is, such as `epoch 1 of 2 · step 7 of 30`; "" where nothing is counted yet.

    A total that the service does not name is left out: `epoch 1`. So is a missing position: `2
    epochs`.
    """
    counted = {
        "epoch": (progress.epoch, progress.epochs),
        "step": (progress.step, progress.steps),
        "rollout": (progress.rollouts, progress.of_rollouts),
    }
    return " · ".join(filter(None, (_so_far(name, *each) for name, each in counted.items())))


def _so_far(name: str, at: int | None, most: int | None) -> str:
    if at is None:
        return f"{most:,} {name}{'' if most == 1 else 's'}" if most else ""
    if most:
        return f"{name} {at:,} of {most:,}"
    return f"{name} {at:,}" if at else ""


def duration(seconds: float) -> str:
    """Such as `42 s`, `7 min` or `3 h 05 min`."""
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return f"{whole} s"
    hours, rest = divmod(whole, HOUR)
    minutes = rest // MINUTE
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
