"""One deployment as AWS resources: function, published version, alias, role and log group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from reward_functions.cdk import nag
from reward_functions.cdk.roles import place_of, role
from reward_functions.core import registry
from reward_functions.serving import permissions
from reward_functions.serving.catalogue import ALIAS, DeployedReward, function_name

if TYPE_CHECKING:
    from reward_functions.cdk.stages import Deployment, Stage
    from reward_functions.core.spec import RewardSpec

HANDLER: Final = "reward_functions.serving.handler.handler"

MAX_DESCRIPTION: Final = 256


class DeployedFunction(Construct):
    """A reward with its parameters, invoked by trainers through the alias `live`.

    Args:
        scope: the stack.
        name: the deployment's.
        stage: what surrounds it.
        deployment: what to deploy.
        code: the artifact, one for all.

    Attributes:
        function: the function.
        settings: its environment, as `LambdaSettings`.
        record: its entry in the catalogue.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        stage: Stage,
        deployment: Deployment,
        code: lambda_.Code,
    ) -> None:
        super().__init__(scope, name)
        spec = registry.get(deployment.reward)
        self.deployment = deployment
        self.settings = deployment.lambda_settings(stage.name)
        physical = function_name(stage.name, deployment.name)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=physical,
            description=f"{spec.name} {spec.version}: {spec.summary}"[:MAX_DESCRIPTION],
            code=code,
            handler=HANDLER,
            runtime=lambda_.Runtime(f"python{stage.python}", lambda_.RuntimeFamily.PYTHON),
            architecture=(
                lambda_.Architecture.ARM_64
                if stage.architecture == "arm64"
                else lambda_.Architecture.X86_64
            ),
            memory_size=deployment.memory_mb,
            timeout=Duration.seconds(deployment.timeout_seconds),
            reserved_concurrent_executions=deployment.reserved_concurrency,
            environment=self.settings.to_env(),
            logging_format=lambda_.LoggingFormat.JSON,
            log_group=self._log_group(physical, production=stage.production),
            role=self._role(physical, emulated=stage.emulated),
        )
        alias = lambda_.Alias(
            self, "Alias", alias_name=ALIAS, version=self.function.current_version
        )
        self.record = self._record(spec, stage, alias)
        nag.acknowledge(
            self.function,
            "L1",
            "The stage says which Python runs; bytecode in the artifact is of that version.",
        )

    def _record(self, spec: RewardSpec, stage: Stage, alias: lambda_.Alias) -> DeployedReward:
        """The entry of the catalogue."""
        deployment = self.deployment
        return DeployedReward(
            name=deployment.name,
            reward=spec.name,
            version=spec.version,
            parameters=deployment.parameters,
            response_mode=deployment.response_mode,
            alias_arn=alias.function_arn,
            function_arn=self.function.function_arn,
            timeout_seconds=deployment.timeout_seconds,
            memory_mb=deployment.memory_mb,
            architecture=stage.architecture,
            python=stage.python,
        )

    def _log_group(self, physical: str, *, production: bool) -> logs.LogGroup:
        """Kept for a month; for a year in production."""
        kept = logs.RetentionDays.ONE_YEAR if production else logs.RetentionDays.ONE_MONTH
        return logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{physical}",
            retention=kept,
            removal_policy=RemovalPolicy.DESTROY,
        )

    def _role(self, physical: str, *, emulated: bool) -> iam.IRole:
        """A verifier needs nothing of AWS but its log group; a judge may ask its models."""
        place = place_of(self)
        group = place.arn("logs", f"log-group:/aws/lambda/{physical}")
        policies = {"logs": permissions.write_logs(group)}
        if self.settings.judge:
            asking = permissions.ask_judge(place, self.settings.judge, emulated=emulated)
            # IAM takes no policy without a statement: a local endpoint may need neither.
            policies |= {"judge": asking} if asking["Statement"] else {}
        made = role(
            self,
            "Role",
            description=f"What {physical} runs as",
            trust=permissions.trust_lambda(),
            policies=policies,
        )
        return iam.Role.from_role_arn(self, "RoleByArn", made.attr_arn, mutable=False)
