"""The outbox in a DynamoDB table of the local AWS emulator: it conforms, and says what is wrong."""

from __future__ import annotations

from dataclasses import replace
from email.utils import formatdate
from itertools import count

import pytest
from botocore.stub import ANY, Stubber

from reward_functions.rollouts.report.outbox import dynamodb
from reward_functions.rollouts.report.outbox.dynamodb import (
    ACTIONS,
    BATCH,
    CREATE_ACTIONS,
    DEFINITION,
    PAUSES,
    TRIES,
    DynamoDBOutbox,
    create_table,
    dynamodb_client,
)
from reward_functions.rollouts.request.clock import AGREED, steady
from reward_functions.rollouts.request.errors import OutboxUnavailable
from reward_functions.rollouts.request.outcomes import Reported
from tests.rollouts.report.outbox.conformance import Conformance
from tests.rollouts.report.outbox.reports import NOW, episode, outcome, reported

NUMBERS = count()

NOON = 1_790_000_000.0
"""Seconds since the epoch of a clock that stands."""


@pytest.fixture(scope="module")
def shared_client(local_aws):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in local_aws.environment.items():
            patch.setenv(name, value)
        return dynamodb_client()


@pytest.fixture
def client(local_aws, shared_client, monkeypatch):
    """A client that no store of another test listens to."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    events, heard = shared_client.meta.events, []
    register = events.register
    monkeypatch.setattr(
        events, "register", lambda *handler: heard.append(handler) or register(*handler)
    )
    yield shared_client
    for handler in heard:
        events.unregister(*handler)


@pytest.fixture
def table(client):
    """The name of an outbox's table of its own."""
    name = f"outbox-{next(NUMBERS)}"
    assert create_table(client, name)
    return name


class TestDynamoDBOutbox(Conformance):
    @pytest.fixture
    def store(self, client, table):
        return DynamoDBOutbox(table, client=client)

    @pytest.fixture
    def elsewhere(self, table):
        def open_ahead(seconds):
            clock = replace(steady, epoch=steady.epoch + seconds)
            return DynamoDBOutbox(table, client=dynamodb_client(), clock=clock)

        return open_ahead


def test_a_table_that_is_there_is_left_as_it_is(client, table):
    store = DynamoDBOutbox(table, client=client)
    store.add(reported())
    assert not create_table(client, table)
    assert store.counts()["pending"] == 2
    spoken = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert (spoken["TimeToLiveStatus"], spoken["AttributeName"]) == ("ENABLED", "forget")


def test_a_table_of_somebody_else_is_not_taken_for_an_outbox(client):
    name = f"outbox-{next(NUMBERS)}"
    client.create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    with pytest.raises(OutboxUnavailable, match=f"the table {name} is not an outbox: its keys"):
        create_table(client, name)


def test_more_is_pending_than_a_page_holds(client, table):
    store = DynamoDBOutbox(table, client=client)
    for number in range(BATCH // 2 + 5):
        store.add(reported(f"r{number}"))
    assert len(store.list(["pending"])) == BATCH + 10
    assert len(store.due(NOW)) == BATCH // 2 + 5
    assert store.purge(["pending"], NOW + 1) == BATCH + 10


def test_what_is_over_is_forgotten_by_the_table_itself(client, table):
    store = DynamoDBOutbox(table, client=client)
    store.begin(episode("r2"), owner="a", now=NOW)
    complete, reward = reported()
    store.add((complete, reward))
    store.settle(complete, outcome(Reported, complete))
    items = client.scan(TableName=table)["Items"]
    forgotten = {item["kind"]["S"]: item.get("forget", {}).get("N") for item in items}
    assert forgotten == {
        "complete": str(int(NOW) + 7 * 86_400),
        "reward": None,
        "episode": str(int(NOW) + 600 + 30 * 86_400),
    }


def test_an_outbox_without_its_table_says_how_to_make_it(client):
    store = DynamoDBOutbox("no-such-table", client=client)
    for attempted in (store.counts, lambda: store.add(reported()), lambda: store.due(NOW)):
        with pytest.raises(OutboxUnavailable, match="no-such-table does not exist: `reward roll"):
            attempted()


def test_an_endpoint_is_no_part_of_the_name(client):
    store = DynamoDBOutbox("t", region="eu-west-1", endpoint="http://user:secret@127.0.0.1:1")
    assert store.name == "dynamodb://t?region=eu-west-1"


REFUSALS = [
    # Error codes of the DynamoDB developer guide, "Error handling with DynamoDB".
    ("ProvisionedThroughputExceededException", 400, "the outbox table t is throttled"),
    ("ThrottlingException", 400, "the outbox table t is throttled"),
    ("RequestLimitExceeded", 400, "the outbox table t is throttled"),
    ("AccessDeniedException", 400, f"may not be used: allow {', '.join(ACTIONS)}"),
    ("UnrecognizedClientException", 400, "cannot be used with these credentials"),
    ("InternalServerError", 500, "answers InternalServerError"),
]


@pytest.fixture
def unreached(monkeypatch):
    """A client of nothing: an address where nobody listens, and credentials of nobody."""
    for name, value in {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}.items():
        monkeypatch.setenv(name, value)
    return dynamodb_client("us-west-2", "http://127.0.0.1:9")


@pytest.mark.parametrize(("code", "status", "message"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_a_refusal_is_one_sentence(unreached, code, status, message):
    with Stubber(unreached) as stub:
        stub.add_client_error("update_item", code, http_status_code=status)
        with pytest.raises(OutboxUnavailable) as raised:
            DynamoDBOutbox("t", client=unreached).sampled(reported()[0].target)
    assert message in str(raised.value)


@pytest.mark.parametrize("throttled", range(len(PAUSES) + 1))
def test_what_a_throttled_table_leaves_out_is_asked_for_again(unreached, monkeypatch, throttled):
    item = {"key": {"S": "k"}, "kind": {"S": "episode"}}
    left_out = {"t": {"Keys": [item]}}
    slept = []
    monkeypatch.setattr(dynamodb, "sleep", slept.append)
    with Stubber(unreached) as stub:
        for _ in range(throttled):
            stub.add_response("batch_get_item", {"Responses": {}, "UnprocessedKeys": left_out})
        stub.add_response("batch_get_item", {"Responses": {"t": [item]}, "UnprocessedKeys": {}})
        asking = DynamoDBOutbox("t", client=unreached)
        if throttled < len(PAUSES):
            assert [each["key"] for each in asking._items([{"key": "k", "kind": "episode"}])] == [
                "k"
            ]
        else:
            with pytest.raises(OutboxUnavailable, match="the outbox table t is throttled"):
                list(asking._items([{"key": "k", "kind": "episode"}]))
    assert slept == list(PAUSES[:throttled])


def test_an_address_where_nobody_listens_is_one_sentence(unreached):
    with pytest.raises(OutboxUnavailable, match="t cannot be reached: EndpointConnectionError"):
        DynamoDBOutbox("t", client=unreached).counts()


def test_a_table_without_a_region_says_where_to_name_one(monkeypatch, tmp_path):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(OutboxUnavailable, match="t has no region: add "):
        DynamoDBOutbox("t").counts()


def test_a_store_that_is_closed_closes_its_connections(unreached, monkeypatch):
    closed = []
    monkeypatch.setattr(unreached, "close", lambda: closed.append(1))
    DynamoDBOutbox("t", client=unreached).close()
    assert closed == [1]
    DynamoDBOutbox("t").close()


def test_what_became_of_a_rollout_is_read_strongly_consistent(unreached):
    names = {"KeyConditionExpression": ANY, "ExpressionAttributeNames": ANY}
    asked = {"TableName": "t", **names, "ExpressionAttributeValues": ANY, "ConsistentRead": True}
    with Stubber(unreached) as stub:
        stub.add_response("query", {"Items": []}, asked)
        assert DynamoDBOutbox("t", client=unreached).find(reported()[0].target) == []


def test_items_are_read_strongly_consistent(unreached):
    item = {"key": {"S": "k"}, "kind": {"S": "episode"}}
    asked = {"RequestItems": {"t": {"Keys": [item], "ConsistentRead": True}}}
    with Stubber(unreached) as stub:
        stub.add_response("batch_get_item", {"Responses": {"t": [item]}}, asked)
        found = DynamoDBOutbox("t", client=unreached)._items([{"key": "k", "kind": "episode"}])
        assert [each["key"] for each in found] == ["k"]


IN_THE_WAY = [
    ("TransactionConflict",),
    ("None", "ConditionalCheckFailed"),
    ("None", "ConditionalCheckFailed", "TransactionConflict"),
]
ATTEMPTED = {
    "add": lambda store: store.add(reported()),
    "begin": lambda store: store.begin(episode("r1"), owner="a", now=NOW),
}


def refuse(stub, codes):
    """Answer a transaction with the reasons of its items."""
    stub.add_response("query", {"Items": []})
    if codes:
        reasons = {"CancellationReasons": [{"Code": code} for code in codes]}
        stub.add_client_error(
            "transact_write_items", "TransactionCanceledException", modeled_fields=reasons
        )
    else:
        stub.add_client_error("transact_write_items", "TransactionInProgressException")


@pytest.mark.parametrize("attempted", ATTEMPTED)
@pytest.mark.parametrize(
    "codes", [*IN_THE_WAY, ()], ids=["+".join(each) for each in [*IN_THE_WAY, ()]]
)
def test_a_transaction_that_others_are_in_the_way_of_is_given_up_at_last(
    unreached, codes, attempted
):
    store = DynamoDBOutbox("t", client=unreached)
    store._seconds_ahead = 0.0
    with Stubber(unreached) as stub:
        for _ in range(TRIES):
            refuse(stub, codes)
        with pytest.raises(OutboxUnavailable, match=f"refused a transaction {TRIES} times"):
            ATTEMPTED[attempted](store)


@pytest.mark.parametrize("code", ["ItemCollectionSizeLimitExceeded", "ValidationError", "New"])
def test_a_transaction_that_is_wrong_by_itself_is_not_tried_again(unreached, code):
    store = DynamoDBOutbox("t", client=unreached)
    store._seconds_ahead = 0.0
    with Stubber(unreached) as stub:
        refuse(stub, ("None", code))
        with pytest.raises(OutboxUnavailable, match="t answers TransactionCanceledException"):
            store.add(reported())


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("AccessDeniedException", f"may not be made: allow {', '.join(CREATE_ACTIONS)}"),
        ("LimitExceededException", "cannot be made: LimitExceededException"),
    ],
)
def test_a_table_that_is_refused_is_one_sentence(unreached, code, message):
    with Stubber(unreached) as stub:
        stub.add_client_error("create_table", code)
        with pytest.raises(OutboxUnavailable) as raised:
            create_table(unreached, "t")
    assert str(raised.value) == f"the outbox table t {message}"


def test_a_table_that_cannot_be_asked_for_is_one_sentence(unreached):
    with pytest.raises(OutboxUnavailable, match="t cannot be made: EndpointConnectionError"):
        create_table(unreached, "t")


def test_the_definition_is_what_the_calls_need():
    named = {each["AttributeName"] for each in DEFINITION["AttributeDefinitions"]}
    (index,) = DEFINITION["GlobalSecondaryIndexes"]
    keys = {each["AttributeName"] for each in [*DEFINITION["KeySchema"], *index["KeySchema"]]}
    assert named == keys


REPLIES = [
    # seconds that replies are ahead of this clock, one after another; what is known at last
    ([0.0], 0.0),
    ([AGREED - 1], 0.0),  # clocks that agree are taken for equal
    ([AGREED + 10], AGREED + 10),
    ([100.0, 100.0 + AGREED - 1], 100.0),  # what is known stays while it is about right
    ([100.0, 100.0 + AGREED + 1], 100.0 + AGREED + 1),
    ([100.0, -100.0], -100.0),
    ([-100.0, 0.0], 0.0),
    ([100.0, None], 100.0),
]


@pytest.mark.parametrize(("replies", "known"), REPLIES)
def test_the_services_clock_is_read_from_its_replies(replies, known):
    store = DynamoDBOutbox("t", clock=lambda: NOON)
    for ahead in replies:
        date = "soon" if ahead is None else formatdate(NOON + ahead, usegmt=True)
        store._tell_time({"ResponseMetadata": {"HTTPHeaders": {"date": date}}})
    assert store._seconds_ahead == known


@pytest.mark.parametrize("reply", [{}, {"ResponseMetadata": {}}])
def test_a_reply_without_a_date_leaves_both_clocks_equal(reply):
    store = DynamoDBOutbox("t")
    store._tell_time(reply)
    assert store._seconds_ahead == 0.0
