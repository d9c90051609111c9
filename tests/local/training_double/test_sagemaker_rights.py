"""Whoever was granted nothing is refused each of SageMaker's calls before anything is looked up."""

from __future__ import annotations

import re

import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from reward_functions.local.training_double.server import SAGEMAKER
from tests.local.training_double.conftest import ACCOUNT, REGION, allow

WORDS = {
    "arn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:model-package-group/none",
    "role": f"arn:aws:iam::{ACCOUNT}:role/training-double-none",
    "uri": "s3://bucket/key",
    "app": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:mlflow-app/app-0A1B2C3D4E5F",
    "job": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:job/AgentRFT/none",
    "plain": "none-none-none",
    "version": "1.0.0",
}
"""Texts, one of which each pattern of a required member takes."""


def least(shape):
    """The smallest value that a call can have."""
    match shape.type_name:
        case "structure":
            return {name: least(shape.members[name]) for name in shape.required_members}
        case "list":
            return [least(shape.member)] * shape.metadata.get("min", 1)
        case "map":
            return {}
        case "string":
            return _text(shape)
        case "boolean":
            return True
        case _:
            return shape.metadata.get("min", 1)


def _text(shape):
    if shape.enum:
        return shape.enum[0]
    pattern = shape.metadata.get("pattern", ".*")
    if r"\p{" in pattern:  # of tags, which are free text
        return WORDS["plain"]
    taken = (word for word in WORDS.values() if re.fullmatch(pattern, word))
    return next(taken, WORDS["plain"])


def refused(client, operation):
    """The code of what a call ends in; "" where it is answered."""
    shape = client.meta.service_model.operation_model(operation).input_shape
    request = least(shape)
    if operation == "CreateTrainingJob":
        request["RoleArn"] = WORDS["role"]
    try:
        getattr(client, xform_name(operation))(**request)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return ""


@pytest.fixture(scope="module")
def nobody(world):
    return world.client(world.user(allow("s3:GetObject", "*")), "sagemaker")


@pytest.mark.parametrize("operation", SAGEMAKER)
def test_whoever_was_granted_nothing_may_call_nothing(nobody, operation):
    assert refused(nobody, operation) == "AccessDeniedException"
