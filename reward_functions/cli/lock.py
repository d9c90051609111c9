"""`reward lock`: what the packages of a stage require, resolved once and written down."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reward_functions.cli._echo import say
from reward_functions.cli._errors import INCOMPLETE

Stage = Annotated[str, typer.Option("--stage", "-s", help="A stage of this folder's cdk.json.")]


def lock(
    *,
    stage: Stage = "dev",
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Take the newest versions that fit.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 where a lock is due.")
    ] = False,
) -> None:
    """Lock what the packages of a stage require, with hashes.

    Writes `reward-functions.STAGE.lock` where it is missing or stale, and keeps the versions that
    still fit. The synthesis installs these files and no others. uv asks the index that its own
    variables name, such as UV_DEFAULT_INDEX.
    """
    from reward_functions.cdk.artifacts import Artifacts
    from reward_functions.cdk.project import stage_in

    here = Path.cwd()
    artifacts = Artifacts(stage_in(here, stage), here, None)  # the wheels of the lock go with it
    found = artifacts.lock
    if not found.needed:
        say(f"stage {stage!r} needs no lock: its packages require nothing but this project")
        return
    state = found.state()
    if check or (state == "current" and not upgrade):
        say(f"{found.path.name} is {state}")
        if state != "current":
            raise typer.Exit(INCOMPLETE)
        return
    for change in found.write(upgrade=upgrade) or ("no version moved",):
        say(str(change))
    say(f"wrote {found.path.name}: commit it")
