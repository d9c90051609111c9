"""The `cdk.json` of a folder, read without the CDK: its stages alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reward_functions.cdk.model.stages import NO_STAGES, BadStage, Stage, stage_of
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """A `cdk.json`.

    Args:
        folder: where it lies, and where relative paths in it begin.
        context: what it says to the app.
    """

    folder: Path
    context: dict[str, Any]

    @property
    def stages(self) -> dict[str, Any]:
        """The stages as they are written.

        Raises:
            BadStage: it names none.
        """
        stages = self.context.get("stages")
        if not isinstance(stages, dict) or not stages:
            raise BadStage(NO_STAGES)
        return stages

    def chosen(self, name: str | None) -> str:
        """The stage of this name; without one that which `cdk` takes, or the only one.

        Raises:
            BadStage: nobody says which.
        """
        only = next(iter(self.stages)) if len(self.stages) == 1 else None
        found = name or self.context.get("stage") or only
        if not isinstance(found, str):
            raise BadStage(f"which stage? Say --stage NAME; there are {', '.join(self.stages)}")
        return found

    def existing(self, name: str) -> str:
        """The name of a stage that is there.

        Raises:
            BadStage: it is not.
        """
        if name not in self.stages:
            near = did_you_mean(name, self.stages)
            raise BadStage(f"there is no stage {name!r} in cdk.json{near}")
        return name

    def stage(self, name: str) -> Stage:
        """A stage, checked.

        Raises:
            BadStage: there is no such one, or something in it is impossible.
        """
        return stage_of(self.context.get("stages"), name, self.folder)


def project_in(folder: Path) -> Project:
    """The `cdk.json` of a folder.

    Raises:
        BadStage: the project is missing, or it cannot be read.
    """
    path = folder / "cdk.json"
    try:
        text = path.read_text(encoding="utf-8-sig")  # a BOM is passed over, as the CDK does
    except FileNotFoundError:
        raise BadStage(
            "there is no cdk.json here: run this in the folder of the one that names the stage"
        ) from None
    except (OSError, UnicodeDecodeError):
        raise BadStage("cdk.json is not a JSON object with a context") from None
    try:
        context = json.loads(text, object_pairs_hook=_once)["context"]
    except json.JSONDecodeError as error:
        raise BadStage(
            f"cdk.json, line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from None
    except BadStage:
        raise
    except (ValueError, RecursionError, LookupError, TypeError):
        raise BadStage("cdk.json is not a JSON object with a context") from None
    return Project(folder, context if isinstance(context, dict) else {})


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, of whose keys a reader would take the last and drop the others."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadStage(f"cdk.json: {twice!r} stands twice in one object: leave one of them")
    return found


def stage_in(folder: Path, name: str) -> Stage:
    """A stage of the `cdk.json` in a folder, checked.

    Raises:
        BadStage: there is no such file, or no such stage, or something in it is impossible.
    """
    return project_in(folder).stage(name)
