"""The `cdk.json` of a folder, read without the CDK: its stages alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reward_functions.cdk.stages import BadStage, Stage, stage_of

if TYPE_CHECKING:
    from pathlib import Path


def stage_in(folder: Path, name: str) -> Stage:
    """A stage of the `cdk.json` in a folder, checked.

    Raises:
        BadStage: there is no such file, or no such stage, or something in it is impossible.
    """
    path = folder / "cdk.json"
    try:
        context = json.loads(path.read_text(encoding="utf-8"))["context"]
    except FileNotFoundError:
        raise BadStage(
            "there is no cdk.json here: run this in the folder of the one that names the stage"
        ) from None
    except (OSError, ValueError, LookupError, TypeError):
        raise BadStage("cdk.json is not a JSON object with a context") from None
    return stage_of(context.get("stages") if isinstance(context, dict) else None, name, folder)
