"""Which credentials the double takes: their form and their time, as their secrets are unknown."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from reward_functions.local.runtime_double import RuntimeDouble
from tests.local.runtime_double.conftest import JOB, ask, bearer, send, signed

PATH = "/complete-rollout"
JOB_HEADER = {"X-Amzn-SageMaker-Job-Arn": JOB}


def body(trajectory="nobody", **more):
    return json.dumps({"TrajectoryId": trajectory, **more}).encode()


def asked(double, headers, content=None):
    status, answered, _ = ask(double, PATH, content or body(), {**JOB_HEADER, **headers})
    return status, answered.get("x-amzn-errortype", "")


KNOWN = (404, "ResourceNotFoundException")
"""Of a call whose credential was taken: its trajectory is nobody's."""


def without(name):
    return lambda headers: {key: value for key, value in headers.items() if key != name}


def with_authorization(old, new):
    return lambda headers: headers | {"Authorization": headers["Authorization"].replace(old, new)}


def dated(moment):
    return lambda headers: headers | {"X-Amz-Date": moment}


SIGNED = [
    # what is done to the headers of a signed request, what is answered
    (lambda headers: headers, KNOWN),
    (without("Authorization"), (403, "MissingAuthenticationTokenException")),
    (without("X-Amz-Date"), (403, "IncompleteSignatureException")),
    # What a signature says it covers has to be there.
    (with_authorization("host;", "host;x-gone;"), (403, "IncompleteSignatureException")),
    (with_authorization("host;", ""), (403, "IncompleteSignatureException")),
    (with_authorization("/sagemaker/", "/s3/"), (403, "InvalidSignatureException")),
    (with_authorization("/aws4_request", ""), (403, "IncompleteSignatureException")),
    (with_authorization("AWS4-HMAC-SHA256", "AWS4"), (403, "IncompleteSignatureException")),
    (dated("now"), (403, "InvalidSignatureException")),
    (dated("20200101T000000Z"), (403, "InvalidSignatureException")),
    (lambda headers: {"Authorization": "Basic eDp5"}, (403, "IncompleteSignatureException")),
]


@pytest.mark.parametrize(("changed", "answer"), SIGNED)
def test_a_signature_is_well_formed_and_of_now(shared_double, changed, answer):
    headers = changed(signed(shared_double, PATH, body(), JOB_HEADER))
    assert asked(shared_double, headers) == answer


def test_a_signature_of_another_body_is_refused_where_it_names_its_digest(shared_double):
    digest = {"X-Amz-Content-SHA256": "0" * 64}
    headers = signed(shared_double, PATH, body(), JOB_HEADER | digest)
    assert asked(shared_double, headers)[0] == 403


def encoded(text, prefix="sagemaker-api-key-"):
    return prefix + base64.b64encode(text.encode()).decode()


UNKNOWN = (403, "UnrecognizedClientException")
TOKENS = [
    (bearer(), KNOWN),
    (bearer(expires=43_200), KNOWN),
    (bearer(host="bedrock.amazonaws.com"), UNKNOWN),
    (bearer(service="bedrock"), (403, "InvalidSignatureException")),
    (bearer().replace("sagemaker-api-key-", "bedrock-api-key-"), UNKNOWN),
    (bearer()[:-3], UNKNOWN),
    ("sagemaker-api-key-" + "=" * 5_000, UNKNOWN),
    ("sagemaker-api-key-\xff", UNKNOWN),
    (encoded("sagemaker.amazonaws.com/?Action=CallWithBearerToken&Version=1"), UNKNOWN),
    (encoded("["), UNKNOWN),
    ("", UNKNOWN),
]


@pytest.mark.parametrize(("token", "answer"), TOKENS, ids=range(len(TOKENS)))
def test_a_bearer_token_is_a_presigned_call(shared_double, token, answer):
    assert asked(shared_double, {"Authorization": f"Bearer {token}"}) == answer


def signed_at(token):
    """The second in which a token was made."""
    url = base64.b64decode(token.removeprefix("sagemaker-api-key-")).decode()
    (date,) = parse_qs(urlsplit(url).query)["X-Amz-Date"]
    return datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(("life", "late", "status"), [(900, 899, 404), (900, 901, 403)])
def test_a_token_ends(life, late, status):
    token = bearer(expires=life)
    headers = {"Authorization": f"Bearer {token}"}
    double = RuntimeDouble(clock=lambda: signed_at(token) + late)
    with double.in_background():
        answer = asked(double, headers)
    assert answer == (KNOWN if status == 404 else (403, "ExpiredTokenException"))


JOBS = [
    # credential, job in the header, job in the body, status
    ("bearer", JOB, None, 200),
    ("bearer", None, JOB, 200),  # as sagemaker.train.rft sends it
    ("bearer", JOB, JOB, 200),
    ("bearer", JOB, JOB + "-2", 400),
    ("bearer", None, None, 400),
    ("bearer", None, 7, 400),
    ("sigv4", JOB, JOB, 200),
    ("sigv4", None, JOB, 400),  # the model has it in the header alone
]


@pytest.mark.parametrize(("credential", "header", "in_body", "status"), JOBS)
def test_where_the_job_is_named(make, credential, header, in_body, status):
    double = make()
    content = body("r", **({"JobArn": in_body} if in_body else {}))
    headers = {"X-Amzn-SageMaker-Job-Arn": header} if header else {}
    if credential == "bearer":
        headers |= {"Authorization": f"Bearer {bearer()}"}
    else:
        headers = signed(double, PATH, content, headers)
    assert ask(double, PATH, content, headers)[0] == status
    if status == 200:
        (delivery,) = double.trajectory(JOB, "r").deliveries
        assert delivery.credential == credential


ALPHA = {"X-Rft-Job-Arn": JOB}


def test_the_alpha_api_reports_a_rollout(make):
    double = make()
    in_header = ALPHA | {"X-Trajectory-Id": "r"}
    assert send(double, "/CompleteTrajectory", {"TrajectoryId": "r"}, ALPHA)[0] == 200
    assert send(double, "/UpdateReward", {"Rewards": [0.25]}, in_header)[0] == 200
    assert double.trajectory(JOB, "r").rewards == (0.25,)


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        ({"TrajectoryId": "s"}, {}, 400),
        ({}, ALPHA, 400),
        ({"TrajectoryId": "r"}, ALPHA | {"X-Trajectory-Id": "s"}, 400),
        ([], ALPHA, 400),
        ({"TrajectoryId": "s"}, ALPHA, 404),
    ],
)
def test_what_the_alpha_api_does_not_take(make, content, headers, status):
    assert send(make(), "/CompleteTrajectory", content, headers)[0] == status


def test_the_alpha_api_takes_no_bearer_token(make):
    headers = ALPHA | {"Authorization": f"Bearer {bearer()}"}
    status, answered, _ = ask(make(), "/CompleteTrajectory", body("r"), headers)
    assert (status, answered["x-amzn-errortype"]) == (403, "AccessDeniedException")
