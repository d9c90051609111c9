"""Removes from `cdk.out` the zips of earlier synths, which nobody else does: 46 MB for each change.

A synth notes which artifacts its stack runs from, in `artifacts.STACK.json` beside them. What no
stack notes, and what no stack's `*.assets.json` names, is left over. Whoever reads or writes
`cdk.out` holds a lock of CDK's command line, so that nothing is taken from under a deployment.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

OURS: Final = re.compile(r"artifact\.[0-9a-f]{64}\.zip")

COPY: Final = re.compile(r"asset\.[0-9a-f]+\.zip")
"""CDK's own copy of a zip that is an asset."""


def note(folder: Path, stack: str, artifacts: Iterable[Path]) -> None:
    """Note what a stack runs from.

    Args:
        folder: `cdk.out`.
        stack: its name.
        artifacts: zips in that folder.
    """
    names = sorted({path.name for path in artifacts})
    (folder / f"artifacts.{stack}.json").write_text(json.dumps(names), encoding="utf-8")


def clear(folder: Path) -> None:
    """Remove what is left over. Where a note or an assembly cannot be read, nothing is.

    Args:
        folder: `cdk.out`, after a synth.
    """
    try:
        named = {*_noted(folder), *_assets(folder)}
    except (ValueError, LookupError, TypeError, AttributeError):
        return
    for path in [*folder.glob("artifact.*.zip"), *folder.glob("asset.*.zip")]:
        if path.name not in named and (OURS.fullmatch(path.name) or COPY.fullmatch(path.name)):
            path.unlink(missing_ok=True)


def _noted(folder: Path) -> Iterator[str]:
    for path in folder.glob("artifacts.*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, list):
            raise TypeError(path.name)
        yield from map(str, found)


def _assets(folder: Path) -> Iterator[str]:
    for path in folder.glob("*.assets.json"):
        for file in json.loads(path.read_text(encoding="utf-8"))["files"].values():
            yield str(file["source"].get("path", ""))
