"""The JSON Schema of a cdk.json takes what the stages take, and marks what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reward_functions.cdk.app.schema import file_schema, stages_schema
from reward_functions.cdk.model.deployment import Deployment
from reward_functions.cdk.model.stages import BadStage, Stage, stage_of
from tests.cdk.conftest import (
    AGENTS,
    CDK_JSON,
    COMPANY,
    DEFERRED,
    EVERYTHING,
    JUDGED,
)

HERE = Path(__file__).parent
STAGES = Draft202012Validator(stages_schema())
DEV = {"region": "us-east-1", "deployments": ["gsm8k"]}
SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:lookup-a1b2c3"


@pytest.mark.parametrize("schema", [file_schema(), stages_schema()])
def test_it_is_a_schema_and_has_no_pattern_of_pythons_own(schema):
    Draft202012Validator.check_schema(schema)
    assert "\\\\A" not in json.dumps(schema)
    assert "\\\\Z" not in json.dumps(schema)


def test_it_takes_this_repositorys_file():
    assert Draft202012Validator(file_schema()).is_valid(CDK_JSON)
    assert Draft202012Validator(file_schema()).is_valid({"$schema": "./x.json", **CDK_JSON})


@pytest.mark.parametrize("given", [EVERYTHING, JUDGED, COMPANY, DEFERRED, AGENTS])
def test_it_takes_a_stage_with_every_option(given):
    assert [error.json_path for error in STAGES.iter_errors({"dev": given})] == []


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"read_buckets": ["s3://acme"]}, "read_buckets"),
        ({"read_buckets": [{"address": "s3://acme"}]}, "read_buckets"),
        ({"deployments": [{"reward": "gsm8k", "secrets": {"KEY": SECRET}}]}, "deployments"),
        (
            {"deployments": [{"reward": "gsm8k", "secrets": {"KEY": {"arn": SECRET}}}]},
            "deployments",
        ),
    ],
)
def test_a_string_stands_for_an_object_where_the_stages_take_one(given, field):
    assert stage_of({"dev": DEV | given}, "dev", HERE).model_dump()[field]
    assert STAGES.is_valid({"dev": DEV | given})


def test_it_knows_every_field_of_a_stage_and_of_a_deployment():
    known = stages_schema()["$defs"]
    assert set(known["Stage"]["properties"]) == {"extends", *Stage.model_fields} - {"name"}
    (_, whole) = known["Deployment"]["anyOf"]
    assert set(whole["properties"]) == set(Deployment.model_fields)
    for field in (*known["Stage"]["properties"].values(), *whole["properties"].values()):
        assert field["description"]


@pytest.mark.parametrize(
    "stages",
    [
        {"dev": DEV, "prod": {"extends": "dev", "account": None}},
        {"dev": DEV | {"deployments": [{"name": "gsm8k"}, {"reward": "math"}]}},
        {
            "dev": DEV
            | {
                "deployments": [
                    {"reward": {"name": "acme.both", "weighted": {"math": 0.5, "length": 0.5}}}
                ]
            }
        },
    ],
)
def test_it_takes_what_is_read_before_the_models(stages):
    assert STAGES.is_valid(stages)


@pytest.mark.parametrize(
    "stages",
    [
        {"dev": {"deployments": ["gsm8k"]}},
        {"dev": DEV | {"regoin": "us-east-1"}},
        {"dev": DEV | {"name": "dev"}},
        {"Dev": DEV},
        {"dev-": DEV},
        {"dev": DEV | {"python": "3.10"}},
        {"dev": DEV | {"architecture": "riscv"}},
        {"dev": DEV | {"account": "12"}},
        {"dev": DEV | {"deployments": [7]}},
        {"dev": DEV | {"deployments": [""]}},
        {"dev": DEV | {"deployments": [{"memory_mb": 2048}]}},
        {"dev": DEV | {"deployments": [{"reward": "gsm8k", "memory_mb": 1}]}},
        {"dev": DEV | {"deployments": [{"reward": {"weighted": {}}}]}},
        {"dev": DEV | {"deployments": [{"reward": "gsm8k", "response_mode": "object"}]}},
        {"dev": DEV | {"keep_versions": 0}},
    ],
)
def test_it_marks_what_the_stages_refuse(stages):
    assert not STAGES.is_valid(stages)
    with pytest.raises(BadStage):
        stage_of(stages, next(iter(stages)), HERE)
