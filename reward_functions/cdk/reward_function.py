"""One deployment as AWS resources, of which a job holds one that never changes.

Usually that is a published version of the one function, and the alias `live` points to the version
that passed its gate last. Versions outlive the deployment that replaces them; they end with their
function. An immutable deployment is a function of its own for every state of code and settings: a
*generation*, which outlives its successors the same way, and has neither version nor alias.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from reward_functions.cdk import nag
from reward_functions.cdk.roles import place_of, role
from reward_functions.cdk.runtime import architecture, runtime
from reward_functions.serving import permissions
from reward_functions.serving.catalogue import (
    ALIAS,
    DIGEST_DIGITS,
    GENERATION,
    GENERATION_DIGITS,
    DeployedReward,
    description,
    function_name,
    immutable_name,
)

if TYPE_CHECKING:
    from aws_cdk import CfnResource, CustomResource

    from reward_functions.cdk.custody import Custodian
    from reward_functions.cdk.deployed_before import DeployedBefore
    from reward_functions.cdk.deployment import Deployment
    from reward_functions.cdk.stages import Stage

HANDLER: Final = "reward_functions.serving.handler.handler"

OUTLIVES: Final = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
"""What failed when it was made goes again, for the next deployment to make it anew."""


class Code(NamedTuple):
    """What a function runs from.

    Args:
        asset: the artifact.
        digest: of what went into it, 64 hexadecimal digits.
    """

    asset: lambda_.Code
    digest: str


class DeployedFunction(Construct):
    """A reward with its parameters, which has scored its examples before anything points to it.

    Args:
        scope: what holds the stage's deployments.
        name: the deployment's.
        stage: what surrounds it.
        deployment: what to deploy.
        code: what it runs from.
        custodian: who tries it.
        before: what stands in the account already.

    Attributes:
        function: the function; an imported one, where it is a generation that came back.
        settings: its environment, as `LambdaSettings`.
        gate: exists once it has scored its examples.
        alias: `live`; None of an immutable deployment.
        record: its entry in the catalogue.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        stage: Stage,
        deployment: Deployment,
        code: Code,
        custodian: Custodian,
        before: DeployedBefore,
    ) -> None:
        super().__init__(scope, name)
        self.deployment, self._stage, self._code = deployment, stage, code
        self._custodian = custodian
        self._spec = deployment.spec()
        self._name = function_name(stage.name, deployment.name)
        self.settings = deployment.lambda_settings(stage.name)
        self._log_group = self._made_log_group()
        self._role = self._made_role()
        self.function: lambda_.IFunction
        self.gate: CustomResource
        self.alias: lambda_.Alias | None = None
        self.record = self._generation(before) if deployment.immutable else self._version()

    def _version(self) -> DeployedReward:
        """The one function, its version of today, and behind the gate the alias."""
        self.function = function = self._function("Function", self._name)
        version = function.current_version
        self.gate = self._gate("Gate", version.function_arn)
        # A changed function is another version, and so another gate: CloudFormation asks the
        # custodian to make gates and never to change one, neither forward nor in a rollback.
        published = _element(version).logical_id
        _element(self.gate).override_logical_id(f"{published}{self._judge.capitalize()}Gate")
        self.alias = lambda_.Alias(self, "Alias", alias_name=ALIAS, version=version)
        return self._record(version.function_arn, self.alias.function_arn)

    def _generation(self, before: DeployedBefore) -> DeployedReward:
        """The function of this very state. One that came back is there: it is not made again."""
        digest = self._state()
        physical = immutable_name(self._stage.name, self.deployment.name, digest)
        name = f"Function{digest[:GENERATION_DIGITS]}"
        if before.keeps(physical):
            self.function = lambda_.Function.from_function_name(self, name, physical)
        else:
            self.function = self._function(name, physical, removal=OUTLIVES)
        prefix = f"{self._name}{GENERATION}"
        self._custodian.generations(self, "Generations", prefix=prefix)
        gate = f"{self._judge.capitalize()}Gate{digest[:GENERATION_DIGITS]}"
        self.gate = self._gate(gate, self.function.function_arn)
        return self._record(self.function.function_arn, None)

    @property
    def _judge(self) -> str:
        """Whom a judge asks at its gate; of what asks nobody, the stage's choice moves nothing."""
        return self._stage.judge_gate if self.settings.judge else "recorded"

    def _state(self) -> str:
        """A digest of the code and of every setting: what another function is made for."""
        state = {
            "code": self._code.digest,
            "python": self._stage.python,
            "architecture": self._stage.architecture,
            "memory_mb": self.deployment.memory_mb,
            "timeout_seconds": self.deployment.timeout_seconds,
            "environment": self.settings.to_env(),
        }
        return self._digest(state)

    def _digest(self, state: object) -> str:
        """Of what may hold references to other resources, as the template has them."""
        resolved = Stack.of(self).resolve(state)
        return sha256(json.dumps(resolved, sort_keys=True).encode()).hexdigest()

    def _function(
        self, name: str, physical: str, removal: RemovalPolicy | None = None
    ) -> lambda_.Function:
        stage, deployment, spec = self._stage, self.deployment, self._spec
        digest = self._code.digest[:DIGEST_DIGITS]
        function = lambda_.Function(
            self,
            name,
            function_name=physical,
            description=description(spec.name, spec.version, digest, spec.summary),
            code=self._code.asset,
            handler=HANDLER,
            runtime=runtime(stage),
            architecture=architecture(stage),
            memory_size=deployment.memory_mb,
            timeout=Duration.seconds(deployment.timeout_seconds),
            reserved_concurrent_executions=deployment.reserved_concurrency,
            environment=self.settings.to_env(),
            logging_format=lambda_.LoggingFormat.JSON,
            log_group=self._log_group,
            role=self._role,
            current_version_options=lambda_.VersionOptions(removal_policy=OUTLIVES),
        )
        if removal is not None:
            function.apply_removal_policy(removal)
        nag.acknowledge(
            function,
            "L1",
            "The stage says which Python runs; bytecode in the artifact is of that version.",
        )
        return function

    def _gate(self, name: str, function_arn: str) -> CustomResource:
        return self._custodian.gate(
            self,
            name,
            function_arn=function_arn,
            deployment=self.deployment.name,
            spec=self._spec,
            judge=self._judge,
        )

    def _record(self, version_arn: str, alias_arn: str | None) -> DeployedReward:
        """The entry of the catalogue."""
        deployment, stage = self.deployment, self._stage
        return DeployedReward(
            name=deployment.name,
            reward=self._spec.name,
            version=self._spec.version,
            digest=self._code.digest[:DIGEST_DIGITS],
            parameters=deployment.parameters,
            composite=deployment.composite,
            response_mode=deployment.response_mode,
            version_arn=version_arn,
            alias_arn=alias_arn,
            function_arn=self.function.function_arn,
            timeout_seconds=deployment.timeout_seconds,
            memory_mb=deployment.memory_mb,
            architecture=stage.architecture,
            python=stage.python,
        )

    def _made_log_group(self) -> logs.LogGroup:
        """Kept for a month; for a year in production."""
        year = self._stage.production
        return logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{self._name}",
            retention=logs.RetentionDays.ONE_YEAR if year else logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )

    def _made_role(self) -> iam.IRole:
        """A verifier needs nothing of AWS but its log group; a judge may ask its models.

        A version asks the models it was published with, as long as it stands: a judge has another
        role for others, and roles outlive their successors as versions do.
        """
        place = place_of(self)
        group = place.arn("logs", f"log-group:/aws/lambda/{self._name}")
        policies = {"logs": permissions.write_logs(group)}
        if self.settings.judge:
            asking = permissions.ask_judge(
                place, self.settings.judge, emulated=self._stage.emulated
            )
            # IAM takes no policy without a statement: a local endpoint may need neither.
            policies |= {"judge": asking} if asking["Statement"] else {}
        description, trust = f"What {self._name} runs as", permissions.trust_lambda()
        if not self.settings.judge:
            made = role(self, "Role", description=description, trust=trust, policies=policies)
            return iam.Role.from_role_arn(self, "RoleByArn", made.attr_arn, mutable=False)
        path = permissions.judge_roles(place, self._stage.name, self.deployment.name)
        clearing = self._custodian.roles(self, "Roles", path=path)
        digest = self._digest(policies)
        made = role(
            self,
            f"Role{digest[:GENERATION_DIGITS]}",
            description=description,
            trust=trust,
            policies=policies,
            path=path,
        )
        made.apply_removal_policy(OUTLIVES)
        # Roles are deleted behind the functions that run as them.
        made.add_dependency(_element(clearing))
        return iam.Role.from_role_arn(self, "RoleByArn", made.attr_arn, mutable=False)


def _element(construct: Construct) -> CfnResource:
    """What CloudFormation makes of a construct."""
    return cast("CfnResource", construct.node.default_child)
