"""Where calls go, and the shells that are refused: nothing reaches the emulator's own Bedrock."""

from __future__ import annotations

import re

import boto3
import pytest

from reward_functions.aws.catalogue import DeployedStage
from reward_functions.jobs import clients
from reward_functions.jobs.clients import (
    BadAddress,
    WrongEndpoint,
    client,
    given_key,
    mlflow_base_url,
    openai_base_url,
    require_private,
)
from reward_functions.jobs.drivers import driver_for
from reward_functions.jobs.drivers.openai import Api

HERE = "http://127.0.0.1:4566"
DOUBLE = "http://127.0.0.1:4567"
THERE = "https://vpce-1.amazonaws.com"

GENERAL = "AWS_ENDPOINT_URL"
BEDROCK = "AWS_ENDPOINT_URL_BEDROCK"
RUNTIME = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
MANTLE = "AWS_ENDPOINT_URL_BEDROCK_MANTLE"
SAGEMAKER = "AWS_ENDPOINT_URL_SAGEMAKER"
MLFLOW = "AWS_ENDPOINT_URL_SAGEMAKER_MLFLOW"
ROLLOUTS = "AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME"
S3 = "AWS_ENDPOINT_URL_S3"

TRAINERS = [BEDROCK, RUNTIME, MANTLE, SAGEMAKER, MLFLOW, ROLLOUTS]

LOCAL = {GENERAL: HERE} | dict.fromkeys(TRAINERS, DOUBLE)

pytestmark = pytest.mark.usefixtures("nobody")


@pytest.fixture
def shell(monkeypatch):
    def pointed(variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return pointed


def calls():
    """Every way to a service that trains or hosts."""
    yield lambda: client("bedrock", "us-east-1")
    yield lambda: client("bedrock-runtime", "us-east-1")
    yield lambda: client("sagemaker", "us-east-1")
    yield lambda: openai_base_url("us-west-2")
    yield lambda: mlflow_base_url("us-west-2")
    stage = DeployedStage.model_construct(bucket="bucket")
    yield lambda: driver_for("bedrock", "us-east-1", None, stage)
    yield lambda: driver_for("openai", "us-west-2", None, stage)


@pytest.mark.parametrize(
    ("variables", "names", "way"),
    [
        # the emulator's own Bedrock: one service, or all of them
        ({GENERAL: HERE}, TRAINERS, "up --training"),
        (LOCAL | {BEDROCK: ""}, [BEDROCK], "up --training"),
        (LOCAL | {RUNTIME: ""}, [RUNTIME], "up --training"),
        # without an address of its own, the third would reach AWS
        (LOCAL | {MANTLE: ""}, [MANTLE], "up --training"),
        # an address of its own that is the emulator's all the same
        (LOCAL | {BEDROCK: HERE}, [BEDROCK], "up --training"),
        (LOCAL | {RUNTIME: "http://localhost:4566/"}, [RUNTIME], "up --training"),
        # half-pointed: some here, some at AWS
        (LOCAL | {BEDROCK: THERE}, [BEDROCK], "up --training"),
        (LOCAL | {MANTLE: THERE}, [MANTLE], "up --training"),
        (LOCAL | {S3: THERE}, [S3], "up --training"),
        ({BEDROCK: DOUBLE}, [BEDROCK], "down"),
        ({MANTLE: DOUBLE}, [MANTLE], "down"),
        ({S3: HERE}, [S3], "down"),
        ({GENERAL: THERE, RUNTIME: DOUBLE}, [RUNTIME], "down"),
        (LOCAL | {GENERAL: ""}, TRAINERS, "down"),
    ],
)
def test_a_shell_that_points_to_two_kinds_of_aws_is_refused_everywhere(
    shell, variables, names, way
):
    shell(variables)
    for call in calls():
        with pytest.raises(WrongEndpoint) as raised:
            call()
        message = str(raised.value)
        assert re.findall(r"AWS_ENDPOINT_URL_\w+", message) == names
        assert f'eval "$(reward local {way} --print-env)"' in message
        assert "\n" not in message


@pytest.mark.parametrize(
    ("variables", "bedrock", "openai"),
    [
        ({}, "https://bedrock.us-west-2.amazonaws.com", "https://bedrock-mantle.us-west-2.api.aws/v1"),
        (LOCAL, DOUBLE, f"{DOUBLE}/v1"),
        (LOCAL | {MANTLE: f"{DOUBLE}/v1/"}, DOUBLE, f"{DOUBLE}/v1"),
        (LOCAL | {S3: HERE}, DOUBLE, f"{DOUBLE}/v1"),
        # An address in a company's network; the general one is no address of this API.
        ({GENERAL: THERE}, THERE, "https://bedrock-mantle.us-west-2.api.aws/v1"),
        ({MANTLE: THERE}, "https://bedrock.us-west-2.amazonaws.com", f"{THERE}/v1"),
        (
            LOCAL | {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"},
            "https://bedrock.us-west-2.amazonaws.com",
            "https://bedrock-mantle.us-west-2.api.aws/v1",
        ),
    ],
)  # fmt: skip
def test_calls_go_where_the_shell_points(shell, variables, bedrock, openai):
    shell(variables)
    assert client("bedrock", "us-west-2").meta.endpoint_url == bedrock
    assert openai_base_url("us-west-2") == openai


@pytest.mark.parametrize(
    ("variables", "sagemaker", "mlflow"),
    [
        ({}, "https://api.sagemaker.us-west-2.amazonaws.com", "https://mlflow.sagemaker.us-west-2.app.aws"),
        (LOCAL, DOUBLE, DOUBLE),
        (LOCAL | {MLFLOW: f"{DOUBLE}/"}, DOUBLE, DOUBLE),
        ({GENERAL: THERE}, THERE, "https://mlflow.sagemaker.us-west-2.app.aws"),
        (
            {MLFLOW: f"{THERE}/mlflow/"},
            "https://api.sagemaker.us-west-2.amazonaws.com",
            f"{THERE}/mlflow",
        ),
    ],
)  # fmt: skip
def test_calls_of_sagemaker_go_where_the_shell_points(shell, variables, sagemaker, mlflow):
    shell(variables)
    assert client("sagemaker", "us-west-2").meta.endpoint_url == sagemaker
    assert mlflow_base_url("us-west-2") == mlflow


PROFILES = f"""
[profile emulator]
endpoint_url = {HERE}
[profile training]
endpoint_url = {HERE}
services = double
[profile away]
services = nowhere
[services double]
bedrock =
  endpoint_url = {DOUBLE}
bedrock_runtime =
  endpoint_url = {DOUBLE}
bedrock_mantle =
  endpoint_url = {DOUBLE}
sagemaker =
  endpoint_url = {DOUBLE}
sagemaker_mlflow =
  endpoint_url = {DOUBLE}
sagemakerjobruntime =
  endpoint_url = {DOUBLE}
"""


@pytest.fixture
def profiles(tmp_path):
    (tmp_path / "config").write_text(PROFILES)


def test_a_profile_points_as_the_environment_does(profiles):
    emulator = boto3.Session(profile_name="emulator")
    with pytest.raises(WrongEndpoint, match="trains nothing"):
        client("bedrock", "us-east-1", emulator)
    training = boto3.Session(profile_name="training")
    assert client("bedrock", "us-east-1", training).meta.endpoint_url == DOUBLE
    assert openai_base_url("us-east-1", training) == f"{DOUBLE}/v1"


def test_the_general_variable_is_stronger_than_a_profiles_services(profiles, shell):
    """As in botocore: the calls would go to the emulator."""
    shell({GENERAL: HERE})
    training = boto3.Session(profile_name="training")
    with pytest.raises(WrongEndpoint, match="trains nothing"):
        client("bedrock", "us-east-1", training)


def test_the_address_that_is_checked_is_the_one_that_botocore_takes(profiles, shell, monkeypatch):
    shell({GENERAL: THERE})
    monkeypatch.setenv("AWS_PROFILE", "emulator")
    found = clients.endpoints()
    assert found.services["bedrock"] == client("bedrock", "us-east-1").meta.endpoint_url == THERE


@pytest.mark.parametrize("region", ["cn-north-1", "us-gov-west-1"])
def test_no_address_is_guessed_outside_of_the_commercial_regions(region):
    with pytest.raises(WrongEndpoint, match=f"{MANTLE}"):
        openai_base_url(region)


@pytest.mark.parametrize("region", ["attacker.example/", "", "us-west-2.attacker.example"])
def test_a_region_is_no_way_to_another_host(region):
    with pytest.raises(clients.ConfigurationError):
        openai_base_url(region)


def test_a_key_goes_nowhere_in_plain_text(shell):
    shell({MANTLE: "http://api.example.amazonaws.com"})
    with pytest.raises(WrongEndpoint, match="is not https"):
        openai_base_url("us-west-2")


@pytest.mark.parametrize("name", [GENERAL, BEDROCK, MANTLE, S3])
@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example\\@127.0.0.1",
        "http://user:hunter2@127.0.0.1",
        "http://127.0.0.1@evil.example",
        "https://user@vpce-1.amazonaws.com",
        "http://127.0.0.1 ",
        "http://127.0.0.1\t.evil.example",
        "http://[::1",
        "ftp://127.0.0.1",
        "127.0.0.1:4566",
    ],
)
def test_an_endpoint_that_two_parsers_read_as_two_hosts_is_refused(shell, name, url):
    shell(LOCAL | {name: url})
    for call in calls():
        with pytest.raises(BadAddress) as raised:
            call()
        assert str(raised.value).startswith(f"{name} ")
        assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://bedrock-mantle.us-west-2.api.aws/v1", "bedrock-mantle.us-west-2.api.aws"),
        ("http://127.0.0.1:4567/v1", "127.0.0.1:4567"),
        ("http://[::1]:4567/v1", "[::1]:4567"),
        ("http://LOCALHOST:1", "LOCALHOST:1"),
    ],
)
def test_a_key_goes_over_https_or_to_this_machine(url, host):
    assert require_private(url) == host


@pytest.mark.parametrize(
    "url", ["http://bedrock-mantle.us-west-2.api.aws", "http://10.0.0.1", "http://2130706433.evil"]
)
def test_a_key_never_goes_over_plain_http_to_another_machine(url):
    given = given_key("bedrock-api-key-x")
    with pytest.raises(BadAddress, match="a key travels over https"):
        Api(url, given)
