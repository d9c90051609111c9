"""The CDK app, the only code that reads its context: `"app": "reward-cdk-app"` in a `cdk.json`.

    cdk deploy -c stage=dev

Context, from `cdk.json` or `-c`: `stages` (see `reward_functions.cdk.stages`), `stage`, and
`interpreter`, the path of the Python that compiles the artifact.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import aws_cdk as cdk

from reward_functions.cdk import nag
from reward_functions.cdk.artifacts import COST, Artifacts
from reward_functions.cdk.deployed_before import deployed_before
from reward_functions.cdk.interpreter import interpreter
from reward_functions.cdk.shell import check_shell
from reward_functions.cdk.stack import RewardStack
from reward_functions.cdk.stages import BadStage, stage_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving.catalogue import bucket_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.cdk.stages import Stage

KEPT: Final = (
    "cdk destroy keeps the data of the stage {stage}, with the key that encrypts it, in "
    "s3://{bucket}; before the stage is deployed again, import the bucket or delete it"
)

ATTACHED: Final = (
    "AWS keeps a policy that is attached to somebody, and cdk destroy fails there: detach the "
    "stage's policies for people first"
)

SELECTED: Final = "aws:cdk:bundling-stacks"
"""The CDK command line's own context: the stacks whose assets a command needs."""


def build(app: cdk.App, folder: Path) -> RewardStack:
    """The stack of the stage that the context names.

    Args:
        app: with its context.
        folder: where relative paths in `cdk.json` begin.

    Raises:
        ConfigurationError: something the context asks for is missing, unknown or impossible.
    """
    name = app.node.try_get_context("stage")
    if not isinstance(name, str):
        raise BadStage("which stage? Say -c stage=NAME, or name one in the context of cdk.json")
    stage = stage_of(app.node.try_get_context("stages"), name, folder)
    if stage.production and stage.account is None:
        # What outlives the stack is adopted again under a name that is no expression.
        stage = stage.model_copy(update={"account": os.environ.get("CDK_DEFAULT_ACCOUNT")})
    check_shell(stage, os.environ)
    compiler = interpreter(stage.python, app.node.try_get_context("interpreter"))
    qualifier = app.node.try_get_context("@aws-cdk/core:bootstrapQualifier")
    artifacts = Artifacts(stage, folder, compiler)
    stack = RewardStack(
        app,
        stage=stage,
        artifacts=artifacts,
        before=deployed_before(stage, qualifier=qualifier) if _needs_assets(app) else None,
    )
    for number, notice in enumerate(artifacts.notices):
        cdk.Annotations.of(stack).add_warning_v2(f"artifact-{number}", notice)
    if compiler is None:
        cdk.Annotations.of(stack).add_warning_v2("no-bytecode", COST.format(python=stage.python))
    if stage.production:
        cdk.Annotations.of(stack).add_info_v2("kept", _kept(stage))
    if not stage.emulated:
        nag.check(app)
    if not stack.bundling_required:  # cdk destroy, which shows no annotations
        sys.stderr.writelines(f"reward-functions: {line}\n" for line in _left(stage))
    return stack


def _left(stage: Stage) -> Iterator[str]:
    """What a destroy meets or leaves; the local AWS emulator deletes attached policies, too."""
    if not stage.emulated:
        yield ATTACHED
    if stage.production:
        yield _kept(stage)


def _kept(stage: Stage) -> str:
    bucket = bucket_name(stage.name, stage.account or "ACCOUNT", stage.region)
    return KEPT.format(stage=stage.name, bucket=bucket)


def _needs_assets(app: cdk.App) -> bool:
    """Whether the command deploys or compares; `cdk list` and `cdk destroy` name no stack here."""
    return bool(app.node.try_get_context(SELECTED) != [])


def main() -> None:
    """Synthesise; an error is one sentence on standard error."""
    app = cdk.App()
    try:
        build(app, Path.cwd())
    except ConfigurationError as error:
        sys.exit(f"reward-functions: {error}")
    app.synth()
