"""Users of the emulator who have a stage's policies, and the lines that turn a shell."""

from __future__ import annotations

import json
import re

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from reward_functions.aws.catalogue import DeployedStage, stage_parameter
from reward_functions.aws.deployed.catalogue import NotDeployed
from reward_functions.aws.emulator_record import LocalAwsError, away_line, pointed_at, towards_line
from reward_functions.cli import app
from reward_functions.jobs.clients import TRAINING, Endpoints, WrongEndpoint
from reward_functions.local.emulator.people import TASKS, become, field_of

ALLOWED = {
    "data": "s3:ListAllMyBuckets",
    "jobs": "sqs:ListQueues",
    "evaluate": "lambda:ListFunctions",
    "operate": "ssm:DescribeParameters",
}


@pytest.fixture(scope="module")
def peopled(enforcing_aws):
    """The enforcing emulator with a stage whose policies allow one call each."""
    iam = enforcing_aws.client("iam")
    policies = {}
    for task, action in ALLOWED.items():
        statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        made = iam.create_policy(PolicyName=f"peopled-{task}", PolicyDocument=document)
        policies[f"{task}_policy_arn"] = made["Policy"]["Arn"]
    record = DeployedStage(
        stage="peopled", region="us-east-1", keep_versions=2, bucket="b", training_role_arn="r",
        job_events_topic_arn="t", dashboard="d", **policies,
    )  # fmt: skip
    enforcing_aws.client("ssm").put_parameter(
        Name=stage_parameter("peopled"), Value=record.model_dump_json(), Type="String"
    )
    return enforcing_aws


def tried(aws, needed):
    """What a user may do, of the calls that the policies allow."""
    session = aws.session(
        aws_access_key_id=needed["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=needed["AWS_SECRET_ACCESS_KEY"],
    )
    calls = {
        "data": lambda: session.client("s3").list_buckets(),
        "evaluate": lambda: session.client("lambda").list_functions(),
        "operate": lambda: session.client("ssm").describe_parameters(),
    }
    for task, call in calls.items():
        try:
            call()
        except ClientError as error:
            if not error.response["Error"]["Code"].startswith("AccessDenied"):
                raise
        else:
            yield task


def test_a_person_may_what_the_policies_allow_and_nothing_else(peopled):
    needed = become(peopled, "peopled", ["evaluate", "data", "data"])
    assert set(tried(peopled, needed)) == {"data", "evaluate"}
    assert needed["AWS_ENDPOINT_URL"] == peopled.endpoint
    again = become(peopled, "peopled", ["operate"])
    assert set(tried(peopled, again)) == {"operate"}
    assert set(tried(peopled, needed)) == {"data", "evaluate"}


def test_a_shell_becomes_a_person(peopled):
    words = ["local", "as", "data", "jobs", "-s", "peopled", "--name", "enforcing", "--print-env"]
    ran = CliRunner().invoke(app, words)
    assert (ran.exit_code, ran.stderr) == (
        0, "this shell has the rights of data, jobs in the stage 'peopled'\n",
    )  # fmt: skip
    needed = dict(re.findall(r"^export (\w+)=(.*)$", ran.stdout, re.MULTILINE))
    assert set(tried(peopled, needed)) == {"data"}


@pytest.mark.parametrize(
    ("tasks", "stage", "error", "words"),
    [
        (["root"], "peopled", LocalAwsError, "root: one of data, jobs, evaluate, operate"),
        ([], "peopled", LocalAwsError, "no task: one of"),
        (["data"], "nowhere", NotDeployed, "nowhere"),
        (
            ["data", "sagemaker"],
            "peopled",
            LocalAwsError,
            "no policy sagemaker: set sagemaker_role",
        ),
        (["agents"], "peopled", LocalAwsError, "no policy agents: set job_rights.agents, forward"),
        (
            ["agent-runtime"],
            "peopled",
            LocalAwsError,
            "no policy agent-runtime: set job_rights.agents, forwarders, agents or feedback in cdk",
        ),
        (["agent_runtime"], "peopled", LocalAwsError, "agent_runtime: one of data"),
    ],
)
def test_nobody_is_made_who_could_do_nothing(peopled, tasks, stage, error, words):
    iam = peopled.client("iam")
    before = len(iam.list_users()["Users"])
    with pytest.raises(error, match=words):
        become(peopled, stage, tasks)
    assert len(iam.list_users()["Users"]) == before


def test_there_is_a_policy_for_every_task():
    """Those of HyperPod's jobs themselves are held by the role of a cluster, which is no user."""
    policies = {each for each in DeployedStage.model_fields if each.endswith("_policy_arn")}
    assert {field_of(task) for task in TASKS} == policies - {"hyperpod_runtime_policy_arn"}


@pytest.mark.parametrize(
    ("variables", "words", "complaint"),
    [
        ({}, ("data",), "a user is keys, for a shell to take: eval"),
        # the keys of whom? no emulator that was started here
        ({"AWS_ENDPOINT_URL": "https://vpce-1.amazonaws.com"}, ("data", "--print-env"), "no local"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, ("data", "--print-env"), "no local AWS"),
        ({"AWS_ENDPOINT_URL": "http://[::1"}, ("data", "--print-env"), "name one with --name"),
    ],
)
def test_only_an_emulator_that_was_started_here_has_people(
    enforcing_aws, monkeypatch, variables, words, complaint
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = CliRunner().invoke(app, ["local", "as", *words])
    evaluates = "false\n" if "--print-env" in words else ""
    assert (ran.exit_code, ran.stdout) == (2, evaluates)
    assert complaint in ran.stderr


@pytest.mark.parametrize("bundle", [None, "/nowhere/ca.pem"])
def test_a_certificate_that_a_shell_does_not_know_says_how_it_will(
    enforcing_aws, monkeypatch, bundle
):
    for name, value in (enforcing_aws.environment | {"AWS_CA_BUNDLE": bundle}).items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("reward_functions.aws.calls.ATTEMPTS", 1)
    ran = CliRunner().invoke(app, ["deployed", "list", "--stage", "peopled"])
    assert ran.exit_code == 2
    assert "evaluate `reward local up --print-env` again" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_shell_finds_its_emulator_by_the_port_alone(enforcing_aws):
    port = enforcing_aws.record.port
    for url in (enforcing_aws.endpoint, f"http://localhost:{port}/", f"https://[::1]:{port}"):
        assert pointed_at(["", url]).name == enforcing_aws.name
    for url in (f"https://amazonaws.com:{port}", "http://127.0.0.1", "http://127.0.0.1:x", ""):
        assert pointed_at([url]) is None


def test_a_refusal_names_the_emulator_with_its_options(enforcing_aws):
    here = enforcing_aws.endpoint
    with pytest.raises(WrongEndpoint) as refused:
        Endpoints(here, dict.fromkeys(TRAINING, here)).check()
    way = 'eval "$(reward local up --name enforcing --enforce --training --print-env)"'
    assert str(refused.value).endswith(way)
    assert towards_line(enforcing_aws, training=True) == way
    assert away_line(enforcing_aws) == 'eval "$(reward local down --name enforcing --print-env)"'
