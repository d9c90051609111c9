r"""SageMaker's multi-turn jobs: an agent is asked for rollouts, and says what they earn.

Requests are held to botocore's model by the wire, and to the published schema here: our own
(`agent_rft.json`), for AWS's ships nowhere. Its members and their nesting are those of the
documents that sagemaker-train 1.27 builds. Inferred: which are required, patterns and lengths, and
that members that no schema knows are refused. A newer version, 1.1.0, differs in nothing but its
number: a request for the newest meets two. Inferred, too: a role, an agent's region and the groups
    are looked at when the job is created, its data when it runs. A job in progress is not deleted;
    deleting is done at once. Evaluations (AgentRFTEvaluation) are not run here.

A rollout is registered with the job runtime, the agent's Lambda is invoked, and the reward is
waited for: the agent samples and reports by itself. Lambda's answer is `{}`, or the error of the
contract. A field report says that a rollout that never samples, one that fails and one whose reward
is late each end the job. Not simulated: AgentCore, VPCs, encryption, checkpoints, the service's
retries.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.jobs.drivers.agent_rft import schema_problems
from reward_functions.local.loopback_service.server import Refused, invalid
from reward_functions.local.training_double.hub import ABSENT, IN_USE, MODELS, absent
from reward_functions.local.training_double.jobs import (
    Job,
    decoded,
    failing,
    lambda_client,
    now,
    object_at,
    require_going,
    seed_of,
    write_log,
)
from reward_functions.local.training_double.mlflow import EXPERIMENT
from reward_functions.local.training_double.policy import Drawn, Policy
from reward_functions.local.training_double.prompts import json_lines
from reward_functions.local.training_double.sagemaker import (
    GROUPS,
    LONGEST_REASON,
    PACKAGES,
    keep_package,
    measured,
    require_licence,
    transitions,
)
from reward_functions.local.training_double.service import Kind, forget
from reward_functions.local.training_double.training import (
    JobFailed,
    Scored,
    Training,
    TrainingJob,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.local.runtime_double.state import Trajectory
    from reward_functions.local.training_double.hub import HubModel
    from reward_functions.local.training_double.jobs import Made
    from reward_functions.local.training_double.service import Call, Serve
    from reward_functions.local.training_double.training import Outcome, Step

CATEGORY: Final = "AgentRFT"

AGENT_JOBS: Final = "job.sagemaker.amazonaws.com"

TRUSTED: Final = ("sts:AssumeRole", "sts:TagSession")
"""What a role has to let the service do: without the second no session carries the job's tags."""

VERSIONS: Final = ("1.0.0", "1.1.0")
"""Of the schema."""

SCHEMA: Final[dict[str, Any]] = json.loads(
    Path(__file__).with_name("agent_rft.json").read_text("utf-8")
)

DEFAULTS: Final[Mapping[str, float]] = {
    "global_batch_size": 128,
    "group_size": 8,
    "max_epochs": 1,
    "max_steps": 50,
    "val_every": 10,
    "learning_rate": 4e-5,
    "rollout_timeout": 600,
    "temperature": 1.0,
    "sampling_top_p": 1.0,
    "sampling_max_tokens": 4096,
}
"""Recipe defaults of the developer guide's page of hyperparameters; `rollout_timeout` is no
page's."""

BEDROCK_NAMES: Final = {
    "global_batch_size": "batchSize",
    "group_size": "trainingSamplePerPrompt",
    "max_epochs": "epochCount",
    "max_steps": "maxSteps",
    "val_every": "evalInterval",
}
"""Whole numbers by the names that the simulation reads."""

MULTIPLIED: Final = 2.5
"""A learning rate of multi-turn jobs times this is one of the other simulated jobs: the default of
4e-5 then learns as theirs of 1e-4."""

METRICS: Final = {
    "rollout/reward/mean": "reward_mean",
    "rollout/reward/valid_mean": "reward_mean",
    "rollout/reward/std": "reward_std",
    "rollout/reward/min": "reward_min",
    "rollout/reward/max": "reward_max",
    "rollout/reward/zero_frac": "frac_reward_zero",
    "rollout/turns/mean": "turns_mean",
    "rollout/tokens/mean": "response_length_mean",
    "analysis/zero_adv_groups": "groups_zero_std",
    "training/total_tokens": "tokens",
    "training/num_trajectories": "rollouts",
    "training/pg_loss": "pg_loss",
    "training/grad_norm": "grad_norm",
}
"""Metrics of the developer guide, and ours of a step."""

VALIDATED: Final = {"val/reward/mean": "reward_mean", "val/reward/pass_at_1": "frac_solved"}
"""Those of an evaluation."""

AT_ONCE: Final = 4
"""Rollouts of a job that are asked for at a time: the emulator starts a process for each."""

GLANCE: Final = 0.25
"""Seconds between two looks at whether a job is to stop."""

SHOWN: Final = 300

PROBLEMS: Final = 5

LOG_GROUP: Final = f"/aws/sagemaker/Job/{CATEGORY}"


def create_job(call: Call) -> dict[str, Any]:
    """CreateJob."""
    given, name = call.parameters, call.parameters["JobName"]
    arn = JOBS.arn(call, f"{given['JobCategory']}/{name}")
    tags = call.require_making(arn)
    rights = call.hand_over(given["RoleArn"], arn, AGENT_JOBS, TRUSTED)
    document = _document(call)
    model, group = _base(document), _group(call, document)
    package = document["ModelPackageConfig"].get("InputModelPackageArn")
    config = document["TrainingConfig"]
    mlflow = {"MlflowConfig": config["MlflowConfig"]} if "MlflowConfig" in config else {}
    job = Job(
        id=arn, path="agent-rft", name=name, place=call.place, base=model.asked,
        grader=_agent(call, document["AgentConfig"]),
        request=given | document | mlflow | {"Document": document},
        hyperparameters=config.get("HyperParameters", {}), seed=seed_of(name),
        policy=PACKAGES.at(call, package).policy if package else Policy.base(),
    )  # fmt: skip
    JOBS.keep(call, job, tags)
    call.service.runs.start(job, rights, partial(_train, call, job, model, group))
    return {"JobArn": arn}


def _document(call: Call) -> dict[str, Any]:
    """The document of a request, which fits the schema that it names."""
    given = call.parameters
    schema = _schema(given["JobCategory"], given["JobConfigSchemaVersion"])
    try:
        document = json.loads(given["JobConfigDocument"])
    except (ValueError, RecursionError):
        raise invalid("JobConfigDocument is not JSON") from None
    if problems := schema_problems(schema, document):
        raise invalid(f"JobConfigDocument does not fit: {'; '.join(problems[:PROBLEMS])}")
    checked: dict[str, Any] = document
    return checked


def _schema(category: str, version: str = VERSIONS[-1]) -> dict[str, Any]:
    """The schema of a category.

    Raises:
        Refused: the double has none of it.
    """
    if category != CATEGORY or version not in VERSIONS:
        raise absent(
            f"simulation: there is no schema {version} of {category}; {CATEGORY} has "
            f"{' and '.join(VERSIONS)}"
        )
    return SCHEMA


def _agent(call: Call, config: dict[str, Any]) -> str:
    """The ARN of an agent that the double can ask."""
    if "BedrockAgentCoreConfig" in config:
        raise invalid(
            "simulation: there is no AgentCore here; serve the agent on this machine, and name a "
            "Lambda forwarder"
        )
    return call.local_function("agent", config["CustomAgentLambdaConfig"]["LambdaArn"])


def _base(document: dict[str, Any]) -> HubModel:
    """The base model of a document, whose licence is accepted where it has to be."""
    config = document["TrainingConfig"]
    name = config["BaseModelArn"].partition("/Model/")[2].partition("/")[0]
    model = MODELS.get(name)
    if model is None:
        raise absent(f"The hub content {config['BaseModelArn']} does not exist")
    require_licence(model, config)
    return model


def _group(call: Call, document: dict[str, Any]) -> Made:
    """The group of the result."""
    groups = document["ModelPackageConfig"]
    result = groups["OutputModelPackageGroupArn"]
    checkpoints = groups["IntermediateCheckpointModelPackageGroupArn"]
    if result == checkpoints:
        raise invalid("The model package group of checkpoints must not be that of the result")
    GROUPS.at(call, checkpoints)
    found: Made = GROUPS.at(call, result)
    return found


def _job(call: Call, job: Job) -> dict[str, Any]:
    moves, tags = transitions(job), call.state.tags[job.id]
    document = job.request["Document"] | {"ServiceOutput": _output(job)}
    return {
        "JobArn": job.id,
        "JobStatus": job.word,
        "CreationTime": job.created,
        "LastModifiedTime": job.modified,
        "EndTime": job.ended,
        "SecondaryStatus": moves[-1]["Status"],
        "JobSecondaryStatus": moves[-1]["Status"],
        "SecondaryStatusTransitions": moves,
        "JobConfigDocument": json.dumps(document),
        "FailureReason": job.failure[:LONGEST_REASON] or None,
        "Tags": [{"Key": key, "Value": text} for key, text in tags.items()],
    }


def _output(job: Job) -> dict[str, Any]:
    """What the service adds to a document: members of which nothing is known are left out."""
    counted, asked = job.counted, _training_job(job, [], [])
    progress, rollouts, mlflow = {}, {}, {}
    if counted["Total"]:
        rollouts = {name: counted[name] for name in ("Completed", "Total")}
        progress = {
            "MaxEpoch": asked.count("epochCount"),
            "StepsPerEpoch": counted["StepsPerEpoch"],
            "CurrentEpoch": job.steps[-1].epoch if job.steps else 0,
            "MaxSteps": counted["MaxSteps"],
            "CurrentStep": len(job.steps),
        }
    if job.run:
        names = {"ExperimentName": job.name, "RunName": job.name}
        mlflow = names | {"ExperimentId": EXPERIMENT, "RunId": job.run}
    tokens = {name: count for name, count in counted.items() if name.endswith("TokenCount")}
    found: dict[str, Any] = {
        "OutputModelPackageArn": job.model,
        "MlflowDetails": mlflow,
        "ProgressInfo": progress,
        "RolloutInfo": rollouts,
        "BillableTokenUsage": tokens,
    }
    return {name: value for name, value in found.items() if value}


JOBS: Final = Kind(
    service="sagemaker",
    path="job",
    named="JobName",
    listed="JobSummaries",
    shown=_job,
    status="JobStatus",
    equal=("JobCategory",),
    gone=(ABSENT, "The job {} does not exist"),
    taken=(IN_USE, f"A job named {{}} of {CATEGORY} exists already"),
)


def _in_category(serve: Serve) -> Serve:
    """An operation on a job, whose ARN has its category before its name."""

    def served(call: Call) -> dict[str, Any]:
        given = call.parameters
        named = f"{given['JobCategory']}/{given['JobName']}"
        return serve(replace(call, parameters=given | {"JobName": named}))

    return served


def delete_job(call: Call) -> dict[str, Any]:
    """DeleteJob."""
    job: Job = JOBS.find(call)
    with call.state.lock:
        if job.ended is None:
            raise Refused(IN_USE, f"The job {job.name} is {job.word}: stop it first")
        return forget(call, job)


def list_versions(call: Call) -> dict[str, Any]:
    """ListJobSchemaVersions."""
    call.require("*")
    _schema(call.parameters["JobCategory"])
    return {"JobConfigSchemas": [{"JobConfigSchemaVersion": each} for each in VERSIONS]}


def describe_version(call: Call) -> dict[str, Any]:
    """DescribeJobSchemaVersion."""
    call.require("*")
    category = call.parameters["JobCategory"]
    version = call.parameters.get("JobConfigSchemaVersion", VERSIONS[-1])
    return {
        "JobCategory": category,
        "JobConfigSchemaVersion": version,
        "JobConfigSchema": json.dumps(_schema(category, version)),
    }


OPERATIONS: Final[dict[str, Serve]] = {
    "CreateJob": create_job,
    "DescribeJob": _in_category(JOBS.describe),
    "StopJob": _in_category(JOBS.stop),
    "DeleteJob": _in_category(delete_job),
    "ListJobs": JOBS.list,
    "ListJobSchemaVersions": list_versions,
    "DescribeJobSchemaVersion": describe_version,
}
"""By botocore's names."""


def _number(job: Job, name: str) -> float:
    """A hyperparameter; the recipe's default where it is left out or no number."""
    try:
        return float(job.hyperparameters.get(name, DEFAULTS[name]))
    except ValueError:
        return DEFAULTS[name]


def _training_job(job: Job, cells: Sequence[str], validation: Sequence[str]) -> TrainingJob:
    counts = {ours: max(1, int(_number(job, name))) for name, ours in BEDROCK_NAMES.items()}
    return TrainingJob(
        rows=cells,
        validation=validation,
        hyperparameters=counts | {"learningRate": _number(job, "learning_rate") * MULTIPLIED},
        seed=job.seed,
        path=job.path,
        policy=job.policy,
    )


def _train(call: Call, job: Job, model: HubModel, group: Made, session: Session) -> Outcome:
    """Read the data, make the rollouts, and leave a model package."""
    runs = call.service.runs
    runs.enter(job, "dataProcessing")
    cells = {
        each["ChannelName"]: _cells(session, each["DataSource"]["S3DataSource"]["S3Uri"])
        for each in job.request["InputDataConfig"]
    }
    asked = _training_job(job, cells.get("train", []), cells.get("validation", []))

    def figures(step: Step) -> dict[str, float]:
        job.counted["TrainTokenCount"] += int(step.metrics["tokens"])
        reward = step.metrics["reward_mean"]
        line = f"simulation: step {step.number}, mean reward {reward:.4f}"
        write_log(session, LOG_GROUP, f"{job.name}/simulation", [(now(), line)])
        return measured(step, METRICS, VALIDATED)

    outcome = runs.run(job, _Rollouts(call, job, session, asked), figures)
    if outcome.status == "succeeded":
        runs.enter(job, "uploading")
        keep_package(call, session, job, outcome.policy, group=group, base=model)
    return outcome


def _cells(session: Session, uri: str) -> list[str]:
    """The prompts of a JSONL file.

    Raises:
        JobFailed: it has none, or a line is something else.
    """
    found: list[str] = []
    for number, row in json_lines(object_at(session, uri), uri):
        prompt = row.get("prompt") if isinstance(row, dict) else None
        if not isinstance(prompt, str) or not prompt.strip():
            raise JobFailed(f"{uri}: line {number}: its `prompt` is not a text.")
        found.append(prompt)
    if not found:
        raise JobFailed(f"{uri}: it holds no rows.")
    return found


class _Rollouts(Training[str]):
    """One job at work: its agent is asked, and its reward is waited for."""

    def __init__(self, call: Call, job: Job, session: Session, asked: TrainingJob) -> None:
        super().__init__(asked)
        self.call, self.kept = call, job
        job.counted["StepsPerEpoch"], job.counted["MaxSteps"] = asked.steps_per_epoch, asked.steps
        retries = {"total_max_attempts": 1}
        self.lambda_ = lambda_client(
            session, job.place.region, max_pool_connections=AT_ONCE, retries=retries
        )

    def prompts(self, rows: Iterable[str], which: str) -> Iterable[str]:  # noqa: ARG002
        """The cells themselves."""
        return rows

    def roll_out(self, prompts: Sequence[str], size: int, number: int) -> list[Scored]:
        """All rollouts of a step; the first that cannot be rewarded ends the job."""
        names = [
            (cell, f"{number}-{size}-{at}-{each}")
            for at, cell in enumerate(prompts)
            for each in range(size)
        ]
        with self.call.state.lock:
            self.kept.counted["Completed"], self.kept.counted["Total"] = 0, len(names)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            futures = [pool.submit(self._rollout, *each) for each in names]
            try:
                return [future.result() for future in futures]
            finally:
                for future in futures:
                    future.cancel()

    def _rollout(self, cell: str, which: str) -> Scored:
        require_going(self.kept)
        name, job = f"{self.kept.name}-{which}-{token_hex(4)}", self.kept
        seed = f"{self.job.seed} {which}"
        drawn = Drawn(self.policy, cell, seed, _number(job, "temperature"))
        agents = self.call.service.agents
        agents.begin(name, drawn)
        try:
            self.call.service.runtime.register(job.id, name)
            self._invoke(cell, name)
            ended = self._rewarded(name)
        finally:
            agents.end(name)
        read = sum(each.prompt_tokens for each in ended.turns)
        sampled = sum(each.completion_tokens for each in ended.turns)
        with self.call.state.lock:
            job.counted.update(Completed=1, PrefillTokenCount=read, SampleTokenCount=sampled)
        reward = sum(ended.rewards or ())
        return Scored(drawn.kind, drawn.strategy, reward, sampled, read, len(ended.turns))

    def _invoke(self, cell: str, name: str) -> None:
        """Ask the agent for a rollout.

        Raises:
            JobFailed: its function refuses, fails, or cannot be invoked.
        """
        job = self.kept
        payload = {
            "prompt": cell,
            "metadata": {
                "jobArn": job.id,
                "rolloutId": name,
                "endpoint": self.call.service.endpoint(),
            },
            "inferenceParams": {
                "temperature": _number(job, "temperature"),
                "topP": _number(job, "sampling_top_p"),
                "maxTokens": int(_number(job, "sampling_max_tokens")),
            },
        }
        with failing(f"Invoking the agent {job.grader}"):
            answer = self.lambda_.invoke(
                FunctionName=job.grader, Payload=json.dumps(payload).encode()
            )
            body = answer["Payload"].read()
        answered = decoded(body)
        reply = answered if isinstance(answered, dict) else {}
        if reply.get("errorType") or answer.get("FunctionError"):
            kind, message = str(reply.get("errorType")), str(reply.get("errorMessage", ""))
            raise JobFailed(
                f"The agent signaled that the trajectory failed: {kind[:64]}: {message[:SHOWN]}"
            )

    def _rewarded(self, name: str) -> Trajectory:
        """The trajectory once its reward has arrived.

        Raises:
            JobFailed: it failed, was never sampled, or its reward is late.
        """
        seconds = _number(self.kept, "rollout_timeout")
        late = monotonic() + seconds
        while True:
            require_going(self.kept)
            left = late - monotonic()
            waited = max(0.0, min(GLANCE, left))
            found = self.call.service.runtime.wait(self.kept.id, name, waited)
            if found.state == "FAILED":
                raise JobFailed("The agent signaled that the trajectory failed.")
            if found.finished and not found.turns:
                raise JobFailed("No sampling requests were received for a trajectory.")
            if found.finished:
                return found
            if left <= 0:
                raise JobFailed(f"No reward arrived within {seconds:g} seconds of a rollout.")
