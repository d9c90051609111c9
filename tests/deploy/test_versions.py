"""A run holds its reward: a team deploys, changes, breaks and takes back its own, while jobs ask.

The team is the example's, in a repository with packages of our names, and has the wheel installed.
One story on the emulator that enforces permissions, each step a test that stands on the one before.
The first deployment starts what a team starts; the later ones ask servers that have loaded it.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.aws.deployed import DeployedFunction, deployments
from reward_functions.aws.names import Names
from reward_functions.cli import app
from reward_functions.core.types import Scored
from reward_functions.local.emulator.cdk import Cdk, CdkFailed
from tests.deploy.lasting import APP, lasting
from tests.wheel import EXAMPLE, installed, repository_with_packages_of_our_names

if TYPE_CHECKING:
    from pathlib import Path

STAGE = "hold"

REWARD = '''
"""A reward of theirs."""

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
    *json.loads((EXAMPLE / "cdk.json").read_text())["context"]["stages"]["local"]["deployments"],
    {"name": "gsm8k-flexible", "reward": "gsm8k", "parameters": {"flexible": True}},
    {"name": "brief", "reward": "team.brief"},
    {"name": "brief-held", "reward": "team.brief", "immutable": True},
]

OTHER_DEPLOYMENTS = [
    "gsm8k",
    {"name": "gsm8k-flexible", "reward": "gsm8k"},
    {"reward": "reference", "judge": {"models": [{"model": "amazon.nova-lite-v1:0"}]}},
    *DEPLOYMENTS[-2:],
]
"""One with other parameters, one more, and two fewer."""

FAILING = ["gsm8k", *DEPLOYMENTS[-3:]]
"""The team's own, which fails, and a neighbour with the first parameters, which does not."""

VERSION = 2
"""The one that their reward has until somebody raises it."""

FOUR = sample("four", id="a")

LAST_NUMBER = sample("The answer is 42", "42", id="a")

LISTED = {
    "ssm": ("describe_parameters", "Parameters", "Name"),
    "s3": ("list_buckets", "Buckets", "Name"),
    "logs": ("describe_log_groups", "logGroups", "logGroupName"),
    "iam": ("list_roles", "Roles", "RoleName"),
    "sns": ("list_topics", "Topics", "TopicArn"),
    "cloudwatch": ("describe_alarms", "MetricAlarms", "AlarmName"),
}
"""What a stage has besides its functions."""


def name_of(arn):
    return arn.rpartition(":")[2]


def of_stage(names):
    """The names that have the stage's among their parts."""
    return {name for name in names if STAGE in re.split("[-/:]", name)}


class InstalledCdk(Cdk):
    """The CDK's command line, which runs the app of an installed wheel."""

    def __init__(self, aws, repository, site):
        self.programs = site / "bin"
        super().__init__(aws, repository, stage=STAGE)

    @property
    def _path(self):
        return f"{self.programs}:{super()._path}"


@dataclass
class Team:
    """A repository with rewards of its own, deployed to the local AWS."""

    folder: Path
    cdk: Cdk
    aws: object
    kept: dict = field(default_factory=dict)

    def write(self, length, version=VERSION):
        """What the reward looks at."""
        text = REWARD.replace("LENGTH", length).replace("VERSION", str(version))
        (self.folder / "acme_rewards" / "brief.py").write_text(text)

    def choose(self, deployments):
        """What the stage has."""
        about = json.loads((EXAMPLE / "cdk.json").read_text())
        assert about["app"] == "reward-cdk-app"
        stage = about["context"]["stages"].pop("local")
        stage |= {"sagemaker_role": True, "deployments": deployments}
        about["context"] = {"stages": {STAGE: stage}}
        (self.folder / "cdk.json").write_text(json.dumps(about))

    def deploy(self, length, version=VERSION):
        self.write(length, version)
        return self.cdk.deploy()

    @cached_property
    def session(self):
        return self.aws.session()

    @property
    def catalogue(self):
        return {each.name: each for each in deployments(STAGE, self.session)}

    def live(self):
        """The version each `live` points to."""
        client = self.session.client("lambda")
        return {
            name: client.get_alias(FunctionName=each.function_arn, Name="live")["FunctionVersion"]
            for name, each in self.catalogue.items()
            if each.alias_arn
        }

    def functions(self):
        """The names of the stage's functions."""
        pages = self.session.client("lambda").get_paginator("list_functions").paginate()
        return of_stage(each["FunctionName"] for page in pages for each in page["Functions"])

    def others(self):
        """What else the stage has, by service."""
        found = {}
        for service, (operation, key, name) in LISTED.items():
            pages = self.session.client(service).get_paginator(operation).paginate()
            found[service] = of_stage(each[name] for page in pages for each in page[key])
        return found

    def score(self, arn, asked=FOUR):
        (result,) = DeployedFunction(arn, session=self.session).score([asked])
        assert isinstance(result, Scored), result.error
        return result.score.value


@pytest.fixture(scope="module")
def team(bootstrapped, tmp_path_factory):
    folder = tmp_path_factory.mktemp("team")
    repository = repository_with_packages_of_our_names(folder)
    with (repository / "pyproject.toml").open("a") as project:
        project.write('"team.brief" = "acme_rewards.brief:brief"\n')
    wheel = installed(folder, repository)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in wheel.environment(repository).items():
            patch.setenv(name, value)
        yield Team(repository, InstalledCdk(bootstrapped, repository, wheel.site), bootstrapped)


@pytest.fixture(scope="module")
def _lasting(team, command_line):
    """From here on neither the command line nor the app is loaded again for each deployment."""
    with lasting(APP, "reward-cdk-app", team.folder) as program:
        team.cdk.programs, team.cdk.command = program.parent, command_line
        yield


def test_a_first_deployment_that_fails_can_be_made_again(team):
    """The reward passes its examples where the stack is synthesised, and does not start there."""
    team.choose(DEPLOYMENTS[-2:])
    with pytest.raises(CdkFailed, match=r"brief.* does not start on Lambda: .*ZeroDivisionError"):
        team.deploy("sample.response == '' if not HERE else 1 / 0")
    assert team.catalogue == {}


@pytest.mark.usefixtures("_lasting")
def test_the_first_deployment_gives_jobs_a_version(team):
    team.choose(DEPLOYMENTS)
    team.deploy("len(sample.response) <= 4")
    brief, held = team.catalogue["brief"], team.catalogue["brief-held"]
    assert brief.version == VERSION
    assert brief.version_arn == f"{brief.function_arn}:1"
    names = ("acme-brief", "acme-length", "brief", "gsm8k", "gsm8k-flexible")
    assert team.live() == dict.fromkeys(names, "1")
    assert held.alias_arn is None
    assert held.version_arn == held.function_arn
    assert held.function_arn.endswith(
        Names(STAGE).immutable("brief-held", "")[:-1] + held.function_arn[-9:]
    )
    team.kept["one"] = (brief, held, team.catalogue["gsm8k"])
    for arn in (brief.version_arn, brief.alias_arn, held.version_arn):
        assert team.score(arn) == 1.0


def test_the_example_s_reward_and_ours_score_beside_it(team):
    long = sample("a response of many characters", id="a")
    assert team.score(team.catalogue["gsm8k"].alias_arn, sample("#### 42", "42", id="a")) == 1.0
    assert team.score(team.catalogue["acme-brief"].alias_arn, long) == 0.0
    assert team.score(team.catalogue["acme-length"].alias_arn, long) == 1.0
    assert team.score(team.catalogue["gsm8k-flexible"].alias_arn, LAST_NUMBER) == 1.0


def test_a_deployment_makes_the_stage_what_it_says_and_moves_nothing_that_a_job_was_given(team):
    """The code changed and its version did not, which the synthesis warns of."""
    team.choose(OTHER_DEPLOYMENTS)
    said = team.deploy("len(sample.response) < 4")
    assert "team.brief is version 2 as before: raise its version" in " ".join(said.split())
    brief, held, gsm8k = team.kept["one"]
    now = team.catalogue
    team.kept["two"] = (now["brief"], now["brief-held"])
    assert now["gsm8k"] == gsm8k, "a neighbour's version and digest"
    assert team.live() == {"gsm8k": "1", "gsm8k-flexible": "2", "brief": "2", "reference": "1"}
    assert now["brief"].version_arn == f"{brief.function_arn}:2"
    assert now["brief-held"].version_arn != held.version_arn
    assert now["brief"].digest != brief.digest
    assert [team.score(arn) for arn in (brief.version_arn, held.version_arn)] == [1.0, 1.0]
    moved = (brief.alias_arn, now["brief"].version_arn, now["brief-held"].version_arn)
    assert [team.score(arn) for arn in moved] == [0.0, 0.0, 0.0]
    expected = {name_of(each.function_arn) for each in now.values()}
    expected |= {name_of(each.function_arn) for each in (brief, held)}
    assert team.functions() == expected | {f"reward-custodian-{STAGE}"}
    canberra = sample("The answer is the city of Canberra.", "Canberra", id="a")
    assert team.score(now["reference"].alias_arn, canberra) == 1.0
    assert team.score(now["gsm8k-flexible"].alias_arn, LAST_NUMBER) == 0.0


def test_a_rollback_moves_live_and_what_new_jobs_are_given(team, monkeypatch):
    for name, value in team.aws.environment.items():
        monkeypatch.setenv(name, value)
    latest, before = team.catalogue["brief"], team.live()
    ran = CliRunner().invoke(
        app, ["deployed", "rollback", "brief", "--stage", STAGE, "--to", "1", "--yes"]
    )
    assert ran.exit_code == 0, ran.output
    one, _, _ = team.kept["one"]
    assert team.catalogue["brief"] == one
    assert team.live() == before | {"brief": "1"}
    assert team.score(latest.alias_arn) == 1.0
    assert team.score(latest.version_arn) == 0.0
    assert f"{Names(STAGE).stack} (no changes)" in team.cdk.deploy()
    assert team.live() == before | {"brief": "1"}


def test_a_reward_that_fails_on_lambda_only_leaves_everything_as_it_was(team):
    """Neither the rollback is undone nor does a neighbour move that passed its own gate."""
    catalogue, live = team.catalogue, team.live()
    team.choose(FAILING)
    sentence = r"brief.* fails its examples on Lambda: example 1 \(negative\) earns 1 in place of 0"
    with pytest.raises(CdkFailed, match=sentence):
        team.deploy("HERE or sample.response == ''", version=VERSION + 1)
    assert "raise its version" not in team.cdk.log.read_text(), "it was raised"
    team.choose(OTHER_DEPLOYMENTS)
    status = team.session.client("cloudformation").describe_stacks(StackName=Names(STAGE).stack)
    assert status["Stacks"][0]["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert team.catalogue == catalogue
    assert team.live() == live
    assert live["brief"] == "1"
    assert team.score(catalogue["brief"].alias_arn) == 1.0


def test_an_older_state_deployed_again_is_the_function_that_was_kept(team):
    """An immutable function of that digest exists already; it cannot be made twice."""
    team.deploy("len(sample.response) <= 4")
    _, held, _ = team.kept["one"]
    assert team.catalogue["brief-held"].version_arn == held.version_arn
    assert team.score(held.version_arn) == 1.0
    assert team.live()["brief"] == team.catalogue["brief"].version_arn.rpartition(":")[2]


def test_a_stage_that_is_destroyed_leaves_nothing(team):
    shutil.rmtree(team.folder / "cdk.out")
    before = team.others()
    assert all(before.values()), before
    assert f"{Names(STAGE).stack}: destroyed" in team.cdk.destroy()
    assert team.functions() == set()
    assert not any(team.others().values())
    with pytest.raises(ClientError, match="does not exist"):
        team.session.client("cloudformation").describe_stacks(StackName=Names(STAGE).stack)
    assert not [*team.folder.glob("cdk.out/artifact*.zip")], "destroy builds nothing"
