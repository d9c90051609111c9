"""rLLM's data: task, step, trajectory, episode, group, and what an evaluator returns.

Field names and defaults are rLLM's (`rllm/types.py`, `rllm/agents/agent.py`, `rllm/eval/types.py`,
as read in November 2026). `exchange.rllm` writes and reads the same shapes without pydantic.

| rLLM | here |
| --- | --- |
| an assertion that `logprobs` are as many as `response_ids` | a ValidationError, `-O` or not |
| `Step.from_dict` fails where a field is missing | its default |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reward_functions.rollouts.record.exchange.rllm import is_cumulative
from reward_functions.rollouts.request.errors import MisalignedTokens


@dataclass
class Task:
    """A problem: what the agent sees, and what its evaluator knows of it."""

    id: str
    instruction: str | list[dict[str, Any]]
    metadata: dict[str, Any] = field(default_factory=dict)
    dataset_dir: Path = field(default_factory=Path)
    sub_dir: Path | None = None

    @property
    def task_dir(self) -> Path:
        """Where the files of this task are."""
        return self.dataset_dir / self.sub_dir if self.sub_dir else self.dataset_dir


@dataclass
class AgentConfig:
    """Where an agent finds its policy: a session of a gateway, or of our relay."""

    base_url: str
    model: str
    session_uid: str
    metadata: dict[str, Any] = field(default_factory=dict)
    is_validation: bool = False
    sampling_params: dict[str, Any] = field(default_factory=dict)


@dataclass
class Signal:
    """A number beside the reward."""

    name: str
    value: float
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class EvalOutput:
    """What an evaluator returns."""

    reward: float
    is_correct: bool
    signals: list[Signal] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


class _Model(BaseModel):
    """What rLLM's models share: any type in a field, `info` for `metadata`, and dictionaries."""

    model_config = ConfigDict(arbitrary_types_allowed=True, populate_by_name=True)

    metadata: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _info_is_metadata(cls, given: Any) -> Any:
        if isinstance(given, dict) and "info" in given:
            rest = {name: value for name, value in given.items() if name != "info"}
            return {"metadata": given["info"]} | rest
        return given

    @property
    def info(self) -> dict[str, Any]:
        """The metadata, by the name of older versions; an empty one is made to be written to."""
        if self.metadata is None:
            self.metadata = {}
        return self.metadata

    def to_dict(self) -> dict[str, Any]:
        """It as a dictionary, and what it holds likewise."""
        return self.model_dump()

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse; a field that is missing has its default.

        Raises:
            pydantic.ValidationError: a field has another type, or log-probabilities and tokens of
                a step do not belong together.
        """
        return cls.model_validate(data)


def _id() -> str:
    return str(uuid4())


class Step(_Model):
    """A call of the model.

    Raises:
        pydantic.ValidationError: there are log-probabilities, and not one for each of
            `response_ids`.
    """

    id: str = Field(default_factory=_id)
    input: Any | None = None
    output: Any | None = None
    action: Any | None = None
    reward: float = 0.0
    done: bool = False
    prompt_ids: list[Any] = Field(default_factory=list)
    response_ids: list[int] = Field(default_factory=list)
    logprobs: list[float] = Field(default_factory=list)
    routing_matrices: list[str] | None = None
    chat_completions: list[dict[str, Any]] = Field(default_factory=list)
    observation: Any = None
    thought: str = ""
    model_response: str = ""
    model_output: Any = None
    mc_return: float = 0.0
    advantage: list[float] | float | None = None
    weight_version: int | None = None

    def model_post_init(self, context: Any, /) -> None:
        """Tokens and log-probabilities belong together."""
        super().model_post_init(context)
        if self.logprobs and len(self.logprobs) != len(self.response_ids):
            raise MisalignedTokens(
                f"a step has {len(self.logprobs)} log-probabilities for "
                f"{len(self.response_ids)} tokens"
            )

    @classmethod
    def from_model_output(
        cls,
        model_output: Any,
        messages: list[dict[str, Any]] | None = None,
        action: Any | None = None,
    ) -> Step:
        """A step of what an engine returned.

        Args:
            model_output: with `content`, `reasoning`, `prompt_ids`, `completion_ids`, `logprobs`;
                each may be missing.
            messages: that the model was shown.
            action: that the agent took.
        """
        content = getattr(model_output, "content", None) or ""
        reasoning = getattr(model_output, "reasoning", None) or ""
        answer = {"role": "assistant", "content": content, "reasoning": reasoning}
        return cls(
            prompt_ids=getattr(model_output, "prompt_ids", None) or [],
            response_ids=getattr(model_output, "completion_ids", None) or [],
            logprobs=getattr(model_output, "logprobs", None) or [],
            chat_completions=[*(messages or []), answer],
            thought=reasoning,
            action=action,
            model_response=content,
            model_output=model_output,
        )


class Trajectory(_Model):
    """The steps of one agent."""

    uid: str = Field(default_factory=_id)
    name: str = "agent"
    task: Any = None
    steps: list[Step] = Field(default_factory=list)
    reward: float | None = None
    input: dict[str, Any] | None = None
    output: Any = None
    signals: dict[str, float] = Field(default_factory=dict)

    @property
    def result(self) -> Any:
        """The output, by the name of older versions."""
        return self.output

    def is_cumulative(self) -> bool:
        """Whether the messages of each step begin with those of the one before."""
        return is_cumulative([{"chat_completions": step.chat_completions} for step in self.steps])


class Episode(_Model):
    """A rollout: the trajectories of its agents."""

    id: str = Field(default_factory=_id)
    task: Any = None
    termination_reason: Any | None = None
    is_correct: bool = False
    session_id: str | None = None
    trajectories: list[Trajectory] = Field(default_factory=list)
    artifacts: dict[str, Any] = Field(default_factory=dict)
    metrics: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] | None = Field(default_factory=dict)

    @property
    def task_id(self) -> str:
        """The part of the id before the colon."""
        return self.id.partition(":")[0]

    @property
    def rollout_idx(self) -> str:
        """The part after it; "" without one."""
        return self.id.partition(":")[2].partition(":")[0]


@dataclass
class TrajectoryGroup:
    """Trajectories whose rewards are compared."""

    trajectories: list[Trajectory]
    group_id: str = ""
    metadata: list[dict[str, Any]] = field(default_factory=list)
    weight_version: int = 0

    @property
    def task_id(self) -> str:
        """The part of the id before the colon."""
        return self.group_id.partition(":")[0]

    @property
    def group_role(self) -> str:
        """The part after it, or "all_groups"."""
        return self.group_id.partition(":")[2].partition(":")[0] or "all_groups"
