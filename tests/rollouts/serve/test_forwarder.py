"""The Lambda between a trainer and an agent: against agents on loopback, and services of AWS."""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.serve import forwarder
from reward_functions.rollouts.serve.app import RolloutApp
from reward_functions.rollouts.serve.forwarder import Forwarder, ForwarderSettings, address_of
from tests.loopback import BEFORE, LOST, Service, served

SOON = 60.0
ARN = "arn:aws:sagemaker:us-west-2:111122223333:job/AgentRFT/a-job"
IDS = {"jobArn": ARN, "rolloutId": "r-1"}
EVENT = {"prompt": "a secret prompt", "metadata": IDS, "inferenceParams": {"temperature": 1.0}}
KEY = "the-key"


class Context:
    """Lambda's, with some seconds left."""

    def __init__(self, seconds=30.0):
        self.seconds = seconds

    def get_remaining_time_in_millis(self):
        return int(self.seconds * 1000)


class Agent(Service):
    """Answers with a status; keeps what it was sent."""

    def operation(self, asked):
        def do():
            self.requests.append(asked)
            return self.status, self.more, b"{}"

        return "forward", do

    def empty(self):
        super().empty()
        self.requests, self.status, self.more = [], 200, {}


@pytest.fixture(scope="module")
def _agent():
    with served(Agent()) as agent:
        yield agent


@pytest.fixture
def agent(_agent):
    _agent.empty()
    return _agent


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def forward(agent, pauses):
    return Forwarder(ForwarderSettings(endpoint=agent.address, api_key=KEY), pause=pauses.append)


@pytest.mark.parametrize(
    "event",
    [
        EVENT,
        {"body": json.dumps(EVENT)},
        {"metadata": {"job_arn": ARN, "trajectory_id": "r-1"}, "instance": {"question": "?"}},
        {"metadata": IDS, "more": "kept", "prompt": "é\n"},
    ],
    ids=["the guide's", "a body", "sagemaker.train.rft's", "with more"],
)
def test_a_request_reaches_the_agent_as_it_came(forward, agent, event):
    assert forward.answer(event, Context()) == {}
    (asked,) = agent.requests
    assert (asked.method, asked.path) == ("POST", ("rollout",))
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(asked.body) == (json.loads(event["body"]) if "body" in event else event)


def test_it_works_with_the_agents_own_server():
    seen, ran = [], threading.Event()

    def handler(payload):
        seen.append(payload)
        ran.set()

    with RolloutApp(handler, api_key=KEY).serving() as url:
        assert Forwarder(ForwarderSettings(endpoint=url, api_key=KEY)).answer(EVENT) == {}
        assert ran.wait(SOON)
        refused = Forwarder(ForwarderSettings(endpoint=url, api_key="other")).answer(EVENT)
        assert refused == {"errorType": "AccessDenied", "errorMessage": "the agent answered 401"}
    assert seen == [EVENT]


def test_it_answers_while_the_agent_s_episode_runs():
    """Our servers answer at once; the forwarder waits for that answer, and not for the episode."""
    ended, ran = threading.Event(), threading.Event()

    def slow(payload):
        assert ended.wait(SOON)
        ran.set()

    with RolloutApp(slow).serving() as url:
        assert Forwarder(ForwarderSettings(endpoint=url)).answer(EVENT, Context()) == {}
        assert not ran.is_set()
        ended.set()
        assert ran.wait(SOON)


def nested(depth):
    """A list in a list, so many times."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


INVALID = {
    "no object": ([], "the payload is a list, not an object"),
    "no JSON": ({"body": "{"}, "the body of the event is not JSON"),
    "no metadata": ({"prompt": "x"}, "metadata.jobArn is not the ARN of a SageMaker job"),
    "no job": (
        {"metadata": {"rolloutId": "r"}},
        "metadata.jobArn is not the ARN of a SageMaker job",
    ),
    "no ARN of a job": (
        {"metadata": IDS | {"jobArn": "arn:aws:s3:::bucket"}},
        "metadata.jobArn is not the ARN of a SageMaker job",
    ),
    "an ARN with a line": (
        {"metadata": IDS | {"jobArn": ARN + "\n"}},
        "metadata.jobArn is not the ARN of a SageMaker job",
    ),
    "an ARN that is too long": (
        {"metadata": IDS | {"jobArn": ARN.replace("AgentRFT", "A" * 250)}},
        "metadata.jobArn is not the ARN of a SageMaker job",
    ),
    "no rollout": (
        {"metadata": {"jobArn": ARN}},
        "metadata.rolloutId is not 1 to 256 printable characters",
    ),
    "a rollout with a header": (
        {"metadata": IDS | {"rolloutId": "r\r\nX-Evil: 1"}},
        "metadata.rolloutId is not 1 to 256 printable characters",
    ),
    "a rollout of 257": (
        {"metadata": IDS | {"rolloutId": "r" * 257}},
        "metadata.rolloutId is not 1 to 256 printable characters",
    ),
    "too deep": (
        {"metadata": IDS, "more": nested(100_000)},
        "the payload is nested too deeply",
    ),
    "a number that is none": (
        {"metadata": IDS, "more": float("nan")},
        "the payload holds a number that JSON does not know",
    ),
}


@pytest.mark.parametrize(("event", "sentence"), INVALID.values(), ids=INVALID)
def test_an_event_that_is_no_request_is_a_validation_error(forward, agent, event, sentence):
    answer = {"errorType": "ValidationError", "errorMessage": sentence}
    assert forward.answer(event, Context()) == answer
    assert agent.requests == []


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws-us-gov:sagemaker:us-gov-west-1:111122223333:job/AgentRFT/a",
        "arn:aws-cn:sagemaker:cn-north-1:111122223333:job/AgentRFTEvaluation/" + "a" * 63,
    ],
)
def test_jobs_of_every_partition_are_forwarded(forward, arn):
    assert forward.answer({"metadata": IDS | {"jobArn": arn}}, Context()) == {}


STATUSES = {
    200: None,
    202: None,
    204: None,
    301: "InternalServerError",
    307: "InternalServerError",
    400: "ValidationError",
    401: "AccessDenied",
    403: "AccessDenied",
    404: "InternalServerError",
    413: "ValidationError",
    422: "ValidationError",
    429: "InternalServerError",
    500: "InternalServerError",
    503: "InternalServerError",
}


@pytest.mark.parametrize(("status", "kind"), STATUSES.items())
def test_what_the_agent_answers_decides(forward, agent, status, kind):
    agent.status, agent.more = status, {"Location": "http://169.254.169.254/"}
    sentence = f"the agent answered {status}"
    expected = {"errorType": kind, "errorMessage": sentence} if kind else {}
    assert forward.answer(EVENT, Context()) == expected
    assert len(agent.requests) == 1


@pytest.mark.parametrize("fault", [LOST, BEFORE])
def test_what_was_sent_is_not_sent_again(forward, agent, pauses, fault):
    """The agent may have begun: a second request would only be a duplicate."""
    agent.fail("forward", fault)
    assert forward.answer(EVENT, Context()) == {
        "errorType": "InternalServerError",
        "errorMessage": "the agent did not answer: RemoteDisconnected",
    }
    assert (len(agent.asked), pauses) == (1, [])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_connection_that_is_refused_is_tried_once_more(agent):
    endpoint, pauses = f"http://127.0.0.1:{free_port()}", []
    settings = ForwarderSettings(endpoint=endpoint)
    assert Forwarder(settings, pause=pauses.append).answer(EVENT, Context()) == {
        "errorType": "InternalServerError",
        "errorMessage": "the agent cannot be reached: ConnectionRefusedError",
    }
    assert pauses == [forwarder.PAUSE_SECONDS]


def test_an_agent_that_comes_meanwhile_is_reached():
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"

    def answer():
        connection, _ = listening.accept()
        read = b""
        while b"a secret prompt" not in read:
            read += connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        connection.close()

    def begin(_):
        listening.listen()
        threading.Thread(target=answer, daemon=True).start()

    assert Forwarder(ForwarderSettings(endpoint=url), pause=begin).answer(EVENT, Context()) == {}
    listening.close()


def test_an_agent_that_does_not_answer_is_waited_for_as_long_as_the_function_may_run():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        given = Forwarder(ForwarderSettings(endpoint=url)).answer(EVENT, Context(1.2))
    sentence = "the agent did not answer in time"
    assert given == {"errorType": "InternalServerError", "errorMessage": sentence}


def test_without_time_nothing_is_sent(forward, agent):
    assert forward.answer(EVENT, Context(0.5))["errorType"] == "InternalServerError"
    assert agent.requests == []


@pytest.mark.parametrize(
    "answer",
    [b"200 OK\r\nContent-Length: 9", b"200 OK", b"202 Accepted\r\nTransfer-Encoding: chunked"],
)
def test_an_agent_that_has_answered_is_not_waited_for(answer):
    """Its status is there: a body that never comes is no reason to call the rollout lost."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        answering = threads.submit(
            Forwarder(ForwarderSettings(endpoint=endpoint)).answer, EVENT, Context()
        )
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 " + answer + b"\r\n\r\n")
            assert answering.result() == {}


def test_an_endless_answer_is_not_read(forward, agent):
    agent.more = {"X-Filling": "x" * 70_000}
    assert forward.answer(EVENT, Context()) == {
        "errorType": "InternalServerError",
        "errorMessage": "the agent did not answer: LineTooLong",
    }


def test_neither_prompt_nor_key_is_logged(forward, agent, caplog):
    caplog.set_level("DEBUG")
    agent.status = 500
    forward.answer(EVENT, Context())
    agent.status = 200
    forward.answer(EVENT, Context())
    assert "forwarded rollout r-1" in caplog.text
    assert "secret" not in caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(ForwarderSettings(endpoint="https://a.example", api_key=KEY))


ADDRESSES = {
    "https://agent.example.com": (True, "agent.example.com", None, "/rollout"),
    "https://agent.example.com/": (True, "agent.example.com", None, "/rollout"),
    "https://agent.example.com:8443/invocations?a=b": (
        *(True, "agent.example.com", 8443),
        "/invocations?a=b",
    ),
    "http://127.0.0.1:8080": (False, "127.0.0.1", 8080, "/rollout"),
    "http://[::1]:8080/x": (False, "::1", 8080, "/x"),
}


@pytest.mark.parametrize(("endpoint", "address"), ADDRESSES.items())
def test_where_a_url_leads(endpoint, address):
    assert address_of(endpoint) == address


UNPRINTABLE = (
    "AGENT_API_KEY has a space, an end of a line or a letter that is not ASCII: "
    "a key is printable ASCII"
)
WRONG = {
    "neither": ({}, "set one of AGENT_ENDPOINT and AGENT_QUEUE_URL"),
    "both": (
        {"AGENT_ENDPOINT": "https://a.example", "AGENT_QUEUE_URL": "https://q.example"},
        "set one of AGENT_ENDPOINT and AGENT_QUEUE_URL",
    ),
    "two keys": (
        {"AGENT_ENDPOINT": "https://a", "AGENT_API_KEY": "k", "AGENT_API_KEY_SECRET": "s"},
        "set one of AGENT_API_KEY and AGENT_API_KEY_SECRET",
    ),
    "not https": (
        {"AGENT_ENDPOINT": "http://192.0.2.1"},
        "AGENT_ENDPOINT is not https: the agent's key would be readable",
    ),
    **{
        url: (
            {"AGENT_ENDPOINT": url},
            "AGENT_ENDPOINT is not a URL such as https://agent.example.com",
        )
        for url in (
            *("agent.example.com", "ftp://agent.example.com", "https://", "https://a:b@c.example"),
            *("https://a.example\\@b.example", "https://a.example/#x", "https://a.example:port"),
            *("https://a.example/ x", "https://a..example", "https://.example"),
            f"https://{'a' * 64}.example",
        )
    },
    **{
        f"a key {key!r}": (
            {"AGENT_ENDPOINT": "https://a.example", "AGENT_API_KEY": key},
            UNPRINTABLE,
        )
        for key in ("key\n", "key\r\nX: y", " key", "a key", "cl\u00e9", "\t")
    },
}


@pytest.mark.parametrize(("environ", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_settings_are_one_sentence(environ, sentence, monkeypatch):
    with pytest.raises(ConfigurationError, match=f"^{sentence}$"):
        ForwarderSettings.from_env(environ)
    for name in ("AGENT_ENDPOINT", "AGENT_QUEUE_URL", "AGENT_API_KEY", "AGENT_API_KEY_SECRET"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    forwarder._forwarder.cache_clear()
    answer = {"errorType": "InternalServerError", "errorMessage": sentence}
    assert forwarder.handler(EVENT, Context()) == answer


def test_lambdas_entry_point_reads_its_environment(agent, monkeypatch):
    monkeypatch.setenv("AGENT_ENDPOINT", f"{agent.address}/invocations")
    monkeypatch.delenv("AGENT_API_KEY", raising=False)
    forwarder._forwarder.cache_clear()
    assert forwarder.handler(EVENT, Context()) == {}
    assert agent.requests[0].path == ("invocations",)
    assert "authorization" not in agent.requests[0].headers
    forwarder._forwarder.cache_clear()


class Aws(Service):
    """SQS and Secrets Manager, as far as a forwarder calls them (JSON protocol of both)."""

    def __init__(self, **given):
        super().__init__(**given)
        self.messages, self.secret, self.code = [], KEY, ""

    def operation(self, asked):
        name = asked.headers["x-amz-target"].rpartition(".")[2]

        def do():
            given = json.loads(asked.body)
            if self.code:
                failure = {"__type": self.code, "message": "an account, a name"}
                return (
                    400,
                    {"Content-Type": "application/x-amz-json-1.0"},
                    json.dumps(failure).encode(),
                )
            self.messages.append(given)
            answers = {
                "SendMessage": {"MessageId": "1", "MD5OfMessageBody": md5(given)},
                "GetSecretValue": {"Name": "s", "SecretString": self.secret},
            }
            return 200, {}, json.dumps(answers[name]).encode()

        return name, do


def md5(given):
    from hashlib import md5

    return md5(given.get("MessageBody", "").encode()).hexdigest()


@pytest.fixture
def aws(monkeypatch):
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-west-2",
    }.items():
        monkeypatch.setenv(name, value)
    with served(Aws()) as service:
        monkeypatch.setenv("AWS_ENDPOINT_URL", service.address)
        yield service


def queue(aws, name):
    return Forwarder(ForwarderSettings(queue=f"{aws.address}/111122223333/{name}"))


def test_a_request_goes_to_the_queue(aws):
    assert queue(aws, "agents").answer(EVENT, Context()) == {}
    (message,) = aws.messages
    assert json.loads(message["MessageBody"]) == EVENT
    assert message.keys() == {"QueueUrl", "MessageBody"}


def test_a_queue_in_order_serves_a_rollout_once(aws):
    """Ids that differ in their last character alone are two rollouts."""
    forward = queue(aws, "agents.fifo")
    for name in ("r" * 200 + "1", "r" * 200 + "2", "r" * 200 + "1"):
        assert forward.answer({"metadata": IDS | {"rolloutId": name}}, Context()) == {}
    ids = [message["MessageDeduplicationId"] for message in aws.messages]
    assert (ids[0] == ids[2], ids[0] == ids[1]) == (True, False)
    assert [message["MessageGroupId"] for message in aws.messages] == ids


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("AccessDeniedException", "AccessDenied"),
        ("ExpiredTokenException", "AccessDenied"),
        ("KmsAccessDenied", "AccessDenied"),  # a right to the queue, and none to its key
        ("KMS.AccessDeniedException", "AccessDenied"),
        ("QueueDoesNotExist", "InternalServerError"),
        ("KmsDisabled", "InternalServerError"),
    ],
)
def test_what_a_queue_refuses(aws, code, kind):
    aws.code = code
    assert queue(aws, "agents").answer(EVENT, Context()) == {
        "errorType": kind,
        "errorMessage": f"the agent's queue could not be used: {code}",
    }


def test_a_message_that_is_too_large_is_a_validation_error(aws):
    given = queue(aws, "agents").answer(EVENT | {"filling": "x" * 2**20}, Context())
    assert given["errorType"] == "ValidationError"
    assert aws.messages == []


@pytest.mark.parametrize("secret", [KEY, json.dumps({"AGENT_API_KEY": KEY})])
def test_the_key_of_a_secret_is_read_once(aws, agent, secret):
    aws.secret = secret
    forward = Forwarder(ForwarderSettings(endpoint=agent.address, secret="agents/key"))
    assert [forward.answer(EVENT, Context()) for _ in range(3)] == [{}] * 3
    assert aws.asked == ["GetSecretValue"]
    assert {each.headers["authorization"] for each in agent.requests} == {f"Bearer {KEY}"}


def test_a_key_that_the_agent_refuses_is_read_again_next_time(aws, agent):
    forward = Forwarder(ForwarderSettings(endpoint=agent.address, secret="agents/key"))
    agent.status = 401
    assert forward.answer(EVENT, Context())["errorType"] == "AccessDenied"
    aws.secret, agent.status = "another-key", 200
    assert forward.answer(EVENT, Context()) == {}
    assert agent.requests[-1].headers["authorization"] == "Bearer another-key"


@pytest.mark.parametrize("secret", ["", "two words", "a\nline", '{"key": "k"}'])
def test_a_secret_without_a_key_is_an_error_of_ours(aws, agent, secret):
    aws.secret = secret
    forward = Forwarder(ForwarderSettings(endpoint=agent.address, secret="agents/key"))
    answer = forward.answer(EVENT, Context())
    assert answer["errorType"] == "InternalServerError"
    assert answer["errorMessage"] == "the secret holds no key of printable characters"
    assert agent.requests == []


def test_a_secret_that_may_not_be_read_is_access_denied(aws, agent):
    aws.code = "AccessDeniedException"
    forward = Forwarder(ForwarderSettings(endpoint=agent.address, secret="agents/key"))
    assert forward.answer(EVENT, Context()) == {
        "errorType": "AccessDenied",
        "errorMessage": "AGENT_API_KEY_SECRET could not be used: AccessDeniedException",
    }
