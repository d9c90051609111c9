"""The multi-turn jobs of the double, in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.state import Event, now

if TYPE_CHECKING:
    from datetime import datetime

    from reward_functions.cdk.policies.iam import Place

TRAINING: Final = "AgentRFT"
EVALUATION: Final = "AgentRFTEvaluation"

ENDS: Final = frozenset({"Completed", "Failed", "Stopped"})


@dataclass
class Transition:
    """A phase of a job, in SageMaker's word, and when it began and ended."""

    status: str
    began: datetime
    ended: datetime | None = None


@dataclass
class AgentJob:
    """A multi-turn job of either category.

    Args:
        id: its ARN.
        name: its own, in its category.
        category: such as "AgentRFT".
        place: its partition, region and account.
        role: ARN of what it runs as.
        version: of the schema that its document fits.
        document: as it was given, decoded.
        tags: of the job.
        policy: what it begins with.
        base: id of Bedrock's that answers for the base.
    """

    id: str
    name: str
    category: str
    place: Place
    role: str
    version: str
    document: dict[str, Any]
    tags: dict[str, str]
    policy: Policy = field(default_factory=Policy.base)
    base: str = ""
    status: str = "InProgress"
    created: datetime = field(default_factory=now)
    modified: datetime = field(default_factory=now)
    ended: datetime | None = None
    failure: str = ""
    transitions: list[Transition] = field(default_factory=list)
    progress: dict[str, int] = field(default_factory=dict)
    rollouts: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    run: str = ""
    package: str = ""
    injected: str = ""
    stopping: bool = False

    @property
    def agent(self) -> str:
        """The ARN of its Lambda function; "" where it names an AgentCore runtime."""
        config = self.document["AgentConfig"].get("CustomAgentLambdaConfig", {})
        return str(config.get("LambdaArn", ""))

    @property
    def group(self) -> str:
        """The ARN of the group of its result; "" for an evaluation."""
        config = self.document.get("ModelPackageConfig", {})
        return str(config.get("OutputModelPackageGroupArn", ""))

    @property
    def request(self) -> dict[str, Any]:
        """Its role and its MLflow app, where a training job's request has them."""
        found: dict[str, Any] = {"RoleArn": self.role}
        for member in ("TrainingConfig", "OutputDataConfig"):
            config = self.document.get(member, {}).get("MlflowConfig")
            if config:
                found["MlflowConfig"] = config
        return found

    @property
    def path(self) -> str:
        """Which API it came by."""
        return "agent-rft"

    @property
    def hyperparameters(self) -> dict[str, str]:
        """Those that were set."""
        config = self.document.get("TrainingConfig") or self.document.get("EvaluationConfig") or {}
        return dict(config.get("HyperParameters") or {})

    def enter(self, status: str) -> None:
        """Begin a phase, and end the one before."""
        moment = now()
        if self.transitions:
            self.transitions[-1].ended = moment
        self.transitions.append(Transition(status, moment))
        self.modified = moment

    def end(self, status: str, failure: str = "") -> None:
        """It has ended."""
        self.enter(status)
        self.status, self.failure, self.ended = status, failure, now()
