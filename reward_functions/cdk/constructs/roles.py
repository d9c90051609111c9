"""IAM roles and policies made of the documents of `cdk.policies`: `permissions` and `people`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from reward_functions.cdk.constructs import runtime
from reward_functions.cdk.policies.iam import Place
from reward_functions.cdk.policies.permissions import trust_lambda, write_logs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from constructs import Construct

    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document

WILDCARDS: Final = {
    "WriteLogs": "Streams of the function's own log group, which the runtime names.",
    "ReadData": "The objects under the one prefix where training data lies.",
    "WriteOutput": "The objects under the one prefix where jobs write.",
    "PutData": "The objects under the one prefix where training data lies.",
    "ReadOutput": "The objects under the one prefix where jobs write.",
    "InvokeRewards": "The versions and aliases of exactly these functions.",
    "AskRewards": "The versions and aliases of exactly these functions.",
    "TryVersion": "The versions of exactly these functions: a number is given at publication.",
    "ProvideVersion": "The versions of exactly these functions: a number is given at publication.",
    "ReleaseVersion": "The versions of this stage's functions, also of those that left it.",
    "ReadyOnEmulator": "The local AWS emulator alone, which asks for other actions than AWS.",
    "SendTraces": "X-Ray's two writing actions, which know no resource.",
    "DeleteVersion": "The versions of exactly these functions: a number is given at publication.",
    "FindGenerations": "A list, which knows no resource.",
    "DeleteGenerations": "Immutable functions of this stage, whose names end in a digest.",
    "FindRoles": "A list, which knows no resource.",
    "DeleteRoles": "Roles of this stage's judges, to which CloudFormation gives their names.",
    "EmptyBucket": "Every object of the one bucket, before the stack deletes it.",
    "CreateJob": "Which model is tuned is decided at each start, and a job's ARN is made then.",
    "FollowJob": "The ARNs of a job and of its model are made when it starts.",
    "ClearJobs": "The objects under the prefixes of what jobs were given and what they wrote.",
    "ReadLogs": "The log groups of exactly these functions, in the form that policies take.",
    "SeeRole": "The local AWS emulator alone, which asks about a simulation without its role.",
    "ReadInvocationLogs": "The objects of the one folder that the stage names.",
    "ReadFolders": "The objects of the folders and buckets that the stage names.",
    "SeeNetwork": "Descriptions, which know no resource.",
    "MakeInterface": "An interface's ARN is made with it; Bedrock's tags of a job must be on it.",
    "HandInterface": "Interfaces of these subnets alone, with Bedrock's tags of a job.",
    "TagInterface": "An interface's ARN is made with it; tagged while it is made alone.",
    "KeepResults": "The objects of buckets that the stage names: an experiment names their keys.",
    "PutResults": "The objects under the one prefix where agents put results.",
    "ReadResults": "The objects under the one prefix where agents put results.",
    "AskVersions": "The versions of exactly these functions: a record says which.",
    "ReadRows": "The objects under the one prefix where data lies.",
    "WriteParts": "The objects under the one prefix where runs stand.",
    "ClearBegun": "Results of shards that are not done, under the one prefix where runs stand.",
    "KeepRuns": "The objects under the one prefix where runs stand.",
    "AskShards": "The versions of exactly this function: a number is given at publication.",
    "ReadShards": "The objects under the one prefix where runs stand.",
    "FollowShards": "Executions of exactly this machine, which are named at each start.",
    "FollowRun": "Executions of exactly this machine, which are named at each start.",
    "KeepMachineLog": "Deliveries of logs, which know no resource.",
    "SeeShares": "Lists, limits and metrics of the account, which know no resource.",
    "ReportRewards": "A job is named by who starts it.",
    "FollowSageMakerJob": "A job is named by who starts it, and a recipe by SageMaker.",
    "ReadHub": "A digest of the account names the hub of evaluators; and any model of SageMaker's.",
    "ReadPublicHub": "Which of the public hub's models is tuned is decided at each start.",
    "KeepPackages": "A group of packages is named by who starts the job, a package by SageMaker.",
    "KeepGroups": "A group of packages is named by who starts the job, a package by SageMaker.",
    "ReadPackages": "A package is named by who starts the job, and numbered by SageMaker.",
    "ListPackages": "A list, which knows no resource.",
    "DeletePackage": "A package is named by who starts the job, and numbered by SageMaker.",
    "KeepFigures": "The ARN of the account's MLflow app is made with it.",
    "ReadFigures": "The ARN of the account's MLflow app is made with it.",
    "WriteJobLogs": "The one group of such jobs, whose streams SageMaker names.",
    "FollowLogs": "The one group of such jobs, whose streams SageMaker names.",
    "AskJudge": "Which of Bedrock's models judges is decided at each start of an RLAIF job.",
    "AskForwarders": "The versions and aliases of exactly the forwarders that the stage names.",
    "AskRuntimes": "The endpoints of exactly the runtimes that the stage names, and its own, whose "
    "ids are made with them.",
    "KeepRuntimeLog": "The log groups of one runtime, whose id is made with it.",
    "WriteRuntimeLog": "The log groups of one runtime, whose id is made with it.",
    "FindLogGroups": "A list, which knows no group.",
    "AnswerJob": "A job is named by who starts it.",
    "LogInToRegistry": "A token of the registry says who asks, and knows no resource.",
    "PullContainer": "Containers of Nova's recipes, in accounts of AWS's own.",
    "PutMetrics": "A metric has no resource; in the namespace of training jobs alone.",
    "SeeClusters": "Which cluster runs a job is decided at each; descriptions alone.",
    "ReadEscrow": "The weights of the account's own jobs, in a bucket that SageMaker names.",
    "ListEscrow": "The weights of the account's own jobs, in a bucket that SageMaker names.",
    "BearToken": "A token says who asks, and knows no resource.",
    "JoinWithin": "An interface's ARN is made with it; in these subnets alone.",
    "HandInterfaceWithin": "Interfaces of these subnets alone.",
    "TagNewInterface": "An interface's ARN is made with it; tagged while it is made alone.",
    "RunTraining": "A job's ARN is made when it starts.",
    "RunMultiTurn": "A job's ARN is made when it starts.",
    "RegisterEvaluators": "Evaluators of the account's hub, which a digest of the account names.",
    "ReadRecipes": "SageMaker's own buckets of recipes, which it names for each region.",
    "ImportModel": "Neither knows a resource: what is read is what the role may.",
    "HostImported": "The ARNs of an import and of its model are made when they are.",
    "RunOpenAIJob": "Which project a job belongs to is decided at each start.",
    "DeleteModel": "A tuned model's ARN is made by its job.",
    "TagHosted": "The ARN of what hosts a tuned model is made when it is.",
    "HostModel": "The ARNs of a tuned model and of what hosts it are made when they are.",
    "ListModels": "Lists, which know no resource.",
    "AskModel": "The tuned model, whose host gets its ARN when it is made, beside its base.",
    "AskBehindProfile": "Base models in whichever region a profile of this account routes to.",
    "SeeAccount": "Lists, limits and tokens of the account, which know no resource.",
    "SeeInterfaces": "Descriptions, which know no resource.",
    "KeepInterfaces": "Interfaces that Lambda makes and names; the function's code may do none.",
    "NeverFromTheCode": "A refusal, of everything.",
    "ReadCatalogue": "The parameters of this stage's own path.",
    "WriteCatalogue": "The parameters of this stage's own path.",
}
"""Why a statement of `permissions` names more than one resource by a wildcard, by its Sid."""


def place_of(scope: Construct) -> Place:
    """Where the stack of a construct is deployed."""
    stack = Stack.of(scope)
    return Place(stack.partition, stack.region, stack.account)


def role(
    scope: Construct,
    name: str,
    *,
    description: str,
    trust: Document,
    policies: Mapping[str, Document],
    path: str | None = None,
    physical: str | None = None,
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> iam.CfnRole:
    """A role with exactly these documents.

    Args:
        scope: the construct it belongs to.
        name: its name in the construct tree.
        description: for the reader who finds it in the account.
        trust: who may assume it.
        policies: what it may do, by name.
        path: of its ARN, where others grant by it.
        physical: its name in the account, where others grant by it.
        reasons: why statements that a deployment states name more than one thing, by their Sids.
    """
    made = iam.CfnRole(
        scope,
        name,
        description=description,
        path=path,
        role_name=physical,
        assume_role_policy_document=trust,
        policies=[
            iam.CfnRole.PolicyProperty(policy_name=each, policy_document=document)
            for each, document in policies.items()
        ],
    )
    _justify(made, policies.values(), reasons)
    return made


def function_role(
    scope: Construct, stage: Stage, physical: str, policies: Mapping[str, Document]
) -> iam.IRole:
    """The role of a function beside the rewards; it may write its own log.

    Args:
        scope: the construct it belongs to.
        stage: whose function it is.
        physical: the function's name.
        policies: what else it may do, by name; IAM takes none without a statement.
    """
    stated = {name: each for name, each in policies.items() if each["Statement"]}
    made = role(
        scope,
        "Role",
        description=f"What {physical} runs as",
        trust=trust_lambda(),
        policies={"logs": write_logs(place_of(scope), physical), **stated},
        path=stage.role_path,
    )
    return as_construct(scope, "RoleByArn", made, path=stage.role_path or "/")


def as_construct(scope: Construct, name: str, made: iam.CfnRole, *, path: str = "/") -> iam.IRole:
    """A role that CDK's own grants reach: each becomes a policy beside the role's documents.

    It is named by an ARN of parts, since CDK finds no name in one that only deployment knows.

    Args:
        scope: the construct it belongs to.
        name: its name in the construct tree.
        made: the role.
        path: of its ARN.
    """
    place = place_of(scope)
    arn = f"arn:{place.partition}:iam::{place.account}:role{path}{made.ref}"
    return iam.Role.from_role_arn(scope, name, arn)


def managed_policy(
    scope: Construct, name: str, *, description: str, document: Document
) -> iam.CfnManagedPolicy:
    """A policy to attach to people and roles; the arguments are those of `role`."""
    made = iam.CfnManagedPolicy(scope, name, description=description, policy_document=document)
    _justify(made, [document])
    return made


def bound(stack: Stack, boundary: str) -> None:
    """Set a permissions boundary on every role of a stack, those that CDK itself makes too.

    Args:
        stack: whose roles.
        boundary: ARN of a managed policy, or the name of one of the stack's account.
    """
    policy = (
        iam.ManagedPolicy.from_managed_policy_arn(stack, "Boundary", boundary)
        if boundary.startswith("arn:")
        else iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", boundary)
    )
    iam.PermissionsBoundary.of(stack).apply(policy)


def _justify(
    construct: Construct,
    documents: Iterable[Document],
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Acknowledge every wildcard; one without a reason is a KeyError, here and not at AWS."""
    why = WILDCARDS | {**reasons}
    found = {
        (kind, each): why[statement["Sid"]]
        for document in documents
        for statement in document["Statement"]
        for kind in ("Action", "Resource")
        for each in statement[kind]
        if "*" in each
    }
    for (kind, each), reason in found.items():
        runtime.acknowledge(construct, f"IAM5[{kind}::{_shown(construct, each)}]", reason)


def _shown(scope: Construct, arn: str) -> str:
    """An ARN as cdk-nag shows it: what is known at deployment only stands in angle brackets."""
    resolved: Any = Stack.of(scope).resolve(arn)
    parts = [resolved] if isinstance(resolved, str) else resolved["Fn::Join"][1]
    return "".join(part if isinstance(part, str) else f"<{_reference(part)}>" for part in parts)


def _reference(part: Mapping[str, Any]) -> str:
    return part["Ref"] if "Ref" in part else ".".join(part["Fn::GetAtt"])
