"""The table of `make options` holds every option, each in a stage that may stand."""

from __future__ import annotations

from typing import Literal, get_args, get_origin

import pytest

from reward_functions.cdk.model.stages import MODELS
from tests.options.synth import refused
from tests.options.table import ROWS, checked, expected, ways

OF_EMULATOR = "3.11"
"""A Python that the stage of an emulator alone may say."""


def test_every_field_of_cdk_json_has_a_row():
    """A new field needs one: `make options` synthesises it alone and with all others."""
    assert {row.option for row in ROWS} == expected()


WORDS = [
    (".".join(filter(None, (holder, field))), word)
    for holder, model in MODELS.items()
    for field, about in model.model_fields.items()
    if get_origin(about.annotation) is Literal
    for word in get_args(about.annotation)
    if word not in (about.default, OF_EMULATOR)
]


@pytest.mark.parametrize(("option", "word"), WORDS)
def test_every_word_that_a_field_takes_has_a_row(option, word):
    assert word in [row.value for row in ROWS if row.option == option]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_stands_alone_and_changes_the_stage(row):
    assert checked(row.given) != checked(row.of_stage)


def test_a_row_joins_a_stage_by_changing_what_is_there_or_beside_it():
    there = {"name": "a", "reward": "gsm8k", "memory_mb": 2000}
    row = {"deployments": [{"name": "b", "reward": "gsm8k", "tracing": True}]}
    changed, beside = ways({"deployments": [there]}, row)
    assert changed == {"deployments": [there | {"tracing": True}]}
    assert [each["name"] for each in beside["deployments"]] == ["a", "b-2"]


REFUSED = [
    # a resource, and what is found
    ("AWS::SQS::Queue", {"QueueName": "q" * 81}, "is longer than 80"),
    ("AWS::IAM::Role", {"RoleName": {"Fn::Join": ["", ["r" * 60, {"Ref": "A"}]]}}, "than 64"),
    (
        "AWS::Lambda::Function",
        {"Environment": {"Variables": {"A": "a" * 4096}}},
        "an environment of 4097 bytes",
    ),
    (
        "AWS::IAM::Role",
        {"Policies": [{"PolicyDocument": {"Sid": "a" * 6000}}] * 2},
        "policies of 12020 characters",
    ),
    (
        "AWS::IAM::ManagedPolicy",
        {"PolicyDocument": {"Sid": "a" * 6140}},
        "policies of 6150 characters",
    ),
    ("AWS::SSM::Parameter", {"Name": "/a", "Value": "a" * 8193}, "a value of 8193"),
]


@pytest.mark.parametrize(("kind", "properties", "found"), REFUSED)
def test_what_is_over_a_limit_is_found(kind, properties, found):
    (said,) = refused({"Type": kind, "Properties": properties})
    assert found in said


def test_what_is_within_the_limits_is_not():
    assert not [*refused({"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "q" * 80}})]
