"""`reward rollouts export`: trajectories as a trainer's rows, joined with their rewards."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated, Final, Literal

import typer

from reward_functions.cli._echo import say, several
from reward_functions.cli._errors import UNUSABLE
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import replaced
from reward_functions.rollouts.drive.trajectories import Exported, exported

To = Literal["rllm", "agentcore", "datum", "jsonl"]
Scale = Literal["none", "std"]
Weight = Literal["token", "row", "episode"]

SHARED: Final = {
    "token": "each token has the whole advantage",
    "row": "the tokens of a row share its advantage",
    "episode": "all tokens of an episode share its advantage",
}


def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Trajectories, as a relay or an agent wrote them.")
    ],
    *,
    to: Annotated[To, typer.Option(help="The format of a row.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where rows are written.")
    ],
    rewards: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Records of `reward rollouts run`, or results from S3, one a line.",
            show_default="the trajectories' own",
        ),
    ] = None,
    scale: Annotated[
        Scale, typer.Option(help="`std` divides advantages by their group's standard deviation.")
    ] = "none",
    weight: Annotated[
        Weight,
        typer.Option(
            help="What has the advantage of an episode once: an episode whose history forked has "
            "several rows."
        ),
    ] = "token",
) -> None:
    """Write trajectories as a trainer's rows, and say what is left out and why.

    `agentcore` and `datum` are rows of tokens with the advantage in their group: each token that
    the policy wrote is trained once. A rollout that failed, or that nobody scored, gives none.

    Exit status: 0 rows were written, 2 no row was written, or a line cannot be read.
    """
    if out.exists() and any(out.samefile(each) for each in (file, rewards) if each):
        raise ConfigurationError(f"{out} is read here; write the rows to another file")
    found = exported(file, to, rewards=rewards, scale=scale, weight=weight)
    with replaced(out) as stream:
        stream.writelines(f"{line}\n" for line in found.lines)
    _show(found, out)
    if not found.lines:
        raise typer.Exit(UNUSABLE)


def _show(found: Exported, out: Path) -> None:
    say(f"{several(len(found.lines), 'row')} in {out}")
    if found.weight:
        say(
            f"weight per {found.weight}: {SHARED[found.weight]}; "
            f"{found.forked:,} of {found.episodes:,} episodes have several rows"
        )
    for reason, count in found.left_out.items():
        say(f"left out, {reason}: {count:,}")
    for group in found.groups:
        if not group.advantages:
            say(f"no advantage in the group {group.id}: {group.size:,} rollouts, {group.mean:.4g}")
    if found.torn:
        say(f"half a line at the end of the trajectories: {found.torn:,} bytes")
