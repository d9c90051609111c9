"""An evaluation job of SageMaker that scores a model's answers with our reward function.

    CreateTrainingJob, JobType Evaluation, EvaluationType CustomScorerEvaluation

AWS's two clients name the function differently, and a job takes either name:

| the scorer | is sent as | of the models |
|---|---|---|
| ARN of a registered evaluator | `EvaluatorArn`, for Nova with `lambda_type` | all |
| ARN of an immutable function | hyperparameters `lambda_arn`, `lambda_type` | Nova alone |

The data set is `reward data convert --to sagemaker-eval`'s. Sources: sagemaker-train 1.27.0,
`custom_scorer_evaluator.py` and `pipeline_templates.py`, for the first; nova-forge-sdk,
`runtime_manager.py`, for the second. The two name the mean differently, "mean" and "average", and
which of them a container takes is not known: each goes with its client. Never run on AWS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reward_functions.aws.arn import BadArn, FunctionArn
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.rows.writing import ANSWERED, TAKEN, write
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.request_rules import check_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reward_functions.jobs.job import HyperparameterValue
    from reward_functions.jobs.parts import Vpc

LambdaType = Literal["rft", "custom_metrics"]
"""Which event a job of Nova sends: the row of training, or `serving.nova_metrics`'s."""

EVALUATOR: Final = re.compile(
    r"arn:aws:sagemaker:(?P<region>[a-z0-9-]{1,20}):(?P<account>[0-9]{12}):hub-content/"
    r"[a-zA-Z0-9-]{1,63}/JsonDoc/[a-zA-Z0-9-]{1,64}/[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}"
)
"""Of one version of an evaluator; SageMaker's own clients take none without it."""

BASE: Final = re.compile(
    r"arn:aws[a-z-]{0,20}:sagemaker:(?P<region>[a-z0-9-]{1,20}):[0-9a-z]{1,12}:hub-content/"
    r"[a-zA-Z0-9-]{1,63}/Model/(?P<name>[a-zA-Z0-9-]{1,64})(?:/[0-9.]{1,14})?"
)
PACKAGE: Final = re.compile(
    r"(?P<start>arn:aws[a-z-]{0,20}:sagemaker:[a-z0-9-]{1,20}:[0-9]{12}:)model-package/"
    r"(?P<group>[a-zA-Z0-9-]{1,63})/[0-9]{1,9}"
)
ROLE: Final = re.compile(r"arn:aws[a-z-]{0,20}:iam::(?P<account>[0-9]{12}):role/\S{1,512}")

AGGREGATIONS: Final = ("mean", "average", "median", "max", "min", "sum")

FIXED: Final = {"task": "gen_qa", "strategy": "gen_qa", "postprocessing": "True"}
"""What makes a job generate answers, and have them scored."""

OWN: Final = frozenset(
    {*FIXED, "metric", "evaluation_metric", "lambda_arn", "lambda_type", "aggregation"}
)
"""Hyperparameters that the rest of an evaluation decides."""

DAY: Final = 86_400
"""Seconds: SageMaker's own clients let a job run so long."""

UNLOST: Final = frozenset({ANSWERED, TAKEN})
"""What a row may lose without another question being asked of the model."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of one model.

    Args:
        name: of the job.
        model: ARN of the base model in SageMaker's hub.
        scorer: ARN of an evaluator's version or of an immutable deployment's function.
        rows: `s3://…` of the data set.
        output: `s3://…` below which the results are.
        role: ARN of what the job runs as.
        package: ARN of the tuned model's package; "" for the base model.
        lambda_type: of Nova alone.
        aggregation: of the rows' scores, of `AGGREGATIONS`; "" for the mean, by its client's word.
        inference: hyperparameters such as `max_new_tokens` and `temperature`.
        accept_eula: the model's licence is accepted.
        mlflow: ARN of the app for the figures; "" for none.
        output_key: ARN of the KMS key for the results; "" for AWS's own.
        vpc: where the job runs; None for the service's own network.
        tags: of the job.
        longest: seconds that it may run.
    """

    name: str
    model: str
    scorer: str
    rows: str
    output: str
    role: str
    package: str = ""
    lambda_type: LambdaType = "rft"
    aggregation: str = ""
    inference: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    accept_eula: bool = False
    mlflow: str = ""
    output_key: str = ""
    vpc: Vpc | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    longest: int = DAY


class _Scorer(NamedTuple):
    """How a scorer is named in a request."""

    account: str
    region: str
    serverless: dict[str, str]
    hyperparameters: dict[str, str]


def evaluation_request(evaluation: Evaluation) -> dict[str, Any]:
    """The arguments of `CreateTrainingJob`.

    Raises:
        BadJob: the scorer cannot be named to this model, is another account's or region's, or the
            request breaks a rule of the service's model.
    """
    base = BASE.fullmatch(evaluation.model)
    if base is None:
        raise BadJob(f"{evaluation.model} is not the ARN of a model in SageMaker's hub")
    nova = "nova" in base["name"].lower()  # as sagemaker-train tells them apart
    scorer = _scorer(evaluation, nova=nova)
    _same_place(evaluation, scorer, base["region"])
    made: dict[str, Any] = {
        "TrainingJobName": evaluation.name,
        "RoleArn": evaluation.role,
        "InputDataConfig": [_channel(evaluation.rows)],
        "OutputDataConfig": {
            "S3OutputPath": evaluation.output.rstrip("/"),
            "CompressionType": "NONE",
        },
        "ServerlessJobConfig": {
            "BaseModelArn": evaluation.model,
            "AcceptEula": evaluation.accept_eula,
            "JobType": "Evaluation",
            "EvaluationType": "CustomScorerEvaluation",
            **scorer.serverless,
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": evaluation.longest},
        "HyperParameters": _inference(evaluation)
        | FIXED
        | {"metric" if nova else "evaluation_metric": "all"}
        | scorer.hyperparameters,
    }
    if evaluation.package:
        made["ModelPackageConfig"] = _package(evaluation.package)
    made |= _options(evaluation)
    if evaluation.output_key:
        made["OutputDataConfig"]["KmsKeyId"] = evaluation.output_key
    check_request("sagemaker", "CreateTrainingJob", made)
    return made


def evaluation_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of the data set; a response in a row is left out, for the job asks the model.

    Args:
        rows: canonical: `messages`, `reference_answer`, `metadata`.

    Raises:
        BadJob: a row asks more than a system prompt and one question of text, which is all that an
            evaluation job asks.
    """
    for number, row in enumerate(rows, start=1):
        written = write(row, "sagemaker-eval")
        lost = [each for each in written.lost if each not in UNLOST]
        if lost:
            raise BadJob(
                f"row {number}: an evaluation job asks a system prompt and one question of text, "
                f"and would leave out {lost[0]}; evaluate without --on sagemaker"
            )
        yield written.content


def _scorer(evaluation: Evaluation, *, nova: bool) -> _Scorer:
    evaluator = EVALUATOR.fullmatch(evaluation.scorer)
    if evaluator:
        if evaluation.lambda_type != "rft":
            raise BadJob("an evaluator is asked as lambda_type rft: name the function for another")
        return _Scorer(
            evaluator["account"],
            evaluator["region"],
            {"EvaluatorArn": evaluation.scorer},
            _aggregated(evaluation, "mean") | ({"lambda_type": "rft"} if nova else {}),
        )
    try:
        function = FunctionArn.parse(evaluation.scorer)
    except BadArn:
        raise BadJob(
            f"{evaluation.scorer} is neither a version of an evaluator (…:hub-content/HUB/JsonDoc/"
            "NAME/1.0.0) nor the ARN of a function"
        ) from None
    if not nova:
        raise BadJob(
            "models of open weights are evaluated by a registered evaluator alone, and not by a "
            "function's ARN: name the evaluator"
        )
    if not function.immutable:
        raise BadJob(
            f"{evaluation.scorer} may change while it scores: name an immutable deployment's "
            'function ("immutable": true in cdk.json)'
        )
    named = {"lambda_arn": evaluation.scorer, "lambda_type": evaluation.lambda_type}
    return _Scorer(
        function.account, function.region, {}, _aggregated(evaluation, "average") | named
    )


def _aggregated(evaluation: Evaluation, mean: str) -> dict[str, str]:
    chosen = evaluation.aggregation or mean
    if chosen not in AGGREGATIONS:
        raise BadJob(
            f"aggregation {chosen!r} is none of {', '.join(AGGREGATIONS)}"
            f"{did_you_mean(chosen, AGGREGATIONS)}"
        )
    return {"aggregation": chosen}


def _same_place(evaluation: Evaluation, scorer: _Scorer, region: str) -> None:
    role = ROLE.fullmatch(evaluation.role)
    if role and role["account"] != scorer.account:
        raise BadJob(
            f"{evaluation.scorer} belongs to account {scorer.account}, and the job runs in "
            f"{role['account']}: deploy and register the reward there"
        )
    if scorer.region != region:
        raise BadJob(
            f"{evaluation.scorer} is in {scorer.region}, and the model in {region}: deploy the "
            f"reward in {region}"
        )


def _inference(evaluation: Evaluation) -> dict[str, str]:
    taken = sorted(OWN & evaluation.inference.keys())
    if taken:
        raise BadJob(f"the hyperparameter {taken[0]} is set by the evaluation itself")
    for name, value in evaluation.inference.items():
        if isinstance(value, float) and not isfinite(value):
            raise BadJob(f"the hyperparameter {name} is no finite number")
    return {name: str(value) for name, value in evaluation.inference.items()}


def _package(arn: str) -> dict[str, str]:
    found = PACKAGE.fullmatch(arn)
    if found is None:
        raise BadJob(f"{arn} is not the ARN of a model package (…:model-package/GROUP/1)")
    group = f"{found['start']}model-package-group/{found['group']}"
    return {"ModelPackageGroupArn": group, "SourceModelPackageArn": arn}


def _channel(uri: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": "train", "DataSource": {"S3DataSource": source}}


def _options(evaluation: Evaluation) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if evaluation.mlflow:
        made["MlflowConfig"] = {
            "MlflowResourceArn": evaluation.mlflow,
            "MlflowRunName": evaluation.name,
        }
    if evaluation.vpc:
        made["VpcConfig"] = {
            "Subnets": list(evaluation.vpc.subnets),
            "SecurityGroupIds": list(evaluation.vpc.security_groups),
        }
    if evaluation.tags:
        made["Tags"] = [{"Key": key, "Value": value} for key, value in evaluation.tags.items()]
    return made
