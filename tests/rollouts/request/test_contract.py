"""What a trainer sends, in every spelling seen, and how it is written again.

Sources: the SageMaker developer guide ("Preparing your agent"), sagemaker-train 1.27
(`rft.models`), and agents found in public that read them.
"""

import base64
import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.rollouts.request.contract import (
    LARGEST,
    InferenceParams,
    RolloutMetadata,
    RolloutRequest,
    read_metadata,
    read_params,
    read_request,
)
from reward_functions.rollouts.request.errors import BadRequest

GUIDE = {
    "prompt": "What is 6 × 7?",
    "metadata": {"jobArn": "J", "rolloutId": "r"},
    "inferenceParams": {"temperature": 1.0, "topP": 0.9, "maxTokens": 256},
}
SDK = {
    "instance": {"question": "What is 6 × 7?"},
    "metadata": {
        "job_arn": "J",
        "trajectory_id": "r",
        "endpoint": "https://e",
        "region": "eu-west-1",
    },
    "inference_params": {"temperature": 1.0, "top_p": 0.9, "max_tokens": 256},
    "model_name": "m",
    "model_endpoint": "https://m",
}
WHO = RolloutMetadata(job_arn="J", trajectory_id="r")
PARAMS = InferenceParams(temperature=1.0, top_p=0.9, max_tokens=256)


@pytest.mark.parametrize(
    ("payload", "prompt"),
    [
        (GUIDE, "What is 6 × 7?"),
        (json.dumps(GUIDE), "What is 6 × 7?"),
        (json.dumps(GUIDE).encode(), "What is 6 × 7?"),
        ({"body": json.dumps(GUIDE), "headers": {}}, "What is 6 × 7?"),
        ({"body": GUIDE}, "What is 6 × 7?"),
        (
            {
                "body": base64.b64encode(json.dumps(GUIDE).encode()).decode(),
                "isBase64Encoded": True,
            },
            "What is 6 × 7?",
        ),
    ],
    ids=["object", "text", "bytes", "Lambda event", "decoded body", "function URL"],
)
def test_the_guide_s_request_is_read_however_it_is_carried(payload, prompt):
    request = read_request(payload)
    assert (request.prompt, request.metadata, request.inference_params) == (prompt, WHO, PARAMS)
    assert request.metadata.complete


def test_the_request_of_the_published_models_is_read():
    request = read_request(SDK)
    assert request.instance == {"question": "What is 6 × 7?"}
    assert request.metadata == RolloutMetadata(
        job_arn="J", trajectory_id="r", endpoint="https://e", region="eu-west-1"
    )
    assert (request.inference_params, request.model, request.model_endpoint) == (
        PARAMS,
        "m",
        "https://m",
    )


IDS = [
    ({"jobArn": "A", "rolloutId": "r"}, ("A", "r")),
    ({"job_arn": "a", "jobArn": "A", "trajectoryId": "t", "rolloutId": "r"}, ("a", "t")),
    ({"job_arn": "", "jobArn": "A", "trajectory_id": "", "rolloutId": "r"}, ("A", "r")),
    ({"trajectory_id": "s", "trajectoryId": "t", "rolloutId": "r"}, ("", "s")),
    ({"rollout_id": "r", "jobArn": None}, ("", "r")),
    ({}, ("", "")),
    (None, ("", "")),
    (SimpleNamespace(job_arn="A", trajectory_id="t"), ("A", "t")),
    (SimpleNamespace(model_dump=lambda: {"jobArn": "A", "rolloutId": "r"}), ("A", "r")),
]


@pytest.mark.parametrize(("metadata", "ids"), IDS)
def test_the_first_id_that_is_not_empty_counts(metadata, ids):
    known = read_metadata(metadata)
    assert (known.job_arn, known.trajectory_id) == ids
    assert known.complete == all(ids)


REFUSED = [
    ([], "the payload is a list, not an object"),
    (3, "the payload is a number, not an object"),
    (None, "the payload is null, not an object"),
    ("{", "the payload is not JSON"),
    ("[" * 100_000, "the payload is not JSON"),
    ("x" * (LARGEST + 1), f"the payload has more than {LARGEST} bytes"),
    ({"body": "{"}, "the body of the event is not JSON"),
    ({"body": "*", "isBase64Encoded": True}, "the body of the event is not base64"),
    ({"body": 3, "isBase64Encoded": True}, "the body of the event is not base64"),
    ({"prompt": 3}, "prompt is a number, not a string"),
    ({"prompt": "p", "instance": []}, "instance is a list, not an object"),
    ({"prompt": "p", "metadata": "m"}, "metadata is a string, not an object"),
    ({"prompt": "p", "metadata": {"jobArn": 3}}, "metadata.jobArn is a number, not a string"),
    ({"prompt": "p", "metadata": {"rolloutId": []}}, "metadata.rolloutId is a list, not a string"),
    ({"prompt": "p", "inferenceParams": 3}, "inferenceParams is a number, not an object"),
    (
        {"prompt": "p", "inferenceParams": {"topP": "1"}},
        "inferenceParams.topP is not a number of 0 or more",
    ),
    (
        {"prompt": "p", "inferenceParams": {"temperature": True}},
        "inferenceParams.temperature is not a number of 0 or more",
    ),
    (
        {"prompt": "p", "inferenceParams": {"temperature": float("nan")}},
        "inferenceParams.temperature is not a number of 0 or more",
    ),
    (
        {"prompt": "p", "inferenceParams": {"maxTokens": -1}},
        "inferenceParams.maxTokens is not a number of 0 or more",
    ),
    (
        {"prompt": "p", "inferenceParams": {"maxTokens": 1.5}},
        "inferenceParams.maxTokens is not a whole number",
    ),
    (
        {"prompt": "p", "inferenceParams": {"maxTokens": 10**400}},
        "inferenceParams.maxTokens is not a number of 0 or more",
    ),
]


@pytest.mark.parametrize(("payload", "sentence"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_is_not_a_request_is_refused_in_one_sentence(payload, sentence):
    with pytest.raises(BadRequest) as refusal:
        read_request(payload)
    assert str(refusal.value) == sentence


texts = st.text(max_size=20)
numbers = st.none() | st.floats(0, 1e9, allow_nan=False)
requests = st.builds(
    RolloutRequest,
    prompt=texts,
    instance=st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=3),
    metadata=st.builds(
        RolloutMetadata, job_arn=texts, trajectory_id=texts, endpoint=texts, region=texts
    ),
    inference_params=st.builds(
        InferenceParams,
        temperature=numbers,
        top_p=numbers,
        max_tokens=st.none() | st.integers(0, 10**6),
    ),
    model=texts,
    model_endpoint=texts,
)


@given(requests)
def test_what_is_written_is_read_as_it_was(request):
    assert read_request(request.json()) == request


def test_a_request_that_json_cannot_hold_is_not_written():
    with pytest.raises(BadRequest, match="the request is not JSON"):
        RolloutRequest(instance={"x": float("nan")}).json()


def test_neither_a_prompt_nor_a_reference_is_in_what_is_printed():
    shown = repr(read_request({"prompt": "secret", "instance": {"answer": "secret"}}))
    assert "secret" not in shown


def test_parameters_are_written_in_both_vocabularies():
    assert PARAMS.wire() == GUIDE["inferenceParams"]
    assert PARAMS.openai() == SDK["inference_params"]
    assert read_params({"temperature": 0}).openai() == {"temperature": 0.0}
