"""What a stack runs from: artifacts as zips in `cdk.out`, built where they are not there yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_

from reward_functions.cdk.artifact import leftovers
from reward_functions.cdk.artifact.artifact import build_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.cdk.artifact.artifact import Artifact

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
    """What a function runs from.

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
        artifacts: what makes each, by whatever name the stack has for it.
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
    leftovers.note(folder, stack.stack_name, [each.path for each in built.values()])
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
