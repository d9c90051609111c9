"""A double, boto3's own client of it, and requests by hand."""

from __future__ import annotations

import base64
import http.client
import json
from functools import cache
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from reward_functions.local.runtime_double import RuntimeSettings, serving

JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/sums"
OTHER_JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/others"
REGION = "us-west-2"
KEYS = Credentials("AKIDEXAMPLE", "secret")
HEADERS = {"X-Amzn-SageMaker-Job-Arn": JOB, "X-Amzn-SageMaker-Trajectory-Id": "r"}
QUESTION = {"messages": [{"role": "user", "content": "What is 2 + 3?"}]}


@pytest.fixture
def make():
    """Doubles by their settings, which end with the test."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def made(*arguments, **settings):
            double = stack.enter_context(serving(RuntimeSettings(*arguments, **settings)))
            double.register(JOB, "r")
            return double

        yield made


@pytest.fixture(scope="module")
def shared_double():
    """One double for tests whose requests change nothing; its one trajectory is "r"."""
    with serving() as double:
        double.register(JOB, "r")
        yield double


def boto(double, **config):
    """boto3's client, with the retries that it has by default where nothing else is given."""
    from botocore.config import Config

    return session().client(
        "sagemakerjobruntime", endpoint_url=double.endpoint, config=Config(**config)
    )


@cache
def session():
    """boto3's: it reads the model of the service once."""
    import boto3

    return boto3.Session(KEYS.access_key, KEYS.secret_key, region_name=REGION)


def signed(double, path, body, headers=(), *, service="sagemaker", method="POST"):
    """The headers of a request that carries a signature."""
    request = AWSRequest(method, double.endpoint + path, data=body, headers=dict(headers))
    SigV4Auth(KEYS, service, REGION).add_auth(request)
    return dict(request.headers)


def bearer(*, expires=3600, service="sagemaker", host="sagemaker.amazonaws.com", more=""):
    """A token as `token_generator` of sagemaker-core makes it (contracts.md, 7.4)."""
    url = f"https://{host}/?Action=CallWithBearerToken{more}"
    request = AWSRequest("POST", url, headers={"host": host})
    SigV4QueryAuth(KEYS, service, REGION, expires=expires).add_auth(request)
    signed_url = request.url.removeprefix("https://") + "&Version=1"
    return "sagemaker-api-key-" + base64.b64encode(signed_url.encode()).decode()


def ask(double, path, body=b"", headers=(), method="POST"):
    """(status, headers, body) of a request as it is."""
    connection = http.client.HTTPConnection(urlsplit(double.endpoint).netloc, timeout=30)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


def send(double, path, body, headers=()):
    """The same, signed, with a body that becomes JSON; its answer is parsed."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    made = signed(double, path, content, headers)
    status, answered, answer = ask(double, path, content, made)
    return status, answered.get("x-amzn-errortype", ""), json.loads(answer or b"null")
