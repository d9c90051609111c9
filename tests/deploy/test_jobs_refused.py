"""Jobs that cannot be: cause and remedy in one sentence, and nothing is left or started.

Typed by a submitter, on the stage that these tests deploy; what is wrong with its account, root
did.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from time import sleep

import pytest

from reward_functions.jobs.clients import signed
from reward_functions.jobs.configuration import load
from reward_functions.jobs.drivers import driver_for
from reward_functions.jobs.preparing import prepared
from reward_functions.local.emulator.emulator import TRAINING
from tests.deploy.submitter import DRIVERS

SOMEBODY_ELSES = "arn:aws:kms:us-east-1:000000000000:key/00000000-0000-0000-0000-000000000000"

FIELDS = {
    "model_key": f'model_key = "{SOMEBODY_ELSES}"',
    "vpc": '[vpc]\nsubnets = ["subnet-0123456789abcdef0"]\n'
    'security_groups = ["sg-0123456789abcdef0"]',
    "invocation_logs": '[invocation_logs]\nsource = "s3://somebody-elses/logs"',
}
"""What takes a right of the stage's that this one does not grant, as TOML has it."""

WORDS = [
    # what is typed beside a job that is right, and what is said
    (("-m", "amazon.nova-9-lite"), "has no 'amazon.nova-9-lite'"),
    (("-m", "openai.gpt-oss-20b"), "is trained in us-west-2"),
    (("--set", "batchSize=513"), "a whole number from 16 to 512"),
    (
        ("-d", "arn:aws:lambda:eu-west-1:000000000000:function:SageMaker-reward-local-gsm8k:1"),
        "is in eu-west-1, and the job runs in us-east-1",
    ),
    # The emulator asks about listing on "*", which a submitter may not: it cannot suggest a name.
    (("-d", "gsm9k"), "stage 'local' has no deployment 'gsm9k'"),
    (("-d", "gsm8k-envelope"), "envelope"),
]


@pytest.fixture
def nothing(account):
    """What is there before is there afterwards, and nothing else."""
    before = account.belongings()
    yield
    assert account.belongings() == before


@pytest.fixture
def refused(me, data, nothing):
    """The sentence that a start ends with."""

    def run(*words, driver="bedrock", rows=data, environment=None):
        job = ("-d", "gsm8k", "--name", "refused", *(("--data", rows) if rows else ()))
        ran = me.job("start", *DRIVERS[driver], *job, *words, status=2, environment=environment)
        assert ran.stdout == ""
        assert ran.stderr.startswith("error: ")
        assert ran.stderr.count("\n") == 1
        return ran.stderr

    return run


@pytest.mark.parametrize(("words", "said"), WORDS, ids=[" ".join(words)[:40] for words, _ in WORDS])
def test_what_is_typed_wrong(refused, words, said):
    assert said in refused(*words)


FEW = 99
"""Rows, and a hundred are needed. Too many take seconds to count: `tests/jobs/test_sizes.py`."""


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_file_of_too_few_rows(me, data, refused, driver):
    file = me.folder / "rows" / "few.jsonl"
    lines = (me.folder / data).read_text().splitlines()
    file.write_text("\n".join(lines[:FEW]))
    sentence = refused(rows=str(file), driver=driver)
    assert f"error: nothing was started: data: too few rows: {file}: 99, and 100 are" in sentence


@pytest.mark.parametrize("field", FIELDS)
def test_a_setting_that_takes_a_right_of_the_stages_is_named(me, data, refused, field):
    file = me.folder / f"{field}.toml"
    file.write_text(f"{FIELDS[field]}\n")
    rows = None if field == "invocation_logs" else data
    assert refused(file, rows=rows).startswith(f"error: {field}")


def test_a_role_that_bedrock_may_not_assume(account, refused):
    with trusting("lambda.amazonaws.com", account):
        assert "trust: " in refused()


@contextmanager
def trusting(service, account):
    """The training role, which another service may assume meanwhile, and Bedrock may not."""
    role = account.stage.shared.training_role_arn.rpartition("/")[2]
    document = account.iam.get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"]
    principal = {"Principal": {"Service": service}}
    other = document | {"Statement": [each | principal for each in document["Statement"]]}
    account.iam.update_assume_role_policy(RoleName=role, PolicyDocument=json.dumps(other))
    try:
        yield
    finally:
        account.iam.update_assume_role_policy(RoleName=role, PolicyDocument=json.dumps(document))


def test_a_model_that_has_the_name_already(me, account, data, request):
    asked = {
        "model": "amazon.nova-2-lite-v1:0:256k",
        "deployment": "gsm8k",
        "data": data,
        "name": "refused",
        "hyperparameters": {"batchSize": 25, "learningRate": 1e-3},
    }
    bedrock = driver_for("bedrock", "us-east-1", None, account.stage.shared)
    job = prepared(load(None, asked), account.stage.shared, bedrock)
    name = job.request.name
    account.make_model(name)
    sentence = request.getfixturevalue("refused")()
    assert f"nothing was started: model's name: a custom model is called {name}" in sentence


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        ("openai", "the key in AWS_BEARER_TOKEN_BEDROCK is refused: it has expired"),
        # boto3's clients of Bedrock prefer such a key, and send it over https alone.
        ("bedrock", "unset AWS_BEARER_TOKEN_BEDROCK"),
    ],
)
def test_an_expired_key_of_bedrock(refused, expired, driver, said):
    sentence = refused(driver=driver, environment={"AWS_BEARER_TOKEN_BEDROCK": expired})
    assert said in sentence
    assert expired not in sentence


@pytest.fixture(scope="module")
def expired(me):
    """A key of the submitter's that was good for a second."""
    from botocore.credentials import Credentials

    own = (me.environment[f"AWS_{each}"] for each in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"))
    key = signed(Credentials(*own), "us-east-1", 1).secret
    sleep(1)
    return key


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_key_that_aws_does_not_know(refused, driver):
    unknown = {"AWS_ACCESS_KEY_ID": "AKIA0000000000000000"}
    sentence = refused(driver=driver, environment=unknown)
    assert "AWS does not know these credentials" in sentence
    assert "check AWS_PROFILE and the keys" in sentence


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_emulator_without_the_training_double(refused, driver):
    without = {f"AWS_ENDPOINT_URL_{each}": None for each in TRAINING}
    sentence = refused(driver=driver, environment=without)
    assert "the local AWS emulator's own Bedrock trains nothing" in sentence
    assert '--enforce --training --print-env)"' in sentence
