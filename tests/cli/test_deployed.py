"""`reward deployed`: real functions on the local AWS emulator, found by a stage's catalogue."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.aws.catalogue import DeployedReward, deployment_parameter
from reward_functions.aws.names import Names
from reward_functions.cli import app
from reward_functions.testing import wire_row

STAGE = "catalogued"

LIKES_PARIS = """
def handler(event, context):
    results = [{"id": row["id"], "aggregate_reward_score": SCORE(row)} for row in event]
    return RESPONSE
def SCORE(row):
    messages = row.get("messages") or [{}]
    text = str(messages[-1].get("content"))
    text = text.strip().lower() if messages[-1].get("role") != "user" else ""
    reference = row.get("reference_answer") or row.get("metadata", {}).get("reference_answer")
    return float(str(reference).lower() == text)
"""


def run(*arguments, rows=()):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return CliRunner().invoke(app, ["deployed", *arguments], input=text)


@pytest.fixture(scope="module")
def _stage(local_aws, deployed_function):
    """A stage as a deployment leaves it, with two functions that are not this project's."""
    for name, response in {
        "plain": "results",
        "dressed": "{'statusCode': 200, 'body': __import__('json').dumps(results)}",
    }.items():
        arn = deployed_function(
            LIKES_PARIS.replace("RESPONSE", response), name=f"SageMaker-reward-{STAGE}-{name}"
        )
        client = local_aws.client("lambda")
        published = client.publish_version(FunctionName=arn)
        alias = client.create_alias(FunctionName=arn, Name="live", FunctionVersion="1")
        record = DeployedReward(
            name=name,
            reward="acme.paris",
            version=1,
            digest="0123456789abcdef",
            parameters={"loud": True},
            response_mode="list",
            version_arn=published["FunctionArn"],
            alias_arn=alias["AliasArn"],
            function_arn=arn,
            timeout_seconds=60,
            memory_mb=1769,
            architecture="x86_64",
            python="3.13",
        )
        local_aws.client("ssm").put_parameter(
            Name=deployment_parameter(STAGE, name), Value=record.model_dump_json(), Type="String"
        )


@pytest.fixture(autouse=True)
def _pointed_at_it(local_aws, monkeypatch, _stage):
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "200")


def rows(*answers):
    return [wire_row(sample(answer, "Paris", id=f"{at}")) for at, answer in enumerate(answers)]


def arn(name):
    (found,) = [each for each in json.loads(run("list", "-s", STAGE, "--json").stdout)
                if each["name"] == name]  # fmt: skip
    return found["function_arn"]


def test_the_catalogue_is_a_table():
    ran = run("list", "--stage", STAGE)
    assert ran.exit_code == 0
    table, arns = ran.stdout.split("what a job is given:\n")
    assert [line.split() for line in table.splitlines() if "acme" in line] == [
        ["dressed", "acme.paris", "1", "01234567", "loud=true", "list", "1", "1"],
        ["plain", "acme.paris", "1", "01234567", "loud=true", "list", "1", "1"],
    ]
    assert [line.split() for line in arns.splitlines()] == [
        ["dressed", f"{arn('dressed')}:1"],
        ["plain", f"{arn('plain')}:1"],
    ]


@pytest.mark.parametrize("columns", ["40", "200"])
def test_no_width_breaks_an_arn(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert f"  {arn('plain')}:1\n" in run("list", "--stage", STAGE).stdout


def test_a_narrow_terminal_leaves_out_what_no_job_needs_and_names_it(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    shown = run("list", "--stage", STAGE).stdout
    assert ["name", "reward", "job", "live"] in [line.split() for line in shown.splitlines()]
    assert ["plain", "acme.paris", "1", "1"] in [line.split() for line in shown.splitlines()]
    assert "no room for digest, response, parameters, version" in " ".join(shown.split())


def test_an_alias_that_is_elsewhere_or_gone_is_seen(local_aws):
    client, function = local_aws.client("lambda"), arn("plain")
    client.update_function_configuration(FunctionName=function, Description="another")
    client.publish_version(FunctionName=function)
    client.update_alias(FunctionName=function, Name="live", FunctionVersion="2")

    def shown():
        table = run("list", "--stage", STAGE).stdout.split("what a job is given:")[0]
        (line,) = [line.split() for line in table.splitlines() if " plain " in line]
        return line[-2:]

    assert shown() == ["1", "2"]
    client.delete_alias(FunctionName=function, Name="live")
    assert shown() == ["1", "-"]
    client.create_alias(FunctionName=function, Name="live", FunctionVersion="1")
    assert shown() == ["1", "1"]


def test_json_says_what_live_points_to():
    reported = {
        each["name"]: each for each in json.loads(run("list", "-s", STAGE, "--json").stdout)
    }
    plain = reported["plain"]
    assert (plain["live_version"], plain["version"], plain["digest"]) == (
        ("1", 1, "0123456789abcdef")
    )
    assert plain["version_arn"].endswith("-plain:1")
    assert plain["alias_arn"].endswith("-plain:live")


def test_a_stage_that_is_not_deployed_is_reported():
    assert run("list", "--stage", "nowhere").stdout == "stage 'nowhere' has no deployments here\n"
    ran = run("invoke", "plain", "-", "-s", "nowhere")
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "stage 'nowhere' has no deployments in this account and region" in ran.stderr


@pytest.mark.parametrize("name", ["plain", "dressed"])
def test_a_file_is_scored_there(name):
    ran = run("invoke", name, "-", "-s", STAGE, "--batch-size", "2", rows=rows("paris", "Rome", ""))
    assert ran.exit_code == 0, ran.stderr
    reported = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [(each["id"], each["aggregate_reward_score"]) for each in reported] == [
        ("0", 1.0),
        ("1", 0.0),
        ("2", 0.0),
    ]
    assert ran.stderr.startswith("batches of 2: 2, p50 ")


def test_an_arn_needs_no_catalogue():
    ran = run("invoke", arn("plain"), "-", "--stage", "nowhere", rows=rows("paris"))
    assert json.loads(ran.stdout)["aggregate_reward_score"] == 1.0


def test_a_broken_answer_is_shown_and_fails(deployed_function):
    broken = deployed_function(
        "def handler(event, context):\n    return [{'id': 'x', 'aggregate_reward_score': None}]"
    )
    ran = run("invoke", broken, "-", rows=rows("paris"))
    assert ran.exit_code == 2, "no batch was answered"
    assert json.loads(ran.stdout) == {"id": "x", "aggregate_reward_score": None}
    assert "batch 1 failed: no result for '0': those rewards are lost" in ran.stderr


def audited(name):
    """The audit of a deployment as JSON, and its status."""
    given = ["--class", "EX-EMPTY", "--format", "json", "--allow-undecided"]
    ran = CliRunner().invoke(app, ["audit", f"{name}@{STAGE}", *given])
    return json.loads(ran.stdout), ran.exit_code


@pytest.mark.parametrize(("name", "otherwise"), [("plain", False), ("dressed", True)])
def test_an_audit_finds_the_deployment_that_answers_otherwise(name, otherwise):
    found, _ = audited(name)
    by_id = {each["id"]: each for each in found["findings"]}
    # Neither says of a row that it could not read that its 0 is no score.
    assert by_id["CONTRACT"]["verdict"] == "broken"
    assert "no metric says that this is no score" in by_id["CONTRACT"]["message"]
    assert ("it is deployed as 'list'" in by_id["CONTRACT"]["message"]) == otherwise
    assert by_id["DEPLOYED-DETERMINISM"]["verdict"] == "ok"
    assert "DEPLOYED-VERSION" not in by_id  # the version that jobs are given never moves


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["invoke", "plan", "-", "-s", STAGE], "has no deployment 'plan'. Did you mean 'plain'?"),
        (["invoke", "arn:aws:s3:::bucket", "-"], "is not the ARN of a Lambda function"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, complaint):
    ran = run(*arguments)
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stdout
    assert complaint in ran.stderr


def test_a_parameter_of_another_project_is_reported(local_aws):
    local_aws.client("ssm").put_parameter(
        Name=deployment_parameter("foreign", "x"), Value="{}", Type="String"
    )
    ran = run("list", "--stage", "foreign")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert (
        "/reward-functions/foreign/deployments/x is not a deployment of this version" in ran.stderr
    )


def test_an_account_that_cannot_be_reached_is_reported(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    ran = run("list")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert "reading the catalogue /reward-functions/dev/deployments: nobody answers" in ran.stderr


def test_an_immutable_deployment_is_listed_and_asked_by_its_plain_arn(stage, deployed_function):
    name = Names(stage.stage).immutable("held", "0123abcd")
    plain = deployed_function(LIKES_PARIS.replace("RESPONSE", "results"), name=name)
    stage.record("held", plain)
    listed = run("list", "-s", stage.stage)
    (line,) = [line.split() for line in listed.stdout.splitlines() if "gsm8k" in line]
    assert line[-2:] == ["-", "-"]
    assert listed.stdout.endswith(f"  held  {plain}\n")
    ran = run("invoke", "held", "-", "-s", stage.stage, rows=rows("paris"))
    assert json.loads(ran.stdout)["aggregate_reward_score"] == 1.0
