"""The CDK app, the only code that reads its context: `"app": "reward-cdk-app"` in a `cdk.json`.

    cdk deploy -c stage=dev

Context, from `cdk.json` or `-c`: `stages` (see `reward_functions.cdk.model.stages`), `stage`, and
`interpreter`, the path of the Python that compiles the artifact.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import aws_cdk as cdk

from reward_functions.cdk.app.shell import check_shell
from reward_functions.cdk.artifact.interpreter import interpreter
from reward_functions.cdk.constructs import codes, runtime
from reward_functions.cdk.constructs.agent_stack import AgentStack
from reward_functions.cdk.constructs.artifacts import COST, AgentArtifacts, Artifacts
from reward_functions.cdk.constructs.stack import RewardStack
from reward_functions.cdk.model.deployed_before import deployed_before
from reward_functions.cdk.model.project import project_in
from reward_functions.cdk.model.stages import BadStage, stage_of
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.cdk.model.stages import Stage

FLAGS: Final = json.loads(Path(__file__).with_name("flags.json").read_text(encoding="utf-8"))
"""CDK's feature flags as this project was tried with them, for a `cdk.json` that names none.

They are the values that `cdk init` of the pinned version writes. A `cdk.json` that names a flag
decides it; without them its reader is told of each at every command, and findings of CDK's own
validation would be warnings. A test compares them with this repository's `cdk.json`.
"""

KEPT: Final = (
    "cdk destroy keeps of the stage {stage} {kept}; before the stage is deployed again, import "
    "them or delete them"
)

PROTECTED: Final = (
    "the stack {stack} is protected, and AWS refuses to delete it until somebody lifts that: aws "
    "cloudformation update-termination-protection --no-enable-termination-protection --stack-name "
    "{stack} --region {region}"
)

ATTACHED: Final = (
    "AWS keeps a policy that is attached to somebody, and cdk destroy fails there: detach the "
    "stage's policies for people first"
)

SELECTED: Final = "aws:cdk:bundling-stacks"
"""The CDK command line's own context: the stacks whose assets a command needs."""


def build(app: cdk.App, folder: Path) -> RewardStack:
    """The stack of the stage that the context names; beside it that of its agents, if it has any.

    Args:
        app: with its context.
        folder: where relative paths in `cdk.json` begin.

    Raises:
        ConfigurationError: something the context asks for is missing, unknown or impossible.
    """
    name = app.node.try_get_context("stage")
    if not isinstance(name, str):
        raise BadStage("which stage? Say -c stage=NAME, or name one in the context of cdk.json")
    stage = stage_of(stages_of(app, folder), name, folder)
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
    notices = [(stack, each) for each in artifacts.notices]
    if stage.agents:
        of_agents = AgentArtifacts(stage, folder, compiler)
        beside = AgentStack(app, stage=stage, artifacts=of_agents, key=stack.training.key)
        notices += [(beside, each) for each in of_agents.notices]
    for number, (whose, notice) in enumerate(notices):
        cdk.Annotations.of(whose).add_warning_v2(f"artifact-{number}", notice)
    if compiler is None:
        cdk.Annotations.of(stack).add_warning_v2("no-bytecode", COST.format(python=stage.python))
    if stage.production:
        cdk.Annotations.of(stack).add_info_v2("kept", _kept(stage))
    if not stage.emulated:
        runtime.check(app)
    if not stack.bundling_required:  # cdk destroy, which shows no annotations
        sys.stderr.writelines(f"reward-functions: {line}\n" for line in _left(stage))
    return stack


def stages_of(app: cdk.App, folder: Path) -> Any:
    """The stages of the context, with the nulls of `cdk.json`, which CDK's bridge leaves out."""
    given = app.node.try_get_context("stages")
    with suppress(BadStage):
        written = project_in(folder).context.get("stages")
        return written if _bridged(written) == given else given
    return given


def _bridged(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bridged(each) for key, each in value.items() if each is not None}
    return [*map(_bridged, value)] if isinstance(value, list) else value


def _left(stage: Stage) -> Iterator[str]:
    """What a destroy meets or leaves; the local AWS emulator deletes attached policies, too."""
    if not stage.emulated:
        yield ATTACHED
    if stage.production:
        yield PROTECTED.format(stack=stage.names.stack, region=stage.region)
        yield _kept(stage)


def _kept(stage: Stage) -> str:
    names, where = stage.names, (stage.account or "ACCOUNT", stage.region)
    groups = [names.function("*"), names.custodian]
    kept = []
    if not stage.bucket:
        kept.append(f"the data, with the key that encrypts it, in s3://{names.bucket(*where)}")
    if stage.feedback is not None:
        kept.append(f"the results in s3://{names.results(*where)}")
    if stage.verdict_cache:
        kept.append(f"the table {names.verdicts}")
    if stage.feedback is not None or stage.forwarders:
        groups.append(names.rollouts("*"))
    if stage.scale is not None:
        groups.append(names.scale)
    shown = [f"/aws/lambda/{each}" for each in groups]
    shown += [f"/aws/vendedlogs/states/{names.scale}"] if stage.scale is not None else []
    kept.append(f"the log groups {' and '.join(shown)}")
    return KEPT.format(stage=stage.name, kept=", and ".join(kept))


def _needs_assets(app: cdk.App) -> bool:
    """Whether the command deploys or compares; `cdk list` and `cdk destroy` name no stack here."""
    return bool(app.node.try_get_context(SELECTED) != [])


def main() -> None:
    """Synthesise; an error is one sentence on standard error."""
    app = cdk.App(context=FLAGS)
    try:
        stack = build(app, Path.cwd())
    except ConfigurationError as error:
        sys.exit(f"reward-functions: {error}")
    app.synth()
    if stack.bundling_required:
        codes.clear(Path(app.outdir))
