"""The CDK app, the only code that reads its context: `"app": "reward-cdk-app"` in a `cdk.json`.

    cdk deploy -c stage=dev

Context, from `cdk.json` or `-c`: `stages` (see `reward_functions.cdk.stages`), `stage`, and
`interpreter`, the path of the Python that compiles the artifact.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import aws_cdk as cdk

from reward_functions.cdk import nag
from reward_functions.cdk.artifact import COST, Artifact
from reward_functions.cdk.interpreter import interpreter
from reward_functions.cdk.packages import Package
from reward_functions.cdk.stack import RewardStack
from reward_functions.cdk.stages import BadStage, stage_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving.catalogue import bucket_name

KEPT: Final = (
    "cdk destroy keeps the data of the stage {stage}, with the key that encrypts it, in "
    "s3://{bucket}; before the stage is deployed again, import the bucket or delete it"
)


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
    compiler = interpreter(stage.python, app.node.try_get_context("interpreter"))
    artifact = Artifact(
        architecture=stage.architecture,
        python=stage.python,
        interpreter=compiler,
        packages=tuple(Package.of(text, folder) for text in stage.packages),
        aws_services=stage.aws_services,
        installed=stage.emulated,
    )
    stack = RewardStack(app, stage=stage, artifact=artifact)
    if compiler is None:
        cdk.Annotations.of(stack).add_warning_v2("no-bytecode", COST.format(python=stage.python))
    if stage.production:
        kept = KEPT.format(
            stage=name, bucket=bucket_name(name, stage.account or "ACCOUNT", stage.region)
        )
        cdk.Annotations.of(stack).add_info_v2("kept", kept)
        if not stack.bundling_required:  # cdk destroy, which shows no annotations
            sys.stderr.write(f"reward-functions: {kept}\n")
    if not stage.emulated:
        nag.check(app)
    return stack


def main() -> None:
    """Synthesise; an error is one sentence on standard error."""
    app = cdk.App()
    try:
        build(app, Path.cwd())
    except ConfigurationError as error:
        sys.exit(f"reward-functions: {error}")
    app.synth()
