"""The code of a stack: artifacts as zips in `cdk.out`, built where they are missing.

Removes from `cdk.out` the zips of earlier synths, which nobody else does: 46 MB for each change.

A synth notes which artifacts its stack runs from, in `artifacts.STACK.json` beside them. A zip that
no stack notes, and that no stack's `*.assets.json` names, is left over. A reader or writer of
`cdk.out` holds a lock of CDK's command line, so that nothing is taken from under a deployment.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_

from reward_functions.cdk.artifact.artifact import build_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from reward_functions.cdk.artifact.artifact import Artifact


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


NO_DIGEST: Final = "0" * 64
"""Stands for an artifact's where the command needs none."""


class Zip(NamedTuple):
    """An artifact that is built.

    Args:
        path: where it is.
        digest: of what went into it, 64 hexadecimal digits.
    """

    path: Path
    digest: str


class Code(NamedTuple):
    """The code of a function.

    Args:
        asset: the artifact.
        digest: of what went into it, 64 hexadecimal digits.
    """

    asset: lambda_.Code
    digest: str


def zips(stack: cdk.Stack, artifacts: Mapping[str, Callable[[], Artifact]]) -> dict[str, Zip]:
    """The artifacts of a stack by their names, each zip once; all others of it are left over.

    `cdk list` and `cdk destroy` need none: any folder stands for it then.

    Args:
        stack: all of whose artifacts these are.
        artifacts: the maker of each, under any name that the stack has for it.
    """
    if not stack.bundling_required:
        return dict.fromkeys(artifacts, Zip(Path(__file__).parent, NO_DIGEST))
    folder = Path(cast("cdk.Stage", cdk.Stage.of(stack)).outdir)
    made = {name: make() for name, make in sorted(artifacts.items())}
    built = {
        name: Zip(folder / f"artifact.{each.digest}.zip", each.digest)
        for name, each in made.items()
    }
    build_all({built[name].path: each for name, each in made.items()})
    note(folder, stack.stack_name, [each.path for each in built.values()])
    return built


def codes(stack: cdk.Stack, artifacts: Mapping[str, Callable[[], Artifact]]) -> dict[str, Code]:
    """The same as code of Lambda's; the arguments are those of `zips`."""
    return {
        name: Code(
            lambda_.Code.from_asset(
                str(each.path), asset_hash=each.digest, asset_hash_type=cdk.AssetHashType.CUSTOM
            ),
            each.digest,
        )
        for name, each in zips(stack, artifacts).items()
    }
