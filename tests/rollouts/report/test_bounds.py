"""What is just small enough to be kept, sent or read, and what is a byte or a second beyond."""

import json

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.report import deferred, outbox
from reward_functions.rollouts.report import reporter as reporters
from reward_functions.rollouts.report.deferred import BadRecord, read_record
from reward_functions.rollouts.report.outbox import (
    IntentTooLarge,
    fields_of_episode,
    require_storable,
)
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import (
    LONGEST_ARN,
    LONGEST_ID,
    _reply,
    require_carried,
)
from reward_functions.rollouts.request.errors import BadRequest, OutboxUnavailable
from tests.rollouts.report.outbox.reports import episode, reported
from tests.rollouts.report.outbox.reports import target as target_of
from tests.rollouts.report.test_deferred_record import record
from tests.rollouts.reporters import reporter_of


@pytest.mark.parametrize("more", [0, 1])
def test_a_record_has_so_many_bytes(more):
    body = record().body()
    padded = body + b" " * (deferred.LARGEST - len(body) + more)
    if more:
        with pytest.raises(BadRecord, match="has more than 1,048,576 bytes"):
            read_record(padded)
    else:
        assert read_record(padded) == record()


@pytest.mark.parametrize(
    ("created", "expires", "read"),
    [(1.0, 1.0, True), (1, 2, True), (2.0, 1.0, False), (1.0, "2", False), (True, 2.0, False)],
)
def test_a_record_expires_no_earlier_than_it_was_made(created, expires, read):
    given = json.loads(record().body()) | {"created": created, "expires": expires}
    body = json.dumps(given).encode()
    if read:
        assert (read_record(body).created, read_record(body).expires) == (created, expires)
    else:
        with pytest.raises(BadRecord):
            read_record(body)


@pytest.mark.parametrize("more", [0, 1])
def test_an_outbox_keeps_a_report_of_so_many_bytes(more, monkeypatch):
    complete, reward = reported("r1", 0.5)
    size = max(map(outbox._size, (complete, reward)))
    monkeypatch.setattr(outbox, "LARGEST", size - more)
    if more:
        with pytest.raises(IntentTooLarge, match=f"has {size:,} bytes, and an outbox takes"):
            require_storable([complete, reward])
    else:
        require_storable([complete, reward])


def test_an_outbox_takes_the_intents_of_one_rollout_at_once():
    require_storable([])
    with pytest.raises(ValueError, match="two rollouts"):
        require_storable([*reported("r1"), *reported("r2")])


@pytest.mark.parametrize(("payload", "kept"), [("éé", True), ("ééé", False), ("abcd", True)])
def test_a_payload_that_is_too_large_is_left_out_by_its_bytes(payload, kept, monkeypatch):
    monkeypatch.setattr(outbox, "LARGEST", 4)
    assert fields_of_episode(episode(payload=payload), "me")["payload"] == payload * kept


@pytest.mark.parametrize(
    ("arn", "rollout", "transport", "taken"),
    [
        (LONGEST_ARN, 1, "bearer", True),
        (LONGEST_ARN + 1, 1, "bearer", False),
        (LONGEST_ARN + 1, 1, "alpha", True),
        (1, LONGEST_ID, "bearer", True),
        (1, LONGEST_ID + 1, "bearer", False),
        (1, LONGEST_ID + 1, "alpha", False),
        (1, 0, "bearer", False),
    ],
)
def test_ids_are_as_long_as_their_transport_carries(arn, rollout, transport, taken):
    target = target_of("r" * rollout, "a" * arn, transport=transport)
    if taken:
        require_carried(target)
    else:
        with pytest.raises(BadRequest, match="metadata"):
            require_carried(target)


@pytest.mark.parametrize(
    ("window", "margin", "found"),
    [
        ("60", None, 6.0),
        ("60", "59.9", 59.9),
        ("60", "60", "MARGIN is not less than"),
        ("60", "0", "number of seconds"),
        ("0", None, "number of seconds"),
        ("inf", None, "number of seconds"),
        ("x", None, "number of seconds"),
        ("0.001", None, 0.0001),
    ],
)
def test_a_margin_is_less_than_its_window(window, margin, found):
    environ = {"REWARD_ROLLOUTS_WINDOW": window}
    environ |= {} if margin is None else {"REWARD_ROLLOUTS_MARGIN": margin}
    if isinstance(found, str):
        with pytest.raises(ConfigurationError, match=found):
            RolloutSettings.from_env(environ)
    else:
        assert RolloutSettings.from_env(environ).margin == pytest.approx(found)


@pytest.mark.parametrize(("status", "words"), [(200, ""), (299, ""), (300, "Slow"), (429, "Slow")])
def test_of_a_success_the_status_is_all_that_counts(status, words):
    reply = _reply(status, {"x-amzn-errortype": "Slow"}, b'{"message": "why"}')
    assert (reply.status, reply.error_type, reply.detail) == (status, words, "why" if words else "")


def test_a_store_that_fails_is_said_once_for_each_of_so_many_causes(caplog, monkeypatch):
    monkeypatch.setattr(reporters, "CAUSES", 2)
    made = reporter_of()
    for cause in ("a", "b", "c", "a", "b", "c"):
        made.unavailable(OutboxUnavailable(cause))
    assert [each.message[0] for each in caplog.records] == ["a", "b", "c", "c"]
