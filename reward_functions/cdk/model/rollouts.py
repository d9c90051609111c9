"""The fields of a stage for rollouts: `forwarders`, `agents` and `feedback`.

    "forwarders": [
      {"name": "agent", "endpoint": "https://agent.example.com",
       "secret": "arn:aws:secretsmanager:us-east-1:123456789012:secret:agent-a1b2c3"},
      {"name": "queued", "queue": true}
    ]

    "agents": [{"name": "solver", "entry": "acme_agents.solver:agent", "packages": ["."]}]

    "feedback": {"timeout_seconds": 60, "batch_size": 10, "concurrency": 20}

A forwarder is a Lambda function that hands a trainer's requests to an agent, which is
`reward_functions.rollouts.servers.forwarder`. The stage's multi-turn jobs may ask each of them;
`job_rights.agents` names those that others deployed. An agent runs on Bedrock AgentCore, in a stack
of its own: AgentCore unpacks a zip and starts `rollouts.servers.app` with the entry, within "Quotas
for Amazon Bedrock AgentCore" and the limits of botocore's `CreateAgentRuntime`. `feedback` is the
path by which rewards that an agent deferred reach the trainer. `{}` is the path with its defaults;
without the field the stage has no such path.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, field_validator, model_validator

from reward_functions.aws.arn import Arn
from reward_functions.aws.catalogue import MAX_FUNCTION_NAME, KeyArn, Name
from reward_functions.aws.regions import partition_of
from reward_functions.cdk.artifact.closure import PACKAGE
from reward_functions.cdk.model.brought import (
    Bucket,  # noqa: TC001 - pydantic reads annotations
    JobVpc,  # noqa: TC001 - pydantic reads annotations
)
from reward_functions.cdk.model.deployment import MAX_MEMORY_MB, MAX_TIMEOUT_SECONDS, Settings
from reward_functions.cdk.policies.agents import runtime_arn
from reward_functions.cdk.policies.own_rights import SECRET, FunctionVpc, without_end
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import AMBIGUOUS, is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.aws.names import Names
    from reward_functions.cdk.policies.iam import Place

MODULE: Final = f"{PACKAGE.name}.rollouts.servers.forwarder"
"""What runs in Lambda; nothing here imports it."""

RESERVED: Final = "feedback"
"""How the names of the path of deferred rewards begin, which stand beside those of forwarders."""

DEAD: Final = "-dead-letters"

QUEUE_URL: Final = re.compile(
    r"https://sqs\.(?P<region>(?P<cn>cn-)[a-z0-9-]+|(?!cn-)[a-z0-9-]+)\.amazonaws\.com(?(cn)\.cn)/"
    r"(?P<account>[0-9]{12})/"
    r"(?P<name>[A-Za-z0-9_-]{1,75}(?:\.fifo)?)"
)


class BadForwarder(ConfigurationError):
    """A forwarder cannot be made. The message says which, and why."""


class Forwarder(Settings):
    """One function between the trainer and an agent."""

    name: Annotated[Name, StringConstraints(max_length=20)] = Field(
        description="Unique in the stage: lower case, digits, `-` and `_`, 20 characters."
    )
    endpoint: str | None = Field(
        default=None,
        max_length=2048,
        description="URL of the agent: https, or with `emulated` this machine's; `/rollout` where "
        "it has no path.",
    )
    queue: Literal[True] | str | None = Field(
        default=None,
        description="Or `true` for an SQS queue of the stage's own, from which the agent takes its "
        "requests; or the URL of another.",
    )
    secret: str | None = Field(
        default=None,
        description="ARN of the Secrets Manager secret that holds the agent's API key, whole or as "
        '`{"AGENT_API_KEY": …}`.',
    )
    key: KeyArn | None = Field(
        default=None, description="ARN of the KMS key that encrypts that secret, or the queue."
    )
    vpc: FunctionVpc | None = Field(
        default=None,
        description="`subnets` and `security_groups`, by their ids, in which the agent is reached.",
    )
    timeout_seconds: int = Field(
        default=60,
        ge=3,
        le=MAX_TIMEOUT_SECONDS,
        description="Lambda's timeout. The agent has a second less to answer, and our servers "
        "answer at once; AWS's own example waits 600 s, the window after which a rollout is said "
        "to be late.",
    )
    memory_mb: int = Field(
        default=256, ge=128, le=MAX_MEMORY_MB, description="Lambda's memory size."
    )
    reserved_concurrency: int | None = Field(
        default=None,
        ge=1,
        description="Invocations at a time, kept for this function and its most.",
    )

    @field_validator("endpoint")
    @classmethod
    def _one_reading(cls, endpoint: str | None) -> str | None:
        if endpoint is not None and not _is_url(endpoint):
            raise ValueError("write a URL such as https://agent.example.com")
        return endpoint

    @field_validator("queue")
    @classmethod
    def _of_sqs(cls, queue: Literal[True] | str | None) -> Literal[True] | str | None:
        # Python holds 1 for True, and so does pydantic.
        if not (queue is None or queue is True or QUEUE_URL.fullmatch(str(queue))):
            raise ValueError(
                "write true, or a URL such as "
                "https://sqs.us-east-1.amazonaws.com/123456789012/requests"
            )
        return queue

    @field_validator("secret")
    @classmethod
    def _by_arn(cls, secret: str | None) -> str | None:
        if secret is not None and SECRET.fullmatch(secret) is None:
            otherwise = "write the ARN of a secret, arn:aws:secretsmanager:…"
            raise ValueError(without_end(secret) or otherwise)
        return secret

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.endpoint is None) == (self.queue is None):
            raise ValueError(
                f"{self.name} needs one of 'endpoint' and 'queue', which say where requests go"
            )
        if self.queue is not None and self.secret is not None:
            raise ValueError(f"{self.name}: a queue takes no API key: leave 'secret' out")
        if self.key is not None and self.queue is None and self.secret is None:
            raise ValueError(f"{self.name}: 'key' encrypts a secret or a queue, and it has neither")
        return self

    @property
    def owns_queue(self) -> bool:
        """Whether the stage makes its queue."""
        return self.queue is True

    def function_name(self, names: Names) -> str:
        """The physical name of the function, and of a queue of the stage's own."""
        return names.rollouts(self.name)

    def function_arn(self, place: Place, names: Names) -> str:
        """The function without a qualifier."""
        return place.arn("lambda", f"function:{self.function_name(names)}")

    def queue_arn(self, place: Place, names: Names) -> str:
        """The queue's; "" without one."""
        if self.queue is None:
            return ""
        if self.queue is True:
            return place.arn("sqs", self.function_name(names))
        found = QUEUE_URL.fullmatch(self.queue)
        assert found is not None  # the validator saw it
        return place._replace(account=found["account"]).arn("sqs", found["name"])


def check_forwarders(
    forwarders: Sequence[Forwarder], *, names: Names, region: str, emulated: bool
) -> None:
    """Whether they can stand in a stage, beside each other.

    Raises:
        BadForwarder: one cannot.
    """
    plain = Counter(each.name.replace("-", "").replace("_", "") for each in forwarders)
    for each in forwarders:
        where = f"forwarders: {each.name}"
        name = each.function_name(names)
        if plain[each.name.replace("-", "").replace("_", "")] > 1:
            raise BadForwarder(f"{where}: two forwarders have this name")
        if each.name.startswith(RESERVED) or each.name.endswith(DEAD):
            raise BadForwarder(
                f"{where}: the name is taken by what stands beside it: choose another"
            )
        if len(name) > MAX_FUNCTION_NAME:
            raise BadForwarder(
                f"{where}: its function's name {name!r} is longer than Lambda's "
                f"{MAX_FUNCTION_NAME} characters"
            )
        if each.endpoint and urlsplit(each.endpoint).scheme != "https" and not emulated:
            raise BadForwarder(
                f"{where}: its endpoint is not https, and the agent's key would be readable"
            )
        if each.endpoint and is_loopback(each.endpoint) and not emulated:
            raise BadForwarder(
                f"{where}: its endpoint is this machine, which a function of AWS does not reach"
            )
        here = (partition_of(region), region)
        for field, partition, elsewhere in _used(each, here[0]):
            if (partition, elsewhere) != here:
                across = "" if partition == here[0] else f" of the partition {partition}"
                raise BadForwarder(
                    f"{where}: its {field} is in {elsewhere}{across}, and the stage in {region}: "
                    "name one of that region"
                )


def _used(forwarder: Forwarder, partition: str) -> Iterator[tuple[str, str, str]]:
    """What a forwarder uses: the field that names it, its partition and its region.

    Args:
        forwarder: whose.
        partition: of a queue, whose URL has one spelling in each region.
    """
    if isinstance(forwarder.queue, str) and (found := QUEUE_URL.fullmatch(forwarder.queue)):
        yield "queue", partition, found["region"]
    for field, arn in (("secret", forwarder.secret), ("key", forwarder.key)):
        if arn:
            place = Arn.of(arn)
            yield field, place.partition, place.region


def _is_url(endpoint: str) -> bool:
    """Whether a URL has one reading, and leads to a host that may be asked.

    The forwarder reads it the same way (`rollouts.serve.forwarder.address_of`).
    """
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError:
        return False
    if AMBIGUOUS.search(endpoint) or "@" in parts.netloc or not host or parts.fragment:
        return False
    if "%" in host or port == 0 or not f"{parts.path}{parts.query}".isascii():
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(endpoint))


LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class BadFeedback(ConfigurationError):
    """A path that could not report. The message names the field."""


class Feedback(Settings):
    """How results of agents are scored and reported."""

    timeout_seconds: int = Field(
        default=120,
        ge=60,
        le=120,
        description="Lambda's timeout of the function that scores and reports; a message that it "
        "has is nobody else's for six times that.",
    )
    batch_size: int = Field(
        default=10, ge=1, le=10, description="Results that it is given at a time, at most."
    )
    concurrency: int = Field(
        default=10, ge=2, le=1000, description="Batches at a time, at most: the queue's own limit."
    )
    memory_mb: int = Field(
        default=512,
        ge=256,
        le=MAX_MEMORY_MB,
        description="Lambda's memory size. It asks rewards and scores nothing by itself.",
    )
    keep_results_days: int = Field(
        default=14,
        ge=1,
        le=365,
        description="After so many days a result is deleted, and its last copy after as many more.",
    )
    endpoint: str | None = Field(
        default=None,
        max_length=512,
        description="Of the job runtime, where it is not AWS's: `https`, or this machine with "
        "`emulated`.",
    )


def check_feedback(feedback: Feedback | None, *, pinnable: bool, emulated: bool) -> None:
    """Whether there is a reward to pin, and the trainer is where credentials may go.

    Args:
        feedback: what the stage says; None of a stage without the path.
        pinnable: whether a deployment scores a response without the rest of its group.
        emulated: whether the stage is for the local AWS emulator.

    Raises:
        BadFeedback: the stage has no path; or the endpoint is no address, not encrypted, or this
            machine of a stage on AWS.
    """
    if feedback is not None and not pinnable:
        raise BadFeedback(
            "feedback: all deployments compare the responses of a group, and a deferred reward is "
            "of one alone: add a deployment that scores it"
        )
    if feedback is None or feedback.endpoint is None:
        return
    try:
        parts = urlsplit(feedback.endpoint)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    plain = parts.scheme in {"http", "https"} and not (
        parts.query or parts.fragment or parts.username
    )
    if not host or not plain or any(each.isspace() for each in feedback.endpoint):
        raise BadFeedback(
            "feedback.endpoint is not the address of a job runtime: write https://HOST, with a "
            "port or a path where it has one"
        )
    here = host in LOOPBACK
    if here and not emulated:
        raise BadFeedback(
            "feedback.endpoint is this machine, which no function on AWS reaches: only a stage "
            "with 'emulated' may name it"
        )
    if parts.scheme != "https" and not here:
        raise BadFeedback(
            "feedback.endpoint is not encrypted, and a credential would go there: write https://"
        )


MAIN: Final = "main"

MAX_RUNTIME_NAME: Final = 48

SHORTEST_SESSION: Final = 60
LONGEST_SESSION: Final = 1_209_600
"""Seconds, of botocore's `LifecycleConfiguration`."""

ENTRY: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")

VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")

LARGEST_VALUE: Final = 5000

MOST_BUCKETS: Final = 20

RESULT_BUCKETS: Final = "REWARD_ROLLOUTS_RESULT_BUCKETS"
"""The variable that `AgentCoreRLApp` reads."""


class BadAgent(ConfigurationError):
    """An agent cannot be deployed. The message says which, and why."""


class Agent(Settings):
    """One runtime of AgentCore, and the agent in it."""

    name: Annotated[Name, StringConstraints(max_length=20)] = Field(
        description="Unique in the stage: lower case, digits, `-` and `_`, 20 characters."
    )
    entry: str = Field(
        description="The agent as `module:attribute`: a `rollout_handler`, any function of a "
        "payload, or an app that serves itself, such as an `AgentCoreRLApp`."
    )
    packages: tuple[str, ...] = Field(
        min_length=1,
        description="What it comes from: paths of projects or wheels, and requirements pinned with "
        "`==`. All agents of a stage share them, and one lock.",
    )
    environment: dict[str, str] = Field(
        default={},
        max_length=50,
        description="Variables of the process, such as those of [the outbox](../rollouts.md); no "
        "secrets, which anybody who may describe the runtime reads.",
    )
    result_buckets: tuple[Bucket, ...] = Field(
        default=(),
        max_length=MOST_BUCKETS,
        description="Names of buckets that requests may have results written to, where the entry "
        "is an [`AgentCoreRLApp`](../agents/agentcore-app.md): it is told them, and its role may "
        "put objects there and read them.",
    )
    vpc: JobVpc | None = Field(
        default=None,
        description="`subnets` and `security_groups`, by their ids, that it runs in; else it "
        "reaches the internet and is in no network of yours.",
    )
    idle_seconds: int = Field(
        default=900,
        ge=SHORTEST_SESSION,
        le=LONGEST_SESSION,
        description="After which AgentCore ends a session whose `/ping` says Healthy.",
    )
    lifetime_seconds: int = Field(
        default=28_800,
        ge=SHORTEST_SESSION,
        le=LONGEST_SESSION,
        description="After which it ends any session.",
    )

    @field_validator("entry")
    @classmethod
    def _module_and_attribute(cls, entry: str) -> str:
        if ENTRY.fullmatch(entry) is None:
            raise ValueError("write module:attribute, such as acme_agents.solver:agent")
        if entry.partition(":")[0] == MAIN:
            raise ValueError("main is the module that AgentCore starts: give yours another name")
        return entry

    @field_validator("environment")
    @classmethod
    def _variables(cls, environment: dict[str, str]) -> dict[str, str]:
        for name, value in environment.items():
            if VARIABLE.fullmatch(name) is None:
                raise ValueError(f"{name[:40]!r} is no name of a variable")
            if name == RESULT_BUCKETS:
                raise ValueError(f"name the buckets of {name} in result_buckets: it grants them")
            if len(value) > LARGEST_VALUE:
                raise ValueError(
                    f"the value of {name} has {len(value)} characters; {LARGEST_VALUE} are the most"
                )
        return environment

    @model_validator(mode="after")
    def _idle_within_its_life(self) -> Self:
        if self.idle_seconds > self.lifetime_seconds:
            raise ValueError(
                f"{self.name}: idle_seconds is over lifetime_seconds, and would never be reached"
            )
        return self

    @property
    def variables(self) -> dict[str, str]:
        """Of its process."""
        buckets = ",".join(self.result_buckets)
        return self.environment | ({RESULT_BUCKETS: buckets} if buckets else {})

    @property
    def module(self) -> str:
        """Where the entry is."""
        return self.entry.partition(":")[0]

    def runtime_name(self, names: Names) -> str:
        """Its name at AgentCore."""
        return names.runtime(self.name)

    def runtime_arn(self, place: Place, names: Names) -> str:
        """It as a grant names it."""
        return runtime_arn(place, self.runtime_name(names))


def check_agents(agents: Sequence[Agent], *, names: Names, emulated: bool) -> None:
    """Whether they can stand in a stage, beside each other.

    Raises:
        BadAgent: one cannot.
    """
    if agents and emulated:
        raise BadAgent(
            "agents: the local AWS emulator has no AgentCore: serve the agent yourself "
            "(`python -m reward_functions.rollouts.servers.app`), and name it in `forwarders`"
        )
    # The names of outputs drop hyphens and underscores.
    plain = Counter(each.name.replace("-", "").replace("_", "") for each in agents)
    for each in agents:
        name = each.runtime_name(names)
        if plain[each.name.replace("-", "").replace("_", "")] > 1:
            raise BadAgent(f"agents: {each.name}: two agents have this name")
        if len(name) > MAX_RUNTIME_NAME:
            raise BadAgent(
                f"agents: {each.name}: its runtime's name {name!r} is longer than AgentCore's "
                f"{MAX_RUNTIME_NAME} characters"
            )
