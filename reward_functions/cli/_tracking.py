"""`--track`: a run sent to experiment trackers once it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.cli._console import remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.export import TrackedRun, Tracker

Track = Annotated[
    list[str] | None,
    typer.Option(
        "--track",
        metavar="TRACKER[=PLACE]",
        help="Send the figures to mlflow, mlflow=URI, wandb=PROJECT, tensorboard=FOLDER or "
        "trackio=PROJECT; one option for each.",
    ),
]


def trackers(typed: Sequence[str] | None) -> list[Tracker]:
    """The trackers that were named, before anything is done for them.

    Raises:
        ConfigurationError: a name is unknown, or its package is not installed.
    """
    if not typed:
        return []
    from reward_functions.export import tracker_of

    return [tracker_of(text) for text in typed]


def send(asked: Sequence[Tracker], run: TrackedRun, again: str) -> bool:
    """Send a run to each; a tracker that fails is a line, and the others get the run all the same.

    Args:
        asked: the trackers.
        run: what they show.
        again: what sends the run once more.

    Returns:
        True if all took it.
    """
    from reward_functions.export import TrackerFailed

    failed = False
    for tracker in asked:
        try:
            where = tracker.send(run)
        except TrackerFailed as error:
            failed = True
            remark(f"{error}; {again}")
        else:
            remark(f"{tracker.kind.title}: {where}")
    return not failed
