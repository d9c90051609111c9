"""Published toolkits beside ours, and every framework of agents: `make compat`.

They have an environment of their own; elsewhere they are skipped. What a package sends arrives at a
service on the loopback interface that takes everything and keeps it; what depends on the service's
states runs against the runtime double.
"""

import json
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import NamedTuple

import pytest

from tests.loopback import served
from tests.policy_service import Policy

CHAT = "/v1/chat/completions"
THEIRS = "sagemaker.train.rft"
OURS = "reward_functions.rollouts.compat.sagemaker_rft"
SHOWN = (
    "sagemaker-train",
    "sagemaker-core",
    "agentcore-rl-toolkit",
    "strands-agents",
    "langchain-openai",
    "langgraph",
    "openai",
    "openai-agents",
    "httpx",
    "boto3",
    "reward-functions",
)

METADATA = {
    "jobArn": "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/j",
    "rolloutId": "rollout-0",
}


def pytest_report_header():
    if find_spec("sagemaker"):
        return ["compared: " + ", ".join(f"{name} {version(name)}" for name in SHOWN)]
    return []


ABSENT = "sagemaker-train is not installed here: see `make compat`"


MEASURED = []
"""Sentences of the tests, for the end of the run."""


def pytest_terminal_summary(terminalreporter):
    for sentence in MEASURED:
        terminalreporter.write_line(f"measured: {sentence}")


class Post(NamedTuple):
    """One report as it arrived."""

    path: str
    body: dict
    headers: dict


@dataclass
class Runtime(Policy):
    """A runtime that answers policy calls, takes every report, and keeps both.

    Args:
        posts: the reports.
    """

    posts: list = field(default_factory=list)

    def operation(self, asked):
        path = "/" + "/".join(asked.path)
        if path == CHAT:
            return super().operation(asked)
        return path, lambda: self.take(path, asked)

    def take(self, path, asked):
        self.posts.append(Post(path, json.loads(asked.body), asked.headers))
        return 200, {"Content-Type": "application/json"}, b"{}"


@pytest.fixture(autouse=True)
def _environment(monkeypatch, tmp_path):
    for name in (
        "AWS_REGION",
        "AWS_PROFILE",
        "RFT_STAGE",
        "RFT_RUNTIME_ENDPOINT",
        "OPENAI_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "us-west-2")


@pytest.fixture
def service(monkeypatch):
    taking = Runtime()
    with served(taking):
        monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", taking.address)
        yield taking


@dataclass
class Package:
    """The names that an agent imports, of one of the two."""

    name: str
    make_inference_headers: object
    get_inference_headers: object
    client: object
    handler: object
    wrap_model: object
    generate_token: object


def names_of(name, tokens):
    """The names of one of the two: the import line alone differs."""
    found = import_module(name)
    return Package(
        name,
        found.make_inference_headers,
        found.get_inference_headers,
        found.RolloutFeedbackClient,
        found.sagemaker_rft_handler,
        import_module(f"{name}.adapters.strands").wrap_model,
        import_module(tokens).generate_token,
    )


@contextmanager
def package(name):
    """A package; ours in a process that keeps its reports in memory."""
    if name == THEIRS:
        yield names_of(THEIRS, tokens="sagemaker.core.token_generator")
        return
    from reward_functions.rollouts.report.outbox.opening import open_outbox
    from reward_functions.rollouts.report.reporter import Reporter, reporting
    from reward_functions.rollouts.report.settings import RolloutSettings
    from reward_functions.rollouts.report.transports import open_transport

    settings = RolloutSettings(outbox="memory:")
    own = Reporter(settings, open_outbox(settings.outbox), transports=open_transport)
    with reporting(own):
        yield names_of(OURS, tokens=OURS)
    own.close()


@pytest.fixture(params=[THEIRS, OURS])
def either(request):
    with package(request.param) as found:
        yield found


@pytest.fixture
def both():
    with package(THEIRS) as theirs, package(OURS) as ours:
        yield theirs, ours


def strands_agent(package, address, **client_args):
    """A handler of a package: an agent with a calculator over one shared, wrapped model."""
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    @tool
    def calculator(expression: str) -> str:
        """Compute.

        Args:
            expression: what to compute.
        """
        return "42"

    args = {"base_url": f"{address}/v1", "api_key": "key"} | client_args
    model = package.wrap_model(OpenAIModel(model_id="default", client_args=args))

    @package.handler
    async def agent(payload):
        solver = Agent(model=model, tools=[calculator], callback_handler=None)
        return {"reward": float("42" in str(await solver.invoke_async(payload["prompt"])))}

    return agent


def quietly(do, *args):
    """What a call returns, with what it warns of thrown away."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return do(*args)
