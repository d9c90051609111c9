"""The schemas of multi-turn jobs that the double publishes: our own, for AWS's ships nowhere.

Members and their nesting are those of the documents that sagemaker-train 1.27 builds. Inferred:
which are required, patterns and lengths, and that members that no schema knows are refused. A newer
version, 1.1.0, differs in nothing but its number: whoever asks for the newest meets two.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.requests import Refused
from reward_functions.local.training_double.agent_state import EVALUATION, TRAINING

if TYPE_CHECKING:
    from reward_functions.local.training_double.service import Call

Schema = dict[str, Any]


def _object(required: list[str], **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _text(pattern: str, most: int = 2048) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": f"^{pattern}$"}


_S3: Final = _text(r"s3://[^/]+/?.*", 1024)
_GROUP: Final = _text(r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]*:[0-9]{12}:model-package-group/.{1,63}")
_PACKAGE: Final = _text(r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]*:[0-9]{12}:model-package/.{1,80}")
_HUB: Final = _text(r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]*:(aws|[0-9]{12}):hub-content/.{1,400}")
_KEY: Final = _text(r"arn:aws[a-z-]*:kms:[a-z0-9-]*:[0-9]{12}:.{1,200}")
_FUNCTION: Final = _text(r"arn:aws[a-z-]*:lambda:[a-z0-9-]*:[0-9]{12}:function:.{1,200}", 512)
_RUNTIME: Final = _text(r"arn:aws[a-z-]*:bedrock-agentcore:[a-z0-9-]*:[0-9]{12}:runtime/.{1,200}")
_IDS: Final = {"type": "array", "minItems": 1, "maxItems": 16, "items": _text("[-0-9a-zA-Z]+", 32)}

_AGENT: Final = {
    "oneOf": [
        _object(
            ["CustomAgentLambdaConfig"],
            CustomAgentLambdaConfig=_object(["LambdaArn"], LambdaArn=_FUNCTION),
        ),
        _object(
            ["BedrockAgentCoreConfig"],
            BedrockAgentCoreConfig=_object(
                ["AgentRuntimeArn"],
                AgentRuntimeArn=_RUNTIME,
                Qualifier=_text("[a-zA-Z][a-zA-Z0-9_]*", 100),
            ),
        ),
    ]
}

_MLFLOW: Final = _object(
    ["MlflowResourceArn"],
    MlflowResourceArn=_text(".*"),
    MlflowExperimentName=_text(".*", 256),
    MlflowRunName=_text(".*", 256),
)

_PARAMETERS: Final = {
    "type": "object",
    "propertyNames": {"maxLength": 256},
    "additionalProperties": {"type": "string", "maxLength": 2500},
}

_VPC: Final = _object(["Subnets", "SecurityGroupIds"], Subnets=_IDS, SecurityGroupIds=_IDS)


def _channels(*names: str) -> Schema:
    source = _object(
        ["S3DataType", "S3Uri"],
        S3DataType={"enum": ["S3Prefix"]},
        S3Uri=_S3,
        S3DataDistributionType={"enum": ["FullyReplicated"]},
    )
    channel = _object(
        ["ChannelName", "DataSource"],
        ChannelName={"enum": [*names]},
        DataSource=_object(["S3DataSource"], S3DataSource=source),
    )
    return {"type": "array", "minItems": 1, "maxItems": len(names), "items": channel}


def _document(required: list[str], **properties: Schema) -> Schema:
    schema = "http://json-schema.org/draft-07/schema#"
    return {"$schema": schema, **_object(required, **properties)}


_TRAINING: Final = _document(
    ["AgentConfig", "InputDataConfig", "OutputDataConfig", "ModelPackageConfig", "TrainingConfig"],
    AgentConfig=_AGENT,
    InputDataConfig=_channels("train", "validation"),
    OutputDataConfig=_object(["S3OutputPath"], S3OutputPath=_S3, KmsKeyArn=_KEY),
    ModelPackageConfig=_object(
        ["OutputModelPackageGroupArn", "IntermediateCheckpointModelPackageGroupArn"],
        OutputModelPackageGroupArn=_GROUP,
        IntermediateCheckpointModelPackageGroupArn=_GROUP,
        InputModelPackageArn=_PACKAGE,
    ),
    TrainingConfig=_object(
        ["BaseModelArn"],
        BaseModelArn=_HUB,
        AcceptEula={"type": "boolean"},
        MlflowConfig=_MLFLOW,
        HyperParameters=_PARAMETERS,
    ),
    VpcConfig=_VPC,
)

_EVALUATION: Final = _document(
    ["AgentConfig", "InputDataConfig", "OutputDataConfig", "EvaluationConfig"],
    AgentConfig=_AGENT,
    InputDataConfig=_channels("evaluation"),
    OutputDataConfig=_object(
        ["S3OutputPath"], S3OutputPath=_S3, KmsKeyArn=_KEY, MlflowConfig=_MLFLOW
    ),
    ModelPackageConfig=_object(["InputModelPackageArn"], InputModelPackageArn=_PACKAGE),
    EvaluationConfig=_object(
        ["BaseModelArn"],
        BaseModelArn=_HUB,
        AcceptEula={"type": "boolean"},
        HyperParameters=_PARAMETERS,
    ),
    StoppingCondition=_object(
        [], MaxRuntimeInSeconds={"type": "integer", "minimum": 1, "maximum": 259_200}
    ),
    VpcConfig=_VPC,
)

VERSIONS: Final = ("1.0.0", "1.1.0")

SCHEMAS: Final[dict[str, Schema]] = {TRAINING: _TRAINING, EVALUATION: _EVALUATION}


def list_versions(call: Call) -> dict[str, Any]:
    """ListJobSchemaVersions."""
    call.require("sagemaker:ListJobSchemaVersions", "*")
    schema_of(call.parameters["JobCategory"])
    return {"JobConfigSchemas": [{"JobConfigSchemaVersion": each} for each in VERSIONS]}


def describe_version(call: Call) -> dict[str, Any]:
    """DescribeJobSchemaVersion."""
    call.require("sagemaker:DescribeJobSchemaVersion", "*")
    category = call.parameters["JobCategory"]
    version = call.parameters.get("JobConfigSchemaVersion", VERSIONS[-1])
    schema = schema_of(category, version)
    return {
        "JobCategory": category,
        "JobConfigSchemaVersion": version,
        "JobConfigSchema": json.dumps(schema),
    }


def schema_of(category: str, version: str = VERSIONS[-1]) -> Schema:
    """The schema of a category.

    Raises:
        Refused: the double has none of it.
    """
    if category not in SCHEMAS or version not in VERSIONS:
        raise Refused(
            "ResourceNotFound",
            f"simulation: there is no schema {version} of {category}; {TRAINING} and {EVALUATION} "
            f"have {' and '.join(VERSIONS)}",
        )
    return SCHEMAS[category]
