"""Stage, region and credentials are decided once: `doctor` says what `deployed list` then does."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.aws.shell import BadShell, default_stage, region_of, stage_hint
from reward_functions.cli import app, doctor
from reward_functions.local import laptop
from tests.loopback import Service, served

ROOT = Path(__file__).parents[2]
LEADS = re.compile("AWS_|REWARD_STAGE")
KEYS = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}
WHO = (
    '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/"><GetCallerIdentityResult>'
    "<Arn>arn:aws:sts::123456789012:assumed-role/deploy/sue</Arn><Account>123456789012</Account>"
    "</GetCallerIdentityResult></GetCallerIdentityResponse>"
)
EXPIRED = (
    "<ErrorResponse><Error><Code>ExpiredToken</Code><Message>old</Message></Error></ErrorResponse>"
)


class Aws(Service):
    """STS and the parameters of a stage without deployments; or nobody whom they know any more."""

    expired = False

    def operation(self, asked):
        return "asked", lambda: self._answer(b"GetCallerIdentity" in asked.body)

    def _answer(self, who):
        if who:
            kind = {"Content-Type": "text/xml"}
            return (403, kind, EXPIRED.encode()) if self.expired else (200, kind, WHO.encode())
        kind = {"Content-Type": "application/x-amz-json-1.1"}
        if self.expired:
            return 400, kind, b'{"__type": "ExpiredTokenException", "message": "old"}'
        return 200, kind, b'{"Parameters": []}'


@pytest.fixture(scope="module")
def aws():
    with served(Aws()) as service:
        yield service


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder, and a shell that names nothing."""
    for name in filter(LEADS.match, list(os.environ)):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def project(**stages):
    given = {name: {"deployments": ["gsm8k"]} | each for name, each in stages.items()}
    return json.dumps({"context": {"stage": next(iter(given)), "stages": given}})


DEV = project(dev={"region": "eu-west-1"})
EXTENDED = project(prod={"extends": "dev"}, dev={"region": "eu-west-1"})

SHELLS = {
    # what the shell has: variables, files, what is different; the region, or None where it fails
    "AWS_REGION": ({"AWS_REGION": "us-east-1"}, {}, "us-east-1"),
    "AWS_DEFAULT_REGION": ({"AWS_DEFAULT_REGION": "us-west-2"}, {}, "us-west-2"),
    "both": ({"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-west-2"}, {}, "us-east-1"),
    "an empty AWS_REGION": (
        {"AWS_REGION": "", "AWS_DEFAULT_REGION": "us-west-2"},
        {},
        "us-west-2",
    ),
    "the profile": ({}, {"config": "[default]\nregion = eu-west-3\n"}, "eu-west-3"),
    "a named profile": (
        {"AWS_PROFILE": "work"},
        {
            "config": "[profile work]\nregion = eu-west-3\n",
            "credentials": "[work]\naws_access_key_id = A\naws_secret_access_key = B\n",
        },
        "eu-west-3",
    ),
    "cdk.json": ({}, {"cdk.json": DEV}, "eu-west-1"),
    "cdk.json, extended": ({}, {"cdk.json": EXTENDED}, "eu-west-1"),
    "the profile before cdk.json": (
        {},
        {"config": "[default]\nregion = eu-west-3\n", "cdk.json": DEV},
        "eu-west-3",
    ),
    "an emulator": ({"AWS_ENDPOINT_URL": "THERE", "AWS_REGION": "us-east-1"}, {}, "us-east-1"),
    "an emulator that ended": (
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_REGION": "us-east-1"},
        {},
        None,
    ),
    "nothing": ({}, {}, None),
    "somebody else's cdk.json": ({}, {"cdk.json": '{"app": "x", "context": {}}'}, None),
    "a region that AWS does not have": ({"AWS_REGION": "us-esat-1"}, {}, None),
    "a region with a space": ({"AWS_DEFAULT_REGION": "us east 1"}, {}, None),
    "no region of the profile's": ({}, {"config": "[default]\nregion = narnia\n"}, None),
    "no region of cdk.json's": ({}, {"cdk.json": project(dev={"region": "narnia"})}, None),
    "a profile that is not there": (
        {"AWS_PROFILE": "nobody", "AWS_REGION": "us-east-1"},
        {},
        None,
    ),
    "no credentials": ({"AWS_ACCESS_KEY_ID": "", "AWS_REGION": "us-east-1"}, {}, None),
    "expired credentials": ({"AWS_REGION": "us-east-1", "expired": "yes"}, {}, None),
    "a job.toml that is not TOML": ({"AWS_REGION": "us-east-1"}, {"job.toml": "stage ="}, None),
    "no boto3": ({"AWS_REGION": "us-east-1", "absent": "yes"}, {}, None),
}

SHARED = {"boto3", "credentials", "region", "account", "stage"}
"""What the doctor says of what `deployed list` needs; the rest is of the machine, or of a synth."""


@pytest.fixture
def shell(request, folder, aws, monkeypatch):
    """The shell of a row of the table, and its region."""
    variables, files, region = SHELLS[request.param]
    variables = dict(variables)
    monkeypatch.setattr(aws, "expired", bool(variables.pop("expired", "")))
    if variables.pop("absent", ""):
        for module in ("boto3", "botocore"):
            monkeypatch.setitem(sys.modules, module, None)
    for name, text in files.items():
        (folder / name).write_text(text)
    if "AWS_ENDPOINT_URL" not in variables:
        variables |= {f"AWS_ENDPOINT_URL_{each}": "THERE" for each in ("STS", "SSM")}
    monkeypatch.setattr(laptop, "NEWEST", {})  # models that take seconds to read
    monkeypatch.setattr(laptop, "emulators", laptop.disk)  # which starts interpreters
    monkeypatch.setattr(doctor, "node", doctor.uv)
    monkeypatch.setattr(doctor, "python", lambda *_: doctor.uv())
    keys = {} if "AWS_PROFILE" in variables else KEYS
    for name, value in (keys | variables).items():
        monkeypatch.setenv(name, value.replace("THERE", aws.address))
    return region


@pytest.mark.parametrize("shell", SHELLS, indirect=True)
def test_the_doctor_fails_where_a_command_would(shell):
    listed = CliRunner().invoke(app, ["deployed", "list"])
    ran = CliRunner().invoke(app, ["doctor", "--json"])
    found = {each["question"]: each for each in json.loads(ran.stdout)}
    failed = [name for name in SHARED & set(found) if found[name]["verdict"] == "failure"]
    assert (listed.exit_code == 0) is (not failed), f"{listed.output}\n{found}"
    assert (listed.exit_code == 0) is (shell is not None), listed.output
    assert "secret" not in listed.output + ran.output
    if shell:
        assert found["region"]["message"].startswith(shell)


STAGES = [
    # job.toml, cdk.json, REWARD_STAGE; the stage, and who says it
    (None, None, None, "dev", "the default"),
    ('stage = "local"', None, None, "local", "that of job.toml"),
    ('stage = "local"', DEV, None, "local", "that of job.toml"),
    ('model = "m"', project(prod={}), None, "prod", "that of cdk.json"),
    ("stage = 3", project(prod={}), None, "prod", "that of cdk.json"),
    (None, '{"context": {"stages": {"only": {}}}}', None, "only", "that of cdk.json"),
    (None, '{"context": {"stages": {"a": {}, "b": {}}}}', None, "dev", "the default"),
    (None, '{"context": {"stage": "theirs"}}', None, "dev", "the default"),
    (None, "{", None, "dev", "the default"),
    (None, '{"context": {"stages": 3}}', None, "dev", "the default"),
    ('stage = "local"', DEV, "typed", "typed", "REWARD_STAGE"),
    ("stage =", None, "typed", "typed", "REWARD_STAGE"),
]


@pytest.mark.parametrize(("job", "cdk", "variable", "stage", "origin"), STAGES)
def test_the_stage_that_nobody_typed(job, cdk, variable, stage, origin, folder, monkeypatch):
    if job is not None:
        (folder / "job.toml").write_text(job)
    if cdk is not None:
        (folder / "cdk.json").write_text(cdk)
    if variable is not None:
        monkeypatch.setenv("REWARD_STAGE", variable)
    assert default_stage() == (stage, origin)


def test_the_region_is_that_of_the_stage_that_is_meant(folder):
    (folder / "cdk.json").write_text(
        project(dev={"region": "eu-west-1"}, prod={"region": "us-west-2"})
    )
    (folder / "job.toml").write_text('stage = "prod"')
    assert [region_of(name).name for name in ("dev", "prod", "")] == [
        "eu-west-1",
        "us-west-2",
        "us-west-2",
    ]


def test_stages_that_extend_each_other_have_no_region(folder):
    (folder / "cdk.json").write_text(project(dev={"extends": "b"}, b={"extends": "dev"}))
    assert region_of() is None


def test_an_option_is_stronger_than_the_shell(folder, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert region_of(given="eu-west-1") == ("eu-west-1", "--region")
    with pytest.raises(BadShell, match=r"--region: AWS has no region 'eu-wset-1'\. Did you mean"):
        region_of(given="eu-wset-1")


def test_a_stage_that_was_typed_needs_no_hint(folder, monkeypatch):
    (folder / "job.toml").write_text('stage = "local"')
    assert stage_hint("dev") == ""
    assert stage_hint("local").startswith("; nobody typed a stage, and 'local' is that of job.toml")
    monkeypatch.setenv("REWARD_STAGE", "prod")
    assert stage_hint("prod") == ""


LAPTOP = ("aws", "calibration", "cli", "data", "jobs", "local", "reports", "rollouts/drive")

MADE = re.compile(r"boto3\.(?:session\.)?(?:Session|client|resource)\(")

OWN = {
    "reward_functions/aws/shell.py": "the resolver",
    "reward_functions/jobs/clients.py": "a partition; nothing is called",
    "reward_functions/local/emulator/emulator.py": "the emulator's own keys",
    "reward_functions/rollouts/drive/doctor.py": "which services are modelled; nothing is called",
    "helpers/agents.py": "an agent, as its author writes it",
}


def test_no_other_code_of_a_laptop_makes_sessions():
    files = [
        path
        for top in (*(f"reward_functions/{room}" for room in LAPTOP), "helpers", "infra")
        for path in (ROOT / top).rglob("*.py")
    ]
    made = {str(path.relative_to(ROOT)) for path in files if MADE.search(path.read_text())}
    assert made == set(OWN)
