"""The model that a baseline asks, and how its answers are drawn: as the job would draw them.

A base is asked under the name that it is served under; a model that a job made, under the ARN of
its deployment, or the id that chat completions take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.tools.jobs.clients import openai_base_url
from reward_functions.tools.jobs.configuration import BadJob
from reward_functions.tools.jobs.model_calls import (
    MAX_TOKENS,
    Chat,
    Converse,
    Sampling,
    converse_client,
)
from reward_functions.tools.jobs.token import key_source

if TYPE_CHECKING:
    from reward_functions.tools.jobs.configuration import JobConfiguration
    from reward_functions.tools.jobs.model_calls import Endpoint
    from reward_functions.tools.jobs.models import Base
    from reward_functions.tools.jobs.places import Place


def sampling_of(
    asked: JobConfiguration, temperature: float = 1.0, max_tokens: int | None = None
) -> Sampling:
    """How answers are drawn.

    Args:
        asked: the job, for its limit of an answer and its effort.
        temperature: of the answers, from 0 to 2.
        max_tokens: of an answer; the job's `inferenceMaxTokens` where not given.

    Raises:
        BadJob: the job's limit is no whole number.
    """
    given = asked.hyperparameters
    limit = max_tokens or given.get("inferenceMaxTokens", MAX_TOKENS)
    effort = given.get("reasoningEffort", "")
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise BadJob(f"inferenceMaxTokens: {limit!r} is not a whole number")
    return Sampling(temperature, limit, str(effort))


def endpoint_of(
    base: Base, sampling: Sampling, where: Place, *, ask: str | None = None, concurrency: int = 8
) -> Endpoint:
    """What is asked.

    Args:
        base: of the job, which says by which API.
        sampling: of its answers.
        where: the stage, in whose region it is served.
        ask: another name than the base's own, such as the ARN of a custom-model deployment.
        concurrency: calls at once.
    """
    region, session = where.stage.region, where.session
    name = ask or (base.known.inference_id if base.known else base.identifier)
    if base.driver == "bedrock":
        return Converse(name, sampling, converse_client(region, session, concurrency))
    url, keys = openai_base_url(region, session), key_source(region, session)
    return Chat(name, sampling, url, keys, concurrency)
