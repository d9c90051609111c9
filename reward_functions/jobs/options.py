"""Which service has a place for which field of a configuration, and what each must be given.

A field that a service has no words for is refused by its name: left out of a request in silence, it
would be believed to hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.jobs.configuration import MISSING_DEPLOYMENT, BadJob
from reward_functions.jobs.models import API

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.job import DriverName
    from reward_functions.jobs.parts import Serverless

SOME: Final = ("deployment", "agent", "sagemaker", "invocation_logs", "model_key", "vpc")
"""Fields that some services have no place for; every service takes the others."""

TAKEN: Final[dict[DriverName, frozenset[str]]] = {
    "bedrock": frozenset({"deployment", "invocation_logs", "model_key", "vpc"}),
    "openai": frozenset({"deployment"}),
    "sagemaker": frozenset({"deployment", "sagemaker", "model_key", "vpc"}),
    "agent-rft": frozenset({"agent", "sagemaker", "model_key", "vpc"}),
}

SERVERLESS_ALONE: Final = ("preset_reward", "judge", "judge_prompt", "sequence_length")
"""Fields below `[sagemaker]` that its multi-turn jobs have no place for."""

MISSING: Final = MISSING_DEPLOYMENT.format(file="the job's file")

JUDGED: Final = ("judge", "judge_prompt")


def check_options(asked: JobConfiguration, driver: DriverName) -> None:
    """Refuse what a service has no place for, and what it needs and was not given.

    Raises:
        BadJob: the message names the field.
    """
    for name in SOME:
        if getattr(asked, name) is not None and name not in TAKEN[driver]:
            raise BadJob(f"{name}: {API[driver]} has no such setting; leave it out")
    if driver == "sagemaker":
        _check_rewards(asked)
    elif driver == "agent-rft":
        _check_agent(asked)
    else:
        deployment_of(asked)


def deployment_of(asked: JobConfiguration) -> str:
    """The reward that a job names.

    Raises:
        BadJob: it names none.
    """
    if asked.deployment is None:
        raise BadJob(MISSING)
    return asked.deployment


def serverless_of(asked: JobConfiguration) -> Serverless:
    """What a user wrote for SageMaker's jobs; the defaults where nothing was written."""
    from reward_functions.jobs.parts import Serverless  # noqa: PLC0415 - for its defaults

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
