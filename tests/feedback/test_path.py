"""What becomes of each message: the table of `path`, row by row, and what harms no neighbour."""

from __future__ import annotations

import json
from dataclasses import replace
from time import monotonic, sleep

import pytest
from botocore.stub import Stubber

from reward_functions.feedback.findings import KINDS
from reward_functions.rollouts.report.credentials import NoReply
from reward_functions.rollouts.report.intents import report
from reward_functions.rollouts.report.transports import Reply
from reward_functions.rollouts.request.errors import OutboxUnavailable
from tests.feedback.conftest import MATH, announced, graded
from tests.lambda_api import Function, function_error, refusal
from tests.lambda_api import Reply as Answer
from tests.rollouts.report.outbox.reports import NOW, WINDOW
from tests.rollouts.reporters import CONFLICT, THROTTLED

LIMIT = 30.0


def test_a_record_is_scored_by_its_version_and_reported_once(way):
    record = way.record("r1")
    assert way.settle(way.put(record)) == ({}, {"rewards_reported": 1})
    assert way.transport.sent == [("r1", "complete"), ("r1", "reward")]
    assert way.rewards() == {"r1": [1.0]}
    (asked,) = way.functions[f"{MATH}:7"].asked
    (row,) = asked
    assert row["messages"][-1] == {"role": "assistant", "content": "41 + 1 = 42"}
    assert (row["reference_answer"], row["id"]) == ("42", record.digest)


def test_records_of_one_version_go_in_one_batch_and_each_version_is_asked_by_its_own(way):
    way.functions[f"{MATH}:8"] = Function([lambda rows: graded(rows, 0.25)])
    bodies = [way.put(way.record(f"r{at}", arn=f"{MATH}:{7 + at % 2}")) for at in range(5)]
    assert way.settle(*bodies) == ({}, {"rewards_reported": 5})
    assert [len(way.functions[f"{MATH}:{version}"].asked) for version in (7, 8)] == [1, 1]
    assert way.rewards() == {"r0": [1.0], "r1": [0.25], "r2": [1.0], "r3": [0.25], "r4": [1.0]}


def test_a_function_of_an_immutable_deployment_is_its_own_version(way):
    arn = f"{MATH}x--0123abcd"
    way.functions[arn] = Function([graded])
    assert way.settle(way.put(way.record(arn=arn))) == ({}, {"rewards_reported": 1})


def test_s3s_test_is_no_error(way):
    body = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": way.bucket})
    assert way.settle(body) == ({}, {})
    assert way.letters() == []


def test_a_duplicate_delivery_is_counted_once_even_where_a_judge_would_score_otherwise(way):
    body = way.put(way.record("r1"))
    assert way.settle(body)[1] == {"rewards_reported": 1}
    way.functions[f"{MATH}:7"].answers = [lambda rows: graded(rows, 0.0)]
    way.again()
    assert way.settle(body, body) == ({}, {})
    assert way.sent == {"r1": 2}
    assert way.rewards() == {"r1": [1.0]}


def test_a_rollout_that_is_there_twice_in_a_batch_is_scored_once(way):
    body = way.put(way.record("r1"))
    failed, _ = way.settle(body, body)
    assert failed == {}
    assert way.rewards() == {"r1": [1.0]}
    assert [len(batch) for batch in way.functions[f"{MATH}:7"].asked] == [1]


def test_what_was_durable_before_the_function_died_is_sent_as_it_was(way):
    """The score of the first attempt stays, and a conflict with itself is a success."""
    record = way.record("r1")
    target = way.path._reports.target(record)
    way.outbox.add(
        report(target, created=NOW, expires=NOW + WINDOW, status="ready", rewards=(0.75,))
    )
    way.transport.answer = lambda _: CONFLICT
    assert way.settle(way.put(record))[0] == {}
    assert way.functions[f"{MATH}:7"].asked == []
    assert way.rewards() == {"r1": [0.75]}


def test_of_two_invocations_that_score_at_once_the_first_report_counts(way):
    """The second finds the first one's in the outbox, and sends that."""
    record = way.record("r1")
    target = way.path._reports.target(record)

    def meanwhile(rows):
        way.outbox.add(
            report(target, created=NOW, expires=NOW + WINDOW, status="ready", rewards=(0.75,))
        )
        return graded(rows, 0.25)

    way.functions[f"{MATH}:7"].answers = [meanwhile]
    assert way.settle(way.put(record))[0] == {}
    assert way.rewards() == {"r1": [0.75]}


def test_a_delivered_record_whose_window_has_closed_is_a_success(way):
    body = way.put(way.record("r1"))
    way.settle(body)
    way.clock.now = NOW + 2 * WINDOW
    assert way.settle(body) == ({}, {})


EXPIRED = [(WINDOW + 1, "1 s ago"), (WINDOW, "in 0 s"), (WINDOW - 9, "in 9 s")]


@pytest.mark.parametrize(("later", "when"), EXPIRED)
def test_an_expired_record_is_never_scored_and_never_sent(way, later, when):
    way.clock.now = NOW + later
    assert way.settle(way.put(way.record())) == ({}, {"dead_letters": 1, "expired": 1})
    ((kind, reason),) = way.letters()
    assert kind == "expired"
    assert reason.startswith("expired")
    assert when in reason
    assert (way.functions[f"{MATH}:7"].asked, way.transport.sent) == ([], [])


OURS = {
    "unscored": lambda rows: graded(rows, unscored=1),
    "imputed": lambda rows: graded(rows, imputed=1),
    "without its flags": lambda rows: [
        {"id": row["id"], "aggregate_reward_score": 1.0} for row in rows
    ],
    "NaN": lambda rows: Answer(json.dumps(graded(rows, float("nan"))).encode()),
    "a number that no float is": lambda rows: graded(rows, 10**400),
    "true": lambda rows: graded(rows, True),
    "text": lambda rows: graded(rows, "1.0"),
    "no list": lambda _: 1.0,
    "null": lambda _: None,
    "an envelope of nothing": lambda _: {"statusCode": 500, "body": None},
    "other ids": lambda rows: graded([{"id": "x"} for _ in rows]),
    "a result more": lambda rows: graded([*rows, *rows]),
    "a list for an id": lambda rows: graded([{"id": []} for _ in rows]),
    "an error": lambda _: function_error(errorType="TooManyUnscored", errorMessage="SECRET"),
    "throttled": lambda _: refusal(429, "TooManyRequestsException", "SECRET"),
    "denied": lambda _: refusal(403, "AccessDeniedException", "SECRET"),
}
"""Answers of a reward that are no reward of the response."""


@pytest.mark.parametrize("answer", OURS.values(), ids=OURS)
def test_what_is_not_scored_by_us_is_never_reported_and_comes_again(way, answer):
    way.functions[f"{MATH}:7"].answers = [answer]
    body = way.put(way.record())
    assert way.settle(body, receives=2) == ({0: "unscored"}, {"unscored": 1})
    assert way.letters() == []
    assert way.settle(body, receives=3) == ({}, {"unscored": 1, "dead_letters": 1})
    ((kind, reason),) = way.letters()
    assert kind == "unscored"
    assert "SECRET" not in reason
    assert (way.transport.sent, way.outbox.list()) == ([], [])


def test_an_envelope_is_read_as_a_list_is(way):
    def envelope(rows):
        return {"statusCode": 200, "headers": {}, "body": json.dumps(graded(rows, 0.5))}

    way.functions[f"{MATH}:7"].answers = [envelope]
    way.settle(way.put(way.record("r1")))
    assert way.rewards() == {"r1": [0.5]}


def test_a_reference_that_cannot_be_read_is_the_data_sets_fault(way):
    way.functions[f"{MATH}:7"].answers = [lambda rows: graded(rows, 0.0, bad_reference=1)]
    assert way.settle(way.put(way.record())) == ({}, {"dead_letters": 1})
    assert [kind for kind, _ in way.letters()] == ["bad_reference"]
    assert way.transport.sent == []


AT_ONCE = {
    "not_deferred": {"reward": "math"},
    "not_a_record": {"extra": 1},
    "other_stage": {"scorer": {"arn": f"{MATH}"}},
}
FOREIGN = [
    f"{MATH}-2:7",
    MATH.replace("000000000000", "111122223333") + ":7",
    MATH.replace("us-east-1", "eu-west-1") + ":7",
    f"{MATH}x:7",
    f"{MATH}x--0123abcg",
    f"{MATH}x--0123abcd:1",
    f"{MATH}--0123abcd",
]


@pytest.mark.parametrize(("kind", "change"), AT_ONCE.items())
def test_a_record_that_another_attempt_does_not_mend_is_a_dead_letter_at_once(way, kind, change):
    record = way.record()
    body = json.dumps(json.loads(record.body()) | change).encode()
    assert way.settle(way.put(record, body=body)) == ({}, {"dead_letters": 1})
    assert [found for found, _ in way.letters()] == [kind]


@pytest.mark.parametrize("arn", FOREIGN)
def test_a_version_of_somebody_else_is_not_asked(way, arn):
    way.functions[arn] = Function([graded])
    assert way.settle(way.put(way.record(arn=arn)))[0] == {}
    assert [kind for kind, _ in way.letters()] == ["other_stage"]
    assert way.functions[arn].asked == []


def test_an_alias_is_no_version(way):
    record = way.record()
    body = record.body().replace(f"{MATH}:7".encode(), f"{MATH}:live".encode())
    way.settle(way.put(record, body=body))
    ((kind, reason),) = way.letters()
    assert (kind, "numbered version" in reason) == ("not_a_record", True)


SERVES = [
    ("math 3 0123456789abcdef: x", {"reward": "math", "version": 3}, []),
    ("math 3 0123456789abcdef: x", {"version": 3}, []),
    ("math 4 0123456789abcdef: x", {"reward": "math", "version": 3}, ["other_version"]),
    ("gsm8k 3 0123456789abcdef: x", {"reward": "math"}, ["other_version"]),
    ("by hand", {"reward": "math"}, ["other_version"]),
]


@pytest.mark.parametrize(("description", "serves", "kinds"), SERVES)
def test_a_version_serves_the_reward_that_its_record_says(way, description, serves, kinds):
    way.functions[f"{MATH}:7"].configuration = {"Description": description}
    way.settle(way.put(way.record(serves=serves)))
    assert [kind for kind, _ in way.letters()] == kinds
    assert bool(way.transport.sent) is not bool(kinds)


def test_a_version_that_was_deleted_is_named_so(way):
    way.functions.clear()
    assert way.settle(way.put(way.record())) == ({}, {"dead_letters": 1})
    assert way.letters() == [("gone", "the pinned version was deleted")]


def test_an_object_of_another_bucket_is_not_read(way):
    assert way.settle(announced("somebody-elses", "rollouts/x"))[0] == {}
    assert [kind for kind, _ in way.letters()] == ["other_bucket"]


def test_an_object_that_is_gone_is_named_so(way):
    way.settle(announced(way.bucket, f"rollouts/{way.record().key}"))
    assert [kind for kind, _ in way.letters()] == ["missing"]


def test_a_record_under_another_key_is_none_so_that_a_rollout_has_one(way):
    way.settle(way.put(way.record("r1"), key=f"rollouts/{way.record('r2').key}"))
    ((kind, reason),) = way.letters()
    assert (kind, "key" in reason) == ("not_a_record", True)


def test_no_credential_goes_where_a_record_says(way):
    given = {"endpoint": "https://evil.example"}
    way.settle(way.put(way.record(metadata=given)))
    assert [kind for kind, _ in way.letters()] == ["untrusted"]
    assert way.transport.sent == []


def test_a_key_is_written_as_in_a_form(way):
    record = way.record("r1")
    way.put(record, key=f"a folder+1/{record.key}")
    assert way.settle(announced(way.bucket, f"a+folder%2B1/{record.key}"))[0] == {}
    assert way.rewards() == {"r1": [1.0]}


NO_NOTIFICATIONS = [
    *("null", "[]", "{}", '{"Records": []}', '{"Records": 1}', '{"Records": [{}]}', "[" * 9999),
    *('{"Records": [null]}', '{"Records": {"a": 1}}', '{"Event": "s3:Other"}', '"Records"'),
    announced("b", "k").replace("ObjectCreated:Put", "ObjectRemoved:Delete"),
    announced("b", "k").replace('"k"', "7"),
]


@pytest.mark.parametrize("body", NO_NOTIFICATIONS)
def test_a_message_that_is_no_notification_is_a_dead_letter(way, body):
    assert way.settle(body) == ({}, {"dead_letters": 1})
    assert [kind for kind, _ in way.letters()] == ["not_a_record"]


def test_one_bad_message_harms_no_neighbour(way):
    good = [way.put(way.record(f"r{at}")) for at in range(3)]
    late = way.put(way.record("late", expires=NOW))
    failed, counts = way.settle(good[0], "{}", good[1], late, good[2])
    assert (failed, counts["rewards_reported"], counts["dead_letters"]) == ({}, 3, 2)
    assert way.rewards().keys() == {"r0", "r1", "r2"}


def test_a_response_that_ends_the_function_harms_no_other(way):
    """The batch fails, and is asked again one by one."""

    def fragile(rows):
        if any("POISON" in row["messages"][-1]["content"] for row in rows):
            return function_error(errorType="Runtime.ExitError")
        return graded(rows)

    way.functions[f"{MATH}:7"].answers = [fragile]
    bodies = [way.put(way.record(text=text)) for text in ("42", "POISON", "43")]
    assert way.settle(*bodies) == ({1: "unscored"}, {"rewards_reported": 2, "unscored": 1})


def test_a_message_of_several_objects_is_settled_as_a_whole(way):
    """No dead letter is written twice, and what is reported is not sent again."""
    way.functions[f"{MATH}:8"] = Function(
        [lambda rows: graded(rows, unscored=1), lambda rows: graded(rows, 0.5)]
    )
    parts = [
        *(way.put(way.record("r1")), way.put(way.record("r2", arn=f"{MATH}:8"))),
        way.put(way.record("late", expires=NOW)),
    ]
    body = json.dumps({"Records": [each for part in parts for each in json.loads(part)["Records"]]})
    assert way.settle(body)[0] == {0: "unscored"}
    assert way.letters() == []
    assert way.settle(body, receives=2)[0] == {}
    assert way.rewards() == {"r1": [1.0], "r2": [0.5]}
    assert [kind for kind, _ in way.letters()] == ["expired"]
    assert way.sent == {"r1": 2, "r2": 2}


REPLIES = [
    # The job runtime's answer, the kind, and whether the message comes again.
    (THROTTLED, "unreported", True),
    (Reply(500, "InternalServiceError"), "unreported", True),
    (Reply(403, "AccessDeniedException"), "unreported", True),
    (Reply(400, "ValidationException"), "refused", False),
    (Reply(404, "ResourceNotFoundException"), "refused", False),
    (CONFLICT, "refused", False),
]


@pytest.mark.parametrize(("reply", "kind", "again"), REPLIES)
def test_a_report_that_is_not_taken_comes_again_where_that_can_help(way, reply, kind, again):
    way.transport.answer = lambda _: reply
    way.path._reports._sleep = lambda seconds: setattr(
        way.clock, "now", way.clock.now + max(seconds, 5.0)
    )
    failed, counts = way.settle(way.put(way.record()))
    assert failed == ({0: kind} if again else {})
    assert [found for found, _ in way.letters()] == ([] if again else [kind])
    assert counts["rewards_reported"] == 0


def test_a_report_that_was_refused_is_sent_again_when_its_letter_is(way):
    """As behind a right that was missing: the same bytes, and the reward is not scored again."""
    way.transport.answer = lambda _: Reply(404, "ResourceNotFoundException")
    body = way.put(way.record("r1"))
    way.settle(body)
    way.transport.answer = lambda _: Reply(200)
    assert way.settle(body) == ({}, {"rewards_reported": 1})
    assert way.rewards() == {"r1": [1.0]}
    assert len(way.functions[f"{MATH}:7"].asked) == 1


def test_a_runtime_out_of_reach_leaves_the_report_durable(way):
    def silent(_):
        way.clock.now += 30.0
        raise NoReply("nobody answers", sent=True)

    way.transport.answer = silent
    body = way.put(way.record("r1"))
    assert way.settle(body)[0] == {0: "unreported"}
    assert [each.state for each in way.outbox.list()] == ["pending", "pending"]


@pytest.mark.parametrize("step", ["find", "add"])
def test_an_outbox_that_is_throttled_keeps_the_message_and_sends_nothing(way, monkeypatch, step):
    def throttled(*_, **__):
        raise OutboxUnavailable("ProvisionedThroughputExceededException")

    body = way.put(way.record("r1"))
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(way.outbox, step, throttled)
        assert way.settle(body)[0] == {0: "unreported"}
    assert way.transport.sent == []
    assert way.settle(body, receives=2)[0] == {}
    assert way.rewards() == {"r1": [1.0]}


def test_a_delivered_report_that_the_outbox_does_not_settle_is_no_failure(way, monkeypatch):
    """A second delivery sends the same token, which the service counts once."""

    def throttled(*_, **__):
        raise OutboxUnavailable("ProvisionedThroughputExceededException")

    body = way.put(way.record("r1"))
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(way.outbox, "settle", throttled)
        assert way.settle(body) == ({}, {"rewards_reported": 1})
    way.functions[f"{MATH}:7"].answers = [lambda rows: graded(rows, 0.0)]
    way.settle(body)
    assert way.rewards() == {"r1": [1.0]}


@pytest.mark.parametrize(("code", "status"), [("SlowDown", 503), ("InternalError", 500)])
def test_an_object_that_s3_does_not_give_for_now_comes_again(way, code, status):
    body = way.put(way.record("r1"))
    with Stubber(way.s3) as stub:
        stub.add_client_error("get_object", code, http_status_code=status)
        assert way.settle(body)[0] == {0: "unread"}
    assert way.settle(body, receives=2)[0] == {}
    assert way.rewards() == {"r1": [1.0]}


def test_without_time_nothing_is_asked(way):
    assert way.settle(way.put(way.record()), remaining=20.0)[0] == {0: "unscored"}
    assert way.functions[f"{MATH}:7"].asked == []


def test_an_accident_of_ours_is_one_messages_alone(way, monkeypatch):
    record = way.record("r1")
    poisoned = way.put(way.record("r2"))
    target = way.path._reports.target

    def accident(given):
        if given.metadata.trajectory_id == "r2":
            raise ZeroDivisionError("SECRET")
        return target(given)

    monkeypatch.setattr(way.path._reports, "target", accident)
    assert way.settle(poisoned, way.put(record))[0] == {0: "unscored"}
    assert way.settle(poisoned, receives=3)[0] == {}
    assert way.letters() == [("unscored", "an accident of ours: ZeroDivisionError")]


def test_a_letter_that_sqs_does_not_take_keeps_its_message(way):
    way.path._settings = replace(way.settings, dead_letters=f"{way.dead}-gone")
    assert way.settle("{}") == ({0: "unreported"}, {})


def test_every_kind_is_a_name_and_a_sentence():
    assert all(name.isidentifier() and kind.what for name, kind in KINDS.items())


def test_a_slow_reward_keeps_no_neighbour_waiting(way):
    """The other version's record is reported while this one is still asked."""

    def slow(rows):
        until = monotonic() + LIMIT
        while "fast" not in way.rewards() and monotonic() < until:
            sleep(0.01)
        return graded(rows, 1.0 if "fast" in way.rewards() else 0.0)

    way.functions[f"{MATH}:8"] = Function([slow])
    bodies = [way.put(way.record("slow", arn=f"{MATH}:8")), way.put(way.record("fast"))]
    assert way.settle(*bodies) == ({}, {"rewards_reported": 2})
    assert way.rewards() == {"slow": [1.0], "fast": [1.0]}


EXECUTED = ["8", "$LATEST", "07", ""]


@pytest.mark.parametrize("version", EXECUTED)
def test_another_version_s_answer_is_no_reward(way, version):
    """Nor is one that does not say which version answered."""
    way.functions[f"{MATH}:7"].answers = [
        lambda rows: Answer(json.dumps(graded(rows)).encode(), version=version)
    ]
    assert way.settle(way.put(way.record())) == ({0: "unscored"}, {"unscored": 1})
    assert way.transport.sent == []


def test_an_immutable_deployment_s_function_answers_as_latest(way):
    arn = f"{MATH}x--0123abcd"
    way.functions[arn] = Function(
        [lambda rows: Answer(json.dumps(graded(rows)).encode(), version="1")]
    )
    assert way.settle(way.put(way.record(arn=arn)))[0] == {0: "unscored"}
