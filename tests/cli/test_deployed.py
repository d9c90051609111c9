"""`reward deployed`: real functions on the local AWS emulator, found by a stage's catalogue."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

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


def test_a_report_goes_to_a_file_and_the_table_stays(tmp_path):
    path = tmp_path / "check.xml"
    asked = ("check", arn("plain"), "--batch-size", "4")
    ran = run(*asked, "--format", "junit", "--out", str(path))
    assert "question" in ran.stdout
    (suite,) = ET.fromstring(path.read_text())
    assert suite.get("name") == arn("plain")
    same = run(*asked, "--format", "json")
    assert same.exit_code == ran.exit_code
    (report,) = json.loads(same.stdout)
    assert str(len(report["findings"])) == suite.get("tests")


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
    for ran in (run("check", "--stage", "nowhere"), run("invoke", "plain", "-", "-s", "nowhere")):
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


def test_a_check_of_the_stage_finds_the_one_that_answers_otherwise():
    ran = run("check", "--stage", STAGE, "--json", "--batch-size", "4")
    assert ran.exit_code == 1
    # Each by the version that jobs are given.
    reports = {report["arn"].rpartition("-")[2]: report for report in json.loads(ran.stdout)}
    assert reports.keys() == {"plain:1", "dressed:1"}
    assert reports["plain:1"]["passed"]
    failed = [found for found in reports["dressed:1"]["findings"] if found["verdict"] == "failure"]
    assert [found["question"] for found in failed] == ["response mode"]


def test_a_check_is_a_table_a_person_reads():
    ran = run("check", arn("plain"), "--batch-size", "4")
    assert ran.exit_code == 0, ran.stdout
    assert ran.stdout.startswith(f"\n{arn('plain')}\n")
    words = [line.split() for line in ran.stdout.splitlines()]
    lines = {line[1]: line[0] for line in words if line and line[0] in ("ok", "warning")}
    assert lines["version"] == "warning"
    assert lines["contract"] == "ok"
    assert lines["determinism"] == "ok"


def test_samples_of_ones_own_say_more_of_a_strangers_function(tmp_path):
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows("paris", "Rome")))
    mine = json.loads(run("check", arn("plain"), "--samples", str(file), "--json").stdout)
    questions = {found["question"] for found in mine[0]["findings"]}
    assert "spread" not in questions  # the samples made up earn nothing here
    wrong = run("check", arn("plain"), "--response-mode", "envelope", "--samples", str(file))
    assert wrong.exit_code == 1
    assert "it is deployed as 'envelope'" in " ".join(wrong.stdout.split())


def test_an_arn_is_held_to_the_examples_of_the_reward_it_is_named_to_serve():
    ran = run("check", arn("plain"), "--reward", "gsm8k", "--batch-size", "4")
    assert ran.exit_code == 1
    assert "another version is deployed, or it has other parameters" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["invoke", "plan", "-", "-s", STAGE], "has no deployment 'plan'. Did you mean 'plain'?"),
        (["invoke", "arn:aws:s3:::bucket", "-"], "is not the ARN of a Lambda function"),
        (
            ["check", "arn:aws:lambda:us-east-1:000000000000:function:none"],
            "there is no such function",
        ),
        (["check", "plain", "-s", STAGE, "--reward", "x", "--samples", "y"], "exclude each other"),
        (["check", "plain", "-s", STAGE, "--param", "a=1"], "--param is a parameter of --reward"),
        (["check", "plain", "-s", STAGE, "--json", "--format", "junit"], "exclude each other"),
        (["check", "plain", "-s", STAGE, "--out", "x"], "--out is for --format json, junit or"),
        (["check", "plain", "-s", STAGE, "--reward", "gsm"], "'gsm8k'"),
        (["check", "plain", "-s", STAGE, "--samples", "no such file"], "No such file"),
        (["check", "plain", "-s", STAGE, "--response-mode", "xml"], "one of list, envelope"),
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


def test_an_immutable_deployment_is_listed_asked_and_checked_by_its_plain_arn(
    stage, deployed_function
):
    name = Names(stage.stage).immutable("held", "0123abcd")
    plain = deployed_function(LIKES_PARIS.replace("RESPONSE", "results"), name=name)
    stage.record("held", plain)
    listed = run("list", "-s", stage.stage)
    (line,) = [line.split() for line in listed.stdout.splitlines() if "gsm8k" in line]
    assert line[-2:] == ["-", "-"]
    assert listed.stdout.endswith(f"  held  {plain}\n")
    ran = run("invoke", "held", "-", "-s", stage.stage, rows=rows("paris"))
    assert json.loads(ran.stdout)["aggregate_reward_score"] == 1.0
    (report,) = json.loads(run("check", "held", "-s", stage.stage, "--json").stdout)
    assert report["arn"] == plain
    assert "version" not in {found["question"] for found in report["findings"]}
