"""The catalogue of a deployment: the names and records by which tools find it.

The deployment (`cdk`) writes one SSM parameter per function and one per stage; the tools of the
laptop (`aws.deployed`) read these parameters alone, and neither the stack nor its template:

    /reward-functions/STAGE/stage                a `DeployedStage`
    /reward-functions/STAGE/deployments/NAME     a `DeployedReward`

Each value is one JSON object.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from reward_functions.aws.arn import arn_form
from reward_functions.core.declared import composite_of
from reward_functions.core.registry import get
from reward_functions.core.spec import RewardSpec  # noqa: TC001 - pydantic reads annotations
from reward_functions.serving.contract import ResponseMode

ROOT: Final = "/reward-functions"

ALIAS: Final = "live"
"""The alias for people: it points to the version that passed its gate last, or was rolled back to.
Trainers are given a version, which never changes under a job."""

DATA_PREFIX: Final = "rft-data/"
"""Where training and validation files lie in the stage's bucket; jobs read here."""

JOB_DATA_PREFIX: Final = f"{DATA_PREFIX}jobs/"
"""Where the files lie that were uploaded for one job; they may be deleted after it."""

OUTPUT_PREFIX: Final = "rft-output/"
"""Where training jobs write their metrics and artifacts."""

SCORED_PREFIX: Final = "scored/"
"""Where runs of a stage's state machine stand in its bucket."""

MAX_FUNCTION_NAME: Final = 64
"""Characters of a Lambda function's name."""

DIGEST_DIGITS: Final = 16
"""Hexadecimal digits of an artifact's digest as the catalogue shows it."""

Name = Annotated[
    str, StringConstraints(pattern=re.compile(r"\A[a-z][a-z0-9]*([-_][a-z0-9]+)*\Z"), max_length=40)
]
"""A deployment: lower case and digits, single hyphens or underscores between."""

StageName = Annotated[
    str, StringConstraints(pattern=re.compile(r"\A[a-z][a-z0-9]*(-[a-z0-9]+)*\Z"), max_length=20)
]
"""A stage: lower case and digits, single hyphens between; a stack's name takes no more."""

NamePrefix = Annotated[
    str, StringConstraints(pattern=re.compile(r"\A[a-z][a-z0-9]*(-[a-z0-9]+)*\Z"), max_length=20)
]
"""What names of a stage begin with, a hyphen behind it; lower case alone, as names of buckets."""

Architecture = Literal["arm64", "x86_64"]

MOST_AGENTS: Final = 10
"""Of one stage: so many stand in every policy that names them, however long their names are."""


def written_as(pattern: str, words: str) -> AfterValidator:
    """A string of this form; a message says the form in words.

    Args:
        pattern: the form, linear in its input.
        words: what to write.
    """
    form = re.compile(pattern)

    def check(value: str) -> str:
        if form.fullmatch(value) is None:
            raise ValueError(f"write {words}")
        return value

    return AfterValidator(check)


Subnet = Annotated[str, written_as(r"subnet-[0-9a-f]{8,17}", "a subnet's id, subnet-…")]

SecurityGroup = Annotated[str, written_as(r"sg-[0-9a-f]{8,17}", "a security group's id, sg-…")]

S3Folder = Annotated[
    str,
    StringConstraints(max_length=1024),
    written_as(
        r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_.!'()-]+)*/?",
        "s3://BUCKET/FOLDER in letters, digits and / _ . ! ' ( ) - alone",
    ),
]
"""An address that Bedrock takes (`S3Uri` in its service model); its star is left out, as IAM reads
one as anything."""

KeyArn = Annotated[
    str,
    written_as(
        arn_form("kms", "key/[A-Za-z0-9-]{36}"),
        "a key's ARN, arn:aws:kms:REGION:ACCOUNT:key/ID; IAM grants nothing by an alias",
    ),
]
"""A KMS key, as Bedrock's service model has it (`KmsKeyId`)."""


QUALIFIER: Final = r"(:(\$LATEST|[A-Za-z0-9_-]{1,128}))?"

AgentArn = Annotated[
    str,
    StringConstraints(max_length=256),
    written_as(
        arn_form("lambda", rf"function:[A-Za-z0-9_-]{{1,64}}{QUALIFIER}")
        + "|"
        + arn_form("bedrock-agentcore", "runtime/[a-zA-Z][a-zA-Z0-9_]{0,47}-[a-zA-Z0-9]{10}"),
        "the ARN of a Lambda function, arn:aws:lambda:REGION:ACCOUNT:function:NAME, or of an "
        "AgentCore runtime, arn:aws:bedrock-agentcore:REGION:ACCOUNT:runtime/NAME-ID",
    ),
]
"""An agent of multi-turn jobs, as the services' models have the ARNs of both kinds."""


class DeployedReward(BaseModel):
    """One deployed reward function, as it was when it passed its gate.

    A job is given `version_arn`, which answers the same for as long as it stands. SageMaker's own
    client takes no qualifier (its pattern ends after the name), so an *immutable* deployment is a
    function of its own for every digest: there `version_arn` is the plain ARN, and no alias exists.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    """The deployment."""
    reward: str
    """The reward function, as `reward list` names it."""
    version: int
    """The reward's version: raised when any score can change."""
    digest: str
    """The artifact's: equal digests are equal code."""
    parameters: dict[str, JsonValue]
    """The parameters that were set."""
    composite: dict[str, JsonValue] | None = None
    """What the reward is made of, where the stage declares it; None of a registered one."""
    response_mode: ResponseMode
    """A bare list, or SageMaker's envelope."""
    version_arn: str
    """What a job is given: it never changes."""
    alias_arn: str | None
    """The alias `live`, for people: it moves. None for an immutable deployment."""
    function_arn: str
    """The function without a qualifier."""
    timeout_seconds: int
    """Lambda's timeout."""
    memory_mb: int
    """Lambda's memory size."""
    architecture: Architecture
    python: str
    """The runtime, as `3.13`."""

    def spec(self) -> RewardSpec:
        """The reward as it is known here, which may be another version.

        Raises:
            UnknownReward: neither it nor a part of it is registered here.
            ConfigurationError: it cannot be made of the parts that are.
        """
        if self.composite is None:
            return get(self.reward)
        return composite_of({**self.composite, "name": self.reward})

    @property
    def immutable(self) -> bool:
        """Whether every digest is a function of its own."""
        return self.alias_arn is None

    @property
    def live_arn(self) -> str:
        """The ARN that people ask: the alias, or the one function of an immutable deployment."""
        return self.alias_arn or self.version_arn


class JobVpc(BaseModel):
    """The network that a stage's jobs may join; a job may name fewer of either.

    Both numbers are a job's own most ("VpcConfig" in the API reference of Bedrock).
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    subnets: tuple[Subnet, ...] = Field(min_length=1, max_length=16, description="Their ids.")
    security_groups: tuple[SecurityGroup, ...] = Field(
        min_length=1, max_length=5, description="Their ids."
    )


class JobRights(BaseModel):
    """The resources that jobs may use beside the stage's bucket: `job_rights` in `cdk.json`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    invocation_logs: S3Folder | None = Field(
        default=None,
        description="`s3://BUCKET/FOLDER` of invocation logs, or a whole bucket: Bedrock's jobs "
        "may read there.",
    )
    vpc: JobVpc | None = Field(
        default=None,
        description="`subnets` and `security_groups`, by their ids, that jobs may join.",
    )
    agents: tuple[AgentArn, ...] = Field(
        default=(),
        max_length=MOST_AGENTS,
        description="ARNs of the Lambda forwarders and AgentCore runtimes that multi-turn jobs may "
        "ask for rollouts.",
    )
    model_key: KeyArn | None = Field(
        default=None,
        description="ARN of a KMS key for tuned models: `jobs` may encrypt them, `evaluate` ask "
        "them. Its own policy must let IAM decide, as KMS's default does.",
    )


class ReadFolder(BaseModel):
    """Data of a company's own that jobs may read, where it lies."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    address: S3Folder = Field(description="`s3://BUCKET/FOLDER`, or a whole bucket.")
    key: KeyArn | None = Field(
        default=None, description="ARN of the KMS key that encrypts it, where one does."
    )

    @property
    def folder(self) -> str:
        """The address without a slash at its end."""
        return self.address.rstrip("/")


class FeedbackPath(BaseModel):
    """How deferred rewards of rollouts reach the trainer: `feedback` in `cdk.json`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    results_bucket: str
    """Where agents put results to be scored."""
    queue_url: str
    """Of the queue that announces them."""
    dead_letters_url: str
    """Of the queue of what could not be scored or sent."""
    function_arn: str
    """The function that scores and reports, its version."""
    outbox_table: str
    """The table where reports are durable before they go."""


class DeployedStage(BaseModel):
    """The part that the functions of a stage share."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    stage: str
    region: str
    keep_versions: int
    """Versions of a function that a prune keeps at least."""
    bucket: str
    """The data bucket's name."""
    training_role_arn: str
    """What a Bedrock job runs as."""
    data_policy_arn: str
    """For who prepares data and reads output."""
    jobs_policy_arn: str
    """For who starts and follows jobs."""
    evaluate_policy_arn: str
    """For who asks rewards and tuned models."""
    operate_policy_arn: str
    """For who prunes versions and rolls back."""
    sagemaker_policy_arn: str | None = None
    """For who starts SageMaker's serverless jobs."""
    agents_policy_arn: str | None = None
    """For who starts multi-turn jobs."""
    agent_runtime_policy_arn: str | None = None
    """For the role that an agent itself runs as."""
    import_role_arn: str | None = None
    """What Bedrock reads as where it imports a model of SageMaker's."""
    sagemaker_role_arn: str | None = None
    """What a SageMaker job runs as, where the stage asked for one."""
    training_policy_arn: str | None = None
    """For who starts SageMaker's training jobs on instances."""
    training_job_role_arn: str | None = None
    """What such a job runs as, where the stage asked for one."""
    hyperpod_policy_arn: str | None = None
    """For who submits jobs to a HyperPod cluster."""
    hyperpod_runtime_policy_arn: str | None = None
    """For the role that the jobs of a HyperPod cluster run as."""
    agent_role_arn: str | None = None
    """What a multi-turn job runs as, where the stage names agents."""
    feedback: FeedbackPath | None = None
    """The path of deferred rewards, where the stage asked for one."""
    forwarders: dict[str, str] = {}
    """Version ARNs of the stage's own forwarders, by their names."""
    agent_runtimes: tuple[str, ...] = ()
    """Names of the AgentCore runtimes that the stage deploys."""
    scale_machine_arn: str | None = None
    """What scores files of any size, where the stage asked for it."""
    score_policy_arn: str | None = None
    """For who starts and follows such runs."""
    job_events_topic_arn: str
    """Where changes of a job's state are announced."""
    dashboard: str
    """The CloudWatch dashboard's name."""
    job_rights: JobRights = JobRights()
    """What jobs may use beside bucket and rewards; nothing in a record of before."""
    name_prefix: str = ""
    """What the names of its functions begin with, before a hyphen."""
    read_buckets: tuple[ReadFolder, ...] = ()
    """Data outside of the bucket that jobs may read."""


def stage_parameter(stage: str) -> str:
    """The SSM parameter that holds a stage's `DeployedStage`."""
    return f"{ROOT}/{stage}/stage"


def deployments_path(stage: str) -> str:
    """The SSM path under which every `DeployedReward` of a stage stands."""
    return f"{ROOT}/{stage}/deployments"


def deployment_parameter(stage: str, name: str) -> str:
    """The SSM parameter that holds one `DeployedReward`."""
    return f"{deployments_path(stage)}/{name}"
