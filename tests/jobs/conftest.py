"""Stages, and services on the loopback interface, as the training double has them.

A stage's jobs run in the emulator's account, or on a service in memory. A shell points at the
loopback interface as at the training double.
"""

from __future__ import annotations

import json
import os

import boto3
import pytest

from reward_functions.aws import calls
from reward_functions.aws.catalogue import stage_parameter
from reward_functions.aws.deployed.catalogue import stage_record
from reward_functions.local.emulator.emulator import TRAINING
from tests.job_fixtures import ROLE
from tests.training_rows import row


@pytest.fixture(scope="session")
def root_session(root_session):
    """One whose clients are made once, for each environment that they were made in."""
    given = root_session.get_credentials()
    session = boto3.Session(
        given.access_key, given.secret_key, region_name=root_session.region_name
    )
    make, kept = session.client, {}

    def client(*arguments, config=None, **options):
        asked = arguments, options, config and config._user_provided_options
        key = repr((asked, sorted(each for each in os.environ.items() if "AWS_" in each[0])))
        if key not in kept:
            kept[key] = make(*arguments, config=config, **options)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "client", client)
        yield session


@pytest.fixture
def nobody(monkeypatch, tmp_path):
    """Credentials of nobody, and no configuration of the machine's."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "nobodys-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(calls, "ATTEMPTS", 1)


@pytest.fixture(scope="session")
def made_once():
    """A client takes a twentieth of a second to make; those of one address are one."""
    kept = {}

    def control_plane(service, region, session):
        place = service, region, session, os.environ.get("AWS_ENDPOINT_URL_BEDROCK")
        if place not in kept:
            kept[place] = calls.client(service, region, session)
        return kept[place]

    return control_plane


@pytest.fixture
def bucket(services, nobody, monkeypatch):
    """S3, which answers for every service that has no address of its own."""
    bucket, _, _ = services
    bucket.empty()
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.address)
    return bucket


@pytest.fixture
def bedrock(services, bucket, made_once, monkeypatch):
    """Bedrock."""
    _, bedrock, _ = services
    bedrock.empty()
    for name in TRAINING:
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{name}", bedrock.address)
    monkeypatch.setattr("reward_functions.jobs.clients.control_plane", made_once)
    return bedrock


@pytest.fixture
def openai(services, nobody):
    """The OpenAI-compatible API."""
    *_, openai = services
    openai.empty()
    return openai


@pytest.fixture
def data(tmp_path):
    """A file of training data; its rows are nobody's business here."""
    file = tmp_path / "train.jsonl"
    file.write_text('{"messages": []}\n' * 3)
    return file


@pytest.fixture
def training(tmp_path):
    """A file of rows, 100 of them where none are given."""

    def written(rows=None, name="train.jsonl"):
        path = tmp_path / name
        rows = [row(at) for at in range(100)] if rows is None else rows
        path.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
        return path

    return written


@pytest.fixture
def record(stage):
    """The stage's record, with a role of its account."""

    def written(**members):
        changed = {"training_role_arn": ROLE, "bucket": "bucket"} | members
        known = stage_record(stage.stage, stage.session).model_copy(update=changed)
        stage.put(stage_parameter(stage.stage), known)
        return known

    return written
