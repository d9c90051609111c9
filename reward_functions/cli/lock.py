"""`reward lock`: what the packages of a stage require, resolved once and written down."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.cli._echo import say
from reward_functions.cli._errors import INCOMPLETE

if TYPE_CHECKING:
    from reward_functions.cdk.artifact.lock import Lock

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
    from reward_functions.cdk.constructs.artifacts import Artifacts
    from reward_functions.cdk.model.project import stage_in

    here = Path.cwd()
    found_stage = stage_in(here, stage)
    artifacts = [Artifacts(found_stage, here, None)]  # the wheels of the lock go with it
    if found_stage.agents:
        from reward_functions.cdk.constructs.artifacts import AgentArtifacts

        artifacts.append(AgentArtifacts(found_stage, here, None))
    due = [_locked(each.lock, stage, upgrade=upgrade, check=check) for each in artifacts]
    if any(due):
        raise typer.Exit(INCOMPLETE)


def _locked(found: Lock, stage: str, *, upgrade: bool, check: bool) -> bool:
    """Write one lock where that is asked for; whether it is still due."""
    if not found.needed:
        whose = found.beside or "packages"
        say(f"stage {stage!r} needs no lock: its {whose} require nothing but this project")
        return False
    state = found.state()
    if check or (state == "current" and not upgrade):
        say(f"{found.path.name} is {state}")
        return state != "current"
    for change in found.write(upgrade=upgrade) or ("no version moved",):
        say(str(change))
    say(f"wrote {found.path.name}: commit it")
    return False
