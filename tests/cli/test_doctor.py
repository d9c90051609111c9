"""`reward doctor`: which AWS the shell is on, each line with its remedy, and never a secret."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.aws.emulator_record import Folder, Record
from reward_functions.aws.failures import AwsFailed
from reward_functions.cli import app
from reward_functions.cli import doctor as looking
from reward_functions.local import laptop
from reward_functions.local.emulator.emulator import process_of
from tests.loopback import Service, served

ROOT = Path(__file__).parents[2]
SECRET = "aVerySecretKeyThatNobodyMaySee"
ROLE = "arn:aws:sts::123456789012:assumed-role/deploy/" + "session" * 8
REFUSAL = (
    b"<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>no</Message></Error>"
    b"</ErrorResponse>"
)
DENIED = (403, {"Content-Type": "text/xml"}, REFUSAL)
DEV = {"region": "us-east-1", "deployments": ["gsm8k"]}


class Sts(Service):
    """GetCallerIdentity, and nothing else."""

    account = "123456789012"

    def operation(self, asked):
        assert b"GetCallerIdentity" in asked.body, "STS alone is asked, and this alone"
        found = f"<Arn>{ROLE}</Arn><Account>{self.account}</Account>"
        body = (
            '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/">'
            f"<GetCallerIdentityResult>{found}</GetCallerIdentityResult>"
            "</GetCallerIdentityResponse>"
        )
        return "who", lambda: (200, {"Content-Type": "text/xml"}, body.encode())


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """A shell with keys, in an empty folder, of a user without emulators."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return monkeypatch


@pytest.fixture
def sts(shell):
    with served(Sts()) as service:
        shell.setenv("AWS_ENDPOINT_URL_STS", service.address)
        yield service


def stages(**given):
    written = {"app": "reward-cdk-app", "context": {"stage": "dev", "stages": {"dev": given}}}
    Path("cdk.json").write_text(json.dumps(written))


def doctor(*arguments):
    ran = CliRunner().invoke(app, ["doctor", *arguments])
    assert SECRET not in ran.output
    return ran


def findings(*arguments):
    ran = doctor(*arguments, "--json")
    return {each["question"]: (each["verdict"], each["message"]) for each in json.loads(ran.stdout)}


def test_a_line_for_everything_and_status_1_where_one_fails(sts):
    stages(**DEV, account="999999999999")
    found = findings()
    assert set(found) == {
        *("packages", "aws", "credentials", "region", "account", "clock", "boto3", "stage"),
        *("shell", "python", "lock", "node", "cdk", "uv", "emulator", "disk"),
    }  # fmt: skip
    verdict, message = found["account"]
    assert verdict == "failure"
    assert message.startswith("123456789012, and the stage is of 999999999999: choose another")
    assert found["clock"][0] == "ok"
    assert found["boto3"][0] == "ok"
    assert found["stage"] == ("ok", "dev: 1 deployment in us-east-1")
    assert sts.asked == ["who"], "once, for account and clock"


def test_a_stage_of_another_aws_is_left_by_an_option_of_this_command(shell):
    stages(**DEV, emulated=True)
    verdict, message = findings("--offline")["shell"]
    assert (verdict, message.endswith("choose another stage with --stage NAME")) == (
        "failure",
        True,
    )


def test_without_a_stage_and_offline_nobody_is_asked(sts):
    found = findings("--offline")
    assert not {"account", "clock", "stage", "python"} & set(found)
    assert sts.asked == []


def test_a_stage_that_a_synth_refuses_is_a_failure_in_its_words(shell):
    stages(region="us-east-1", deployments=["gsm9k"])
    ran = doctor("--offline", "--json")
    found = {each["question"]: each for each in json.loads(ran.stdout)}
    assert ran.exit_code == 1
    assert "Did you mean 'gsm8k'?" in found["stage"]["message"]
    assert "lock" not in found


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--stage", "dve"], "there is no stage 'dve'"), (["--stage", "a b"], "there is no stage")],
)
def test_a_stage_that_is_not_there_is_status_2(shell, arguments, sentence):
    stages(**DEV)
    ran = doctor(*arguments)
    assert (ran.exit_code, sentence in ran.output) == (2, True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "cdk.json, line 1, column 2: not JSON"),
        ('{"context": {"stages": {"a": {}, "b": {}}}}', "which stage? Say --stage NAME"),
        ('{"context": {"stage": "c", "stages": {"a": {}}}}', "there is no stage 'c'"),
        ('{"context": {"stages": {"a": {}, "a": {}}}}', "'a' stands twice"),
        ('{"context": {"stages": {}}}', "cdk.json names no stages"),
    ],
)
def test_a_cdk_json_of_which_no_stage_is_read_hides_nothing_else(shell, text, sentence):
    # What the others start and read is tried above.
    shell.setattr(looking, "node", lambda: looking.ok("node", ""))
    shell.setattr(laptop, "emulators", laptop.disk)
    shell.setattr(laptop, "NEWEST", {})
    Path("cdk.json").write_text(text)
    found = findings("--offline")
    assert (found["stage"][0], sentence in found["stage"][1]) == ("failure", True)
    assert {"credentials", "region", "node", "disk"} <= set(found)


def test_somebody_elses_cdk_json_is_none_of_ours(shell):
    Path("cdk.json").write_text('{"app": "node bin/app.js", "context": {}}')
    assert "stage" not in findings("--offline")


@pytest.mark.parametrize(
    ("variables", "verdict", "sentence"),
    [
        ({}, "ok", "the real AWS, by the default profile or a role"),
        ({"AWS_PROFILE": "work"}, "ok", "the real AWS, by the profile 'work'"),
        ({"AWS_ACCESS_KEY_ID": "AKIA"}, "ok", "the real AWS, by the keys in AWS_ACCESS_KEY_ID"),
        ({"AWS_ENDPOINT_URL": ""}, "ok", "the real AWS, by the default"),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", laptop.IGNORED: "true"},
            "ok",
            "the real AWS, by",
        ),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "warning", "127.0.0.1:1 on this machine"),
        (
            {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1"},
            "failure",
            "AWS_ENDPOINT_URL_S3 to 127.0.0.1:1, and other services to the real AWS",
        ),
        (
            {"AWS_ENDPOINT_URL": f"https://me:{SECRET}@10.0.0.1:99999/"},
            "warning",
            "an address that cannot be read",
        ),
        (
            {"AWS_ENDPOINT_URL": f"https://me:{SECRET}@10.0.0.1/{SECRET}"},
            "warning",
            "10.0.0.1, which is neither AWS nor this machine",
        ),
        (
            {"AWS_ENDPOINT_URL": "https://a.example", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1"},
            "failure",
            "AWS_ENDPOINT_URL to a.example, AWS_ENDPOINT_URL_S3 to 127.0.0.1:1: unset",
        ),
        (
            {"AWS_ENDPOINT_URL": "https://a.example", "AWS_ENDPOINT_URL_S3": "https://b.example"},
            "warning",
            "a.example, b.example, which is neither",
        ),
    ],
)  # fmt: skip
def test_the_shells_direction(shell, variables, verdict, sentence):
    found = laptop.shell(variables)
    assert (found.verdict, sentence in found.message) == (verdict, True), found.message
    assert SECRET not in found.message


def test_the_shell_is_on_an_emulator_and_says_which(shell):
    folder = Folder("mine")
    folder.make()
    url = {"AWS_ENDPOINT_URL": "http://127.0.0.1:4599"}
    alive = process_of(os.getpid())
    folder.write(Record(alive, 4599, None, "python", project="/home/sue/rewards"))
    found = laptop.shell(url)
    assert (found.verdict, "the local AWS 'mine' on http://127.0.0.1" in found.message) == (
        "ok",
        True,
    )
    assert "started in /home/sue/rewards" in laptop.emulators().message
    folder.write(Record(replace(alive, started="never"), 4599, None, "python"))
    found = laptop.shell(url)
    assert found.verdict == "failure"
    assert 'has ended: eval "$(reward local down --name mine --print-env)"' in found.message


def test_who_nobody_knows_is_a_failure_and_the_clock_is_seen_all_the_same(sts):
    sts.fail("who", DENIED)
    caller = laptop.Caller()
    found = laptop.account(caller, None, emulated=None)
    assert (found.verdict, "does not know these credentials" in found.message) == ("failure", True)
    assert laptop.clock(caller).verdict == "ok"


class Said(laptop.Caller):
    """A caller whose STS answered at this time."""

    def __init__(self, date):
        self.date = date

    def asked(self):
        return AwsFailed("no"), self.date


NOW = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "verdict", "words"),
    [
        (0, "ok", "as AWS's"),
        (59, "ok", "as AWS's"),
        (90, "warning", "90 s ahead of AWS's"),
        (-301, "failure", "301 s behind AWS's"),
        (86_400, "failure", "86,400 s ahead of"),
    ],
)
def test_the_clock_is_that_of_sts(seconds, verdict, words):
    found = laptop.clock(Said(format_datetime(NOW, usegmt=True)), NOW + timedelta(seconds=seconds))
    assert (found.verdict, words in found.message) == (verdict, True), found.message


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Nov 2026 00:00:00 GMT"])
def test_a_date_that_is_none_leaves_the_clock_unknown(date):
    assert laptop.clock(Said(date), NOW).verdict == "unknown"


@pytest.mark.parametrize(
    ("wanted", "verdict"), [("us-east-1", "ok"), (None, "ok"), ("eu-central-1", "warning")]
)
def test_the_region_is_the_stages(shell, wanted, verdict):
    assert laptop.region("", wanted).verdict == verdict


def test_no_region_is_a_failure_that_names_the_stages(shell):
    shell.delenv("AWS_REGION")
    shell.delenv("AWS_DEFAULT_REGION", raising=False)
    found = laptop.region("", "eu-central-1")
    assert (found.verdict, found.message) == (
        "failure",
        "no AWS region: export AWS_REGION=eu-central-1, or write it into the profile",
    )


@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        ('{"version": "2.1148.1"}', "ok"),
        ('{"version": "2.1150.0"}', "warning"),
        ('{"version": "3.0.0"}', "failure"),
        ("{", "failure"),
        ("[]", "failure"),
        (None, "warning"),
    ],
)
def test_the_command_line_of_the_cdk_is_the_pinned_one(tmp_path, content, verdict):
    if content is not None:
        path = tmp_path / "node_modules/aws-cdk/package.json"
        path.parent.mkdir(parents=True)
        path.write_text(content)
    (tmp_path / "deeper").mkdir()
    found = looking.cdk(tmp_path / "deeper")
    assert found.verdict == verdict
    assert verdict == "ok" or "--save-exact aws-cdk@2.1148.1" in found.message


def test_the_pin_of_the_doctor_is_the_one_of_the_checkout():
    pinned = json.loads((ROOT / "package.json").read_text())["devDependencies"]["aws-cdk"]
    assert pinned == looking.CDK


def test_a_boto3_without_the_newest_api_is_a_failure_with_its_remedy(monkeypatch):
    assert laptop.sdk().verdict == "ok"
    newer = {**laptop.NEWEST, "sagemaker": "create_what_is_to_come", "servicetocome": "x"}
    monkeypatch.setattr(laptop, "NEWEST", newer)
    found = laptop.sdk()
    assert found.verdict == "failure"
    assert "lacks sagemaker:create_what_is_to_come, servicetocome: pip install" in found.message


def test_a_full_disk_is_seen_where_the_artifacts_are_kept(monkeypatch, tmp_path):
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")  # noqa: PYI024 - as shutil has it
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not" / "yet"))
    for free, verdict in ((10**10, "ok"), (5 * 10**8, "warning"), (10**8, "failure")):
        monkeypatch.setattr(laptop.shutil, "disk_usage", lambda _, free=free: usage(0, 0, free))
        assert laptop.disk().verdict == verdict
