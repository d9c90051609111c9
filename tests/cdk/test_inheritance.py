"""What a stage gets from the one that it extends: a merge patch (RFC 7396), and who said what."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_functions.cdk.model.inheritance import inherited
from reward_functions.cdk.model.stages import BadStage, stage_of

HERE = Path(__file__).parent
DEV = {
    "region": "us-east-1",
    "deployments": ["gsm8k", "math"],
    "tags": {"team": "rewards", "cost": "7"},
    "job_rights": {"invocation_logs": "s3://company-logs/bedrock"},
    "keep_versions": 3,
}

EMULATORS = (
    "stage 'prod': account: 000000000000 is the local AWS emulator's: say 'emulated', or name your "
    "own"
)

RFC = [
    # RFC 7396, "Test Cases", those whose two sides are objects; nulls in what is extended stay.
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


def stage(name="prod", **stages):
    return stage_of({"dev": DEV} | stages, name, HERE)


@pytest.mark.parametrize(("below", "patch", "merged"), RFC)
def test_it_is_a_merge_patch(below, patch, merged):
    stages = {"dev": below, "prod": {"extends": "dev", **patch}}
    assert inherited(stages, "prod").settings == merged
    assert inherited(stages, "dev").settings == below


@pytest.mark.parametrize(
    ("own", "field", "value"),
    [
        ({"production": True}, "production", True),
        ({}, "keep_versions", 3),
        ({"keep_versions": 5}, "keep_versions", 5),
        ({"keep_versions": None}, "keep_versions", 10),
        ({"tags": {"cost": "9"}}, "tags", {"team": "rewards", "cost": "9"}),
        ({"tags": {"cost": None}}, "tags", {"team": "rewards"}),
        ({"tags": None}, "tags", {}),
        ({"region": "eu-central-1"}, "region", "eu-central-1"),
    ],
)
def test_a_stage_has_what_it_says_and_what_it_extends(own, field, value):
    assert getattr(stage(prod={"extends": "dev"} | own), field) == value


def test_deployments_are_replaced_whole_and_objects_in_other_objects_are_merged():
    found = stage(prod={"extends": "dev", "deployments": ["gsm8k"], "job_rights": {"agents": []}})
    assert [each.name for each in found.deployments] == ["gsm8k"]
    assert found.job_rights.invocation_logs == "s3://company-logs/bedrock"


def test_a_stage_that_takes_the_deployments_away_has_every_reward_again():
    assert len(stage(prod={"extends": "dev", "deployments": None}).deployments) > 2


def test_a_chain_names_who_said_each_value():
    stages = {
        "dev": DEV,
        "staging": {"extends": "dev", "tags": {"cost": "8"}, "strict": True},
        "prod": {"extends": "staging", "tags": {"owner": "sue", "team": None}, "strict": False},
    }
    found = inherited(stages, "prod")
    assert found.chain == ("prod", "staging", "dev")
    assert found.settings["tags"] == {"cost": "8", "owner": "sue"}
    assert {".".join(steps): said for steps, said in found.origins.items()} == {
        "region": "dev",
        "deployments": "dev",
        "job_rights.invocation_logs": "dev",
        "keep_versions": "dev",
        "tags.cost": "staging",
        "tags.owner": "prod",
        "strict": "prod",
    }


def test_an_emulated_stage_takes_this_machine_after_what_it_extends():
    assert stage(prod={"extends": "dev", "emulated": True}).account == "000000000000"


@pytest.mark.parametrize(
    ("stages", "sentence"),
    [
        ({"prod": {"extends": "prod"}}, "stage 'prod': extends: prod → prod leads back to itself"),
        (
            {"prod": {"extends": "a"}, "a": {"extends": "b"}, "b": {"extends": "a"}},
            "stage 'b': extends: prod → a → b → a leads back to itself",
        ),
        (
            {"prod": {"extends": "dve"}},
            "stage 'prod': extends: there is no stage 'dve'. Did you mean 'dev'?",
        ),
        ({"prod": {"extends": ["dev"]}}, "stage 'prod': extends names one other stage, a string"),
        ({"prod": {"extends": None}}, "stage 'prod': extends names one other stage, a string"),
        (
            {"prod": {"extends": "x"}, "x": []},
            "stage 'prod': extends: stage 'x' is not an object of settings",
        ),
        (
            {"prod": {"extnds": "dev", "region": "us-east-1"}},
            "stage 'prod': extnds is not a setting. Did you mean 'extends'?",
        ),
        (
            {"prod": {"extends": "dev", "account": "000000000000"}},
            EMULATORS,
        ),
        (
            {"prod": {"extends": "dev", "region": None}},
            "stage 'prod': region is missing",
        ),
    ],
)
def test_what_cannot_be_extended_is_refused_in_one_sentence(stages, sentence):
    with pytest.raises(BadStage) as refused:
        stage(**stages)
    assert str(refused.value) == sentence


def test_a_stage_that_nobody_extends_may_be_as_broken_as_it_likes():
    assert stage("dev", prod=7, other={"extends": "nowhere"}).keep_versions == 3
