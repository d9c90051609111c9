"""A run holds its reward: a team deploys, changes, breaks and takes back its own, while jobs ask.

One story on the emulator, each step a test that stands on the one before.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.core.types import Scored
from reward_functions.serving.catalogue import immutable_name, stack_name
from reward_functions.testing import sample
from reward_functions.tools.deployed import DeployedFunction, deployments
from reward_functions.tools.local_aws.cdk import Cdk, CdkFailed
from tests.wheel import OFFLINE, ROOT

if TYPE_CHECKING:
    from pathlib import Path

STAGE = "hold"

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "team-rewards"
version = "1.0.0"
dependencies = ["reward-functions"]

[project.entry-points.reward_functions]
"team.brief" = "team_rewards.brief:brief"
"""

RECORD = {
    "METADATA": "Metadata-Version: 2.1\nName: team-rewards\nVersion: 1.0.0\n",
    "entry_points.txt": "[reward_functions]\nteam.brief = team_rewards.brief:brief\n",
}

REWARD = '''
"""A reward of a team."""

import os

from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Score

HERE = "AWS_LAMBDA_FUNCTION_NAME" in os.environ


@reward_function(
    version=VERSION,
    name="team.brief",
    examples=[
        Example("positive", response="", score=1.0),
        Example("negative", response="much too long", score=0.0),
    ],
)
def brief(sample):
    """Whether the response is brief."""
    return Score(float(LENGTH))
'''

DEPLOYMENTS = [
    "gsm8k",
    {"name": "brief", "reward": "team.brief"},
    {"name": "brief-held", "reward": "team.brief", "immutable": True},
]

FOUR = sample("four", id="a")


@dataclass
class Team:
    """A repository with one reward, deployed to the local AWS."""

    folder: Path
    cdk: Cdk
    aws: object
    kept: dict = field(default_factory=dict)

    def write(self, length, version=1):
        """What the reward looks at."""
        text = REWARD.replace("LENGTH", length).replace("VERSION", str(version))
        (self.folder / "team_rewards" / "brief.py").write_text(text)

    def deploy(self, length, version=1):
        self.write(length, version)
        return self.cdk.deploy()

    @property
    def catalogue(self):
        return {each.name: each for each in deployments(STAGE, self.aws.session())}

    def live(self, name):
        """The version `live` points to."""
        alias = self.aws.client("lambda").get_alias(
            FunctionName=self.catalogue[name].function_arn, Name="live"
        )
        return alias["FunctionVersion"]

    def score(self, arn, asked=FOUR):
        (result,) = DeployedFunction(arn, session=self.aws.session()).score([asked])
        assert isinstance(result, Scored), result.error
        return result.score.value


@pytest.fixture(scope="module")
def team(local_aws, tmp_path_factory):
    folder = tmp_path_factory.mktemp("team")
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "team_rewards").mkdir()
    (folder / "team_rewards" / "__init__.py").write_text('"""A team\'s rewards."""\n')
    record = folder / "team_rewards-1.0.0.dist-info"
    record.mkdir()
    for name, text in RECORD.items():
        (record / name).write_text(text)
    stage = {"region": "us-east-1", "emulated": True, "packages": ["."], "deployments": DEPLOYMENTS}
    about = {"app": "reward-cdk-app", "context": {"stages": {STAGE: stage}}}
    (folder / "cdk.json").write_text(json.dumps(about))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (OFFLINE | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}).items():
            patch.setenv(name, value)
        cdk = Cdk(local_aws, folder, stage=STAGE)
        cdk.bootstrap()
        yield Team(folder, cdk, local_aws)


def test_a_first_deployment_that_fails_can_be_made_again(team):
    """The reward passes its examples where the stack is synthesised, and does not start there."""
    with pytest.raises(CdkFailed, match=r"brief.* does not start on Lambda: .*ZeroDivisionError"):
        team.deploy("sample.response == '' if not HERE else 1 / 0")
    assert team.catalogue == {}


def test_the_first_deployment_gives_jobs_a_version(team):
    team.deploy("len(sample.response) <= 4")
    brief, held = team.catalogue["brief"], team.catalogue["brief-held"]
    assert brief.version_arn == f"{brief.function_arn}:1"
    assert team.live("brief") == "1"
    assert held.alias_arn is None
    assert held.version_arn == held.function_arn
    assert held.function_arn.endswith(
        immutable_name(STAGE, "brief-held", "")[:-1] + held.function_arn[-9:]
    )
    team.kept["one"] = (brief, held, team.catalogue["gsm8k"])
    for arn in (brief.version_arn, brief.alias_arn, held.version_arn):
        assert team.score(arn) == 1.0


def test_a_deployment_moves_live_and_nothing_that_a_job_was_given(team):
    """The code changed and its version did not, which the synthesis warns of."""
    said = team.deploy("len(sample.response) < 4")
    brief, held, gsm8k = team.kept["one"]
    assert "team.brief" in said
    assert "version" in said
    now = team.catalogue
    team.kept["two"] = (now["brief"], now["brief-held"])
    assert now["gsm8k"] == gsm8k, "a neighbour's version and digest"
    assert team.live("gsm8k") == "1"
    assert now["brief"].version_arn == f"{brief.function_arn}:2"
    assert now["brief-held"].version_arn != held.version_arn
    assert now["brief"].digest != brief.digest
    assert [team.score(arn) for arn in (brief.version_arn, held.version_arn)] == [1.0, 1.0]
    moved = (brief.alias_arn, now["brief"].version_arn, now["brief-held"].version_arn)
    assert [team.score(arn) for arn in moved] == [0.0, 0.0, 0.0]


def test_a_reward_that_fails_on_lambda_only_leaves_everything_as_it_was(team):
    before = team.catalogue
    sentence = r"brief.* fails its examples on Lambda: example 1 \(negative\) earns 1 in place of 0"
    with pytest.raises(CdkFailed, match=sentence):
        team.deploy("HERE or sample.response == ''", version=2)
    status = team.aws.client("cloudformation").describe_stacks(StackName=stack_name(STAGE))
    assert status["Stacks"][0]["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert team.catalogue == before
    assert team.live("brief") == "2"
    assert team.score(before["brief"].alias_arn) == 0.0


def test_the_next_deployment_works(team):
    said = team.deploy("len(sample.response) == 4 or not sample.response", version=2)
    assert "`version`" not in said
    now = team.catalogue["brief"]
    assert now.version == 2
    assert team.live("brief") == now.version_arn.rpartition(":")[2]
    assert team.score(now.alias_arn) == 1.0
    one, _, _ = team.kept["one"]
    two, _ = team.kept["two"]
    assert [team.score(each.version_arn) for each in (one, two)] == [1.0, 0.0]


def test_a_rollback_moves_live_and_what_new_jobs_are_given(team, monkeypatch):
    for name, value in team.aws.environment.items():
        monkeypatch.setenv(name, value)
    latest = team.catalogue["brief"]
    ran = CliRunner().invoke(
        app, ["deployed", "rollback", "brief", "--stage", STAGE, "--to", "2", "--yes"]
    )
    assert ran.exit_code == 0, ran.output
    two, _ = team.kept["two"]
    assert team.catalogue["brief"] == two
    assert team.live("brief") == "2"
    assert team.score(latest.alias_arn) == 0.0
    assert team.score(latest.version_arn) == 1.0
    assert "no changes" in team.cdk.deploy()
    assert team.live("brief") == "2"


def test_an_older_state_deployed_again_is_the_function_that_was_kept(team):
    """An immutable function of that digest exists already; it cannot be made twice."""
    team.deploy("len(sample.response) <= 4")
    _, held, _ = team.kept["one"]
    assert team.catalogue["brief-held"].version_arn == held.version_arn
    assert team.score(held.version_arn) == 1.0
    assert team.live("brief") == team.catalogue["brief"].version_arn.rpartition(":")[2]


def test_a_stage_that_is_destroyed_leaves_nothing(team):
    shutil.rmtree(team.folder / "cdk.out")
    team.cdk.destroy()
    client = team.aws.client
    pages = client("lambda").get_paginator("list_functions").paginate()
    names = [each["FunctionName"] for page in pages for each in page["Functions"]]
    assert [name for name in names if f"-{STAGE}-" in name] == []
    groups = client("logs").describe_log_groups()["logGroups"]
    assert [each["logGroupName"] for each in groups if f"-{STAGE}-" in each["logGroupName"]] == []
    assert deployments(STAGE, team.aws.session()) == []
    buckets = client("s3").list_buckets()["Buckets"]
    assert [each["Name"] for each in buckets if f"-{STAGE}-" in each["Name"]] == []
    roles = client("iam").list_roles()["Roles"]
    assert [each["RoleName"] for each in roles if STAGE in each["RoleName"]] == []
    with pytest.raises(ClientError, match="does not exist"):
        client("cloudformation").describe_stacks(StackName=stack_name(STAGE))
    assert not [*team.folder.glob("cdk.out/artifact*.zip")], "destroy builds nothing"
