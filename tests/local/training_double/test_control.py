"""The controls that only a double has, and a server that bad requests do not harm."""

from __future__ import annotations

import http.client
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from queue import Queue
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest

from reward_functions.aws.emulator_record import TrainingRecord
from reward_functions.cdk.policies.iam import Place
from reward_functions.local.emulator import LocalAws
from reward_functions.local.loopback_service.server import SMALL
from reward_functions.local.training_double.jobs import Job
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.prompts import LONGEST
from reward_functions.local.training_double.server import serving
from tests.local_requests import ON_LOOPBACK, wrong

WRONG = [
    # method, what, fields, the words
    ("POST", "throttle", {"operation": "Nothing"}, "one of CancelFineTuningJob, Converse"),
    ("POST", "throttle", {"operation": ["Converse"]}, "one of CancelFineTuningJob, Converse"),
    ("POST", "fail", {"job": "none"}, "no job has this name"),
    ("POST", "fail", {"job": ["none"]}, "no job has this name"),
    ("POST", "speed", {"steps": 1}, "one of seconds_per_step"),
    ("GET", "throttle", {}, "is none of"),
    ("GET", "jobs/none", {}, "no job has this name"),
    ("POST", "jobs/none", {}, "is none of"),
    ("POST", "data", {"name": "f", "content": "{"}, "f"),
    ("POST", "nothing", {}, "is none of"),
]


@pytest.mark.parametrize(("method", "what", "given", "words"), WRONG)
def test_what_a_control_does_not_take_it_says(world, method, what, given, words):
    with pytest.raises(HTTPError) as refused:
        world.control(what, method, **given)
    with refused.value as answer:
        assert words in json.load(answer)["message"]


def test_it_tells_what_it_holds_and_forgets_it(local_aws):
    with serving(local_aws) as double:
        state = double.service.state
        state.throttled["Converse"] = 2
        state.tags["arn"] = {}
        body = json.loads(ask(double, "GET", "/_training/state")[1])
        assert (body["jobs"], body["throttled"]) == (0, {"Converse": 2})
        ask(double, "POST", "/_training/reset")
        assert not state.tags
        assert json.loads(ask(double, "GET", "/_training/state")[1])["throttled"] == {}


@pytest.mark.parametrize(
    ("ended", "meant"),
    [
        ((True, False), 1),
        ((False, True), 0),
        ((True, True, False, True), 2),
        ((False, False), 1),
    ],
)
def test_of_two_jobs_of_one_name_the_one_that_runs_is_meant(local_aws, ended, meant):
    with serving(local_aws) as double:
        jobs = [job_of_name("twice", at, over) for at, over in enumerate(ended)]
        double.service.state.made |= {job.id: job for job in jobs}
        body = json.dumps({"job": "twice", "message": "no capacity"})
        assert ask(double, "POST", "/_training/fail", body)[0] == 200
        assert [bool(job.injected) for job in jobs] == [at == meant for at in range(len(jobs))]


def test_a_multi_turn_job_is_reached_by_the_controls(local_aws):
    with serving(local_aws) as double:
        job = job_of_name("agents", 0, over=False, path="agent-rft")
        double.service.state.made[job.id] = job
        assert json.loads(ask(double, "GET", "/_training/state")[1])["jobs"] == 1
        assert b"SIMULATION: agents" in ask(double, "GET", "/_training/jobs/agents")[1]
        ask(double, "POST", "/_training/fail", json.dumps({"job": "agents", "message": "lost"}))
        assert job.injected == "simulation: lost"
        ask(double, "POST", "/_training/reset")
        assert not double.service.state.made


def job_of_name(name, at, over, path="bedrock"):
    """A job that nobody works on: the newer, the later its number."""
    job = Job(
        id=f"arn:job/{at}",
        path=path,
        name=name,
        place=Place("aws", "us-east-1", "000000000000"),
        base="",
        grader="",
        request={},
        hyperparameters={},
        seed=at,
        policy=Policy.base(),
        created=datetime(2026, 11, 22, 9, at, tzinfo=UTC),
    )
    if over:
        job.status, job.ended = "failed", job.created
    return job


def test_it_answers_prompts_that_it_is_given(local_aws):
    with serving(local_aws) as double:
        row = {"messages": [{"role": "user", "content": "1 + 1?"}], "reference_answer": "2"}
        given = json.dumps({"name": "f.jsonl", "content": json.dumps(row)})
        assert ask(double, "POST", "/_training/data", given) == (200, b"{}")
        assert double.service.prompts.row_of(row["messages"])


def ask(double, method, path, body=None, headers=()):
    connection = http.client.HTTPConnection(urlsplit(double.endpoint).netloc, timeout=30)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


FORM = {"Content-Type": "multipart/form-data; boundary=b"}

HOSTILE = [
    # method, path, body, headers, status
    ("GET", "/", None, {}, 403),
    ("PUT", "/custom-models", b"{}", {}, 403),
    ("GET", "/model-customization-jobs/%00%ff", None, {}, 400),
    ("GET", "/model-customization-jobs/" + "a" * 5000, None, {}, 400),
    ("POST", "/model-customization-jobs", b"\x00", {}, 400),
    ("POST", "/v1/files", None, {"Content-Length": str(2 * LONGEST)}, 413),
    ("POST", "/v1/files", b"--", {"Content-Type": "multipart/form-data"}, 400),
    ("POST", "/v1/files", b"x", FORM, 400),
    (
        "POST",
        "/v1/files",
        b"--b\r\nContent-Disposition: form-data; a*1*\r\n\r\n\r\n--b--\r\n",
        FORM,
        400,
    ),
    ("POST", "/custom-models", None, {"Content-Length": "-1"}, 400),
    ("POST", "/custom-models", None, {"Content-Length": "\xb2"}, 400),
    ("POST", "/v1/files", None, {"Content-Length": "9" * 5000}, 400),
    ("HEAD", "/v1/files", None, {}, 404),
    ("OPTIONS", "/v1/files", None, {}, 404),
    ("GET", "/custom-models", None, {"Host": "evil.example"}, 403),
    ("GET", "/v1/files", None, {"Host": "127.0.0.1:1"}, 403),
    ("GET", "/v1/files", None, {"Origin": "null"}, 403),
    ("GET", "/v1/files", None, {"Sec-Fetch-Site": "cross-site"}, 403),
    ("GET", "/v1/files", None, {"Sec-Fetch-Site": "same-site"}, 403),
    ("POST", "/_training/reset", None, {"Origin": "http://127.0.0.1"}, 403),
    ("POST", "/custom-models", b"0\r\n\r\n", {"Transfer-Encoding": "chunked"}, 403),
    ("GET", "/custom-models", None, {"Authorization": "Bearer " + "=" * 5000}, 403),
    ("GET", "/v1/files", None, {"Authorization": "Bearer \xff"}, 401),
]


def test_what_a_web_page_can_cause_is_refused(world):
    bearer = [f"Authorization: Bearer {key(world)}"]
    port = world.double.server_address[1]
    assert wrong(port, ON_LOOPBACK, "GET /v1/files", more=bearer) == {}


@pytest.mark.parametrize(("method", "path", "body", "headers", "status"), HOSTILE)
def test_a_hostile_request_is_refused_and_the_next_is_served(
    world, method, path, body, headers, status
):
    bearer = {} if "Authorization" in headers else {"Authorization": f"Bearer {key(world)}"}
    assert ask(world.double, method, path, body, headers | bearer)[0] == status
    assert ask(world.double, "GET", "/_training/ready") == (200, b"{}")


@pytest.mark.parametrize("path", ["/custom-models", "/v1/files", "/_training/ready"])
def test_a_refusal_has_the_shape_of_its_api(world, path):
    _, body = ask(world.double, "GET", path, headers={"Origin": "http://evil.example"})
    answer = json.loads(body)
    error = answer["error"] if path.startswith("/v1") else answer
    assert "a page of the web" in error["message"]


def test_whoever_is_not_root_changes_nothing_of_an_enforcing_double(world):
    tags = world.double.service.state.tags
    tags["arn:kept"] = {}
    bearer = {"Authorization": f"Bearer {key(world)}"}
    for headers in ({}, bearer):
        status, _ = ask(world.double, "POST", "/_training/reset", headers=headers)
        assert (status, "arn:kept" in tags) == (403, True)
    del tags["arn:kept"]


def test_the_emulators_owner_is_root_to_the_double(world):
    training = TrainingRecord(world.aws.record.process, world.double.server_address[1])
    mine = LocalAws(world.aws.folder, replace(world.aws.record, training=training))
    mine.ask_training("POST", "throttle", operation="Converse", times=3)
    assert mine.ask_training("GET", "state")["throttled"] == {"Converse": 3}
    mine.ask_training("POST", "throttle", operation="Converse", times=0)


def test_who_still_sends_reads_the_answer(world):
    sent = b"x" * (8 * SMALL)
    assert ask(world.double, "POST", "/v1/files", sent, {"Authorization": "Bearer x"})[0] == 401


def key(world):
    from tests.local.training_double.test_identity import api_key

    return api_key(world.person)


def test_an_answer_that_the_service_could_not_give_is_an_error_of_the_double(world, monkeypatch):
    from reward_functions.local.training_double import server

    raised = Queue()
    monkeypatch.setattr(world.double, "handle_error", lambda *_: raised.put(sys.exc_info()[1]))
    monkeypatch.setitem(
        server.REST["bedrock"], "ListCustomModels", lambda _: {"modelSummaries": [{}]}
    )
    bearer = {"Authorization": f"Bearer {key(world)}"}
    status, body = ask(world.double, "GET", "/custom-models", headers=bearer)
    assert (status, b"the server failed" in body) == (500, True)
    assert "Member must not be null" in str(raised.get(timeout=30))
