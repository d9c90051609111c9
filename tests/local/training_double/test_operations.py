"""The double serves what the product, the helpers and the notebooks call, and nothing else."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from botocore import xform_name

from reward_functions.local.training_double import mlflow, openai_api, server

ROOT = Path(__file__).parents[3]

CALLERS = ("reward_functions", "helpers", "notebooks")

OPENAI = {
    # how the product asks for it: the SDK's method, or a path
    "CreateFile": r"files\.\S*create|send_file\(",
    "ListFiles": r"files\.\S*list|\"listing files\", FILES",
    "GetFile": r"files\.\S*retrieve|\{FILES\}/\{file\}",
    "DeleteFile": r"files\.\S*delete|\.delete\([^\n]*FILES",
    "CreateFineTuningJob": r"jobs\.\S*create|POST /fine_tuning/jobs",
    "ListFineTuningJobs": r"jobs\.\S*list\b|, JOBS, _Job, limit",
    "GetFineTuningJob": r"jobs\.\S*retrieve|\{JOBS\}/\{quote",
    "CancelFineTuningJob": r"jobs\.\S*cancel|\"cancel\"",
    "CreateInference": r"chat\.completions\.\S*",
}


@cache
def sources():
    """The text of everything that may call the double, less the double and its neighbours."""
    return "\n".join(
        path.read_text()
        for folder in CALLERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".ipynb"} and "local" not in path.relative_to(ROOT).parts[:2]
    )


@pytest.mark.parametrize(
    "operation", [*(name for names in server.REST.values() for name in names), *server.SAGEMAKER]
)
def test_an_operation_of_aws_is_called(operation):
    """By boto3's name of it, or by the service's in quotes; a right of IAM is no call."""
    assert re.search(rf"\.{xform_name(operation)}\b|\"{operation}\"", sources())


@pytest.mark.parametrize("operation", sorted({each.action for each in openai_api.OPERATIONS}))
def test_an_operation_of_the_openai_api_is_called(operation):
    assert re.search(OPENAI[operation], sources())


@pytest.mark.parametrize("path", mlflow.PATHS)
def test_an_operation_of_mlflow_is_called(path):
    assert f'"{path}"' in sources()


@pytest.mark.parametrize("action", server.ACTIONS)
def test_a_control_is_used(action):
    """By a command, by the emulator that the double stands beside, or by a rehearsal's test."""
    method, what = action.split()
    asked = [
        *(ROOT / "reward_functions" / "cli").rglob("*.py"),
        *(ROOT / "reward_functions" / "local" / "emulator").rglob("*.py"),
        *(ROOT / "tests" / "deploy").rglob("*.py"),
    ]
    called = f'"{method}", "{what}"'
    assert any(called in path.read_text() for path in asked)
