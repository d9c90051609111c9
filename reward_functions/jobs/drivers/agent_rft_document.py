"""The JSON document that a multi-turn job consists of, for training and for evaluation.

    member                training                                       evaluation
    AgentConfig           a forwarder, or an AgentCore runtime           the same
    InputDataConfig       channels `train` and `validation`              `evaluation`
    OutputDataConfig      S3OutputPath, KmsKeyArn                        and MlflowConfig
    ModelPackageConfig    a group for the result, another for            the package that is asked
                          checkpoints
    TrainingConfig        BaseModelArn, AcceptEula, MlflowConfig,        -
                          HyperParameters
    EvaluationConfig      -                                              BaseModelArn, AcceptEula,
                                                                         HyperParameters
    VpcConfig             where it runs, if anywhere                     the same

Hyperparameters are strings, and only those that were set. What the members are called is the SDK's
word, and the service's schema decides: `agent_rft_schemas` fetches it.

Source: sagemaker-train 1.27's builders of both documents (version 1.0.0).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reward_functions.jobs.agents import agent_of
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.hyperparameters import written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.jobs.job import HyperparameterValue, JobRequest

MAX_DOCUMENT: Final = 262_144
"""Characters (botocore's `JobConfigDocument`)."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a document names beside a request, all of it found or made before.

    Args:
        base: ARN of the base model's hub content.
        packages: ARN of the group that the result goes to; "" where a job makes none.
        checkpoints: ARN of the group of checkpoints, which has to be another one.
        mlflow: ARN of the MLflow app; "" for none.
    """

    base: str
    packages: str = ""
    checkpoints: str = ""
    mlflow: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A multi-turn evaluation that can be started.

    Args:
        name: of the job.
        agent: ARN of the forwarder or the runtime.
        data: `s3://…` of the rows.
        role: ARN of what it runs as.
        output: `s3://…/` of its files.
        package: ARN of the model package that is asked; "" for the base.
        hyperparameters: such as eval_group_size, pass_k_values and success_threshold.
        accept_eula: of the base model.
        tags: of the job.
    """

    name: str
    agent: str
    data: str
    role: str
    output: str
    package: str = ""
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    accept_eula: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)


def training_document(request: JobRequest, made: Resources) -> dict[str, Any]:
    """The document of a training job.

    Raises:
        BadJob: a hyperparameter is wrong, the agent is none, or there is no training file.
    """
    if not request.training:
        raise BadJob("data: a multi-turn job is given a training file")
    chosen = request.sagemaker
    channels = [_channel("train", request.training)]
    if request.validation:
        channels.append(_channel("validation", request.validation))
    training: dict[str, Any] = {
        "BaseModelArn": made.base,
        "AcceptEula": bool(chosen and chosen.accept_eula),
    }
    if made.mlflow:
        training["MlflowConfig"] = _mlflow(made.mlflow, request.name)
    if parameters := written(request.hyperparameters):
        training["HyperParameters"] = parameters
    document: dict[str, Any] = {
        "AgentConfig": agent_of(request.agent).config(),
        "InputDataConfig": channels,
        "OutputDataConfig": _output(request.output, request.model_key),
        "ModelPackageConfig": {
            "OutputModelPackageGroupArn": made.packages,
            "IntermediateCheckpointModelPackageGroupArn": made.checkpoints,
        },
        "TrainingConfig": training,
    }
    if request.vpc:
        document["VpcConfig"] = {
            "Subnets": list(request.vpc.subnets),
            "SecurityGroupIds": list(request.vpc.security_groups),
        }
    return document


def evaluation_document(request: EvaluationRequest, made: Resources) -> dict[str, Any]:
    """The document of an evaluation.

    Raises:
        BadJob: the agent is none, or a hyperparameter is no number or text.
    """
    output = _output(request.output, "")
    if made.mlflow:
        output["MlflowConfig"] = _mlflow(made.mlflow, request.name)
    document: dict[str, Any] = {
        "AgentConfig": agent_of(request.agent).config(),
        "InputDataConfig": [_channel("evaluation", request.data)],
        "OutputDataConfig": output,
        "EvaluationConfig": {
            "BaseModelArn": made.base,
            "AcceptEula": request.accept_eula,
            "HyperParameters": written(request.hyperparameters),
        },
    }
    if request.package:
        document["ModelPackageConfig"] = {"InputModelPackageArn": request.package}
    return document


def as_text(document: Mapping[str, Any]) -> str:
    """A document as the service takes it.

    Raises:
        BadJob: it is longer than the service takes.
    """
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    if len(text) > MAX_DOCUMENT:
        raise BadJob(
            f"the job's document has {len(text):,} characters; {MAX_DOCUMENT:,} are allowed"
        )
    return text


def _channel(name: str, address: str) -> dict[str, Any]:
    source = {
        "S3DataType": "S3Prefix",
        "S3Uri": address,
        "S3DataDistributionType": "FullyReplicated",
    }
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}}


def _output(address: str, key: str) -> dict[str, Any]:
    return {"S3OutputPath": address} | ({"KmsKeyArn": key} if key else {})


def _mlflow(app: str, name: str) -> dict[str, str]:
    return {"MlflowResourceArn": app, "MlflowExperimentName": name, "MlflowRunName": name}
