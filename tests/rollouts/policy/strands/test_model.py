"""A shared model of Strands: every call carries the rollout that makes it, and leaves nothing."""

import asyncio
import copy
import pickle
import re
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import openai
import pytest
from pydantic import BaseModel
from strands.models.bedrock import BedrockModel
from strands.models.model import Model
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel
from strands.types.exceptions import ModelThrottledException

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.episode import RolloutContext
from reward_functions.rollouts.policy.openai import takes_functions
from reward_functions.rollouts.policy.outgoing import PolicyTokens
from reward_functions.rollouts.request.context import rollout
from reward_functions.rollouts.request.errors import PolicyFailure, UntrustedEndpoint
from reward_functions.rollouts.request.headers import InferenceHeaders, make_inference_headers
from reward_functions.rollouts.strands import RolloutModel, UnsupportedModel, wrap_model
from tests.rollouts.policy.strands.conftest import HELLO, JOB, agent, metadata

AT_ONCE = 32
"""Of the nightly `make compat` it is 64."""


class Mine(OpenAIModel):
    """A class of a user's own."""

    greeting = "mine"


def model_of(policy, **kwargs):
    """A user's model, as it is before anybody wraps it."""
    args = {"base_url": f"{policy.address}/v1", "api_key": "key", "max_retries": 0}
    return OpenAIModel(
        model_id="default", client_args=args | kwargs.pop("client_args", {}), **kwargs
    )


def parameters(number):
    """Of a rollout: its own, in the spelling of the platform."""
    return {"temperature": number / 100, "topP": 1 - number / 100, "maxTokens": 100 + number}


async def call(model):
    return [event async for event in model.stream(HELLO)]


def called(model):
    return asyncio.run(call(model))


def crossed(calls):
    """The calls whose headers or parameters are not those of the rollout in their prompt."""
    numbers = [int(each.prompt.removeprefix("solve ")) for each in calls]
    wanted = [
        (
            (JOB, f"rollout-{n}"),
            dict(zip(("temperature", "top_p", "max_tokens"), parameters(n).values(), strict=True)),
        )
        for n in numbers
    ]
    return [
        each
        for each, want in zip(calls, wanted, strict=True)
        if (each.identity, each.parameters) != want
    ]


def assert_none_outside(policy, model):
    """A call outside any rollout carries nothing of those that were before it."""
    policy.calls.clear()
    called(model)
    assert [(each.identity, each.parameters) for each in policy.calls] == [((None, None), {})]


def test_tasks_over_one_model_are_as_many_rollouts(policy):
    model = wrap_model(model_of(policy))
    episodes = [RolloutContext(metadata(n), parameters(n)) for n in range(AT_ONCE)]

    async def one(number):
        with episodes[number]:
            await agent(model).invoke_async(f"solve {number}")

    async def everyone():
        await asyncio.gather(*map(one, range(AT_ONCE)))

    asyncio.run(everyone())
    assert len(policy.calls) == 2 * AT_ONCE
    assert crossed(policy.calls) == []
    assert {episode.turns for episode in episodes} == {2}
    assert_none_outside(policy, model)


def test_threads_over_one_model_are_as_many_rollouts(policy):
    model = wrap_model(model_of(policy))

    def one(number):
        with rollout(metadata(number), parameters(number)):
            agent(model)(f"solve {number}")

    with ThreadPoolExecutor(AT_ONCE // 2) as pool:
        list(pool.map(one, range(AT_ONCE // 2)))
    assert len(policy.calls) == 2 * AT_ONCE // 2
    assert crossed(policy.calls) == []
    assert_none_outside(policy, model)


def test_tasks_over_one_client_that_the_user_keeps(policy):
    async def everyone():
        async with openai.AsyncOpenAI(base_url=f"{policy.address}/v1", api_key="key") as client:
            model = wrap_model(OpenAIModel(client=client, model_id="default"))

            async def one(number):
                with rollout(metadata(number), parameters(number)):
                    await agent(model).invoke_async(f"solve {number}")

            await asyncio.gather(*map(one, range(AT_ONCE // 2)))
            assert crossed(policy.calls) == []
            policy.calls.clear()
            await call(model)

    asyncio.run(everyone())
    assert [each.identity for each in policy.calls] == [(None, None)]


def test_the_users_own_settings_stay_and_the_rollouts_win(policy):
    headers = {"X-Mine": "m", "X-Amzn-SageMaker-Job-Arn": "another"}
    own = {"temperature": 0.9, "seed": 7, "max_completion_tokens": 5}
    model = wrap_model(model_of(policy, client_args={"default_headers": headers}, params=own))
    with rollout(metadata(), {"temperature": 0.1, "max_tokens": 9}):
        called(model)
    [sent] = policy.calls
    assert sent.identity == (JOB, "rollout-0")
    assert sent.headers["x-mine"] == "m"
    assert sent.body["seed"] == 7
    assert sent.parameters == {"temperature": 0.1, "max_tokens": 9}
    assert "max_completion_tokens" not in sent.body, "the service refuses both spellings of a limit"


def test_a_header_of_the_rollouts_name_is_sent_once_however_it_is_spelled():
    own = InferenceHeaders({"x-amzn-sagemaker-job-arn": "another", "X-Mine": "m"})
    with rollout(metadata()):
        assert dict(own) == {"X-Mine": "m"} | make_inference_headers(metadata())
    assert own["x-amzn-sagemaker-job-arn"] == "another"


def test_the_model_that_is_wrapped_stays_as_it_was(policy):
    model = model_of(policy, client_args={"default_headers": {"X-Mine": "m"}}, params={"seed": 7})
    before = copy.deepcopy(vars(model))
    wrapped = wrap_model(model)
    with rollout(metadata(), parameters(3)):
        called(wrapped)
        called(model)
    wrapped.update_config(model_id="another", params={"seed": 8})
    assert vars(model) == before
    assert [each.identity for each in policy.calls] == [(JOB, "rollout-0"), (None, None)]


def test_a_configuration_that_changes_later_is_under_the_rollouts(policy):
    model = wrap_model(model_of(policy))
    model.update_config(params={"temperature": 0.9, "seed": 8})
    with rollout(metadata(), {"temperature": 0.2}):
        called(model)
    assert (policy.calls[0].body["seed"], policy.calls[0].body["temperature"]) == (8, 0.2)


def test_arguments_of_a_client_that_are_changed_too_late_are_refused(policy):
    with pytest.raises(TypeError):
        wrap_model(model_of(policy)).client_args["timeout"] = 5


class Answer(BaseModel):
    """What a structured output is to be."""

    number: int


@pytest.mark.parametrize(("text", "fits"), [('{"number": 42}', True), ("forty-two", False)])
def test_a_structured_output_is_a_call_of_its_rollout_and_a_turn_whether_it_fits(
    policy, text, fits
):
    policy.answer_text = text
    model, episode = wrap_model(model_of(policy)), RolloutContext(metadata(), {"temperature": 0.3})

    async def outputs():
        return [each async for each in model.structured_output(Answer, HELLO)]

    with episode:
        if fits:
            assert asyncio.run(outputs()) == [{"output": Answer(number=42)}]
        else:
            with pytest.raises(ValueError, match="Invalid JSON"):
                asyncio.run(outputs())
    assert [each.identity for each in policy.calls] == [(JOB, "rollout-0")]
    assert policy.calls[0].parameters == {"temperature": 0.3}
    assert episode.turns == 1


def test_a_call_that_was_throttled_is_no_turn(policy):
    policy.fail("v1/chat/completions", (429, {}, b"{}"))
    model, episode = wrap_model(model_of(policy)), RolloutContext(metadata())
    with episode:
        with pytest.raises(ModelThrottledException):
            called(model)
        assert episode.turns == 0
        called(model)
    assert episode.turns == 1


def test_the_policy_is_not_called_behind_the_deadline(policy):
    model, episode = wrap_model(model_of(policy)), RolloutContext(metadata())
    episode.cancelled.set()
    with episode, pytest.raises(PolicyFailure, match="window is over"):
        agent(model)("solve 0")
    assert policy.calls == []


# What it is


@pytest.mark.parametrize("kind", [OpenAIModel, Mine])
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_wrapped_model_is_a_model_and_so_are_its_copies(policy, kind, copied):
    wrapped = wrap_model(
        kind(model_id="default", client_args={"base_url": f"{policy.address}/v1", "api_key": "k"})
    )
    again = copied(wrapped)
    assert type(again) is type(wrapped)
    assert isinstance(again, Model)
    assert isinstance(again, kind)
    assert isinstance(again, RolloutModel)
    assert again.get_config()["model_id"] == "default"
    with rollout(metadata()):
        called(again)
    assert policy.calls[0].identity == (JOB, "rollout-0")


def test_a_model_is_wrapped_once(policy):
    wrapped = wrap_model(model_of(policy))
    assert wrap_model(wrapped) is wrapped


class Loud(OpenAIModel):
    """A user's class that changes the request and the events."""

    def format_request(self, *args, **kwargs):
        return super().format_request(*args, **kwargs) | {"user": "loud", "temperature": 2}

    async def stream(self, *args, **kwargs):
        async for event in super().stream(*args, **kwargs):
            yield event
        yield {"loud": True}


def test_what_a_class_of_ones_own_does_stays(policy):
    loud = Loud(
        model_id="default", client_args={"base_url": f"{policy.address}/v1", "api_key": "k"}
    )
    with rollout(metadata(), {"temperature": 0.5}):
        assert called(wrap_model(loud))[-1] == {"loud": True}
    assert policy.calls[0].body["user"] == "loud"
    assert policy.calls[0].body["temperature"] == 0.5


class Fake(Model):
    """A model that speaks to nobody."""

    def update_config(self, **model_config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    def stream(self, *args, **kwargs):
        raise NotImplementedError


LITELLM = type("LiteLLMModel", (OpenAIModel,), {"__module__": "strands.models.litellm"})
"""As Strands declares it, and SageMakerAIModel likewise; their packages are not installed here."""

UNSUPPORTED = {
    "BedrockModel": lambda: BedrockModel.__new__(BedrockModel),
    "OpenAIResponsesModel": lambda: OpenAIResponsesModel(model_id="m"),
    "LiteLLMModel": lambda: LITELLM(model_id="m"),
    "an OpenAIModel with bedrock_mantle_config": lambda: OpenAIModel(
        model_id="m", bedrock_mantle_config={"region": "us-west-2"}
    ),
    "Fake": Fake,
    "str": lambda: "default",
}
"""By their names in the message, what builds one."""


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_another_model_is_refused_with_what_is_supported(name):
    with pytest.raises(UnsupportedModel, match=f"not {name}: .*OpenAIModel") as raised:
        wrap_model(UNSUPPORTED[name]())
    assert isinstance(raised.value, ConfigurationError)


# Where a call goes, and with which key


def test_a_model_without_an_address_calls_the_runtime_of_its_rollout(policy, monkeypatch):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    monkeypatch.setenv("OPENAI_API_KEY", "of another service")
    with rollout(metadata(region="eu-west-1")):
        called(RolloutModel())
    [sent] = policy.calls
    assert sent.body["model"] == "default"
    assert sent.headers["authorization"].startswith("Bearer sagemaker-api-key-")


def signer(call):
    """The access key whose signature a call's bearer token is."""
    token = call.headers["authorization"].removeprefix("Bearer sagemaker-api-key-")
    return re.search("Credential=(.*?)%2F", b64decode(token).decode())[1]


def test_a_refused_token_is_minted_with_the_credentials_of_now(policy, monkeypatch):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    monkeypatch.setattr("reward_functions.rollouts.policy.strands.TOKENS", tokens := PolicyTokens())
    monkeypatch.setattr("reward_functions.rollouts.policy.openai.TOKENS", tokens)
    model, episode = RolloutModel(), RolloutContext(metadata())
    with episode:
        called(model)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDROTATED")
        policy.fail("v1/chat/completions", (403, {}, b"{}"))
        called(model)
    assert [signer(each) for each in policy.calls] == ["AKIDEXAMPLE", "AKIDROTATED"]
    assert episode.turns == 2, "a refused call is no turn"


@pytest.mark.parametrize("own", [{}, {"api_key": "mine"}], ids=["minted", "the user's"])
def test_a_call_that_stays_refused_fails(policy, monkeypatch, own):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", policy.address)
    policy.fail("v1/chat/completions", *[(401, {}, b"{}")] * 3)
    with rollout(metadata()), pytest.raises(openai.AuthenticationError):
        called(RolloutModel(client_args=own))
    assert len(policy.asked) == (1 if own else 2)


def test_calls_that_are_refused_at_once_look_the_account_up_once():
    times = iter([5.0, 9.0])
    tokens = PolicyTokens(clock=lambda: next(times))
    accounts = [tokens._tokens]
    for began in (1.0, 1.0, 4.0, 6.0):
        tokens.renew(began)
        accounts.append(tokens._tokens)
    assert [new is not old for old, new in pairwise(accounts)] == [True, False, False, True]


def test_one_model_calls_the_runtime_that_each_rollout_names(policy):
    model = RolloutModel(client_args={"api_key": "mine"}, trusted=[policy.address])
    with rollout(metadata(endpoint=policy.address)):
        called(model)
    assert policy.calls[0].headers["authorization"] == "Bearer mine"


def test_a_payload_that_names_another_host_is_sent_nothing(policy):
    with rollout(metadata(endpoint=policy.address)), pytest.raises(UntrustedEndpoint):
        called(RolloutModel())
    assert policy.calls == []


def test_an_address_of_the_users_own_is_given_no_token_of_ours(policy, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of that service")
    model = RolloutModel(client_args={"base_url": f"{policy.address}/v1"})
    with rollout(metadata()):
        called(model)
    assert policy.calls[0].headers["authorization"] == "Bearer of that service"


def older(self, *, api_key: str | None = None):
    """The constructor of openai 1.68."""


def newer(self, *, api_key: "str | Callable[[], Awaitable[str]] | None" = None):  # noqa: F821
    """That of openai 2.54."""


@pytest.mark.parametrize(
    ("client", "takes"), [(older, False), (newer, True), (openai.AsyncOpenAI, True)]
)
def test_whether_a_client_calls_a_function_for_its_key_is_read_from_its_signature(client, takes):
    assert takes_functions(client) is takes


def test_nothing_of_a_key_or_a_header_is_in_what_is_printed(policy):
    model = wrap_model(model_of(policy, client_args={"api_key": "s3cret"}))
    with rollout(metadata()):
        assert "s3cret" not in f"{model!r} {model.client_args!r}"
