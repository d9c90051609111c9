"""SageMaker's serverless training jobs, and the model packages that they make.

As documented: a name is used once in its account and region; the role is passed and trusted. The
phases of a simulated job stand for `SecondaryStatus`; there is no wait for a machine. Inferred:
`BillableTokenCount`, which is estimated from the responses alone.

**Requests.** Botocore's model takes more than the service: the table of `REFUSALS` in the tests
says what else is refused. Known of the service: "Invalid HubContentArn format" for a Lambda in the
place of an evaluator (awslabs/agent-plugins). Inferred: the other sentences, and that
hyperparameters are held to the recipe when the job is created.

**Rows.** A row of an open-weight model is verl's: `prompt`, a list of turns or a string, and the
ground truth in `reward_model`. A row of a Nova model has `messages` and `reference_answer`. JSONL
and JSON are read; parquet and CSV are not, and are said to be what this simulation does not read.
Sources: "Reinforcement fine-tuning" of SageMaker's developer guide (customizing-models-rft), and
`air/schemas/verl.json` of sagemaker-train.

**Rewards.** The Lambda below an evaluator, or nobody. The response mode is the model's, as
contracts have it: what trains open weights unwraps an envelope whose `statusCode` is 200; what
trains Nova reads a bare list. A preset and a judge are AWS's own and are not here: the simulation
pays a response that ends with the reference, and says so. Checked beside what the emulator checks
itself: that the role may look at the evaluator and make a model package.

**Evaluations.** Each row is answered once; it has `query`, `response` (the gold answer), perhaps
`system` and `metadata`. The function gets `id`, `model_response`, `query`, `response`,
`reference_answer`, … and answers with an envelope; of a Nova model it gets and answers what
training does. Below the output path of the job lies `output/output/<name>/results_<moment>.json`.
Sources: custom-scorer-evaluation-dataset-formats, custom-lambda-scorer and the template
nova_reward_function_source_template of awslabs/agent-plugins; the last has Nova's reply in an
envelope whose body is a list, the Nova guide has the bare list. Inferred: what the file holds.

**Models.** Of an open-weight model the artifacts lie in the job's bucket: an adapter below
`checkpoints/hf/`, merged weights below `checkpoints/hf_merged/`. Here they are small files that say
so, with the simulated policy in `simulation.json`. A Nova model has none in the bucket: the service
keeps them.
"""

from __future__ import annotations

import json
import re
from functools import partial
from math import sqrt
from random import Random
from statistics import stdev
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.means import mean
from reward_functions.core.references import reference_text
from reward_functions.data.lengths import CHARACTERS_PER_TOKEN
from reward_functions.data.records import text_of
from reward_functions.local.loopback_service.server import invalid
from reward_functions.local.training_double import hub
from reward_functions.local.training_double.bedrock import POLICY_FILE
from reward_functions.local.training_double.hub import ABSENT, IN_USE, absent
from reward_functions.local.training_double.jobs import (
    Grader,
    Job,
    Made,
    Model,
    failing,
    model_of,
    object_at,
    put_objects,
    seed_of,
    write_log,
)
from reward_functions.local.training_double.mlflow import EXPERIMENT, require_app
from reward_functions.local.training_double.policy import GREEDY, Policy
from reward_functions.local.training_double.prompts import json_lines, point, prompts
from reward_functions.local.training_double.service import Kind, tags_at
from reward_functions.local.training_double.training import (
    JobFailed,
    Outcome,
    invocations,
    rewards_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boto3.session import Session

    from reward_functions.local.training_double.hub import Content, HubModel, Specification
    from reward_functions.local.training_double.prompts import Row
    from reward_functions.local.training_double.rights import Policies
    from reward_functions.local.training_double.service import Call, Serve
    from reward_functions.local.training_double.training import Answer, Step

SAGEMAKER: Final = "sagemaker.amazonaws.com"

PHASE_WORDS: Final = {
    "validation": "Starting",
    "dataProcessing": "Downloading",
    "training": "Training",
    "uploading": "Uploading",
}
"""`SecondaryStatus` of each phase."""

DAY: Final = 24 * 3600

LONGEST_REASON: Final = 1024
"""Characters of a `FailureReason`."""

BEDROCK_NAMES: Final = {
    "max_epochs": "epochCount",
    "global_batch_size": "batchSize",
    "learning_rate": "learningRate",
    "rollout_n": "trainingSamplePerPrompt",
    "max_prompt_length": "maxPromptLength",
    "max_response_length": "inferenceMaxTokens",
}
"""Hyperparameters of the recipes that the simulation has, by the names that it reads."""

LOG_GROUP: Final = "/aws/sagemaker/TrainingJobs"

METRICS: Final = {
    "critic/rewards/mean": "reward_mean",
    "critic/rewards/max": "reward_max",
    "critic/rewards/min": "reward_min",
    "actor/entropy": "entropy",
    "actor/pg_loss": "pg_loss",
    "actor/grad_norm": "grad_norm",
    "response_length/mean": "response_length_mean",
    "response_length/max": "response_length_max",
}
"""Metrics of verl, which trains there, and ours of a step.

Source: the Nova guide's page of RFT, and verl's own metrics."""

VALIDATED: Final = {"val-score/rewards/mean@1": "reward_mean"}
"""Those of an evaluation."""

ADAPTER: Final = "checkpoints/hf/"
MERGED: Final = "checkpoints/hf_merged/"

TECHNIQUES: Final = ("RLVR", "RLAIF")
SCORER: Final = "CustomScorerEvaluation"

_BASE: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:([a-z0-9-]{1,20}):(aws|[0-9]{12}):hub-content/([A-Za-z0-9-]{1,63})/"
    r"Model/([A-Za-z0-9-]{1,63})(?:/([0-9.]{5,14}))?"
)
_EVALUATOR: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:([a-z0-9-]{1,20}):([0-9]{12}):hub-content/([A-Za-z0-9-]{1,63})/"
    r"JsonDoc/([A-Za-z0-9-]{1,63})/([0-9.]{5,14})"
)
_NUMBER: Final = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,3})?")

READ: Final = (".jsonl", ".json")

MOST_FILES: Final = 100
"""Below one prefix."""

PROMPT: Final = frozenset({"prompt", "messages", "reference_answer"})

OK: Final = 200

END: Final = 200
"""Characters at the end of a response in which the reference pays."""

OWN_PAY: Final = "simulation: paid by the double itself, not by AWS's preset or judge"

TASK: Final = "custom|gen_qa|0"


class Plan(NamedTuple):
    """A request that the service takes.

    Args:
        model: the base, of the public hub.
        technique: "RLVR", "RLAIF", or "Evaluation".
        evaluator: version of the hub content that pays; None for a preset or a judge.
        function: ARN of the Lambda that pays; "" for none.
        group: that the model goes to; None for an evaluation without one.
        policy: to begin with.
        hyperparameters: of the recipe, with its values where the request has none.
    """

    model: HubModel
    technique: str
    evaluator: Content | None
    function: str
    group: Made | None
    policy: Policy
    hyperparameters: dict[str, Any]


def create_job(call: Call) -> dict[str, Any]:
    """CreateTrainingJob."""
    given, place, arn = (
        call.parameters,
        call.place,
        JOBS.arn(call, call.parameters["TrainingJobName"]),
    )
    tags = call.require_making(arn)
    rights = call.hand_over(given["RoleArn"], arn, SAGEMAKER)
    plan = planned(call)
    if mlflow := given.get("MlflowConfig"):
        require_app(call, mlflow["MlflowResourceArn"])
    job = Job(
        id=arn, path="sagemaker", name=given["TrainingJobName"], place=place,
        base=plan.model.asked, grader=plan.function, request=given, policy=plan.policy,
        hyperparameters={
            ours: plan.hyperparameters[theirs]
            for theirs, ours in BEDROCK_NAMES.items() if theirs in plan.hyperparameters
        },
        seed=seed_of(given["TrainingJobName"]),
    )  # fmt: skip
    JOBS.keep(call, job, tags)
    job.note("simulation: the job was created; no language model is trained")
    work = _evaluate if plan.technique == "Evaluation" else _train
    call.service.runs.start(job, rights, partial(work, call, job, plan, rights), partial(_say, job))
    return {"TrainingJobArn": arn}


def planned(call: Call) -> Plan:
    """The plan of a request.

    Raises:
        Refused: the service would not take it.
    """
    given = call.parameters
    job = given.get("ServerlessJobConfig")
    if job is None:
        raise invalid("simulation: only jobs with a ServerlessJobConfig are run here")
    model = _model(call, job["BaseModelArn"])
    technique = _technique(job, model)
    require_licence(model, job)
    if not channel(given, "train"):
        raise invalid("InputDataConfig must have the channel `train` with an S3DataSource")
    length = job.get("SequenceLength", hub.SEQUENCE)
    if technique != "Evaluation" and length != hub.SEQUENCE:
        raise invalid(f"No recipe found for SequenceLength {length}: {hub.SEQUENCE} has one")
    hyperparameters = _hyperparameters(given.get("HyperParameters", {}), model, technique)
    evaluator, function = _paying(call, job, hyperparameters, technique)
    group, policy = _packages(call, technique)
    return Plan(model, technique, evaluator, function, group, policy, hyperparameters)


def require_licence(model: HubModel, config: Mapping[str, Any]) -> None:
    """Refuse a base whose licence has to be accepted, and is not.

    Raises:
        Refused: `AcceptEula` is not set.
    """
    if model.gated and not config.get("AcceptEula"):
        raise invalid(f"{model.name} is gated: read its licence, and set AcceptEula to true")


def _model(call: Call, arn: str) -> HubModel:
    found = _BASE.fullmatch(arn)
    if found is None or found[3] != hub.HUB or found[1] != call.place.region:
        raise invalid(f"BaseModelArn {arn} is no model of {hub.HUB} in {call.place.region}")
    model = hub.MODELS.get(found[4])
    if model is None:
        raise absent(
            f"Hub content {found[4]} does not exist in {hub.HUB} (simulation: it has "
            f"{', '.join(hub.MODELS)})"
        )
    return model


def _technique(job: Mapping[str, Any], model: HubModel) -> str:
    """What is to be done, which the model has a recipe for."""
    wanted: str = job.get("CustomizationTechnique", "")
    if job["JobType"] == "Evaluation":
        wanted = "Evaluation"
        if job.get("EvaluationType") != SCORER:
            raise invalid(f"simulation: of evaluations only {SCORER} is run here")
    elif wanted not in TECHNIQUES:
        raise invalid(f"simulation: only {' and '.join(TECHNIQUES)} are run here")
    if wanted not in model.kinds:
        raise invalid(f"No recipe found: {model.name} cannot be customized by {wanted}")
    return wanted


def _hyperparameters(given: Mapping[str, str], model: HubModel, technique: str) -> dict[str, Any]:
    """The values of a recipe, those of the request among them."""
    specification = hub.specification(model, technique)
    values = {name: each["default"] for name, each in specification.items()}
    for name, text in given.items():
        if name not in specification:
            raise invalid(f"Hyperparameter {name} is not supported by the recipe")
        values[name] = _value(name, text, specification[name])
    return values


def _value(name: str, text: str, wanted: Specification) -> Any:
    kind = wanted["type"]
    if kind == "string":
        if text not in wanted.get("enum", [text]):
            raise invalid(f"Hyperparameter {name} is none of {', '.join(wanted['enum'])}")
        return text
    if kind == "boolean":
        if text.lower() not in {"true", "false"}:
            raise invalid(f"Hyperparameter {name} is neither true nor false")
        return text.lower() == "true"
    if not _NUMBER.fullmatch(text) or (kind == "integer" and not float(text).is_integer()):
        raise invalid(f"Hyperparameter {name} is no {kind}")
    number = float(text)
    if not wanted["min"] <= number <= wanted["max"]:
        raise invalid(f"Hyperparameter {name} is not from {wanted['min']} to {wanted['max']}")
    return int(number) if kind == "integer" else number


def _paying(
    call: Call, job: Mapping[str, Any], values: Mapping[str, Any], technique: str
) -> tuple[Content | None, str]:
    """The evaluator of a job, and the function below it."""
    arn, preset = job.get("EvaluatorArn", ""), values.get("preset_reward_function")
    if arn:
        evaluator, kind, reference = _evaluator(call, arn)
        if technique == "RLAIF":
            if kind != "RewardPrompt":
                raise invalid(f"The evaluator {arn} is no RewardPrompt, which RLAIF takes")
            return evaluator, ""
        if kind != "RewardFunction":
            raise invalid(f"The evaluator {arn} is no RewardFunction")
        return evaluator, call.local_function("grader", reference)
    if technique == "Evaluation" and values["lambda_arn"]:
        return None, call.local_function("grader", values["lambda_arn"])
    if technique != "RLAIF" and not preset:
        raise invalid("Either EvaluatorArn or the hyperparameter preset_reward_function is needed")
    return None, ""


def _evaluator(call: Call, arn: str) -> tuple[Content, str, str]:
    """An evaluator, its kind, and what it refers to."""
    found = _EVALUATOR.fullmatch(arn)
    if found is None:
        raise invalid(f"Invalid HubContentArn format: {arn}")
    if (found[1], found[2]) != (call.place.region, call.place.account):
        raise invalid(f"The evaluator {arn} is not of this account and region")
    content: Content = hub.CONTENTS.at(call, arn)
    inner = content.inner()
    kind, reference = inner.get("EvaluatorType"), inner.get("Reference")
    if not isinstance(kind, str) or not isinstance(reference, str):
        raise invalid(f"The document of {arn} has no EvaluatorType or no Reference")
    return content, kind, reference


def _packages(call: Call, technique: str) -> tuple[Made | None, Policy]:
    """The group that a model goes to, and the policy to begin with."""
    config = call.parameters.get("ModelPackageConfig")
    if config is None:
        if technique != "Evaluation":
            raise invalid("ModelPackageConfig with a ModelPackageGroupArn is needed")
        return None, Policy.base()
    group = GROUPS.at(call, config["ModelPackageGroupArn"])
    source = config.get("SourceModelPackageArn")
    return group, PACKAGES.at(call, source).policy if source else Policy.base()


def _job(_: Call, job: Job) -> dict[str, Any]:
    started, given, moves = job.phases.get("training"), job.request, transitions(job)
    mlflow = {"MlflowExperimentId": EXPERIMENT, "MlflowRunId": job.run}
    return {
        "TrainingJobArn": job.id,
        "CreationTime": job.created,
        "TrainingStartTime": started.created if started else None,
        "TrainingEndTime": job.ended,
        "LastModifiedTime": job.modified,
        "TrainingJobStatus": job.word,
        "SecondaryStatus": moves[-1]["Status"],
        "SecondaryStatusTransitions": moves,
        "ModelArtifacts": {"S3ModelArtifacts": folder_of(job)},
        "FailureReason": job.failure[:LONGEST_REASON] or None,
        "StoppingCondition": given.get("StoppingCondition", {"MaxRuntimeInSeconds": DAY}),
        "ProgressInfo": _progress(job),
        "MlflowDetails": mlflow if job.run else None,
        "OutputModelPackageArn": (job.model or None) if job.status == "succeeded" else None,
        "BillableTokenCount": _tokens(job) if job.ended else None,
    }


def transitions(job: Job) -> list[dict[str, Any]]:
    """Each phase in SageMaker's words, and how the job ended."""
    found: list[dict[str, Any]] = [
        {"Status": PHASE_WORDS[name], "StartTime": phase.created, "EndTime": phase.modified}
        for name, phase in job.phases.items()
    ] or [{"Status": "Starting", "StartTime": job.created}]
    if job.ended:
        end = {"Status": job.word, "StartTime": job.ended, "EndTime": job.ended}
        return [*found, end]
    found[-1].pop("EndTime", None)
    return found


def _progress(job: Job) -> dict[str, int] | None:
    if not job.steps:
        return None
    last, epochs = job.steps[-1], int(job.hyperparameters.get("epochCount", 1))
    each = last.total // epochs
    return {
        "TotalStepCountPerEpoch": each,
        "CurrentStep": last.number - (last.epoch - 1) * each,
        "CurrentEpoch": last.epoch,
        "MaxEpoch": epochs,
    }


def _tokens(job: Job) -> int:
    size = int(job.hyperparameters.get("batchSize", 1))
    group = int(job.hyperparameters.get("trainingSamplePerPrompt", 1))
    return round(sum(step.metrics["response_length_mean"] for step in job.steps) * size * group)


def measured(
    step: Step, training: Mapping[str, str], validation: Mapping[str, str]
) -> dict[str, float]:
    """The figures of a step by a service's names; those of an evaluation where it has one."""
    found = {theirs: step.metrics[ours] for theirs, ours in training.items()}
    if step.validation:
        found |= {theirs: step.validation[ours] for theirs, ours in validation.items()}
    return found


def folder_of(job: Job) -> str:
    """The folder of a job's output, which ends with a slash."""
    return f"{job.request['OutputDataConfig']['S3OutputPath'].rstrip('/')}/{job.name}/output/model/"


def _train(call: Call, job: Job, plan: Plan, rights: Policies, session: Session) -> Outcome:
    """Train, and leave the artifacts and the model package of the job."""
    _require_role(call, plan, rights)
    rows = rows_at(session, channel(job.request, "train"))
    validation = rows_at(session, channel(job.request, "validation"))
    pay: Answer = own_pay
    if plan.function:
        pay = _function(plan, session)
    else:
        job.note(OWN_PAY)
    figures = partial(measured, training=METRICS, validation=VALIDATED)
    outcome = call.service.runs.train(job, rows, validation, pay, figures)
    if outcome.status == "succeeded" and plan.group is not None:
        recipe = hub.recipe_name(plan.model, plan.technique)
        keep_package(
            call, session, job, outcome.policy, group=plan.group, base=plan.model, recipe=recipe
        )
    return outcome


def _require_role(call: Call, plan: Plan, rights: Policies) -> None:
    """Fail where the role lacks SageMaker's own rights for this job.

    Raises:
        JobFailed: it lacks one.
    """
    if not call.service.clients.aws.enforcing:
        return
    wanted = []
    if plan.evaluator is not None:
        wanted.append(("sagemaker:DescribeHubContent", plan.evaluator.id))
    if plan.group is not None and plan.technique != "Evaluation":
        wanted.append(("sagemaker:CreateModelPackage", plan.group.id))
    for action, resource in wanted:
        if not call.service.clients.allow(rights, action, resource, {}):
            role = call.parameters["RoleArn"]
            raise JobFailed(
                f"AccessDeniedException: {role} is not authorized to perform: {action} on "
                f"resource: {resource}"
            )


def _say(job: Job, session: Session, ending: str) -> None:
    """Write the events of a job to its log stream."""
    lines = []
    for event in job.events:
        figures = [f" {name}:{value:.6g}" for name, value in (event.data or {}).items()]
        lines.append((event.at, event.message + "".join(figures)))
    stream = f"{job.name}/algo-1-{round(job.created.timestamp())}"
    write_log(session, LOG_GROUP, stream, [*lines, (job.modified, ending)])


def channel(given: dict[str, Any], name: str) -> str:
    """The S3 URI of a channel; "" where the request has none of this name."""
    for each in given.get("InputDataConfig", []):
        if each["ChannelName"] == name:
            return str(each["DataSource"].get("S3DataSource", {}).get("S3Uri", ""))
    return ""


def rows_at(session: Session, uri: str) -> list[Row]:
    """The rows below a prefix, as training reads them; none for no prefix.

    Args:
        session: of the job's role.
        uri: of a file, or of a folder.

    Raises:
        JobFailed: something cannot be read, or is no row.
    """
    found = [
        _row(row, f"{name}, row {number}")
        for name, content in _files(session, uri)
        for number, row in enumerate(values(content, name), 1)
    ]
    return prompts("\n".join(map(json.dumps, found)).encode(), uri)


def _files(session: Session, uri: str) -> list[tuple[str, bytes]]:
    """The files below a prefix, with their URIs."""
    parts = urlsplit(uri)
    if not parts.netloc:
        return []
    with failing(f"Listing {uri}"):
        listed = session.client("s3").list_objects_v2(
            Bucket=parts.netloc, Prefix=parts.path.lstrip("/"), MaxKeys=MOST_FILES
        )
    keys = [each["Key"] for each in listed.get("Contents", []) if not each["Key"].endswith("/")]
    if not keys:
        raise JobFailed(f"{uri}: there is no object below this prefix.")
    names = [f"s3://{parts.netloc}/{key}" for key in keys]
    if other := next((name for name in names if not name.endswith(READ)), ""):
        raise JobFailed(f"simulation: {other} is none of {', '.join(READ)}, which are read here.")
    return [(name, object_at(session, name)) for name in names]


def values(content: bytes, name: str) -> list[Any]:
    """The JSON values of a file: one on each line, or those of a list.

    Raises:
        JobFailed: it is something else.
    """
    if not name.endswith(".json"):
        return [value for _, value in json_lines(content, name)]
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise JobFailed(f"{name} is not JSON in UTF-8.") from None
    return found if isinstance(found, list) else [found]


def _row(row: Any, where: str) -> Row:
    """A row of either kind with `messages` and `reference_answer`."""
    if not isinstance(row, dict):
        raise JobFailed(f"{where}: it is not a JSON object.")
    further = {name: value for name, value in row.items() if name not in PROMPT}
    turns = row.get("prompt", row.get("messages"))
    if isinstance(turns, str):
        turns = [{"role": "user", "content": turns}]
    truth = row.get("reference_answer")
    paid = row.get("reward_model")
    if truth is None and isinstance(paid, dict):
        truth = paid.get("ground_truth")
    found = further | {"messages": turns}
    return found | ({} if truth is None else {"reference_answer": truth})


def _function(plan: Plan, session: Session) -> Answer:
    """The deployed function; open weights read an envelope, Nova the bare list."""
    grader = Grader(session, plan.function)
    return grader if plan.model.nova else lambda rows: unwrapped(grader(rows))


def unwrapped(answer: Any) -> Any:
    """What an envelope holds.

    Raises:
        JobFailed: the answer is missing, or its status is not 200.
    """
    if not isinstance(answer, dict) or "statusCode" not in answer:
        raise JobFailed(
            "the reward function returned no envelope with `statusCode` and `body`, which training "
            "of open weights reads: it was deployed with the response mode `list`"
        )
    if answer["statusCode"] != OK:
        raise JobFailed(f"the reward function answered with status {answer['statusCode']!s:.20}")
    body = answer.get("body")
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise JobFailed("the body of the envelope is not JSON") from None


def own_pay(rows: list[Row]) -> list[dict[str, Any]]:
    """The double's own scores, in the place of a preset or of a judge."""
    return [{"id": row["id"], "aggregate_reward_score": _paid(row)} for row in rows]


def _paid(row: Row) -> float:
    content = row["messages"][-1]["content"]
    text = text_of([content] if isinstance(content, dict) else content)
    reference = row.get("reference_answer", row["metadata"].get("reference_answer"))
    return float(reference_text(reference) in text[-END:])


def _evaluate(call: Call, job: Job, plan: Plan, rights: Policies, session: Session) -> Outcome:
    """Evaluate a model, and write what it came to.

    Raises:
        JobFailed: a row, the function or the output is not as it should be.
    """
    _require_role(call, plan, rights)
    call.service.runs.enter(job, "training")
    uri = channel(job.request, "train")
    found = values(object_at(session, uri), uri)
    if not found:
        raise JobFailed(f"{uri} holds no rows.")
    rows = [_event(row, number, uri) for number, row in enumerate(found, 1)]
    draws = Random(f"evaluation {job.seed}")  # noqa: S311 - the same draws in every run
    most = plan.hyperparameters["max_new_tokens"] * CHARACTERS_PER_TOKEN
    temperature = plan.hyperparameters["temperature"]
    try:
        for place, row in enumerate(rows):
            reference = row["reference_answer"]
            where = point(place, 1, greedy=temperature < GREEDY)
            answered = job.policy.answer(_messages(row), reference, draws, temperature, where)
            row["model_response"] = answered[:most]
        scores = _scores(job, plan, session, rows)
    except ConfigurationError as error:
        raise JobFailed(str(error)) from None
    _write(job, session, rows, scores)
    return Outcome(status="stopped" if job.stopping else "succeeded", policy=job.policy)


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


def _scores(job: Job, plan: Plan, session: Session, rows: list[dict[str, Any]]) -> list[float]:
    if not plan.function:
        job.note(OWN_PAY)
        return [float(row["response"] in row["model_response"]) for row in rows]
    sent = [
        _as_trained(row)
        if plan.model.nova
        else {name: value for name, value in row.items() if name != "system"}
        for row in rows
    ]
    pay = _function(plan, session)
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
    output = job.request["OutputDataConfig"]["S3OutputPath"].rstrip("/")
    name = f"{job.name}/results_{job.created:%Y-%m-%dT%H-%M-%S}.json"
    put_objects(session, f"{output}/{job.name}/output/output", {name: json.dumps(found)})


def create_group(call: Call) -> dict[str, Any]:
    """CreateModelPackageGroup."""
    name = call.parameters["ModelPackageGroupName"]
    by = {"CreatedBy": {"IamIdentity": {"Arn": call.caller.arn}}}
    made = Made(
        id=GROUPS.arn(call, name), name=name, place=call.place, request=call.parameters | by
    )
    return {"ModelPackageGroupArn": GROUPS.keep(call, made, call.require_making(made.id))}


def _group(_: Call, group: Made) -> dict[str, Any]:
    return {
        "ModelPackageGroupArn": group.id,
        "CreationTime": group.created,
        "ModelPackageGroupStatus": "Completed",
    }


def _package(_: Call, package: Model) -> dict[str, Any]:
    return {
        "ModelPackageName": package.name,
        "ModelPackageGroupName": package.name,
        "ModelPackageVersion": int(package.id.rpartition("/")[2]),
        "ModelPackageArn": package.id,
        "CreationTime": package.created,
        "CreatedBy": {"IamIdentity": {"Arn": package.job.request["RoleArn"]}},
        "ModelPackageStatus": "Completed",
        "ModelPackageStatusDetails": {"ValidationStatuses": []},
        "ModelApprovalStatus": "PendingManualApproval",
        "ManagedStorageType": None if package.artifacts else "Restricted",
    }


def list_packages(call: Call) -> dict[str, Any]:
    """ListModelPackages."""
    call.require("*")
    wanted = call.parameters.get("ModelPackageGroupName", "").rpartition("/")[2]
    return PACKAGES.page(call, [each for each in PACKAGES.here(call) if wanted in {"", each.name}])


def keep_package(
    call: Call,
    session: Session,
    job: Job,
    policy: Policy,
    *,
    group: Made,
    base: HubModel,
    recipe: str = "",
) -> None:
    """Leave the model package of a job, and the small files that stand for a model's weights.

    Raises:
        JobFailed: they cannot be written.
    """
    uri = "" if base.nova else folder_of(job)
    of = {"HubContentName": base.name, "HubContentVersion": base.version, "RecipeName": recipe}
    container: dict[str, Any] = {"BaseModel": of, "IsCheckpoint": False}
    if uri:
        note = {"simulation": "no language model was trained", "base": base.name}
        learnt = note | {"policy": json.loads(policy.to_json())}
        files = {
            f"{ADAPTER}adapter_config.json": note,
            f"{MERGED}config.json": note,
            f"{MERGED}{POLICY_FILE}": learnt,
        }
        put_objects(session, uri, {name: json.dumps(each) for name, each in files.items()})
        source = {"S3Uri": uri, "S3DataType": "S3Prefix", "CompressionType": "None"}
        container["ModelDataSource"] = {"S3DataSource": source}
    with call.state.lock:
        call.state.versions[group.id] += 1
        arn = PACKAGES.arn(call, f"{group.name}/{call.state.versions[group.id]}")
        made = model_of(job, arn, group.name, policy)
        made.artifacts = uri
        made.request = {"InferenceSpecification": {"Containers": [container]}}
        call.state.made[arn], call.state.tags[arn], job.model = made, {}, arn


def list_tags(call: Call) -> dict[str, Any]:
    """ListTags."""
    tags = tags_at(call, call.parameters["ResourceArn"], ABSENT)
    return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}


JOBS: Final = Kind(
    service="sagemaker",
    path="training-job",
    named="TrainingJobName",
    listed="TrainingJobSummaries",
    shown=_job,
    status="TrainingJobStatus",
    gone=(ABSENT, "Requested resource not found."),
    taken=(IN_USE, "Training job names must be unique within an AWS account and region"),
)
GROUPS: Final = Kind(
    service="sagemaker",
    path="model-package-group",
    named="ModelPackageGroupName",
    shown=_group,
    gone=(ABSENT, "Model Package Group {} does not exist"),
    taken=("ValidationException", "Model Package Group already exists: {}"),
)
PACKAGES: Final = Kind(
    service="sagemaker",
    path="model-package",
    named="ModelPackageName",
    listed="ModelPackageSummaryList",
    shown=_package,
    gone=(ABSENT, "ModelPackage {} does not exist"),
)

OPERATIONS: Final[dict[str, Serve]] = {
    "CreateTrainingJob": create_job,
    "DescribeTrainingJob": JOBS.describe,
    "ListTrainingJobs": JOBS.list,
    "StopTrainingJob": JOBS.stop,
    "CreateModelPackageGroup": create_group,
    "DescribeModelPackageGroup": GROUPS.describe,
    "DescribeModelPackage": PACKAGES.describe,
    "ListModelPackages": list_packages,
    "DeleteModelPackage": PACKAGES.delete,
    "ListTags": list_tags,
}
"""By botocore's names."""
