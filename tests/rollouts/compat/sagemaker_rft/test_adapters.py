"""Clients and models that carry the rollout, by the names of sagemaker.train.rft.adapters."""

import asyncio
import copy
from types import SimpleNamespace

import httpx
import pytest
from botocore.credentials import Credentials
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.compat.sagemaker_rft import (
    SageMakerTokenGenerator,
    generate_token,
)
from reward_functions.rollouts.compat.sagemaker_rft.adapters import langchain
from reward_functions.rollouts.compat.sagemaker_rft.adapters.strands import wrap_model
from reward_functions.rollouts.request.context import rollout

METADATA = {"jobArn": "A", "rolloutId": "r"}
NAME = "x-amzn-sagemaker-trajectory-id"


def answering(asked):
    def answer(request):
        asked.append(request.headers.get(NAME))
        return httpx.Response(200)

    return httpx.MockTransport(answer)


def test_both_clients_carry_the_rollout_that_asks():
    asked, seen = [], []

    async def noticed(request):
        seen.append(request)

    with (
        langchain.create_http_client(transport=answering(asked)) as client,
        rollout(METADATA),
    ):
        client.get("http://policy")

    async def ask():
        hooks = {"request": [noticed]}
        client = langchain.create_async_http_client(transport=answering(asked), event_hooks=hooks)
        async with client:
            with rollout(METADATA):
                await client.get("http://policy")
        return hooks

    assert asyncio.run(ask()) == {"request": [noticed]}, "the caller's hooks stay as they are"
    assert asked == ["r", "r"]
    assert len(seen) == 1


def test_one_dict_for_both_clients_has_one_hook_each():
    hooks = {}
    client, waiting = langchain.create_http_clients(event_hooks=hooks)
    assert hooks == {}
    assert [len(each.event_hooks["request"]) for each in (client, waiting)] == [1, 1]
    client.close()
    asyncio.run(waiting.aclose())


def test_outside_a_rollout_a_client_warns_and_carries_nothing():
    asked = []
    with (
        langchain.create_http_client(transport=answering(asked)) as client,
        pytest.warns(UserWarning, match="rollout"),
    ):
        client.get("http://policy")
    assert asked == [None]


def test_a_wrapped_model_is_a_model_and_can_be_copied():
    model = OpenAIModel(model_id="default", client_args={"api_key": "key"})
    wrapped = wrap_model(model)
    assert isinstance(copy.deepcopy(wrapped), OpenAIModel)
    assert "default_headers" not in model.client_args


def test_tokens_have_their_form(account):
    assert generate_token("us-west-2").startswith("sagemaker-api-key-")
    token = SageMakerTokenGenerator().get_token(Credentials("AKID", "secret"), "us-west-2")
    assert token.startswith("sagemaker-api-key-")


WRONG = [(None, "us-west-2"), (SimpleNamespace(), ""), (SimpleNamespace(), None)]


@pytest.mark.parametrize(("credentials", "region"), WRONG)
def test_a_token_needs_credentials_and_a_region(credentials, region):
    with pytest.raises(ValueError, match="pass"):
        SageMakerTokenGenerator().get_token(credentials, region)
