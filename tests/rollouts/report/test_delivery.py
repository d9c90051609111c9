"""One intent until it is settled: what a reply makes of it, and when it is sent again."""

import pytest

from reward_functions.rollouts.report.delivery import (
    BASE,
    CAP,
    attempt,
    deliver,
    outcome_type,
    pause,
)
from reward_functions.rollouts.report.transports import Reply, error_type, open_transport
from reward_functions.rollouts.request import outcomes
from tests.loopback import BEFORE, LOST
from tests.scripted_runtime import Time, fault, intents, scripted

NOTHING = "http://127.0.0.1:9"  # nobody listens at the port of the discard protocol

REPLIES = [
    # status, error type, outcome, why
    (200, "", "Reported", "the model's response"),
    (202, "", "Reported", "sagemaker.train.rft takes any 2xx for a success"),
    (302, "", "Rejected", "a redirect is not followed"),
    (400, "ValidationException", "Rejected", "the model"),
    (402, "ServiceQuotaExceededException", "QuotaExceeded", "the model"),
    (403, "AccessDeniedException", "Unauthorized", "the model"),
    (404, "ResourceNotFoundException", "NotFound", "the model"),
    (409, "ConflictException", "Conflict", "the model"),
    (429, "ThrottlingException", "Throttled", "the model"),
    (500, "InternalServiceError", "ServiceFailed", "the model"),
    (400, "ThrottlingException", "Throttled", "JSON protocols of AWS answer 400 for all"),
    (400, "ExpiredTokenException", "Unauthorized", "common errors of AWS"),
    (401, "", "Unauthorized", "a proxy or a server of one's own"),
    (402, "", "QuotaExceeded", "the status alone"),
    (409, "", "Conflict", "the status alone"),
    (418, "", "Rejected", "an unknown 4xx is final"),
    (400, "NewException", "Rejected", "an unknown type counts by its status"),
    (408, "", "ServiceFailed", "a load balancer gave up"),
    (503, "", "ServiceFailed", "an unknown 5xx may pass"),
    (599, "NewError", "ServiceFailed", "an unknown 5xx may pass"),
    (500, "ConflictException", "Conflict", "the type comes first"),
]


@pytest.mark.parametrize(("status", "error", "name", "why"), REPLIES)
def test_a_reply_becomes_an_outcome(status, error, name, why):
    assert outcome_type(Reply(status, error), maybe_sent=False).__name__ == name, why


@pytest.mark.parametrize(
    ("status", "name"), [(409, "AlreadyReported"), (200, "Reported"), (404, "NotFound")]
)
def test_a_conflict_behind_a_lost_reply_is_with_itself(status, name):
    assert outcome_type(Reply(status), maybe_sent=True).__name__ == name


@pytest.mark.parametrize("maybe_sent", [False, True])
@pytest.mark.parametrize(
    ("reply", "name"),
    [
        (Reply(409), "RewardOfFailed"),
        (Reply(409, "ConflictException"), "RewardOfFailed"),
        (Reply(500, "ConflictException"), "RewardOfFailed"),
        (Reply(200), "Reported"),
        (Reply(404), "NotFound"),
        (Reply(429), "Throttled"),
        (Reply(500), "ServiceFailed"),
    ],
)
def test_a_conflict_of_a_failed_rollouts_reward_is_expected(reply, name, maybe_sent):
    """Nobody took it, however often it was sent: it is neither taken before nor an error."""
    assert outcome_type(reply, maybe_sent=maybe_sent, of_failed=True).__name__ == name


@pytest.mark.parametrize(
    ("named", "bare"),
    [
        ("ThrottlingException", "ThrottlingException"),
        ("ThrottlingException:http://internal.amazon.com/coral/x/", "ThrottlingException"),
        ("com.amazon.coral#ThrottlingException", "ThrottlingException"),
        ("aws.protocoltests#ThrottlingException:http://a.example/b#c", "ThrottlingException"),
        ("", ""),
        (None, ""),
        ("404", ""),
        ("A b", ""),
        ("X" * 500, ""),
    ],
)
def test_an_error_type_is_bare(named, bare):
    assert error_type(named) == bare


@pytest.mark.parametrize(
    ("attempts", "retry_after", "random", "seconds"),
    [
        (1, 0.0, 0.0, 0.0),
        (1, 0.0, 1.0, BASE),
        (3, 0.0, 0.5, 2 * BASE),
        (50, 0.0, 1.0, CAP),
        (2000, 0.0, 1.0, CAP),
        (1, 7.0, 0.5, 7.0),
    ],
)
def test_a_pause_has_full_jitter_and_respects_retry_after(attempts, retry_after, random, seconds):
    assert pause(attempts, retry_after=retry_after, random=lambda: random) == seconds


@pytest.fixture(scope="module")
def runtime():
    with scripted() as served:
        yield served


@pytest.fixture
def transport(runtime, credentials):
    runtime.empty()
    return open_transport("bearer", trusted=[runtime.address])


def delivered(intent, transport, until=20.0, random=0.5, **more):
    """(outcome, the pauses before it)."""
    time = Time()
    outcome = deliver(
        intent,
        transport,
        until=until,
        clock=time.clock,
        sleep=time.sleep,
        random=lambda: random,
        **more,
    )
    return outcome, time.slept


CONFLICT = fault(409, "ConflictException")
SCRIPTS = [
    # what happens to the calls, the outcome, its attempts, the pauses with a jitter of one half
    ([], "Reported", 1, []),
    ([fault(500), fault(503)], "Reported", 3, [0.125, 0.25]),
    ([fault(429, "ThrottlingException", retry_after="3")], "Reported", 2, [3.0]),
    ([LOST], "Reported", 2, [0.125]),
    ([LOST, CONFLICT], "AlreadyReported", 2, [0.125]),
    ([fault(500), CONFLICT], "AlreadyReported", 2, [0.125]),
    ([fault(429), CONFLICT], "Conflict", 2, [0.125]),
    ([CONFLICT], "Conflict", 1, []),
    ([BEFORE], "Reported", 2, [0.125]),
    ([fault(402, "ServiceQuotaExceededException")], "QuotaExceeded", 1, []),
    ([fault(400, "ValidationException")], "Rejected", 1, []),
    ([fault(404, "ResourceNotFoundException")], "NotFound", 1, []),
    ([fault(403)], "Reported", 2, []),
    ([fault(401)], "Reported", 2, []),
    ([fault(403), fault(403)], "Unauthorized", 2, []),
    ([fault(429, retry_after="21")], "Throttled", 1, []),
    ([fault(400, "ThrottlingException", retry_after="soon")], "Reported", 2, [0.125]),
]


@pytest.mark.parametrize(("faults", "name", "attempts", "slept"), SCRIPTS)
def test_an_intent_is_sent_until_it_is_settled(runtime, transport, faults, name, attempts, slept):
    (_, reward) = intents(runtime.address)
    runtime.fail("reward", *faults)
    outcome, pauses = delivered(reward, transport)
    assert (type(outcome).__name__, outcome.attempts, pauses) == (name, attempts, slept)
    assert len(runtime.sent) == attempts
    assert len({each.body for each in runtime.sent}) == 1  # the same token and the same bytes


def test_a_conflict_behind_a_pause_is_with_the_outbox_that_sends_it_too(runtime, transport):
    (_, reward) = intents(runtime.address)
    runtime.fail("reward", fault(429), CONFLICT)
    outcome, _ = delivered(reward, transport, shared=True)
    assert isinstance(outcome, outcomes.AlreadyReported)


def test_the_outcome_has_what_the_service_answered(runtime, transport):
    (_, reward) = intents(runtime.address)
    runtime.fail("reward", fault(404, "ResourceNotFoundException", "no such trajectory"))
    outcome, _ = delivered(reward, transport)
    assert outcome == outcomes.NotFound(
        operation="reward",
        trajectory_id="rollout-1",
        status=404,
        error_type="ResourceNotFoundException",
        detail="no such trajectory",
    )


def test_the_last_attempt_is_made_before_the_window_closes_whatever_the_service_asks(
    runtime, transport
):
    (_, reward) = intents(runtime.address, expires=20.0)
    runtime.fail("reward", fault(429, retry_after="900"))
    assert delivered(reward, transport)[1] == [19.0]


def test_a_window_that_has_closed_is_expired_and_nothing_is_sent(runtime, transport):
    (_, reward) = intents(runtime.address, expires=0.0)
    outcome, _ = delivered(reward, transport)
    assert (type(outcome), outcome.attempts) == (outcomes.Expired, 0)
    assert not outcome.retryable
    assert not runtime.sent


def test_without_patience_nothing_is_sent_and_the_outbox_goes_on(runtime, transport):
    (_, reward) = intents(runtime.address)
    outcome, _ = delivered(reward, transport, until=0.0)
    assert (type(outcome), outcome.attempts, outcome.retryable) == (outcomes.NotSent, 0, True)


def test_no_connection_means_that_nothing_was_sent(credentials):
    transport = open_transport("bearer", trusted=[NOTHING])
    (_, reward) = intents(NOTHING)
    outcome, pauses = delivered(reward, transport, until=1.5)
    assert isinstance(outcome, outcomes.NotSent)
    assert not outcome.ambiguous
    assert outcome.attempts == len(pauses) + 1 > 1


def test_missing_credentials_are_tried_again_and_nothing_is_sent(runtime, transport, credentials):
    credentials.delenv("AWS_ACCESS_KEY_ID")
    (_, reward) = intents(runtime.address)
    outcome, _ = delivered(reward, transport, until=2.0)
    assert isinstance(outcome, outcomes.NotSent)
    assert outcome.error_type == "CredentialsMissing"
    assert not runtime.sent


def test_an_endpoint_that_this_process_does_not_trust_keeps_its_intent(runtime, credentials):
    (_, reward) = intents(runtime.address)
    outcome = attempt(reward, open_transport("bearer"), before=4, maybe_sent=False, timeout=5.0)
    assert (type(outcome), outcome.attempts) == (outcomes.NotSent, 5)
    assert outcome.error_type == "UntrustedEndpoint"


def test_ids_that_cannot_be_sent_are_rejected(runtime, transport):
    (_, reward) = intents(runtime.address, job_arn="arn\r\nHost: elsewhere")
    outcome, _ = delivered(reward, transport)
    assert (type(outcome), outcome.error_type) == (outcomes.Rejected, "BadRequest")
