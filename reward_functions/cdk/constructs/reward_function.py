"""One deployment as AWS resources, of which a job holds one that never changes.

Usually that is a published version of the one function, and the alias `live` points to the version
that passed its gate last. Versions outlive the deployment that replaces them; they end with their
function. An immutable deployment is a function of its own for every state of code and settings: a
*generation*, which outlives its successors the same way, and has neither version nor alias.

The permissions by which functions answer callers of other accounts.

A version answers whom it was published for as long as it stands: its permissions outlive their
successors as it does, and end with it. Each caller's own account has to allow the call as well.

Source: "Granting function access to an organization" and `AddPermission` in Lambda's documentation.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final, cast

from aws_cdk import Annotations, Duration, Size, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from reward_functions.aws.arn import GENERATION, GENERATION_DIGITS
from reward_functions.aws.catalogue import ALIAS, DIGEST_DIGITS, DeployedReward
from reward_functions.cdk.constructs.roles import as_construct, place_of, role
from reward_functions.cdk.constructs.runtime import OUTLIVES, log_group, python_function
from reward_functions.cdk.limits.starts import STORAGE_MB, state
from reward_functions.cdk.policies import permissions
from reward_functions.cdk.policies.documents import of_function
from reward_functions.cdk.policies.grants import rewards
from reward_functions.cdk.policies.own_rights import needs_another_role, reasons
from reward_functions.serving.descriptions import description

if TYPE_CHECKING:
    from aws_cdk import CfnResource, CustomResource, RemovalPolicy

    from reward_functions.cdk.constructs.codes import Code
    from reward_functions.cdk.constructs.custody import Custodian
    from reward_functions.cdk.model.brought import Callers
    from reward_functions.cdk.model.deployed_before import DeployedBefore
    from reward_functions.cdk.model.deployment import Deployment
    from reward_functions.cdk.model.stages import Stage


DIGITS: Final = 8
"""Of the digest of a caller, so that their order in `cdk.json` changes nothing."""


def admit(
    scope: Construct, name: str, function_arn: str, callers: Callers
) -> list[lambda_.CfnPermission]:
    """Let every caller invoke one version, alias or function.

    Args:
        scope: the deployment's construct.
        name: how the permissions are called in the construct tree.
        function_arn: of what they invoke, with its qualifier where it has one.
        callers: who they are; nobody where they name nobody.
    """
    return [
        lambda_.CfnPermission(
            scope,
            f"{name}Caller{_digest(principal, callers)}",
            action="lambda:InvokeFunction",
            function_name=function_arn,
            principal=principal,
            principal_org_id=callers.organization,
        )
        for principal in callers.principals
    ]


def _digest(principal: str, callers: Callers) -> str:
    caller = f"{principal} {callers.organization or ''}"
    return sha256(caller.encode()).hexdigest()[:DIGITS]


HANDLER: Final = "reward_functions.serving.handler.handler"


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
        function: the function; an imported one, where it is a generation that came back. A grant to
            it, or an addition to its role, becomes a policy beside the role's own.
        settings: its environment, as `LambdaSettings`.
        log_group: its log.
        gate: exists once it has scored its examples.
        alias: `live`; None of an immutable deployment.
        provided: the environments that are kept ready; None where none are.
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
        self._name = stage.names.function(deployment.name)
        self.settings = deployment.lambda_settings(stage.names)
        self.log_group = log_group(self, self._name, stage)
        self._role = self._made_role()
        self.function: lambda_.IFunction
        self.gate: CustomResource
        self.alias: lambda_.Alias | None = None
        self.provided: CustomResource | None = None
        self.record = self._generation(before) if deployment.immutable else self._version()

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a role or a user of this account invoke it, as a job's role may.

        That is the function plainly and by any version or alias, of an immutable deployment every
        state of it. `function.grant_invoke` covers today's function alone.

        Args:
            grantee: who has policies of its own.

        Raises:
            RuntimeError: it has none, as a service or a role that cannot be changed.
        """
        grant = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["lambda:InvokeFunction"],
            resource_arns=rewards(place_of(self), self._stage.names, [self.deployment]),
            scope=self,
        )
        grant.assert_success()
        return grant

    def _version(self) -> DeployedReward:
        """The one function, its version of today, and behind the gate the alias."""
        self.function = function = self._function("Function", self._name)
        version = function.current_version
        self.gate = self._gate("Gate", version.function_arn)
        # A changed function is another version, and so another gate: CloudFormation asks the
        # custodian to make gates and never to change one, neither forward nor in a rollback.
        published = _element(version).logical_id
        _element(self.gate).override_logical_id(f"{published}{self._judge.capitalize()}Gate")
        if wanted := self.deployment.provisioned_concurrency:
            # Its own for every version, too: that of the version before is deleted at the end of a
            # deployment that succeeded, when nothing points there any more.
            self.provided = self._custodian.provided(
                self,
                "Provided",
                version_arn=version.function_arn,
                deployment=self.deployment.name,
                environments=wanted,
            )
            _element(self.provided).override_logical_id(f"{published}Provided")
        self.alias = lambda_.Alias(self, "Alias", alias_name=ALIAS, version=version)
        # Whoever may invoke a version may do so as long as it stands.
        for each in admit(self, "Version", version.function_arn, self._stage.callers):
            each.override_logical_id(f"{published}{each.node.id}")
            each.apply_removal_policy(OUTLIVES)
        admit(self, "Alias", self.alias.function_arn, self._stage.callers)
        return self._record(version.function_arn, self.alias.function_arn)

    def _generation(self, before: DeployedBefore) -> DeployedReward:
        """The function of this very state. One that came back is there: it is not made again."""
        digest = self._state()
        physical = self._stage.names.immutable(self.deployment.name, digest)
        name = f"Function{digest[:GENERATION_DIGITS]}"
        if before.keeps(physical):
            self.function = lambda_.Function.from_function_attributes(
                self,
                name,
                function_arn=place_of(self).arn("lambda", f"function:{physical}"),
                role=self._role,
                same_environment=True,
            )
        else:
            self.function = self._function(name, physical, removal=OUTLIVES)
        for each in admit(self, name, self.function.function_arn, self._stage.callers):
            each.apply_removal_policy(OUTLIVES)
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
        settings = {
            "code": self._code.digest,
            "python": self._stage.python,
            "architecture": self._stage.architecture,
            "memory_mb": self.deployment.memory_mb,
            "timeout_seconds": self.deployment.timeout_seconds,
            "environment": self._environment,
            **state(self.deployment),
        }
        # What is not given is not in it: the functions that are there keep their names.
        given = self.deployment
        if needs_another_role(given):
            settings["rights"] = of_function(place_of(self), self._stage, given)
        if given.vpc:
            settings["vpc"] = given.vpc.model_dump(mode="json")
        return self._digest(settings)

    @property
    def _environment(self) -> dict[str, str]:
        return self.settings.to_env() | self.deployment.variables()

    def _digest(self, state: object) -> str:
        """Of what may hold references to other resources, as the template has them."""
        resolved = Stack.of(self).resolve(state)
        return sha256(json.dumps(resolved, sort_keys=True).encode()).hexdigest()

    def _function(
        self, name: str, physical: str, removal: RemovalPolicy | None = None
    ) -> lambda_.Function:
        stage, deployment, spec = self._stage, self.deployment, self._spec
        digest = self._code.digest[:DIGEST_DIGITS]
        storage = deployment.ephemeral_storage_mb
        function = python_function(
            self,
            name,
            stage,
            vpc=deployment.vpc,
            function_name=physical,
            description=description(spec.name, spec.version, digest, spec.summary),
            code=self._code.asset,
            handler=HANDLER,
            memory_size=deployment.memory_mb,
            timeout=Duration.seconds(deployment.timeout_seconds),
            reserved_concurrent_executions=deployment.reserved_concurrency,
            environment=self._environment,
            ephemeral_storage_size=None if storage == STORAGE_MB else Size.mebibytes(storage),
            snap_start=(
                lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if deployment.snap_start else None
            ),
            # Never above its default, INFO: lines of metrics have no level, count as that, and
            # feed the alarms. Higher levels are Powertools' alone.
            application_log_level_v2=(
                lambda_.ApplicationLogLevel.DEBUG if self.settings.log_level == "DEBUG" else None
            ),
            log_group=self.log_group,
            role=self._role,
            current_version_options=lambda_.VersionOptions(removal_policy=OUTLIVES),
        )
        if deployment.tracing:
            # CDK's own property would add rights to the role.
            made = cast("lambda_.CfnFunction", _element(function))
            made.tracing_config = lambda_.CfnFunction.TracingConfigProperty(mode="Active")
        if removal is not None:
            function.apply_removal_policy(removal)
        # Versions alone have snapshots, and every state of the function is one.
        Annotations.of(function).acknowledge_warning("@aws-cdk/aws-lambda:snapStartRequirePublish")
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

    def _made_role(self) -> iam.IRole:
        """A verifier needs nothing of AWS but its log group; a judge may ask its models.

        A version asks the models it was published with, and reaches what it then might, as long as
        it stands: a deployment has another role for other rights, and roles outlive their
        successors as versions do. The role of a verifier without rights stays beside them, for the
        versions that were published before it got any.
        """
        place, given = place_of(self), self.deployment
        made = of_function(place, self._stage, given)
        description, trust = f"What {self._name} runs as", permissions.trust_lambda()
        below = self._stage.role_path
        if self.settings.judge is None:
            plain = role(
                self,
                "Role",
                description=description,
                trust=trust,
                policies={"logs": made["logs"]},
                path=below,
            )
            if not needs_another_role(given):
                return as_construct(self, "RoleByArn", plain, path=below or "/")
            path = permissions.rights_roles(place, self._stage.name, below=below)
            clearing = self._custodian.rights
        else:
            path = permissions.judge_roles(place, self._stage.name, given.name, below=below)
            clearing = self._custodian.roles(self, "Roles", path=path)
        digest = self._digest(made)
        versioned = role(
            self,
            f"Role{digest[:GENERATION_DIGITS]}",
            description=description,
            trust=trust,
            policies=made,
            path=path,
            reasons=reasons(given),
        )
        versioned.apply_removal_policy(OUTLIVES)
        # Roles are deleted behind the functions that run as them.
        versioned.add_dependency(_element(clearing))
        return as_construct(self, "RoleByArn", versioned, path=path)


def _element(construct: Construct) -> CfnResource:
    """What CloudFormation makes of a construct."""
    return cast("CfnResource", construct.node.default_child)
