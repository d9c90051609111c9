"""A stage's `agents`: programs of one's own that run on Bedrock AgentCore, in a stack of their own.

    "agents": [{"name": "solver", "entry": "acme_agents.solver:agent", "packages": ["."]}]

AgentCore unpacks a zip and starts `rollouts.servers.app` with the entry. The limits are those of
"Quotas for Amazon Bedrock AgentCore" and of botocore's `CreateAgentRuntime`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from reward_functions.aws.catalogue import Name  # noqa: TC001 - pydantic
from reward_functions.cdk.model.brought import Bucket  # noqa: TC001 - pydantic reads annotations
from reward_functions.cdk.model.deployment import Settings
from reward_functions.cdk.model.job_rights import JobVpc  # noqa: TC001 - pydantic reads annotations
from reward_functions.cdk.policies.agentcore import runtime_arn
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.aws.names import Names
    from reward_functions.cdk.policies.iam import Place

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
