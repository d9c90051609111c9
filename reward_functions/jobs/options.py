"""The services that have a place for a field of a configuration, and what it may name.

A field that a service has no words for is refused by its name: left out of a request in silence, it
would be believed to hold.

The stage's `job_rights` in `cdk.json` say what a job may use beside the stage's bucket and rewards.

    option of a job      field of the stage           granted where
    invocation_logs      job_rights.invocation_logs   the source is that folder, or lies in it
                         read_buckets                 the same, of any of them
    vpc                  job_rights.vpc               its subnets and groups are among those
    model_key            job_rights.model_key         it is that key

A stage that was deployed before it had such rights grants none of them. The rows of a job are read
on this machine and uploaded to the stage's bucket: no address of S3 stands for a file.

A job takes a resource of an account, named by its ARN, in its own place alone. botocore's models
let the ARN of any place pass; AWS refuses it once the data is uploaded.

    field                       ARN of                                   of the job's
    sagemaker.mlflow            an MLflow app                            partition, region, account
    sagemaker.model_packages    a group of model packages, or its name   partition, region, account
    model_key                   a KMS key, which may be shared           partition, region

The agent of a multi-turn job: the ARN that a trainer asks for rollouts.

    arn:PARTITION:lambda:REGION:ACCOUNT:function:NAME[:QUALIFIER]              a forwarder
    arn:PARTITION:bedrock-agentcore:REGION:ACCOUNT:runtime/ID                  AgentCore, DEFAULT
    arn:PARTITION:bedrock-agentcore:REGION:ACCOUNT:runtime/ID/runtime-endpoint/NAME

The name of a forwarder that the stage deployed stands for the ARN of its newest version. A
forwarder may have an alias or a version; without one, a deployment in the middle of a job changes
the agent under it. An agent of another region or account is refused: no page says that a job
reaches one.

Source: botocore's models of Lambda and of `bedrock-agentcore-control` (`AgentRuntimeArn`,
`AgentRuntimeEndpointArn`); sagemaker-train 1.27's document, whose qualifier is DEFAULT where none
is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.aws.arn import Arn, BadArn, FunctionArn
from reward_functions.aws.catalogue import DATA_PREFIX, DeployedStage, JobRights
from reward_functions.jobs.configuration import MISSING_DEPLOYMENT, BadJob
from reward_functions.jobs.models import API
from reward_functions.jobs.services import SERVICES, DriverName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from reward_functions.jobs.configuration import (
        InvocationLogs,
        JobConfiguration,
        Serverless,
        Vpc,
    )

SOME: Final = ("deployment", "agent", "sagemaker", "invocation_logs", "model_key", "vpc")
"""Fields that some services have no place for; every service takes the others."""

SERVERLESS_ALONE: Final = ("preset_reward", "judge", "judge_prompt", "sequence_length")
"""Fields below `[sagemaker]` that its multi-turn jobs have no place for."""

MISSING: Final = MISSING_DEPLOYMENT.format(file="the job's file")

OF_THE_AGENT: Final = (
    "agent: the agent of a multi-turn job gives its rewards, so there is no deployment to ask, and "
    "no baseline; `reward rollouts doctor` asks the agent"
)

JUDGED: Final = ("judge", "judge_prompt")


def check_options(asked: JobConfiguration, driver: DriverName) -> None:
    """Refuse what a service has no place for, and what it needs and was not given.

    Raises:
        BadJob: the message names the field.
    """
    for name in SOME:
        if getattr(asked, name) is not None and name not in SERVICES[driver].takes:
            raise BadJob(f"{name}: {API[driver]} has no such setting; leave it out")
    if SERVICES[driver].recipes:
        _check_rewards(asked)
    elif not SERVICES[driver].graded:
        _check_agent(asked)
    else:
        deployment_of(asked)


def deployment_of(asked: JobConfiguration) -> str:
    """The reward that a job names.

    Raises:
        BadJob: it names none.
    """
    if asked.deployment is None:
        raise BadJob(MISSING if asked.agent is None else OF_THE_AGENT)
    return asked.deployment


def serverless_of(asked: JobConfiguration) -> Serverless:
    """The fields that you wrote for SageMaker's jobs; the defaults where you wrote nothing."""
    from reward_functions.jobs.configuration import Serverless  # noqa: PLC0415 - for its defaults

    return asked.sagemaker or Serverless()


def _check_rewards(asked: JobConfiguration) -> None:
    """Exactly one reward: a function of ours, one of the service's own, or its judge."""
    chosen = serverless_of(asked)
    for problem in _of_technique(chosen):
        raise BadJob(problem)
    rewards = [
        name
        for name, there in {
            "deployment": asked.deployment,
            "sagemaker.preset_reward": chosen.preset_reward,
            'sagemaker.technique "RLAIF"': chosen.technique == "RLAIF",
        }.items()
        if there
    ]
    if not rewards:
        raise BadJob(f"{MISSING}; or sagemaker.preset_reward, the service's own")
    if len(rewards) > 1:
        raise BadJob(f"{rewards[0]}: a job has one reward, and {rewards[1]} is another; keep one")


def _of_technique(chosen: Serverless) -> Iterator[str]:
    """What does not go with the technique, or is missing from it."""
    if chosen.technique == "RLAIF":
        for name in JUDGED:
            if getattr(chosen, name) is None:
                yield (
                    f"sagemaker.{name} is missing: a job of RLAIF is judged by a model, with a "
                    f"prompt: {name} = … below [sagemaker]"
                )
        return
    for name in JUDGED:
        if getattr(chosen, name) is not None:
            yield (
                f'sagemaker.{name} is for RLAIF: write technique = "RLAIF" below [sagemaker], or '
                "leave it out"
            )


def _check_agent(asked: JobConfiguration) -> None:
    if asked.agent is None:
        raise BadJob(
            "agent is missing: agent = … in the job's file, the ARN of a Lambda forwarder or an "
            "AgentCore runtime"
        )
    chosen = serverless_of(asked)
    for name in SERVERLESS_ALONE:
        if getattr(chosen, name) is not None:
            raise BadJob(f"sagemaker.{name}: {API['agent-rft']} have no such setting; leave it out")
    if chosen.technique != "RLVR" or chosen.peft != "LORA":
        raise BadJob(
            f"sagemaker: {API['agent-rft']} choose technique and adapters themselves; leave "
            "technique and peft out"
        )


def check_rights(asked: JobConfiguration, stage: DeployedStage) -> None:
    """Whether the stage grants what a job asks for.

    Raises:
        BadJob: it does not; one sentence that names the first field of `cdk.json` to set.
    """
    if missing := missing_rights(asked, stage):
        raise BadJob(missing[0])


def missing_rights(asked: JobConfiguration, stage: DeployedStage) -> list[str]:
    """A sentence for every option that the stage grants no right to."""
    rights = stage.job_rights
    lacks = {
        "invocation_logs": asked.invocation_logs and _logs(asked.invocation_logs, stage),
        "vpc": asked.vpc and _vpc(asked.vpc, rights),
        "model_key": asked.model_key if asked.model_key != rights.model_key else None,
    }
    return [
        f"{option}: the stage {stage.stage!r} grants its jobs no right to {lack}: "
        f"set job_rights.{option} in cdk.json and deploy"
        for option, lack in lacks.items()
        if lack
    ]


def in_s3(asked: JobConfiguration) -> dict[str, str]:
    """The addresses in S3 that stand where files should, by their fields."""
    named = {"data": asked.data, "validation": asked.validation}
    return {field: found for field, path in named.items() if path and (found := _address(path))}


def require_files(asked: JobConfiguration, stage: DeployedStage | None) -> None:
    """Refuse an address in S3 as a job's file.

    Args:
        asked: the configuration.
        stage: what jobs may read; None where nobody asks.

    Raises:
        BadJob: there is one; the message says whether the stage's jobs may read there at all.
    """
    for field, address in in_s3(asked).items():
        if stage is not None:
            read = [f"s3://{stage.bucket}/{DATA_PREFIX.rstrip('/')}", *_folders(stage)]
            if not _within(address, read):
                raise BadJob(
                    f"{field}: {address} is in a bucket outside the allow-list: jobs of the stage "
                    f"{stage.stage!r} read {' and '.join(read)}; more is named by read_buckets in "
                    "cdk.json"
                )
        raise BadJob(
            f"{field}: {address} is not on this machine, where rows are checked before they go to "
            "the stage's bucket: copy it here, and name the copy"
        )


def _address(path: Path) -> str | None:
    """The address that was read as a path, which lost one of its slashes; None of a path."""
    for at, part in enumerate(path.parts):
        if part == "s3:":
            return f"s3://{'/'.join(path.parts[at + 1 :])}"
    return None


def _folders(stage: DeployedStage) -> list[str]:
    return [each.folder for each in stage.read_buckets]


def _within(address: str, folders: Iterable[str]) -> bool:
    """Whether an address is one of some folders, or lies in one."""
    return any(f"{address.rstrip('/')}/".startswith(f"{folder}/") for folder in folders)


def _logs(asked: InvocationLogs, stage: DeployedStage) -> str | None:
    """The source, where it lies outside of the folders that the stage's jobs read."""
    own = (stage.job_rights.invocation_logs or "").rstrip("/")
    granted = _within(asked.source, [*([own] if own else []), *_folders(stage)])
    return None if granted else asked.source


def _vpc(asked: Vpc, rights: JobRights) -> str | None:
    """The subnets and security groups that are none of the stage's."""
    granted = rights.vpc
    known = {*granted.subnets, *granted.security_groups} if granted else set()
    return ", ".join(each for each in (*asked.subnets, *asked.security_groups) if each not in known)


SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Resource:
    """What a field names.

    Args:
        called: in a sentence.
        service: whose its ARN is.
        form: of the ARN's resource.
        example: its ARN.
        bare: whether a name may stand for it.
        shared: whether it may be another account's.
    """

    called: str
    service: str
    form: str
    example: str
    bare: bool = False
    shared: bool = False


RESOURCES: Final = {
    "sagemaker.mlflow": Resource(
        "an MLflow app",
        "sagemaker",
        r"mlflow-app/[\w-]{1,64}",
        "arn:aws:sagemaker:REGION:ACCOUNT:mlflow-app/APP",
    ),
    "sagemaker.model_packages": Resource(
        "a group of model packages",
        "sagemaker",
        "model-package-group/[a-zA-Z0-9-]{1,63}",
        "a name, or arn:aws:sagemaker:REGION:ACCOUNT:model-package-group/NAME",
        bare=True,
    ),
    "model_key": Resource(
        "a KMS key",
        "kms",
        "(?:key|alias)/[a-zA-Z0-9/_-]{1,256}",
        "arn:aws:kms:REGION:ACCOUNT:key/KEY",
        shared=True,
    ),
}

NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")
"""Of a resource of SageMaker (botocore's `EntityName`, in linear form)."""


def check_resources(asked: JobConfiguration, stage: DeployedStage, region: str) -> None:
    """Refuse what lies in another place than the job.

    Args:
        asked: the configuration.
        stage: whose account the job runs in.
        region: of the job.

    Raises:
        BadJob: the message names the field, and says what to write.
    """
    roles = (stage.sagemaker_role_arn, stage.training_role_arn)
    role = next(filter(None, (Arn.read(each, "iam") for each in roles)), None)
    for field, given in _named(asked):
        resource = RESOURCES[field]
        if resource.bare and NAME.fullmatch(given):
            continue
        found = Arn.read(given, resource.service, resource.form)
        if found is None or not found.account.isdigit():
            raise BadJob(f"{field}: {given[:SHOWN]!r} is not {resource.called}: {resource.example}")
        if found.region != region or (role and found.partition != role.partition):
            raise BadJob(
                f"{field}: {given} is in {found.region}, and the job runs in {region}: name "
                f"{resource.called} of that region"
            )
        if role and found.account != role.account and not resource.shared:
            raise BadJob(
                f"{field}: {given} belongs to account {found.account}, and the job runs in "
                f"{role.account}: name {resource.called} of that account"
            )


def _named(asked: JobConfiguration) -> Iterator[tuple[str, str]]:
    """The fields that name one, each with what stands there."""
    for field in RESOURCES:
        table, _, name = field.rpartition(".")
        given = getattr(getattr(asked, table) if table else asked, name, None)
        if given is not None:
            yield field, given


RUNTIME: Final = (
    "runtime/(?P<id>[A-Za-z][A-Za-z0-9_]{0,99}-[A-Za-z0-9]{10})"
    "(?:/runtime-endpoint/(?P<qualifier>[A-Za-z][A-Za-z0-9_]{0,99}))?"
)
"""The resource of an AgentCore runtime's ARN, or of one of its endpoints."""

DEFAULT: Final = "DEFAULT"
"""The endpoint that every AgentCore runtime has."""

LONGEST: Final = 512
"""Characters of an ARN that is read."""


@dataclass(frozen=True, slots=True)
class JobAgent:
    """The agent that a multi-turn job asks for rollouts.

    Args:
        arn: as it was given.
        kind: a Lambda function that forwards requests, or an AgentCore runtime.
        region: where it is.
        account: twelve digits.
        name: without the qualifier: what a stage grants a right to.
        qualifier: an alias or a version, or an endpoint of a runtime; "" for none.
    """

    arn: str
    kind: Literal["lambda", "agentcore"]
    region: str
    account: str
    name: str
    qualifier: str = ""

    @property
    def moves(self) -> bool:
        """Whether a deployment can change it in the middle of a job."""
        return self.kind == "lambda" and FunctionArn.parse(self.arn).moves

    @property
    def short(self) -> str:
        """Its name alone."""
        return self.name.rpartition(":")[2].rpartition("/")[2]

    def config(self) -> dict[str, Any]:
        """The `AgentConfig` of a job's document."""
        if self.kind == "lambda":
            return {"CustomAgentLambdaConfig": {"LambdaArn": self.arn}}
        named = {"AgentRuntimeArn": self.name, "Qualifier": self.qualifier or DEFAULT}
        return {"BedrockAgentCoreConfig": named}


def agent_of(text: str) -> JobAgent:
    """Read an agent's ARN.

    Raises:
        BadJob: it is no agent; the message shows both forms.
    """
    found = Arn.read(text, "bedrock-agentcore", RUNTIME) if len(text) <= LONGEST else None
    if found is not None and found.account.isdigit():
        name = str(replace(found, resource=f"runtime/{found['id']}"))
        return JobAgent(text, "agentcore", found.region, found.account, name, found["qualifier"])
    try:
        function = FunctionArn.parse(text[: LONGEST + 1])
    except BadArn:
        raise BadJob(
            f"agent: {text[:LONGEST]!r} is neither the ARN of a Lambda function (arn:aws:lambda:"
            "REGION:ACCOUNT:function:NAME) nor of an AgentCore runtime (arn:aws:bedrock-agentcore:"
            "REGION:ACCOUNT:runtime/ID), nor a forwarder of the stage"
        ) from None
    qualifier = function.qualifier or ""
    plain = text.removesuffix(f":{qualifier}") if qualifier else text
    return JobAgent(text, "lambda", function.region, function.account, plain, qualifier)


def with_agent(asked: JobConfiguration, stage: DeployedStage) -> JobConfiguration:
    """The same with the version's ARN where the agent is named as a forwarder of the stage is."""
    found = stage.forwarders.get(asked.agent or "")
    return asked.model_copy(update={"agent": found}) if found else asked


def is_granted(agent: JobAgent, stage: DeployedStage) -> bool:
    """Whether a stage's jobs may ask an agent.

    Those that `job_rights` names by this name or exactly this ARN, and those that the stage
    deployed: a forwarder in any of its versions, a runtime by the name before its id.
    """
    own = {version.rpartition(":")[0] for version in stage.forwarders.values()}
    named = bool({agent.arn, agent.name} & {*stage.job_rights.agents, *own})
    deployed = agent.kind == "agentcore" and agent.short.rpartition("-")[0] in stage.agent_runtimes
    return bool(stage.agent_role_arn) and (named or deployed)


def granted(text: str | None, stage: DeployedStage) -> JobAgent:
    """The agent of a job, which its stage has to grant and its region and account to hold.

    Args:
        text: the configuration's `agent`: an ARN, or the name of a forwarder of the stage.
        stage: whose role asks it.

    Raises:
        BadJob: the job has no agent, it is no agent or elsewhere, or the stage grants no right to
            it.
    """
    if not text:
        raise BadJob(
            "agent: a multi-turn job asks an agent for rollouts: name the ARN of its forwarder or "
            "of its AgentCore runtime"
        )
    agent = agent_of(stage.forwarders.get(text, text))
    if agent.region != stage.region:
        raise BadJob(
            f"agent: {agent.arn} is in {agent.region}, and the job runs in {stage.region}: deploy "
            "the agent there, or name a stage of that region with --stage"
        )
    role = Arn.read(stage.agent_role_arn or stage.training_role_arn, "iam", "role/.+")
    if role is not None and agent.account != role.account:
        raise BadJob(
            f"agent: {agent.arn} belongs to account {agent.account}, and the job runs in "
            f"{role.account}: deploy the agent there; agents of other accounts are not "
            "documented"
        )
    if not is_granted(agent, stage):
        own = ", ".join(stage.forwarders)
        raise BadJob(
            f"agent: the stage {stage.stage!r} grants its jobs no right to {agent.name}: set "
            "job_rights.agents in cdk.json and deploy"
            + (f", or name one of its forwarders: {own}" if own else "")
        )
    return agent
