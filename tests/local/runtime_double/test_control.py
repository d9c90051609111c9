"""The controls: what a program asks a double, and the page for people."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from reward_functions.local.runtime_double import FaultPlan
from tests.local.runtime_double.conftest import HEADERS, JOB, OTHER_JOB, QUESTION, ask, boto, send
from tests.parsed_page import harmless

R = {"JobArn": JOB, "TrajectoryId": "r"}


def get(double, what):
    status, _, content = ask(double, f"/_runtime/{what}", method="GET")
    assert status == 200
    return json.loads(content)


def post(double, what, **fields):
    return ask(double, f"/_runtime/{what}", json.dumps(fields).encode())


def test_what_it_was_sent(make):
    double = make()
    send(double, "/v1/chat/completions", QUESTION, HEADERS)
    boto(double).complete_rollout(**R, ClientToken="t")
    boto(double).update_reward(**R, Rewards=[0.5])
    whole = get(double, "trajectories/r")
    assert whole | {"began": 0, "turns": 1, "deliveries": 2} == {
        "job_arn": JOB,
        "trajectory_id": "r",
        "state": "REWARD_RECEIVED",
        "turns": 1,
        "rewards": [0.5],
        "deliveries": 2,
        "began": 0,
    }
    (turn,) = whole["turns"]
    assert (turn["request"], turn["response"]["role"]) == (QUESTION, "assistant")
    delivery = whole["deliveries"][0]
    assert (delivery["token"], delivery["body"], delivery["status"], delivery["ended"]) == (
        *("t", {"Status": "ready"}, 200, "taken"),
    )
    counts = get(double, "counts")
    assert counts["reports"] == {"complete taken": 1, "reward taken": 1}
    assert counts["states"] == {"PENDING": 0, "READY": 0, "REWARD_RECEIVED": 1, "FAILED": 0}


def test_a_trajectory_of_several_jobs_is_named_with_its_job(make):
    double = make()
    double.register(OTHER_JOB, "r")
    status, _, content = ask(double, "/_runtime/trajectories/r", method="GET")
    assert (status, b"add ?job=ARN" in content) == (400, True)
    assert get(double, f"trajectories/r?job={quote(OTHER_JOB)}")["job_arn"] == OTHER_JOB


def test_of_a_long_trajectory_the_last_response_alone_is_sent_where_that_is_enough(make):
    double = make()
    for _ in range(3):
        send(double, "/v1/chat/completions", QUESTION, HEADERS)
    turns = get(double, f"trajectories/r?job={quote(JOB)}&texts=last")["turns"]
    assert [bool(each["response"]) for each in turns] == [False, False, True]
    assert not any(each["request"] for each in turns)
    assert get(double, "trajectories/r")["turns"][2]["response"] == turns[2]["response"]


def test_it_is_registered(make):
    double = make()
    odd = "a b/é"
    assert post(double, "trajectories", job=JOB, trajectory=odd)[0] == 200
    assert get(double, f"trajectories/{quote(odd, safe='')}")["state"] == "PENDING"


WRONG = [
    # method, what, fields, status, words
    ("POST", "nothing", {}, 404, "is none of"),
    ("POST", "reset", {}, 404, "is none of"),
    ("GET", "trajectories/none", {}, 404, "no trajectory has this id"),
    ("POST", "trajectories", {"job": "j", "trajectory": "r"}, 400, "regular expression"),
    ("POST", "trajectories", {"job": JOB}, 400, "must not be null"),
    ("POST", "trajectories", {"job": JOB, "trajectory": ["r"]}, 400, "must be a string"),
]


@pytest.mark.parametrize(("method", "what", "fields", "status", "words"), WRONG)
def test_what_a_control_does_not_take(shared_double, method, what, fields, status, words):
    content = json.dumps(fields).encode() if fields else None
    answered, _, body = ask(shared_double, f"/_runtime/{what}", content, method=method)
    assert (answered, words in json.loads(body)["Message"]) == (status, True)


def test_the_page_shows_what_there_is_and_runs_nothing(make):
    double = make(faults=FaultPlan.parse("complete.error=1,most=1"))
    hostile = "<script>alert(1)</script>"
    double.register(JOB, hostile)
    client = boto(double, retries={"total_max_attempts": 1})
    for _ in range(2):
        try:
            client.complete_rollout(JobArn=JOB, TrajectoryId=hostile, Status="failed")
        except client.exceptions.InternalServiceError:
            continue
    status, headers, content = ask(double, "/_runtime/", method="GET")
    page = content.decode()
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "&lt;script&gt;" in page
    assert "prefers-color-scheme: dark" in page
    texts = harmless(page).text
    for words in ("FAILED", "complete taken", "complete error", "InternalServiceError"):
        assert words in texts
    assert "complete.error=1" in page


def test_the_page_shows_the_latest_of_many(make, monkeypatch):
    monkeypatch.setattr("reward_functions.local.runtime_double.runtime.SHOWN", 2)
    double = make()
    for name in ("second", "third"):
        double.register(JOB, name)
    page = ask(double, "/_runtime/", method="GET")[2].decode()
    assert ("third" in page, "1 older ones are not shown" in page) == (True, True)
    assert page.index("third") < page.index("second")
