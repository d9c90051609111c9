"""The alpha kit's names against the double's alpha routes.

Source: public copies of aws-rft-sdk of March 2026; the table of pull request 5596.
"""

import asyncio

import pytest
from strands import Agent
from strands.models.openai import OpenAIModel

from reward_functions.local.runtime_double import RuntimeSettings, serving
from reward_functions.rollouts.compat.aws_rft_sdk import (
    RFTContext,
    RolloutFeedbackClient,
    rft_handler,
)
from reward_functions.rollouts.compat.aws_rft_sdk.adapters.strands import wrap_model
from reward_functions.rollouts.request.context import rollout
from tests.loopback import served
from tests.policy_service import Policy
from tests.rollouts.episode.conftest import JOB

METADATA = {"job_arn": JOB, "trajectory_id": "r"}
PAYLOAD = {"instance": {"question": "2 + 2?"}, "metadata": METADATA}


@pytest.fixture
def double(process, account):
    with serving(RuntimeSettings()) as made:
        account.setenv("RFT_RUNTIME_ENDPOINT", made.endpoint)
        made.register(JOB, "r")
        yield made


def state(double):
    trajectory = double.trajectory(JOB, "r")
    return trajectory.state, trajectory.rewards


def test_a_trajectory_is_completed_and_rewarded_turn_by_turn(double):
    client = RolloutFeedbackClient(METADATA)
    client.complete_trajectory()
    assert state(double) == ("READY", None)
    client.update_reward([0.8, 0.9, 1.0])
    assert state(double) == ("REWARD_RECEIVED", (0.8, 0.9, 1.0))
    assert {each.credential for each in double.trajectory(JOB, "r").deliveries} == {"sigv4"}


def test_where_nobody_names_an_endpoint_it_is_the_alphas(process):
    client = RolloutFeedbackClient(METADATA)
    assert client._endpoint == "https://finetuning-job-runtime.alpha.sagemaker.us-west-2.api.aws"


def test_one_reward_completes_too(double):
    RolloutFeedbackClient(METADATA).report_complete(0.5)
    assert state(double) == ("REWARD_RECEIVED", (0.5,))


def test_no_metadata_are_no_rollout(double):
    RolloutFeedbackClient(None).complete_trajectory()
    assert state(double) == ("PENDING", None)


def test_an_error_is_no_reward_unless_one_is_given(double):
    assert RolloutFeedbackClient(METADATA).report_error("no such page") == ()
    assert state(double) == ("PENDING", None)
    RolloutFeedbackClient(METADATA).report_error("no such page", 0.25)
    assert state(double) == ("REWARD_RECEIVED", (0.25,))


@pytest.mark.parametrize("form", ["function", "coroutine"])
def test_a_handler_opens_the_context_and_reports_the_reward(double, form):
    seen = []

    def agent(payload):
        seen.append(RFTContext.get_headers())
        return {"reward": 0.5}

    async def waiting(payload):
        return agent(payload)

    if form == "function":
        rft_handler(agent)(PAYLOAD)
    else:
        asyncio.run(rft_handler(waiting)(PAYLOAD))
    assert state(double) == ("REWARD_RECEIVED", (0.5,))
    assert seen[0]["X-Rft-Job-Arn"] == JOB
    assert RFTContext.get_headers() == {}


def test_an_agent_that_reports_itself_is_reported_once(double):
    @rft_handler
    def agent(payload):
        RolloutFeedbackClient(payload["metadata"]).report_complete(0.75)
        return "the answer"

    assert agent(PAYLOAD) == "the answer"
    assert state(double) == ("REWARD_RECEIVED", (0.75,))
    assert double.trajectory(JOB, "r").taken("reward") == 1


def test_an_agent_that_raises_is_no_reward(double):
    @rft_handler
    def agent(payload):
        raise OSError("no such page")

    with pytest.raises(OSError, match="no such page"):
        agent(PAYLOAD)
    assert state(double) == ("PENDING", None)


def test_each_call_has_a_span_of_its_own():
    with rollout(METADATA):
        first, second = RFTContext.get_headers(), RFTContext.get_headers()
    assert first.pop("X-Span-Id") != second.pop("X-Span-Id")
    assert first == second == {"X-Rft-Job-Arn": JOB, "X-Trajectory-Id": "r"}


def test_a_wrapped_model_sends_a_span_with_each_call(account):
    with served(Policy()) as policy:
        args = {"api_key": "key", "base_url": f"{policy.address}/v1"}
        args["default_headers"] = {"X-Mine": "kept"}
        model = OpenAIModel(model_id="default", client_args=args)
        wrapped = wrap_model(model)
        with rollout(METADATA):
            Agent(model=wrapped, callback_handler=None)("hello")
            Agent(model=wrapped, callback_handler=None)("hello")
    headers = [call.headers for call in policy.calls]
    assert [each["x-trajectory-id"] for each in headers] == ["r", "r"]
    assert [each["x-mine"] for each in headers] == ["kept", "kept"]
    assert len({each["x-span-id"] for each in headers}) == len(headers)
    assert model.client_args["default_headers"] == {"X-Mine": "kept"}
