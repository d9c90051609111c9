"""What each transport puts on the wire, and where it puts no credential."""

import json
import logging
import re
import socket
from datetime import UTC, datetime
from threading import Event
from typing import get_args

import pytest
from botocore.session import Session

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.policy_ping import WAYS
from reward_functions.rollouts.report.credentials import CredentialsMissing, NoReply
from reward_functions.rollouts.report.delivery import attempt
from reward_functions.rollouts.report.transports import (
    KINDS,
    LARGEST,
    WIRES,
    Field,
    Http,
    open_transport,
    report_body,
    require_sendable,
)
from reward_functions.rollouts.request.errors import (
    BadRequest,
    UnsupportedReport,
    UntrustedEndpoint,
)
from reward_functions.rollouts.request.headers import JOB_HEADER
from tests.loopback import BEFORE, LOST
from tests.scripted_runtime import ARN, ROLLOUT, fault, intents, scripted
from tests.waiting import until

SECRETS = ("wJalrXUtnFEMI", "SESSION", "sagemaker-api-key-c2F", "X-Amz-Signature")


@pytest.fixture(scope="module")
def runtime():
    with scripted() as served:
        yield served


@pytest.fixture
def opened(runtime, credentials):
    runtime.empty()
    return lambda kind: open_transport(kind, trusted=[runtime.address])


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def ids(intent, **more):
    return {"TrajectoryId": ROLLOUT} | more


TOKENS = ("87e66de683775f24b09496a1202e60a4", "6c574d6180a1b1bc34698c2a84b56a74")
"""Of the completion as ready, and of the reward 1.0."""

IDS_SENT = f'"JobArn": "{ARN}", "TrajectoryId": "{ROLLOUT}"'

WIRE = [
    # kind, which report, path, body to the byte
    (
        *("modelled", 0, "/complete-rollout"),
        f'{{"TrajectoryId": "{ROLLOUT}", "ClientToken": "{TOKENS[0]}", "Status": "ready"}}',
    ),
    (
        *("modelled", 1, "/update-reward"),
        f'{{"TrajectoryId": "{ROLLOUT}", "ClientToken": "{TOKENS[1]}", "Rewards": [1.0]}}',
    ),
    (
        *("bearer", 0, "/complete-rollout"),
        f'{{{IDS_SENT}, "Status": "ready", "ClientToken": "{TOKENS[0]}"}}',
    ),
    (
        *("bearer", 1, "/update-reward"),
        f'{{{IDS_SENT}, "Rewards": [1.0], "ClientToken": "{TOKENS[1]}"}}',
    ),
    ("alpha", 0, "/CompleteTrajectory", f'{{"TrajectoryId": "{ROLLOUT}"}}'),
    ("alpha", 1, "/UpdateReward", f'{{"TrajectoryId": "{ROLLOUT}", "Rewards": [1.0]}}'),
]
SENT_BY_ALL = {
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "reward-functions",
}
SIGV4 = (
    "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20261122/us-west-2/sagemaker/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token{}, Signature=…"
)
SIGNED = {"x-amz-date": "20261122T120000Z", "x-amz-security-token": "SESSION/TOKEN=="}
HEADERS = {
    "modelled": {
        "x-amzn-sagemaker-job-arn": ARN,
        **SIGNED,
        "authorization": SIGV4.format(";x-amzn-sagemaker-job-arn"),
        "amz-sdk-invocation-id": "…",
        "amz-sdk-request": "attempt=1; max=1",
    },
    "bearer": {"x-amzn-sagemaker-job-arn": ARN, "authorization": "Bearer …"},
    "alpha": {**SIGNED, "authorization": SIGV4.format("")},
}
DIFFERENT = re.compile(
    r"(?<=Signature=)[0-9a-f]{64}$|(?<=Bearer )sagemaker-api-key-[A-Za-z0-9+/=]+$"
    r"|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
)
"""What depends on the port or on chance."""


@pytest.mark.parametrize(("kind", "which", "path", "body"), WIRE)
def test_a_report_on_the_wire(runtime, opened, credentials, kind, which, path, body):
    at = datetime(2026, 11, 22, 12, tzinfo=UTC).replace(tzinfo=None)
    credentials.setattr("botocore.auth.get_current_datetime", lambda *_: at)
    intent = intents(runtime.address, kind)[which]
    assert opened(kind).send(intent, timeout=10).status == 200
    (request,) = runtime.sent
    assert (request.method, "/" + "/".join(request.path)) == ("POST", path)
    assert request.body.decode() == body
    shown = {name: DIFFERENT.sub("…", value) for name, value in request.headers.items()}
    assert shown.pop("host") == runtime.address.removeprefix("http://")
    assert shown.pop("content-length") == str(len(body))
    assert shown == SENT_BY_ALL | HEADERS[kind]


def test_a_report_of_a_lambda_continues_its_trace(runtime, opened, credentials):
    credentials.setenv("AWS_LAMBDA_FUNCTION_NAME", "feedback")
    credentials.setenv("_X_AMZN_TRACE_ID", "Root=1-2-3;Sampled=1")
    opened("modelled").send(intents(runtime.address, "modelled")[1], timeout=10)
    assert runtime.sent[0].headers["x-amzn-trace-id"] == "Root=1-2-3;Sampled=1"


OUTCOMES = [
    # what comes back, and what becomes of the report, by whatever it was carried
    ((200, {}, b"{}"), "Reported", 1),
    (fault(429, "ThrottlingException", retry_after="3"), "Throttled", 1),
    (fault(400, "ThrottlingException"), "Throttled", 1),
    (fault(403, "AccessDeniedException", "no"), "Reported", 2),
    (fault(402, "ServiceQuotaExceededException"), "QuotaExceeded", 1),
    (fault(404, "ResourceNotFoundException"), "NotFound", 1),
    (fault(409, "ConflictException"), "Conflict", 1),
    (fault(400, "ValidationException"), "Rejected", 1),
    (fault(503), "ServiceFailed", 1),
    (LOST, "Unreachable", 1),
    (BEFORE, "Unreachable", 1),
]


@pytest.mark.parametrize(("answered", "name", "attempts"), OUTCOMES)
def test_a_reply_has_one_outcome_by_every_transport(
    runtime, opened, kind, answered, name, attempts
):
    runtime.fail("reward", answered)
    (_, reward) = intents(runtime.address, kind)
    outcome = attempt(reward, opened(kind), before=0, maybe_sent=False, timeout=10)
    assert (type(outcome).__name__, outcome.attempts) == (name, attempts)
    assert len(runtime.sent) == attempts


def test_the_scope_of_a_signature_is_the_service_and_the_region(runtime, opened, kind):
    opened(kind).send(intents(runtime.address, kind)[1], timeout=10)
    (authorization,) = runtime.authorizations
    if not WIRES[kind].bearer:
        assert "/us-west-2/sagemaker/aws4_request" in authorization


def test_modelled_and_bearer_send_one_token_so_that_either_may_repeat_the_other(runtime, opened):
    for kind in ("modelled", "bearer"):
        opened(kind).send(intents(runtime.address, kind)[1], timeout=10)
    tokens = {body["ClientToken"] for _, body in runtime.posts}
    assert len(tokens) == 1


REPLIES = [
    # the fault, and the reply: status, type, pause, message
    (fault(409, "ConflictException", "too late"), (409, "ConflictException", 0.0, "too late")),
    (fault(429, "a#Throttled:http://b", retry_after="2.5"), (429, "Throttled", 2.5, "")),
    ((404, {}, b'{"__type":"x#NotThere","message":"no"}'), (404, "NotThere", 0.0, "no")),
    ((500, {}, b"<html>bad gateway</html>"), (500, "", 0.0, "")),
    ((500, {}, b"[" * 20_000), (500, "", 0.0, "")),
    ((400, {}, b'{"Message":"a\\nb\\u001b[31m"}'), (400, "", 0.0, "a b [31m")),
    ((400, {}, json.dumps({"Message": "x" * 999}).encode()), (400, "", 0.0, "x" * 200)),
    (
        fault(403, "", "Bearer abc.def, X-Amz-Signature=12ab&x=1 sagemaker-api-key-AB+/=="),
        (403, "", 0.0, "[credential], [credential]&x=1 [credential]"),
    ),
]


@pytest.mark.parametrize(("answered", "reply"), REPLIES)
def test_a_reply_is_read_alike_by_all(runtime, opened, kind, answered, reply):
    runtime.fail("reward", answered)
    assert opened(kind).send(intents(runtime.address, kind)[1], timeout=10) == reply


def test_a_reply_without_an_end_is_read_in_part(runtime, opened, kind):
    runtime.fail("reward", (500, {}, b'{"Message": "' + b"x" * 20 * LARGEST))
    assert opened(kind).send(intents(runtime.address, kind)[1], timeout=10).status == 500


def test_a_status_counts_where_the_body_is_cut_off(runtime, opened, kind):
    runtime.fail("reward", (200, {"Content-Length": "50"}, b"{"))
    assert opened(kind).send(intents(runtime.address, kind)[1], timeout=10).status == 200


def test_a_lost_reply_may_have_been_taken(runtime, opened, kind):
    runtime.fail("reward", LOST)
    with pytest.raises(NoReply) as raised:
        opened(kind).send(intents(runtime.address, kind)[1], timeout=10)
    assert raised.value.sent


def test_a_service_that_does_not_answer_is_left_in_time(runtime, opened, kind):
    late = Event()
    intent = intents(runtime.address, kind)[1]
    runtime.faults["reward"] = answers = Waiting(late)
    try:
        with pytest.raises(NoReply) as raised:
            opened(kind).send(intent, timeout=0.3)
        assert raised.value.sent
    finally:
        late.set()
        until(lambda: not answers, "the request has not arrived")  # it would be the next test's


class Waiting(list):
    """A list of faults whose first one comes late."""

    def __init__(self, late):
        super().__init__([fault(500)])
        self.late = late

    def pop(self, at):
        self.late.wait(60)
        return super().pop(at)


def test_a_redirect_is_not_followed_and_takes_no_credential_along(runtime, opened, kind):
    with scripted() as elsewhere:
        for status in (301, 302, 307, 308):
            away = {"Location": f"{elsewhere.address}/update-reward"}
            runtime.fail("reward", (status, away, b""))
            reply = opened(kind).send(intents(runtime.address, kind)[1], timeout=10)
            assert reply.status == status
        assert not elsewhere.sent


UNTRUSTED = [
    "http://127.0.0.1:1",
    "https://job-runtime.sagemaker.us-west-2.api.aws.evil.example",
    "https://evil.example/job-runtime.sagemaker.us-west-2.api.aws",
    "http://job-runtime.sagemaker.us-west-2.api.aws",
    "https://user@job-runtime.sagemaker.us-west-2.api.aws",
]


@pytest.mark.parametrize("endpoint", UNTRUSTED)
def test_an_untrusted_endpoint_is_not_even_called(credentials, kind, endpoint):
    with pytest.raises(UntrustedEndpoint, match="RFT_RUNTIME_ENDPOINT"):
        open_transport(kind).send(intents(endpoint, kind)[1], timeout=10)


def test_an_untrusted_endpoint_gets_no_authorization(runtime, credentials, kind):
    runtime.empty()
    intent, transport = intents(runtime.address, kind)[1], open_transport(kind)
    with pytest.raises(UntrustedEndpoint):
        transport.send(intent, timeout=10)
    assert not runtime.sent
    transport.trust([runtime.address])
    assert transport.send(intent, timeout=10).status == 200


class Rotating(list):
    """A refusal, behind which the agent's environment has other credentials."""

    def __init__(self, monkeypatch):
        super().__init__([fault(403, "AccessDeniedException", "expired")])
        self.monkeypatch = monkeypatch

    def pop(self, at):
        self.monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAROTATED")
        return super().pop(at)


def test_a_refused_credential_is_made_again_once(runtime, opened, credentials, kind):
    runtime.faults["reward"] = Rotating(credentials)
    (_, reward) = intents(runtime.address, kind)
    outcome = attempt(reward, opened(kind), before=0, maybe_sent=False, timeout=10)
    assert (type(outcome).__name__, outcome.attempts) == ("Reported", 2)
    first, second = runtime.authorizations
    assert first != second
    assert WIRES[kind].bearer or "AKIAROTATED" in second
    assert runtime.sent[0].body == runtime.sent[1].body


def test_missing_credentials_are_a_request_that_was_not_sent(runtime, opened, credentials, kind):
    credentials.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(CredentialsMissing) as raised:
        opened(kind).send(intents(runtime.address, kind)[1], timeout=10)
    assert not raised.value.sent
    assert not runtime.sent


def test_credentials_of_a_session_that_is_given(runtime, opened, credentials, kind):
    import boto3

    session = boto3.Session("AKIAGIVEN", "secret", region_name="us-west-2")
    transport = open_transport(kind, trusted=[runtime.address], session=session)
    transport.renew()
    transport.send(intents(runtime.address, kind)[1], timeout=10)
    (authorization,) = runtime.authorizations
    assert WIRES[kind].bearer or "AKIAGIVEN" in authorization


def test_the_environment_of_boto3_does_not_clash_with_a_named_endpoint(
    runtime, opened, credentials
):
    credentials.setenv("AWS_USE_FIPS_ENDPOINT", "true")
    credentials.setenv("AWS_USE_DUALSTACK_ENDPOINT", "true")
    intent = intents(runtime.address, "modelled")[1]
    assert opened("modelled").send(intent, timeout=10).status == 200


def test_a_proxy_of_the_environment_is_used(runtime, opened, credentials, kind):
    credentials.setenv("HTTP_PROXY", runtime.address)
    credentials.setenv("NO_PROXY", "")
    endpoint = "http://runtime.example"
    transport = open_transport(kind, trusted=[endpoint])
    assert transport.send(intents(endpoint, kind)[1], timeout=10).status == 200
    (request,) = runtime.sent
    assert request.headers["host"] == "runtime.example"


@pytest.mark.parametrize(
    ("own", "requests", "verify"),
    [
        (None, "", True),
        (None, "/etc/theirs.pem", "/etc/theirs.pem"),
        ("/etc/own.pem", "/etc/theirs.pem", "/etc/own.pem"),
    ],
)
def test_the_certificate_of_a_runtime_is_checked(monkeypatch, own, requests, verify):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", requests)
    asked = []
    monkeypatch.setattr("botocore.httpsession.URLLib3Session", lambda **given: asked.append(given))
    Http(lambda: own)._pool("https://runtime.example", 10.0)
    assert [each["verify"] for each in asked] == [verify]


IDS = [
    # what is wrong, its ids, which transports carry it
    ("nothing", {}, "modelled bearer alpha"),
    ("the ARN of another kind", {"job_arn": "arn:aws:s3:::bucket"}, "bearer alpha"),
    ("no ARN at all", {"job_arn": "A"}, "bearer alpha"),
    ("another partition", {"job_arn": ARN.replace("aws:", "aws-us-gov:", 1)}, KINDS),
    ("a line break, which would start a header", {"job_arn": "a\r\nb"}, "alpha"),
    ("not ASCII", {"job_arn": "arn:ü"}, "alpha"),
    ("an ARN that is just short enough", {"job_arn": "a" * 256}, "bearer alpha"),
    ("a long ARN", {"job_arn": "a" * 257}, "alpha"),
    ("a long name", {"job_arn": ARN + "x" * 80}, "bearer alpha"),
    ("many dashes", {"job_arn": ARN + "-" * 180 + "!"}, "bearer alpha"),
    ("a long id", {"trajectory_id": "r" * 257}, ""),
    ("an id of another alphabet", {"trajectory_id": "ü/ \n"}, KINDS),
    ("no id", {"trajectory_id": ""}, ""),
]


@pytest.mark.parametrize(("what", "given", "carried"), IDS)
def test_ids_that_a_transport_can_carry(kind, what, given, carried):
    intent = intents("http://127.0.0.1:1", kind, **given)[0]
    if kind in carried:
        require_sendable(intent)
        return
    with pytest.raises(BadRequest):
        require_sendable(intent)


def test_a_field_that_no_report_has_is_no_field_of_a_wire(kind):
    unknown = set(WIRES[kind].fields) - set(get_args(Field))
    assert not unknown, f"report_body leaves {unknown} out: add them there and to Field"


def test_a_ping_of_a_wire_is_a_way_to_ask_the_policy(kind):
    assert WIRES[kind].ping in WAYS, "add the way to WAYS of rollouts/episode/policy_ping.py"


def test_a_report_has_every_field_that_there_is():
    intent = intents("http://127.0.0.1:1", "modelled", status="failed")[0]
    rewarded = intents("http://127.0.0.1:1", "modelled")[1]
    fields = get_args(Field)
    found = json.loads(report_body(intent, fields)) | json.loads(report_body(rewarded, fields))
    assert found.keys() == set(fields)


def test_a_wire_without_failed_rollouts_says_its_own_name(monkeypatch):
    monkeypatch.setitem(WIRES, "acme", WIRES["alpha"])
    failed = intents("http://127.0.0.1:1", "acme", status="failed")[0]
    with pytest.raises(UnsupportedReport, match="the acme API has no failed rollouts"):
        require_sendable(failed)


def test_the_alpha_api_has_no_failed_rollouts(runtime, opened):
    failed = intents(runtime.address, "alpha", status="failed")[0]
    with pytest.raises(UnsupportedReport, match="REWARD_ROLLOUTS_TRANSPORT=modelled"):
        opened("alpha").send(failed, timeout=10)
    assert not runtime.sent


def test_a_kind_that_is_none_is_named(credentials):
    with pytest.raises(ConfigurationError, match="Did you mean 'bearer'"):
        open_transport("bearrer")


def test_a_body_does_not_wait_for_the_acknowledgement_of_its_headers(runtime, opened, kind):
    transport = opened(kind)
    transport.send(intents(runtime.address, kind)[1], timeout=10)
    ((pool,),) = [transport._http._pools.values()]
    connection = pool._manager.connection_from_url(runtime.address)._get_conn()
    assert connection.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    connection.close()


def test_connections_are_kept(runtime, opened, kind):
    transport = opened(kind)
    for _ in range(3):
        transport.send(intents(runtime.address, kind)[1], timeout=10)
    ((pool,),) = [transport._http._pools.values()]
    assert pool._manager.connection_from_url(runtime.address).num_connections == 1


MODELLED_AS = {"complete": "CompleteRollout", "reward": "UpdateReward"}


@pytest.mark.parametrize("operation", MODELLED_AS)
def test_the_modelled_wire_is_the_model_of_boto3(operation):
    model = Session().get_service_model("sagemakerjobruntime")
    known = model.operation_model(MODELLED_AS[operation])
    (sent,) = [each for each in intents("https://a", "modelled") if each.operation == operation]
    members = known.input_shape.members
    in_header = {name for name in members if members[name].serialization.get("location")}
    assert known.http["requestUri"] == WIRES["modelled"].paths[operation]
    assert members["JobArn"].serialization["name"].lower() == JOB_HEADER.lower()
    assert in_header == {"JobArn"}
    assert (
        known.input_shape.members.keys() - in_header
        == json.loads(report_body(sent, WIRES["modelled"].fields)).keys()
    )


@pytest.mark.parametrize("fails", [None, fault(403, "AccessDeniedException", "no"), LOST])
def test_no_credential_is_printed_or_logged(runtime, opened, kind, fails, caplog):
    caplog.set_level(logging.INFO)
    runtime.faults["reward"] = [fails] * 2 if fails else []
    transport = opened(kind)
    intent = intents(runtime.address, kind)[1]
    outcome = attempt(intent, transport, before=0, maybe_sent=False, timeout=10)
    seen = [caplog.text, outcome.sentence, repr(outcome), repr(transport), repr(vars(transport))]
    assert not [secret for secret in SECRETS if any(secret in each for each in seen)]
    assert len(runtime.sent) >= 1
