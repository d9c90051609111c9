"""A version of a function that scores batches: what it breaks on, and what it has no time for.

`Version` answers as a Lambda of this project would, without one; a row of it may kill it.
"""

import json
from dataclasses import replace
from math import ceil, log2
from subprocess import PIPE, Popen
from threading import Lock

import pytest

from reward_functions import get, sample
from reward_functions.aws.deployed.function import FunctionError
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.spec import Needs
from reward_functions.scoring import interpreters
from reward_functions.scoring.interpreters import Interpreters
from reward_functions.scoring.invoked import BATCH_ROWS, Invoked
from reward_functions.scoring.rows import Unread
from reward_functions.scoring.scorers import here
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from reward_functions.testing import wire_row

SPEC = get("gsm8k")

HANDLER = bind(LambdaSettings(name="gsm8k"))


ONE = Lock()
"""A process of Lambda's has one event at a time."""


class Version:
    """The handler itself, which a row of one of the ids ends, or has no time after."""

    def __init__(self, kills=(), blocks=(), throttled=0, handler=HANDLER):
        self.kills, self.blocks, self.throttled = set(kills), set(blocks), throttled
        self.handler, self.asked = handler, []

    def __call__(self, event):
        if self.throttled:
            self.throttled -= 1
            raise AwsFailed("slow down", "TooManyRequestsException")
        event = json.loads(event)
        rows = event["body"] if isinstance(event, dict) else event
        self.asked.append(ids := [row["id"] for row in rows])
        if self.kills & set(ids):
            raise FunctionError("Runtime.ExitError", "RequestId: 4711 Error: exited")
        with ONE:
            found = self.handler(event)
        blocked = next((at for at, name in enumerate(ids) if name in self.blocks), None)
        if blocked is not None:
            for at in range(blocked, len(ids)):
                kind = "SampleBlocked" if at == blocked else "DeadlineReached"
                error = {"type": kind, "kind": "", "of": "reward", "message": "no time"}
                found[at] = {"id": ids[at], "aggregate_reward_score": None, "error": error}
        return json.dumps(found).encode()


def grouped(count, of=4):
    """Rows of prompts in turn, so that no group stands side by side; the last have no prompt."""
    for at in range(count):
        prompt = f"p{at % (count // of)}" if at < count - 2 else ""
        one = sample(f"#### {at}", f"{at}", prompt=prompt, id=f"r{at}")
        content = wire_row(one)
        if not prompt:
            content["messages"] = content["messages"][-1:]
        yield Unread(f"input line {at + 1}", at, content)


def rows(count, wrong=()):
    for at in range(count):
        one = sample(f"so\n#### {at}", f"{at + (at in wrong)}", id=f"r{at}")
        yield Unread(f"input line {at + 1}", at, wire_row(one))


def bad_rows():
    """Rows that no reward can score, and one that is none."""
    yield Unread("input line 1", 0, wire_row(sample("#### 1", "no number", id="a")))
    yield Unread("input line 2", 1, {"id": "b", "messages": 7})
    yield Unread("input line 3", 2, {"messages": []}, "the row has no prompt")
    yield Unread("input line 4", 3, wire_row(sample("#### 1", None, id="a")))
    yield Unread("input line 5", 4, {"messages": [{"role": "assistant", "content": "#### 4"}]})


@pytest.mark.parametrize("given", [list(rows(40, wrong={3, 7})), list(bad_rows())])
def test_a_version_gives_the_bytes_and_facts_of_this_process(given):
    there = Invoked(SPEC, Version())
    assert there(given) == here(SPEC, SPEC.bind({}))(given)
    assert there.calls == 1


@pytest.mark.parametrize("at", [0, 137, BATCH_ROWS - 1])
def test_a_row_that_ends_the_version_is_alone_without_a_score(at):
    version = Version(kills=[f"r{at}"])
    scorer = Invoked(SPEC, version)
    found = scorer(list(rows(BATCH_ROWS)))
    assert [each.id for each in found if each.message] == [f"r{at}"]
    assert found[at].message == (f"input line {at + 1}: the version fails on it: Runtime.ExitError")
    assert scorer.calls <= 1 + 2 * ceil(log2(BATCH_ROWS))


def test_rows_after_one_that_blocks_are_asked_again():
    version = Version(blocks=["r3", "r7"])
    found = Invoked(SPEC, version)(list(rows(10)))
    assert [each.id for each in found if each.message] == ["r3", "r7"]
    assert [len(each) for each in version.asked] == [10, 6, 2]
    assert json.loads(found[3].line)["error"]["type"] == "SampleBlocked"


def test_a_row_that_is_late_even_alone_stays_without_a_score():
    def late(event):
        ids = [each["id"] for each in json.loads(event)["body"]]
        error = {"type": "AlgebraOutOfTime", "kind": "", "of": "reward", "message": "no time"}
        return json.dumps(
            [{"id": each, "aggregate_reward_score": None, "error": error} for each in ids]
        ).encode()

    scorer = Invoked(SPEC, late)
    assert [each.message for each in scorer(list(rows(2)))] == [
        "input line 1: no time",
        "input line 2: no time",
    ]
    assert scorer.calls == 3


GROUPS = replace(SPEC, needs=Needs(group=True))


@pytest.mark.parametrize("hostile", [{"kills": ["r5"]}, {"blocks": ["r5"]}, {}])
@pytest.mark.parametrize("most", [8, BATCH_ROWS])
def test_a_group_is_always_asked_for_as_a_whole(most, hostile, monkeypatch):
    """The batch that it breaks is halved between groups, and packed no tighter than a batch."""
    monkeypatch.setattr("reward_functions.scoring.invoked.BATCH_ROWS", most)
    version, given = Version(**hostile), list(grouped(64))
    found = Invoked(GROUPS, version)(given)
    whole = {}
    for row in given:
        whole.setdefault(row.read().sample.context or row.position, []).append(f"r{row.position}")
    for asked in version.asked:
        assert len(asked) <= most
        assert all(
            set(group) <= set(asked) or not set(group) & set(asked) for group in whole.values()
        )
    assert [each.id for each in found] == [f"r{at}" for at in range(64)]
    broken = {each.id for each in found if each.message}
    if hostile.get("kills"):
        assert broken == {"r5", "r21", "r37", "r53"}
    elif hostile:
        assert "r5" in broken <= {"r5", "r21", "r37", "r53"}
    else:
        assert not broken


def test_a_row_over_what_lambda_takes_is_alone_without_a_score():
    version = Version()

    def invoke(event):
        if len(event) > 50_000:
            raise FunctionError.request_too_large(len(event))
        return version(event)

    given = list(rows(9))
    given[4].content["messages"][-1]["content"] = "é" * 10_000 + "\n#### 4"
    found = Invoked(SPEC, invoke)(given)
    assert [each.message for each in found if each.message] == [
        "input line 5: it is over 6 MB as a request, and Lambda takes no more"
    ]


@pytest.mark.parametrize("code", ["InvalidRequestContentException", "InternalError"])
def test_a_row_that_lambda_takes_in_no_request_is_alone_without_a_score(code):
    version = Version()

    def invoke(event):
        if b"\\ud800" in event:
            raise AwsFailed("no JSON", code)
        return version(event)

    given = list(rows(9))
    given[4].content["messages"][-1]["content"] = "\ud800\n#### 4"
    found = Invoked(SPEC, invoke)(given)
    assert [each.message for each in found if each.message] == [
        f"input line 5: Lambda does not take it as a request: {code}"
    ]


def test_a_version_that_breaks_on_all_rows_is_not_asked_for_each():
    scorer = Invoked(SPEC, Version(kills=[f"r{at}" for at in range(BATCH_ROWS)]))
    found = scorer(list(rows(BATCH_ROWS)))
    assert all(each.message for each in found)
    assert scorer.calls < 40


def test_a_throttled_call_waits_and_is_sent_again():
    waits = []
    scorer = Invoked(SPEC, Version(throttled=3), sleep=waits.append)
    assert len(scorer(list(rows(3)))) == 3
    assert waits == [1.0, 2.0, 4.0]


def test_a_call_that_is_refused_is_no_row_without_a_score():
    def refused(_event):
        raise AwsFailed("no such version", "ResourceNotFoundException")

    with pytest.raises(AwsFailed, match="no such version"):
        Invoked(SPEC, refused)(list(rows(3)))


ANSWERS = {
    "no JSON": lambda ids: "no",
    "too few": lambda ids: json.dumps(
        [{"id": each, "aggregate_reward_score": 1.0, "metrics_list": []} for each in ids[1:]]
    ),
    "other ids": lambda ids: json.dumps(
        [{"id": "x", "aggregate_reward_score": 1.0, "metrics_list": []} for _ in ids]
    ),
    "another order": lambda ids: (
        json.dumps(
            [
                {"id": each, "aggregate_reward_score": 1.0, "metrics_list": [], "reason": ""}
                for each in ids[::-1]
            ]
        )
        if len(ids) > 1
        else "[]"
    ),
    "no score": lambda ids: json.dumps([{"id": each, "reason": ""} for each in ids]),
    "no number": lambda ids: json.dumps(
        [
            {"id": each, "aggregate_reward_score": "NaN", "metrics_list": [], "reason": ""}
            for each in ids
        ]
    ),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_breaks_the_contract_is_no_score(answer):
    def version(event):
        return answer([each["id"] for each in json.loads(event)["body"]]).encode()

    found = Invoked(SPEC, version)(list(rows(3)))
    assert {each.message.partition(": ")[2] for each in found} == {
        "the version fails on it: BrokenContract"
    }


@pytest.mark.parametrize("mode", ["list", "envelope"])
def test_a_function_of_others_is_asked_as_a_trainer_asks(mode):
    handler = bind(LambdaSettings(name="gsm8k", response_mode=mode, max_unscored=1.0))
    version = Version(handler=handler)
    given = [*rows(3, wrong={1}), *bad_rows()]
    found = Invoked(SPEC, version, ours=False)(given)
    mine = here(SPEC, SPEC.bind({}))(given)
    assert [each.line for each in found[:3]] == [each.line for each in mine[:3]]
    kinds = [json.loads(each.line).get("error", {}).get("type") for each in found[3:]]
    assert kinds == ["NotReadable", "BadSample", "BadSample", "NotReadable", "NotReadable"]


@pytest.mark.parametrize("closed", [False, True])
def test_a_process_that_ended_before_it_was_asked_has_no_answer(monkeypatch, closed):
    def begun(_):
        process = Popen(["false"], stdin=PIPE, stdout=PIPE)
        process.wait()
        if closed:
            process.stdin.close()
        return process

    monkeypatch.setattr(interpreters, "begun", begun)
    with Interpreters(1, "interpreters") as made, pytest.raises(EOFError, match="status 1"):
        made.asked("x" * 100_000)
