"""A double of AgentCore and of S3, and a client of it."""

from contextlib import contextmanager

import boto3
import pytest
from botocore.config import Config

from reward_functions.rollouts.collect.client import RolloutClient
from tests.local.agentcore_double import FunctionAgent, serving

ARN = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-abc"


def boto(service, double):
    return boto3.client(
        service,
        region_name="us-west-2",
        endpoint_url=double.endpoint,
        aws_access_key_id="AKIAEXAMPLE",
        aws_secret_access_key="x" * 40,
        config=Config(
            retries={"total_max_attempts": 1},
            max_pool_connections=64,
            s3={"addressing_style": "path"},
            read_timeout=30,
        ),
    )


@pytest.fixture(autouse=True)
def ledgers(tmp_path, monkeypatch):
    """The folder of this test's ledger."""
    monkeypatch.setenv("REWARD_ROLLOUTS_SESSIONS", str(tmp_path / "sessions"))
    return tmp_path / "sessions"


@pytest.fixture
def collecting():
    """A double that runs a function, and a client of it."""

    @contextmanager
    def started(function, faults=None, *, agent=FunctionAgent, **arguments):
        with serving(agent(function), faults) as double:
            clients = {
                "agentcore_client": boto("bedrock-agentcore", double),
                "s3_client": boto("s3", double),
            }
            settings = {"tps_limit": 10_000} | clients | arguments
            try:
                yield RolloutClient(ARN, "results", "run", **settings), double
            finally:
                for each in clients.values():
                    each.close()

    return started
