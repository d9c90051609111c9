"""The vectors of sagemaker.train.rft through the module that stands in for it.

Source: rows executed against sagemaker-train 1.27.0; `make compat` runs them through both.
"""

import asyncio
import inspect
import warnings

import pytest

from reward_functions.rollouts.compat import sagemaker_rft
from reward_functions.rollouts.compat.sagemaker_rft import (
    RolloutFeedbackClient,
    RolloutMetadata,
    get_inference_headers,
    get_inference_params,
    make_inference_headers,
    rft_handler,
    sagemaker_rft_handler,
    set_rollout_context,
)
from reward_functions.rollouts.compat.sagemaker_rft.context import (
    clear_rollout_context,
    get_rollout_context,
)
from reward_functions.rollouts.report.transports import Reply
from reward_functions.rollouts.request.errors import DeliveryFailed, UntrustedEndpoint
from reward_functions.rollouts.request.outcomes import Conflict, NotFound, Skipped
from tests.rollouts.episode.conftest import JOB

JOB_HEADER, ROLLOUT_HEADER = "X-Amzn-SageMaker-Job-Arn", "X-Amzn-SageMaker-Trajectory-Id"
HOST = "https://job-runtime{}.sagemaker.{}.api.aws"
PAYLOAD = {"prompt": "p", "metadata": {"jobArn": JOB, "rolloutId": "r"}}

HEADERS = [
    ({"jobArn": "A", "rolloutId": "r"}, {JOB_HEADER: "A", ROLLOUT_HEADER: "r"}),
    ({"job_arn": "A", "trajectory_id": "r"}, {JOB_HEADER: "A", ROLLOUT_HEADER: "r"}),
    ({"trajectory_id": "", "rolloutId": "r"}, {ROLLOUT_HEADER: "r"}),
    ({"trajectoryId": "t", "rolloutId": "r"}, {ROLLOUT_HEADER: "t"}),
    (
        RolloutMetadata(job_arn="A", trajectory_id="r", endpoint="https://e"),
        {JOB_HEADER: "A", ROLLOUT_HEADER: "r"},
    ),
    ({}, {}),
]


@pytest.mark.parametrize(("metadata", "headers"), HEADERS)
def test_headers_of_metadata_come_without_a_warning(metadata, headers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make_inference_headers(metadata) == headers


def test_headers_outside_a_rollout_are_none_with_a_warning():
    with pytest.warns(UserWarning, match="rollout"):
        assert get_inference_headers() == {}


def test_a_context_is_kept_as_it_was_given_and_cleared():
    metadata, params = {"jobArn": "A", "rolloutId": "r"}, {"temperature": 0.5}
    set_rollout_context(metadata, params)
    try:
        assert get_rollout_context() is metadata
        assert get_inference_params() is params
        assert get_inference_headers() == {JOB_HEADER: "A", ROLLOUT_HEADER: "r"}
    finally:
        clear_rollout_context()
    assert (get_rollout_context(), get_inference_params()) == (None, None)


ENDPOINTS = [
    ({}, {"AWS_REGION": "us-east-1"}, HOST.format("", "us-east-1")),
    ({}, {}, HOST.format("", "us-west-2")),
    ({}, {"RFT_STAGE": "beta"}, HOST.format(".beta", "us-west-2")),
    ({}, {"RFT_STAGE": "prod"}, HOST.format("", "us-west-2")),
    ({"region": "eu-west-1"}, {}, HOST.format("", "eu-west-1")),
    ({"endpoint": HOST.format("", "us-west-2") + "/"}, {}, HOST.format("", "us-west-2")),
    ({}, {"RFT_RUNTIME_ENDPOINT": "http://127.0.0.1:9/"}, "http://127.0.0.1:9"),
]


@pytest.mark.parametrize(("more", "environment", "endpoint"), ENDPOINTS)
def test_endpoints_and_private_names(process, account, more, environment, endpoint):
    for name, value in environment.items():
        account.setenv(name, value)
    client = RolloutFeedbackClient(PAYLOAD["metadata"] | more)
    assert client._endpoint == endpoint
    assert (client._job_arn, client._trajectory_id) == (JOB, "r")
    assert client._metadata == PAYLOAD["metadata"] | more
    assert client.target.transport == "bearer", "as theirs, where the process says nothing"


def test_the_environment_names_another_transport(process, account):
    account.setenv("REWARD_ROLLOUTS_TRANSPORT", "modelled")
    assert RolloutFeedbackClient(PAYLOAD["metadata"]).target.transport == "modelled"


def test_a_model_is_kept_as_its_dict(process):
    metadata = RolloutMetadata(job_arn=JOB, trajectory_id="r")
    assert RolloutFeedbackClient(metadata)._metadata == metadata.model_dump()


@pytest.mark.parametrize("given", [[], "x", 3], ids=["list", "str", "int"])
def test_metadata_of_another_type_are_a_type_error_that_names_it(process, given):
    with pytest.raises(TypeError, match=type(given).__name__):
        RolloutFeedbackClient(given)


def test_a_forged_payload_gets_no_bearer_token(process):
    with pytest.raises(UntrustedEndpoint):
        RolloutFeedbackClient(PAYLOAD["metadata"] | {"endpoint": "https://example.com"})


COMPLETE = ("/complete-rollout", {"Status": "ready"})
FAILED = [("/complete-rollout", {"Status": "failed"}), ("/update-reward", {"Rewards": [0.0]})]


def rewarded(*rewards):
    return [COMPLETE, ("/update-reward", {"Rewards": list(rewards)})]


RESULTS = [
    ({"reward": 0.5}, rewarded(0.5)),
    ({"reward": 1}, rewarded(1.0)),
    ({"reward": [0, 1]}, rewarded(0.0, 1.0)),
    ({}, [COMPLETE]),
    ({"foo": 1}, [COMPLETE]),
    ({"status": "error", "error": "x", "reward": 1}, FAILED),
    ({"status": "skipped"}, []),
    # On purpose: theirs reports nothing of these, and the rollout stays open.
    (3.0, rewarded(3.0)),
    (None, [COMPLETE]),
    ("x", [COMPLETE]),
    # On purpose: theirs sends ["0", ".", "5"], true, invalid JSON and an empty list.
    ({"reward": "0.5"}, FAILED),
    ({"reward": True}, FAILED),
    ({"reward": float("nan")}, FAILED),
    ({"reward": []}, FAILED),
]


def call(form, agent, payload=PAYLOAD):
    if form == "coroutine":

        async def waiting(payload):
            return agent(payload)

        return asyncio.run(sagemaker_rft_handler(waiting)(payload))
    return sagemaker_rft_handler(agent)(payload)


@pytest.mark.parametrize("form", ["function", "coroutine"])
@pytest.mark.parametrize(("result", "reports"), RESULTS, ids=lambda each: repr(each)[:40])
def test_a_result_is_reported_and_returned_unchanged(posts, form, result, reports):
    assert call(form, lambda _: result) is result
    assert posts.of(PAYLOAD) == reports


PHRASES = ["404", "not in valid status", "Cannot transition trajectory"]
"""In the text of an exception they make theirs report nothing."""


@pytest.mark.parametrize("form", ["function", "coroutine"])
@pytest.mark.parametrize("text", ["no such page", *PHRASES])
def test_an_exception_fails_the_rollout_and_is_raised_whatever_it_says(posts, form, text):
    def agent(payload):
        raise ValueError(text)

    with pytest.raises(ValueError, match=text):
        call(form, agent)
    assert posts.of(PAYLOAD) == FAILED


@pytest.mark.parametrize("payload", [{"prompt": "p"}, {"prompt": "p", "metadata": {}}])
def test_a_payload_without_ids_runs_and_reports_nothing(posts, payload):
    assert call("function", lambda _: {"reward": 1.0}, payload) == {"reward": 1.0}
    assert posts.everything() == {}


def test_headers_and_parameters_are_those_of_the_rollout_in_a_thread_too(posts):
    seen = []

    @rft_handler
    async def agent(payload, context=None):
        seen.append(
            await asyncio.to_thread(lambda: (get_inference_headers(), get_inference_params()))
        )
        return {"reward": 1}

    asyncio.run(agent(PAYLOAD | {"inference_params": {"temperature": 0.1}}))
    assert seen == [({JOB_HEADER: JOB, ROLLOUT_HEADER: "r"}, {"temperature": 0.1})]
    assert get_rollout_context() is None


def test_an_agent_that_reports_itself_is_reported_once(posts):
    @sagemaker_rft_handler
    def agent(payload):
        RolloutFeedbackClient(payload["metadata"]).report_complete(0.5)
        return {"status": "ok"}

    agent(PAYLOAD)
    sent = posts.of(PAYLOAD)
    assert [path for path, _ in sent].count("/update-reward") == 1
    assert sent[:2] == rewarded(0.5)


REFUSED = [
    (Reply(404, "ResourceNotFoundException"), NotFound),
    (Reply(409, "ConflictException"), Conflict),
]


@pytest.mark.parametrize(("reply", "outcome"), REFUSED, ids=["404", "409"])
def test_a_refusal_that_theirs_means_to_pass_over_is_returned_and_logged(
    posts, caplog, reply, outcome
):
    posts.replies["/update-reward"] = reply
    client = RolloutFeedbackClient(PAYLOAD["metadata"])
    client.complete_rollout()
    assert isinstance(client.update_reward(0.5), outcome)
    assert outcome.__name__ in caplog.text or str(reply.status) in caplog.text


def test_another_refusal_is_raised(posts):
    # Theirs passes it over, as its message has a 404 in it.
    posts.replies["/complete-rollout"] = Reply(403, "AccessDeniedException", detail="rollout-404")
    with pytest.raises(DeliveryFailed):
        RolloutFeedbackClient(PAYLOAD["metadata"]).complete_rollout()


def test_a_client_without_a_rollout_reports_nothing(posts):
    assert isinstance(RolloutFeedbackClient({"jobArn": JOB}).complete_rollout(), Skipped)
    assert posts.everything() == {}


def test_a_client_reports_an_error_with_a_reward_of_its_own(posts):
    RolloutFeedbackClient(PAYLOAD["metadata"]).report_error("x", 0.25)
    assert posts.of(PAYLOAD) == [FAILED[0], ("/update-reward", {"Rewards": [0.25]})]


def test_every_name_is_where_it_is_said_to_be():
    assert sagemaker_rft.LATER.keys() < set(sagemaker_rft.__all__)
    assert all(getattr(sagemaker_rft, name) is not None for name in sagemaker_rft.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sagemaker_rft.nothing


SIGNATURES = {
    "make_inference_headers": ["metadata"],
    "get_inference_headers": [],
    "RolloutFeedbackClient": ["metadata"],
    "sagemaker_rft_handler": ["func"],
    "set_rollout_context": ["metadata", "inference_params"],
    "generate_token": ["region", "aws_credentials_provider", "expiry"],
    "verify_reward_function": [
        *("reward_function", "sample_data", "validate_format", "compute", "is_nova"),
    ],
}
"""Positional parameters of sagemaker-train 1.27 and sagemaker-core 2.27."""


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_name_takes_the_published_arguments(name):
    parameters = inspect.signature(getattr(sagemaker_rft, name)).parameters.values()
    positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert positional == SIGNATURES[name]
