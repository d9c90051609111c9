"""An evaluation job: each row is answered once, and the custom scorer says what that is worth.

A row has `query`, `response` (the gold answer), perhaps `system` and `metadata`.

| the model | the function gets | its answer |
|---|---|---|
| open weights | `id`, `model_response`, `query`, `response`, `reference_answer`, … | an envelope |
| Nova | `id`, `messages`, `reference_answer`, `metadata`, as in training | a list, as in training |

Below the output path of the job lies `output/output/<name>/results_<moment>.json`.

Sources: custom-scorer-evaluation-dataset-formats, custom-lambda-scorer and the template
nova_reward_function_source_template of awslabs/agent-plugins; the last has Nova's reply in an
envelope whose body is a list, the Nova guide has the bare list. Inferred: what the file of results
holds.
"""

from __future__ import annotations

import json
from math import sqrt
from random import Random
from statistics import stdev
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.means import mean
from reward_functions.data.lengths import CHARACTERS_PER_TOKEN
from reward_functions.local.training_double.batches import invocations, rewards_of
from reward_functions.local.training_double.bedrock_jobs import object_at
from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.grading import Grader, failing
from reward_functions.local.training_double.policy import GREEDY
from reward_functions.local.training_double.prompts import point
from reward_functions.local.training_double.sagemaker_pay import OWN_PAY, Enveloped
from reward_functions.local.training_double.sagemaker_rows import channel, values
from reward_functions.local.training_double.sagemaker_training import require_role
from reward_functions.local.training_double.training import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

    from reward_functions.local.training_double.datafiles import Row
    from reward_functions.local.training_double.rights import Policies
    from reward_functions.local.training_double.sagemaker_plans import Plan
    from reward_functions.local.training_double.service import Call, Service
    from reward_functions.local.training_double.state import Job

TASK: Final = "custom|gen_qa|0"


def evaluation(call: Call, job: Job, plan: Plan, rights: Policies, session: Session) -> Outcome:
    """Evaluate a model, and write what it came to.

    Raises:
        JobFailed: a row, the function or the output is not as it should be.
    """
    require_role(call, plan, rights)
    uri = channel(job.request, "train")
    rows = [_event(row, number, uri) for number, row in enumerate(_rows(session, uri), 1)]
    draws = Random(f"evaluation {job.seed}")  # noqa: S311 - the same draws in every run
    most = plan.hyperparameters["max_new_tokens"] * CHARACTERS_PER_TOKEN
    temperature = plan.hyperparameters["temperature"]
    try:
        for place, row in enumerate(rows):
            reference = row["reference_answer"]
            where = point(place, 1, greedy=temperature < GREEDY)
            answered = job.policy.answer(_messages(row), reference, draws, temperature, where)
            row["model_response"] = answered[:most]
        scores = _scores(call.service, job, plan, session, rows)
    except ConfigurationError as error:
        raise JobFailed(str(error)) from None
    _write(job, session, rows, scores)
    return Outcome(status="stopped" if job.stopping else "succeeded", policy=job.policy)


def _rows(session: Session, uri: str) -> list[Any]:
    found = values(object_at(session, uri), uri)
    if not found:
        raise JobFailed(f"{uri} holds no rows.")
    return found


def _event(row: Any, number: int, uri: str) -> dict[str, Any]:
    """A row as the function gets it, without the model's response."""
    if not isinstance(row, dict):
        raise JobFailed(f"{uri}, row {number}: it is not a JSON object.")
    query, gold = row.get("query"), row.get("response")
    if not isinstance(query, str) or not isinstance(gold, str):
        raise JobFailed(f"{uri}, row {number}: `query` and `response` are not both text.")
    metadata, system = row.get("metadata"), row.get("system")
    return {
        "id": str(number - 1),
        "query": query,
        "response": gold,
        "reference_answer": {"text": gold},
        "metadata": metadata if isinstance(metadata, dict) else {},
        "processor_config": {},
    } | ({"system": system} if isinstance(system, str) else {})


def _messages(row: dict[str, Any]) -> list[dict[str, str]]:
    system = [{"role": "system", "content": row["system"]}] if "system" in row else []
    return [*system, {"role": "user", "content": row["query"]}]


def _as_trained(row: dict[str, Any]) -> dict[str, Any]:
    """An answered row as training of a Nova model sends it."""
    answer = {"role": "assistant", "content": row["model_response"]}
    return {
        "id": row["id"],
        "messages": [*_messages(row), answer],
        "reference_answer": row["metadata"].get("reference_answer", row["response"]),
        "metadata": row["metadata"],
    }


def _scores(
    service: Service, job: Job, plan: Plan, session: Session, rows: list[dict[str, Any]]
) -> list[float]:
    if not plan.function:
        service.runs.note(job, OWN_PAY)
        return [float(row["response"] in row["model_response"]) for row in rows]
    if plan.model.nova:
        pay: Callable[[list[Row]], Any] = Grader(session, plan.function)
        sent = [_as_trained(row) for row in rows]
    else:
        pay = Enveloped(session, plan.function)
        sent = [{name: value for name, value in row.items() if name != "system"} for row in rows]
    return [score for batch in invocations(sent, 1) for score in rewards_of(batch, pay(batch))]


def _write(job: Job, session: Session, rows: list[dict[str, Any]], scores: list[float]) -> None:
    error = stdev(scores) / sqrt(len(scores)) if len(scores) > 1 else 0.0
    figures = {"aggregate_reward_score": mean(scores), "aggregate_reward_score_stderr": error}
    found = {
        "simulation": "no language model was asked",
        "config_general": {"model_name": job.base, "job": job.name},
        "results": {TASK: figures, "all": figures},
        "samples": [
            {"id": row["id"], "aggregate_reward_score": score}
            for row, score in zip(rows, scores, strict=True)
        ],
    }
    parts = urlsplit(job.request["OutputDataConfig"]["S3OutputPath"])
    folder = f"{parts.path.strip('/')}/{job.name}/output/output".lstrip("/")
    key = f"{folder}/{job.name}/results_{job.created:%Y-%m-%dT%H-%M-%S}.json"
    with failing(f"Writing s3://{parts.netloc}/{key}"):
        session.client("s3").put_object(
            Bucket=parts.netloc, Key=key, Body=json.dumps(found).encode()
        )
