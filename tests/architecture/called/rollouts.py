"""Rollouts: policy calls, reports and what becomes of them, trajectories, scorers."""

from contextlib import suppress
from functools import cache
from json import loads
from types import SimpleNamespace
from unittest.mock import patch
from urllib.parse import urlsplit

from botocore.awsrequest import AWSRequest
from botocore.session import Session

from reward_functions.extraction.tool_call_forms import Reader
from reward_functions.rollouts.collect import batches
from reward_functions.rollouts.episode import policy_ping
from reward_functions.rollouts.policy.strands import Answer
from reward_functions.rollouts.report import delivery
from reward_functions.rollouts.report.credentials import Account, NoReply
from reward_functions.rollouts.report.transports import Http, WireTransport
from reward_functions.rollouts.request import context, errors
from tests.architecture.called.rows import Rows, numbered, outcome, placed, taken
from tests.scripted_runtime import ARN, ROLLOUT, intents, target

ENDPOINT = "https://job.sagemaker.us-west-2.amazonaws.com"


# ---- policy calls

ADDED = {"JobArn": ARN, "TrajectoryId": ROLLOUT}

PREPARED = {
    # what an operation's parameters become, and whether its body is recorded
    ("sagemakerjobruntime", "Sample"): (["Body", "JobArn", "TrajectoryId"], True),
    ("sagemakerjobruntime", "SampleWithResponseStream"): (["Body", "JobArn", "TrajectoryId"], True),
    ("bedrock-runtime", "Converse"): (["Body", "inferenceConfig"], True),
    ("bedrock-runtime", "ConverseStream"): (["Body"], False),
    ("bedrock-runtime", "InvokeModel"): (["Body"], False),
    ("bedrock-runtime", "InvokeModelWithResponseStream"): (["Body"], False),
}


def prepared(_, prepare):
    context.set_rollout_context({"jobArn": ARN, "rolloutId": ROLLOUT}, {"temperature": 0.5})
    try:
        given, request = prepare({"Body": '{"messages": []}'})
    finally:
        context.clear_rollout_context()
    return sorted(given), request is not None


def pinged(_, way):
    """What a ping asks of the runtime."""
    asked = []

    def sample(**given):
        asked.append(("Sample", given["TrajectoryId"]))
        return {"Body": SimpleNamespace(read=lambda: None)}

    def post(url, headers, body, timeout):
        asked.append((urlsplit(url).path, headers["Authorization"]))
        return SimpleNamespace(status=200)

    bearer = SimpleNamespace(get=lambda _: "token"), SimpleNamespace(post=post)
    client = SimpleNamespace(sample=sample)
    with (
        patch.object(policy_ping, "_client", lambda *_: client),
        patch.object(policy_ping, "_bearer", lambda: bearer),
    ):
        return outcome(way, target(ENDPOINT), 1.0) or asked


BLOCK = {"text": "words", "source": {"type": "url", "url": "https://a.example/b.png"}}


EVENTS = {
    # an event of Strands', and what of an answer comes of it
    "contentBlockStart": {"start": {"toolUse": {"name": "calc", "toolUseId": "1"}}},
    "contentBlockDelta": {"delta": {"text": "words"}},
    "messageStop": {"stopReason": "max_tokens"},
    "metadata": {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}},
}


def answered(event, read):
    answer = Answer()
    read(answer, EVENTS[event])
    whole = answer.completion("m")
    (choice,) = whole["choices"]
    message = choice["message"]
    return (
        message["content"],
        [call["function"]["name"] for call in message.get("tool_calls", ())],
        choice["finish_reason"],
        "usage" in whole,
    )


CALL = '{"name": "calc", "arguments": {"q": 1}}'

MARKED = {
    "<tool_call>": f"<tool_call>{CALL}</tool_call>",
    "[TOOL_CALLS]": f"[TOOL_CALLS][{CALL}]",
    "<|python_tag|>": f"<|python_tag|>{CALL}",
    "<｜tool▁calls▁begin｜>": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>calc<｜tool▁sep｜>"
    '{"q": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
}


def called(marker, form):
    text = MARKED[marker]
    (call,) = form.read(Reader(text, 0))
    return call.name, loads(call.arguments), form.end


# ---- reports


@cache
def _session():
    session = Session()
    session.set_credentials("AKIAEXAMPLE", "secret")
    return session


def transported(kind, wire):
    """Where a report of a reward goes, and by which scheme it is authorized."""
    asked = []

    def post(_, url, headers, body, *, timeout, authorize):
        request = AWSRequest("POST", url, headers=headers, data=body)
        authorize(request)
        asked.append((urlsplit(url).path, request.headers["Authorization"].partition(" ")[0]))
        raise NoReply("nobody is there")

    transport = WireTransport(kind, Account(_session()), [ENDPOINT])
    patched = patch.object(Http, "post", post), patch.object(transport, "_wire", wire)
    with patched[0], patched[1], suppress(NoReply):
        transport.send(intents(ENDPOINT)[1], timeout=1.0)
    return asked


BY_TYPE = {
    "Rejected": "ValidationException",
    "Unauthorized": "AccessDeniedException ExpiredToken ExpiredTokenException IncompleteSignature "
    "InvalidClientTokenId InvalidSignatureException MissingAuthenticationTokenException "
    "NotAuthorized RequestExpired RequestTimeTooSkewed UnrecognizedClientException",
    "QuotaExceeded": "ServiceQuotaExceededException",
    "NotFound": "ResourceNotFoundException",
    "Conflict": "ConflictException",
    "Throttled": "ThrottlingException Throttling ThrottledException TooManyRequestsException "
    "RequestLimitExceeded SlowDown",
    "ServiceFailed": "InternalServiceError InternalFailure InternalServerException RequestTimeout "
    "RequestTimeoutException ServiceUnavailable ServiceUnavailableException",
}


def replied(status, error_type=""):
    reply = SimpleNamespace(status=status, error_type=error_type)
    return delivery.outcome_type(reply, maybe_sent=False).__name__


def unsendable(kind):
    def send(*_, **__):
        raise kind("it cannot leave")

    (intent, _) = intents(ENDPOINT)
    transport = SimpleNamespace(send=send)
    found = delivery.attempt(intent, transport, before=0, maybe_sent=False, timeout=1.0)
    return type(found).__name__


FAILED = (errors.AgentFailed(""), errors.BadResult(""), errors.BadRequest(""))


def of_whom(_, row):
    """Whose a failure is, and which failures."""
    session = SimpleNamespace(index=0, began=0.0, session_id="s")

    def is_theirs(error):
        return batches.failed_item(session, error).kind == row[1]

    with patch.object(batches, "KINDS", (row,)):
        return row[1], taken(is_theirs, *FAILED)


DIGEST = "0a" * 32
PINNED = ("math", 3, DIGEST, {}, -1, "a b")

NUMERALS = ("1.5", "1e999", "NaN")

ROWS = {
    "rollouts.policy.boto3_events:PREPARED": Rows(prepared, PREPARED),
    "rollouts.episode.policy_ping:WAYS": Rows(
        pinged,
        {
            "sample": [("Sample", ROLLOUT)],
            "chat": [("/v1/chat/completions", "Bearer token")],
            "": "NotImplementedError",
        },
    ),
    "rollouts.record.relay.anthropic:PARTS": Rows(
        lambda _, part: part(BLOCK),
        {
            "text": {"type": "text", "text": "words"},
            "image": {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
        },
    ),
    "rollouts.policy.strands:READERS": Rows(
        answered,
        {
            "contentBlockStart": (None, ["calc"], "stop", False),
            "contentBlockDelta": ("words", [], "stop", False),
            "messageStop": (None, [], "length", False),
            "metadata": (None, [], "stop", True),
        },
    ),
    "extraction.tool_call_forms:FORMS": Rows(
        called,
        {
            "<tool_call>": ("calc", {"q": 1}, "</tool_call>"),
            "[TOOL_CALLS]": ("calc", {"q": 1}, ""),
            "<|python_tag|>": ("calc", {"q": 1}, ""),
            "<｜tool▁calls▁begin｜>": ("calc", {"q": 1}, "<｜tool▁calls▁end｜>"),
        },
    ),
    "rollouts.report.transports:WIRES": Rows(
        transported,
        {
            "modelled": [("/update-reward", "AWS4-HMAC-SHA256")],
            "bearer": [("/update-reward", "Bearer")],
            "alpha": [("/UpdateReward", "AWS4-HMAC-SHA256")],
        },
    ),
    "rollouts.report.delivery:BY_TYPE": Rows(
        placed("rollouts.report.delivery:BY_TYPE", lambda name: replied(418, name)),
        {each: name for name, several in BY_TYPE.items() for each in several.split()},
    ),
    "rollouts.report.delivery:BY_STATUS": Rows(
        placed("rollouts.report.delivery:BY_STATUS", replied),
        {
            401: "Unauthorized",
            402: "QuotaExceeded",
            403: "Unauthorized",
            404: "NotFound",
            408: "ServiceFailed",
            409: "Conflict",
            429: "Throttled",
        },
    ),
    "rollouts.report.delivery:BY_CLASS": Rows(
        placed("rollouts.report.delivery:BY_CLASS", lambda first: replied(100 * first + 18)),
        {2: "Reported", 3: "Rejected", 4: "Rejected"},
    ),
    "rollouts.report.delivery:UNSENDABLE": Rows(
        placed("rollouts.report.delivery:UNSENDABLE", unsendable),
        {
            errors.UntrustedEndpoint: "NotSent",
            errors.UnsupportedReport: "Rejected",
            errors.BadRequest: "Rejected",
        },
    ),
    "rollouts.collect.batches:KINDS": Rows(
        of_whom,
        numbered(("agent", [FAILED[0]]), ("result", [FAILED[1]]), ("payload", [FAILED[2]])),
    ),
    "rollouts.report.deferred:_STRICT": Rows(
        lambda _, read: [outcome(read, each) for each in NUMERALS],
        {
            "parse_constant": ["ValueError"] * 3,
            "parse_float": [1.5, "ValueError", "ValueError"],
        },
    ),
    "rollouts.episode.scoring:_FIELDS": Rows(
        lambda _, valid: taken(valid, *PINNED),
        {"name": ["math", DIGEST], "version": [3], "digest": [DIGEST], "parameters": [{}]},
    ),
}
