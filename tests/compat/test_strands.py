"""A shared model of Strands under concurrency, through both packages: who carries whose headers."""

import asyncio

import pytest

from tests.compat.conftest import ABSENT, MEASURED, METADATA, OURS, THEIRS, strands_agent

pytest.importorskip("sagemaker.train", reason=ABSENT)

AT_ONCE = 64
CALLS = 2  # of each rollout: the tool, then the answer


def payloads():
    for number in range(AT_ONCE):
        yield {
            "prompt": f"rollout-{number}",
            "metadata": METADATA | {"rolloutId": f"rollout-{number}"},
            "inferenceParams": {"temperature": number / 100},
        }


def crossed(call):
    """Whether a call carries another rollout than the one in its prompt."""
    temperature = int(call.prompt.removeprefix("rollout-")) / 100
    return call.identity[1] != call.prompt or call.parameters["temperature"] != temperature


def test_calls_of_one_shared_model_cross_in_theirs_and_not_in_ours(either, service):
    agent = strands_agent(either, service.address)

    async def everyone():
        await asyncio.gather(*map(agent, payloads()))

    asyncio.run(everyone())
    wrong, calls = sum(map(crossed, service.calls)), len(service.calls)
    MEASURED.append(f"{either.name}: {wrong} of {calls} calls carried another rollout")
    assert calls == CALLS * AT_ONCE
    assert wrong == 0 if either.name == OURS else wrong > calls / 2


def test_theirs_writes_into_the_users_model_and_ours_leaves_it(either, service):
    strands = pytest.importorskip("strands.models.openai")
    args = {"base_url": f"{service.address}/v1", "api_key": "key"}
    model = strands.OpenAIModel(model_id="default", client_args=args)
    wrapped = either.wrap_model(model)

    @either.handler
    async def agent(payload):
        async for _ in wrapped.stream([{"role": "user", "content": [{"text": "hello"}]}]):
            pass
        return {"reward": 1.0}

    asyncio.run(agent(next(payloads())))
    params = model.config.get("params") or {}
    left = {"default_headers" in model.client_args, "temperature" in params}
    assert left == {either.name == THEIRS}
