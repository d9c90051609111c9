"""The model that a baseline asks, and how its answers are drawn: as the job would draw them.

A base is asked under the name that it is served under; a model that a job made, under the ARN of
its deployment or of the imported model, or the id that chat completions take. SageMaker serves no
base of its serverless jobs: whoever asks says which model of Bedrock stands in for it.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Final

from reward_functions.jobs.clients import openai_base_url
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.model_calls import (
    MAX_TOKENS,
    Chat,
    Converse,
    Sampling,
    converse_client,
)
from reward_functions.jobs.services import SERVICES
from reward_functions.jobs.token import key_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.job import HyperparameterValue
    from reward_functions.jobs.lookup import Place
    from reward_functions.jobs.models import Base

LIMITS: Final = ("inferenceMaxTokens", "max_response_length", "sampling_max_tokens")
"""Hyperparameters that limit an answer: Bedrock's, and those of SageMaker's recipes
(sagemaker-hyperpod-recipes; AWS's guide to multi-turn jobs)."""

MOST_DIGITS: Final = 9

EFFORTS: Final = ("reasoningEffort", "reasoning_effort")
"""Those that say how long it thinks."""

NOBODY: Final = (
    "Bedrock serves no {model} under a name of SageMaker's: name who answers for it, as ask = "
    '"MODEL" in the file or --ask MODEL: the id of the same model on Bedrock, an inference '
    "profile, or the ARN of an imported model or a Marketplace endpoint"
)


def sampling_of(
    asked: JobConfiguration, temperature: float = 1.0, max_tokens: int | None = None
) -> Sampling:
    """How answers are drawn.

    Args:
        asked: the job, for its limit of an answer and its effort.
        temperature: of the answers, from 0 to 2.
        max_tokens: of an answer; the job's own limit (`LIMITS`) where not given.

    Raises:
        BadJob: the job's limit is no whole number.
    """
    return drawn_as(asked.hyperparameters, temperature, max_tokens)


def drawn_as(
    given: Mapping[str, HyperparameterValue], temperature: float, max_tokens: int | None = None
) -> Sampling:
    """How answers are drawn by a job of these hyperparameters; else as `sampling_of`.

    Args:
        given: by the service's own names; a service gives numbers back as strings.
        temperature: of the answers, from 0 to 2.
        max_tokens: of an answer; that of the hyperparameters where not given.

    Raises:
        BadJob: their limit is no whole number.
    """
    name = next((each for each in LIMITS if each in given), LIMITS[0])
    limit = max_tokens or given.get(name, MAX_TOKENS)
    if isinstance(limit, str) and limit.isascii() and limit.isdigit() and len(limit) <= MOST_DIGITS:
        limit = int(limit)  # SageMaker's hyperparameters are strings
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        shown = repr(limit)[:42]
        raise BadJob(f"{name}: {shown} is not a whole number from 1: name a limit, --max-tokens N")
    effort = next((str(given[each]) for each in EFFORTS if each in given), "")
    return Sampling(temperature, limit, effort)


def endpoint_of(
    base: Base, sampling: Sampling, where: Place, *, ask: str | None = None, concurrency: int = 8
) -> Converse | Chat:
    """What is asked.

    Args:
        base: of the job, which says by which API.
        sampling: of its answers.
        where: the stage, in whose region it is served.
        ask: another name than the base's own, such as the ARN of a custom-model deployment.
        concurrency: calls at once.

    Raises:
        BadJob: nobody is named who answers for a base of SageMaker.
    """
    region, session = where.stage.region, where.session
    if SERVICES[base.driver].packages and not (ask or base.known):
        raise BadJob(f"ask: {NOBODY.format(model=base.identifier[:200])}")
    name = ask or (base.known.inference_id if base.known else base.identifier)
    if base.driver != "openai":
        return Converse(name, sampling, converse_client(region, session, concurrency))
    url, keys = openai_base_url(region, session), key_source(region, session)
    return Chat(name, sampling, url, keys, concurrency)


def alike(endpoint: Converse | Chat, model: str, sampling: Sampling) -> Converse | Chat:
    """Another model, or another sampling, behind the same connections.

    Args:
        endpoint: of `endpoint_of`.
        model: as it is asked for.
        sampling: of its answers.
    """
    other = copy(endpoint)
    other.model, other.sampling = model, sampling
    return other
