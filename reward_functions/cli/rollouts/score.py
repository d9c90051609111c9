"""`reward rollouts score`: recorded responses, scored again by a pinned reward."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated

import typer

from reward_functions.cli._console import leave, say_measured
from reward_functions.cli._fitting import print_table
from reward_functions.cli._options import Models, Parameters, RewardOption  # noqa: TC001 - typer reads annotations
from reward_functions.cli._progress import counted
from reward_functions.cli.rollouts._scorers import scorer_named
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import replaced
from reward_functions.rollouts.drive.records import (
    Rescored,
    pin_words,
    read_records,
    rescored,
    written,
)


def score(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Records of `reward rollouts run`.")],
    *,
    reward: RewardOption,
    parameter: Parameters = None,
    judge: Models = None,
    repin: Annotated[
        bool,
        typer.Option(
            "--repin", help="Score records of another reward, version, digest or parameters, too."
        ),
    ] = False,
    lost: Annotated[
        bool,
        typer.Option(
            "--lost", help="Score lost rollouts, too: their last turn may not be the end."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write the new records; never FILE itself."
        ),
    ] = None,
) -> None:
    """Score recorded responses again: another reward, or another version, on the same rollouts.

    A record names the reward that scored it: name, version, digest of its sources, parameters. A
    file of another one is refused unless --repin says that this is meant. What an agent rewarded
    itself is compared with the reward.

    Exit status: 0 all scored, 1 some were not, 2 nothing was scored.
    """
    records = read_records(file)
    scorer = scorer_named(reward, parameter or [], judge)
    if out is not None and out.exists() and out.samefile(file):
        raise ConfigurationError(f"{out} holds the records; write the new ones to another file")
    with counted("scoring", len(records)) as advance:
        found = rescored(
            records, scorer, scorer.pin.json(), repin=repin, lost=lost, advance=advance
        )
    if out is not None:
        with replaced(out) as stream:
            stream.writelines(written(found.after))
    say_measured(found.measured)
    _show(found)
    leave(found.measured)


def _show(found: Rescored) -> None:
    before, after = found.before[0].setup.scorer, found.after[0].setup.scorer
    more, less = found.flips
    rows = [("old reward", pin_words(before)), ("new reward", pin_words(after))]
    if (means := found.means) is not None:
        rows += [("old mean", f"{means[0]:.4g}"), ("new mean", f"{means[1]:.4g}")]
    rows += [
        ("compared", f"{len(found.pairs):,}"),
        ("earn more", f"{more:,}"),
        ("earn less", f"{less:,}"),
        ("not scored", f"{found.unscored:,}"),
    ]
    cells = [[name, value] for name, value in rows]
    print_table(("figure", "value"), cells, words=("value",), title="Scored again")
