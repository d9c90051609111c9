"""A job as SageMaker's `CreateTrainingJob` takes it for serverless customization.

It has no container and no instances: `ServerlessJobConfig` is in their place. Whatever a recipe
has goes out, each value a string. `Peft` left out means that every weight is trained: it is left
out for "FULL" alone. Sources: botocore's model of SageMaker; sagemaker-train 1.27.0,
`finetune_utils.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.parts import Serverless
from reward_functions.jobs.request_rules import check_request

if TYPE_CHECKING:
    from reward_functions.jobs.job import JobRequest

FINE_TUNING: Final = "FineTuning"


def request_of(
    request: JobRequest, *, evaluator: str, model_packages: str, mlflow: str
) -> dict[str, Any]:
    """The arguments of the call.

    Args:
        request: the job.
        evaluator: ARN of its reward; "" where the reward is the service's own.
        model_packages: ARN of the group for what is made.
        mlflow: ARN of the app for the figures; "" for none.

    Raises:
        BadJob: it has no data or no role, or breaks a rule of the service's model.
    """
    if not request.training:
        raise BadJob("data: a job of SageMaker is given a training file")
    chosen = request.sagemaker or Serverless()
    made: dict[str, Any] = {
        "TrainingJobName": request.name,
        "RoleArn": request.role,
        "InputDataConfig": _channels(request),
        "OutputDataConfig": {"S3OutputPath": request.output.rstrip("/")},
        "ServerlessJobConfig": _serverless(request, chosen, evaluator),
        "HyperParameters": {name: str(value) for name, value in request.hyperparameters.items()},
        "ModelPackageConfig": {"ModelPackageGroupArn": model_packages},
    }
    if request.model_key:
        made["OutputDataConfig"]["KmsKeyId"] = request.model_key
    if mlflow:
        made["MlflowConfig"] = {"MlflowResourceArn": mlflow, "MlflowRunName": request.name}
    if request.vpc:
        made["VpcConfig"] = {
            "Subnets": list(request.vpc.subnets),
            "SecurityGroupIds": list(request.vpc.security_groups),
        }
    if request.tags:
        made["Tags"] = tags_of(request)
    check_request("sagemaker", "CreateTrainingJob", made)
    return made


def tags_of(request: JobRequest) -> list[dict[str, str]]:
    """The tags of a job, as SageMaker takes them."""
    return [{"Key": key, "Value": value} for key, value in request.tags.items()]


def _serverless(request: JobRequest, chosen: Serverless, evaluator: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "BaseModelArn": request.model,
        "JobType": FINE_TUNING,
        "CustomizationTechnique": chosen.technique,
        "AcceptEula": chosen.accept_eula,
    }
    if chosen.peft == "LORA":
        made["Peft"] = chosen.peft
    if chosen.sequence_length:
        made["SequenceLength"] = chosen.sequence_length
    if evaluator:
        made["EvaluatorArn"] = evaluator
    return made


def _channels(request: JobRequest) -> list[dict[str, Any]]:
    files = {"train": request.training, "validation": request.validation}
    return [
        {
            "ChannelName": name,
            "DataSource": {
                "S3DataSource": {
                    "S3DataType": "S3Prefix",
                    "S3Uri": uri,
                    "S3DataDistributionType": "FullyReplicated",
                }
            },
        }
        for name, uri in files.items()
        if uri
    ]
