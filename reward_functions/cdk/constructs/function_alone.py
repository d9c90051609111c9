"""One reward in a stack of your own, without a stage of `cdk.json`.

from reward_functions.cdk import RewardFunction

gsm8k = RewardFunction(self, "Gsm8k", reward="gsm8k")
gsm8k.grant_invoke(job_role)
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aws_cdk import Annotations, Duration, Stack, Token
from constructs import Construct

from reward_functions.cdk.artifact.interpreter import interpreter
from reward_functions.cdk.constructs.artifacts import Artifacts
from reward_functions.cdk.constructs.codes import codes
from reward_functions.cdk.constructs.custody import Custodian
from reward_functions.cdk.constructs.monitoring import alarms, metric_of, watched
from reward_functions.cdk.constructs.reward_function import DeployedFunction
from reward_functions.cdk.limits.starts import costs_of_memory
from reward_functions.cdk.model.deployed_before import DeployedBefore
from reward_functions.cdk.model.operating import MINUTES
from reward_functions.cdk.model.stages import BadStage, stage_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_lambda as lambda_
    from aws_cdk import aws_sns as sns

    from reward_functions.cdk.artifact.artifact import Artifact

OF_A_STAGE: Final = frozenset(
    "architecture aws_services callers emulated judge_gate packages permissions_boundary production"
    " python role_path strict".split()
)
"""Fields of a stage that shape one function; all others are a deployment's."""

REFUSED: Final = {
    "immutable": "an immutable deployment outlives its stack, which only a stage can follow",
    "name": "its name is made of the stack's, or of `stage`",
}

NAME_LETTERS: Final = 11

DIGITS: Final = 8
"""Of the digest of a construct's path, so that two stacks of one account differ in their names."""


class RewardFunction(Construct):
    """A Lambda function that scores batches with one reward.

    The alias `live` names a published version. It moves once the version has scored the reward's
    examples as they declare. A small function beside it, the custodian, asks for that. The physical
    names are `SageMaker-reward-STAGE-REWARD` and `reward-custodian-STAGE`.

    Args:
        scope: a stack of yours, or a construct in it.
        construct_id: in the construct tree.
        reward: a name that `reward list` shows, or an object that declares a composite.
        stage: lower case letters, digits and single hyphens, at most 20; unique in the account and
            region. Left out, it is made of the stack's name and the construct's path.
        folder: where relative paths of `packages` begin, and their lock lies; else the working
            directory.
        fields: those of a deployment in `cdk.json`, such as `parameters`, `memory_mb`, `judge` and
            `response_mode`, and of a stage those of `OF_A_STAGE`, such as `packages`.

    Attributes:
        function: the function. A grant to it becomes a policy of its role.
        alias: `live`.
        version_arn: of the version that this state of your app publishes, which a job should pin.
        gate: exists once that version has scored its examples.

    Raises:
        ConfigurationError: a field is unknown or impossible; the stack's region is not known.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        reward: str | Mapping[str, Any],
        stage: str | None = None,
        folder: Path | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(scope, construct_id)
        folder = folder or Path.cwd()
        name = stage or _stage_name(self)
        shared = {key: fields.pop(key) for key in OF_A_STAGE & fields.keys()}
        for field in REFUSED.keys() & fields.keys():
            raise BadStage(f"RewardFunction {self.node.path!r} takes no {field}: {REFUSED[field]}")
        given = shared | {
            "region": _region(self),
            "deployments": [fields | {"reward": reward}],
        }
        try:
            made = stage_of({name: given}, name, folder)
        except BadStage as error:
            message = str(error).replace("deployments.0.", "").removeprefix(f"stage {name!r}")
            raise BadStage(f"RewardFunction {self.node.path!r}{message}") from None
        (deployment,) = made.deployments
        artifacts = Artifacts(made, folder, interpreter(made.python))

        def artifact() -> Artifact:
            return artifacts.artifact(deployment.reward)

        self._deployed = DeployedFunction(
            self,
            "Reward",
            stage=made,
            deployment=deployment,
            code=codes(Stack.of(self), {deployment.reward: artifact})[deployment.reward],
            custodian=Custodian(self, "Custodian", stage=made),
            before=DeployedBefore(),
        )
        for number, sentence in enumerate(costs_of_memory(made), 1):
            Annotations.of(self).add_warning_v2(f"memory-{number}", sentence)
        self.function: lambda_.IFunction = self._deployed.function
        self.alias: lambda_.Alias | None = self._deployed.alias
        self.version_arn = self._deployed.record.version_arn
        self.gate = self._deployed.gate
        if self.alias:
            self.alias.node.add_dependency(self.gate)

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a role or a user of this account invoke the function and every version of it.

        Raises:
            RuntimeError: the grantee has no policies of its own.
        """
        return self._deployed.grant_invoke(grantee)

    def metric(
        self, name: str, statistic: str = "Average", minutes: int = MINUTES
    ) -> cloudwatch.Metric:
        """A metric that the function emits.

        Args:
            name: such as `reward_mean`, `unscored` or `milliseconds`; docs/contract.md has all.
            statistic: as CloudWatch names it, such as `Sum` or `p99`.
            minutes: the period.
        """
        return metric_of(self._deployed, name, statistic, Duration.minutes(minutes))

    def alarm(self, topic: sns.ITopic) -> None:
        """Make the alarms that a stage has for each of its functions, and notify a topic."""
        about = f"{self.node.id} ({self._deployed.deployment.reward})"
        alarms(self, watched(self._deployed, about), topic)


def _stage_name(scope: Construct) -> str:
    stack = Stack.of(scope).stack_name
    letters = re.sub(r"[^a-z0-9]", "", stack.lower()).lstrip("0123456789") or "stack"
    digest = sha256(f"{stack}/{scope.node.path}".encode()).hexdigest()
    return f"{letters[:NAME_LETTERS]}-{digest[:DIGITS]}"


def _region(scope: Construct) -> str:
    """The stack's region; of a stack without one, that which the CDK's command line deploys to."""
    region = Stack.of(scope).region
    if not Token.is_unresolved(region):
        return str(region)
    if found := os.environ.get("CDK_DEFAULT_REGION"):
        return found
    raise BadStage(
        f"RewardFunction {scope.node.path!r} is in a stack without a region: give the stack "
        'env=cdk.Environment(region="us-east-1")'
    )
