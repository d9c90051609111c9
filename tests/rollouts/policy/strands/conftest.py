"""A policy on the loopback interface, and an agent with a calculator."""

import pytest
from strands import Agent, tool

from tests.loopback import served
from tests.policy_service import Policy

JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/j"
HELLO = [{"role": "user", "content": [{"text": "hello"}]}]


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "RFT_RUNTIME_ENDPOINT", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


@pytest.fixture
def policy():
    service = Policy()
    with served(service):
        yield service


@tool
def calculator(expression: str) -> str:
    """Compute.

    Args:
        expression: what to compute.
    """
    return "42"


def agent(model, hooks=(), **kwargs):
    return Agent(model=model, tools=[calculator], callback_handler=None, hooks=[*hooks], **kwargs)


def metadata(number=0, **more):
    return {"jobArn": JOB, "rolloutId": f"rollout-{number}"} | more
