"""Jobs of the OpenAI-compatible API: one job however often, keys, pages, and hostile answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier, BrokenBarrierError, Lock

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.extras import MissingExtra
from reward_functions.jobs.clients import Key, KeySource, given_key
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers import driver_for
from reward_functions.jobs.drivers.openai import (
    LONGEST_PAUSE,
    SECOND,
    Api,
    OpenAIDriver,
    StartedTwice,
    request_of,
)
from reward_functions.jobs.job import JobRequest, MetricPoint, NoSuchJob
from tests.job_fixtures import GRADER
from tests.loopback import BEFORE, LOST
from tests.openai_service import BEGAN, error

NAME = "gsm8k-1f0c9a3e-1"
MODEL = "openai.gpt-oss-20b"
CHOSEN = {"n_epochs": 2, "batch_size": 4, "learning_rate_multiplier": 0.5}


class Keys:
    """Keys that it numbers, and the seconds that were waited."""

    def __init__(self):
        self.made, self.waited = 0, []
        self.source = KeySource(self.key)

    def key(self):
        self.made += 1
        return Key(f"bedrock-api-key-{self.made}", datetime.now(UTC) + timedelta(hours=12))


@pytest.fixture
def keys():
    return Keys()


@pytest.fixture
def driver(openai, keys):
    api = Api(f"{openai.address}/v1", keys.source, pause=keys.waited.append)
    return OpenAIDriver("us-west-2", api)


@pytest.fixture
def request_(driver, data):
    return JobRequest(
        name=NAME,
        token=NAME,
        model=MODEL,
        grader=GRADER,
        hyperparameters={},
        training=driver.upload(data, NAME),
    )


@pytest.fixture
def started(driver, request_, keys):
    job = driver.start(request_)
    keys.waited.clear()
    return job


REINFORCEMENT = {"grader": {"type": "lambda", "lambda": {"function": GRADER}}}


METHOD = {"type": "reinforcement", "reinforcement": REINFORCEMENT}


@pytest.mark.parametrize(
    ("change", "members"),
    [
        ({}, {}),
        (
            {"hyperparameters": CHOSEN},
            {
                "method": {
                    "type": "reinforcement",
                    "reinforcement": {**REINFORCEMENT, "hyperparameters": CHOSEN},
                }
            },
        ),
        ({"validation": "file-1"}, {"validation_file": "file-1"}),
        ({"tags": {"reward": "gsm8k 3"}}, {}),  # it has no place for them
    ],
)
def test_every_option_is_sent_as_the_guide_has_it(driver, openai, data, request_, change, members):
    """The double holds every body to a table of the API's members."""
    driver.upload(data, f"{NAME}.validation")
    job = driver.start(replace(request_, **change))
    assert request_of(replace(request_, **change)) == {
        "model": MODEL,
        "training_file": "file-0",
        "method": {"type": "reinforcement", "reinforcement": REINFORCEMENT},
        **members,
    }
    assert job.name == NAME
    assert job.grader == GRADER
    assert job.hyperparameters == change.get("hyperparameters", {})
    assert [file["filename"] for file in openai.files.values()] == [
        f"{NAME}.jsonl",
        f"{NAME}.validation.jsonl",
    ]


def test_a_file_is_sent_once_and_whole(driver, openai, data):
    sent = []
    first = driver.upload(data, NAME, sent.append)
    assert openai.contents[first] == data.read_bytes()
    assert sum(sent) == data.stat().st_size
    assert driver.upload(data, NAME) == first
    assert openai.asked.count("POST files") == 1


def test_a_large_file_is_sent_in_pieces(driver, openai, tmp_path):
    file = tmp_path / "large.jsonl"
    file.write_bytes(b"0123456789abcdef" * 65_536)
    sent = []
    assert openai.contents[driver.upload(file, NAME, sent.append)] == file.read_bytes()
    assert len(sent) == 16


def test_another_file_of_the_name_is_left_as_it_is(driver, openai, data):
    driver.upload(data, NAME)
    data.write_text("more\n")
    with pytest.raises(BadJob, match=r"of another size than .*--name"):
        driver.upload(data, NAME)
    assert len(openai.files) == 1


def test_a_file_over_the_limit_is_not_sent(driver, openai, data, monkeypatch):
    monkeypatch.setattr("reward_functions.jobs.drivers.openai.MAX_FILE", 10)
    with pytest.raises(AwsFailed, match="and a file may have 10"):
        driver.upload(data, NAME)
    assert openai.asked == ["GET files"]


def test_what_a_refused_job_leaves_is_removed(driver, openai, data):
    there = driver.upload(data, NAME)
    driver.discard(there)
    driver.discard(there)
    assert not openai.files


@pytest.mark.parametrize("upload", [None, LOST, BEFORE], ids=["", "upload lost", "no upload"])
@pytest.mark.parametrize("create", [None, LOST, BEFORE], ids=["", "job lost", "no job"])
def test_a_start_that_is_interrupted_anywhere_and_repeated_is_one_job(
    driver, openai, data, upload, create
):
    openai.fail("POST files", upload)
    openai.fail("POST fine_tuning jobs", create)

    def start():
        found = driver.find(NAME)
        if found is not None:
            return found
        training = driver.upload(data, NAME)
        return driver.start(
            JobRequest(NAME, NAME, MODEL, GRADER, hyperparameters={}, training=training)
        )

    for _ in range(3):
        try:
            job = start()
        except AwsFailed as error:
            assert "repeat the command" in str(error) or "try again" in str(error)  # noqa: PT017
    assert job == start()
    assert len(openai.jobs) == 1
    assert len(openai.files) == 1
    assert openai.asked.count("POST fine_tuning jobs") == (2 if create == BEFORE else 1)


@pytest.fixture
def together(openai, monkeypatch):
    """Two callers meet at an operation before either is answered, and are answered one by one."""

    def meet(method, met=2):
        barrier, lock, done = Barrier(met), Lock(), getattr(openai, method)

        def answered(*arguments):
            with suppress(BrokenBarrierError):
                barrier.wait(5)
            with lock:
                return done(*arguments)

        monkeypatch.setattr(openai, method, answered)

    return meet


def shells(openai, data, count=2):
    """Starts at the same moment, each from a shell of its own; what each of them shows."""

    def start(_):
        api = Api(f"{openai.address}/v1", Keys().source, pause=lambda _: None)
        driver = OpenAIDriver("us-west-2", api)
        assert driver.find(NAME) is None
        training = driver.upload(data, NAME)
        return driver.start(
            JobRequest(NAME, NAME, MODEL, GRADER, hyperparameters={}, training=training)
        )

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


@pytest.mark.parametrize("apart", [60, 0], ids=["a minute apart", "in one second"])
@pytest.mark.parametrize("uploads", [True, False], ids=["two files", "one file"])
def test_two_shells_that_start_at_the_same_moment_end_with_one_job(
    openai, data, together, driver, uploads, apart
):
    """The first file and the first job are the oldest; both shells had looked, and seen none."""
    openai.apart = apart
    if uploads:
        together("upload")
    else:
        driver.upload(data, NAME)
        openai.asked.clear()
    together("create")
    assert {job.id for job in shells(openai, data)} == {"ftjob-0"}
    assert [job["status"] for job in openai.jobs.values()] == ["validating_files", "cancelled"]
    assert list(openai.files) == [openai.jobs["ftjob-0"]["training_file"]]
    assert driver.find(NAME).id == "ftjob-0"


def test_a_start_that_finds_two_shows_the_oldest(driver, openai, request_):
    for _ in range(2):
        openai.create({"model": MODEL, "training_file": "file-0", "method": METHOD})
    assert driver.start(request_).id == driver.find(NAME).id == driver.get(NAME).id == "ftjob-0"
    assert "POST fine_tuning jobs" not in openai.asked


def second(openai, monkeypatch, **members):
    """Another shell's job of the name, made and seen before the one that is asked for."""
    create = openai.create

    def created(body):
        monkeypatch.setattr(openai, "create", create)
        create(body | members)
        return create(body)

    monkeypatch.setattr(openai, "create", created)


def test_a_second_job_that_cannot_be_cancelled_is_named(driver, openai, request_, monkeypatch):
    second(openai, monkeypatch)
    monkeypatch.setattr(openai, "cancel", lambda _: error(403, "no right"))
    with pytest.raises(StartedTwice, match="reward job stop ftjob-1") as raised:
        driver.start(request_)
    assert "as ftjob-0 and ftjob-1" in str(raised.value)


def test_a_job_of_the_name_that_is_another_is_left_alone(driver, openai, request_, monkeypatch):
    second(openai, monkeypatch, model="qwen.qwen3-32b")
    with pytest.raises(BadJob, match="differs in the model"):
        driver.start(request_)
    assert [job["status"] for job in openai.jobs.values()] == ["validating_files", "cancelled"]


def test_who_cannot_look_for_a_second_job_learns_which_one_was_made(driver, openai, request_):
    openai.fail("GET files", None, (403, {}, b""))
    with pytest.raises(StartedTwice, match=r"is started as ftjob-0; .*`reward job list`"):
        driver.start(request_)


def test_a_job_is_found_by_its_validation_file_where_the_training_file_is_gone(
    driver, openai, data, request_
):
    validation = driver.upload(data, f"{NAME}.validation")
    job = driver.start(replace(request_, validation=validation))
    driver.discard(request_.training)
    assert driver.find(NAME) == job
    driver.discard(validation)
    assert driver.find(NAME) is None


def test_a_job_that_names_no_training_file_is_called_by_its_id(driver, openai, request_):
    driver.start(request_)
    openai.jobs["ftjob-0"] |= {"training_file": None}
    assert driver.get("ftjob-0").name == "ftjob-0"


def test_a_job_whose_answer_was_lost_is_found_at_once(driver, openai, request_):
    openai.fail("POST fine_tuning jobs", LOST)
    assert driver.start(request_).id == "ftjob-0"
    assert openai.asked.count("POST fine_tuning jobs") == 1


@pytest.mark.parametrize(
    "fault", [BEFORE, (502, {}, b"<html>"), (200, {}, b"<html>"), (200, {}, b"{}")]
)
def test_where_it_is_not_known_whether_a_job_was_started_that_is_what_is_reported(
    driver, openai, request_, fault
):
    openai.fail("POST fine_tuning jobs", fault)
    openai.fail("GET files", *[None, (403, {}, b"")])
    with pytest.raises(AwsFailed, match="not known: repeat the command, which looks for it first"):
        driver.start(request_)
    assert driver.start(request_).id == "ftjob-0"
    assert len(openai.jobs) == 1


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"grader": GRADER.replace(":7", ":8")}, "the grader"),
        ({"model": "qwen.qwen3-32b"}, "the model"),
        ({"hyperparameters": {"batch_size": 8}}, "the hyperparameters"),
    ],
)
def test_a_name_that_another_job_has_is_refused(driver, openai, request_, change, difference):
    driver.start(replace(request_, hyperparameters=CHOSEN))
    with pytest.raises(BadJob, match=f"differs in {difference}: .*--again"):
        driver.start(replace(request_, **change))
    assert len(openai.jobs) == 1


def test_a_service_that_does_not_repeat_the_method_is_believed(driver, openai, request_):
    openai.echo = False
    first = driver.start(request_)
    assert (first.grader, first.hyperparameters) == ("", {})
    assert driver.start(request_) == first


@pytest.mark.parametrize(
    ("status", "ours", "phase"),
    [
        ("validating_files", "queued", "validating_files"),
        ("queued", "queued", ""),
        ("running", "running", ""),
        ("paused", "running", "paused"),
        ("succeeded", "succeeded", ""),
        ("failed", "failed", ""),
        ("cancelled", "stopped", ""),
        ("evaluating", "running", "evaluating"),
    ],
)
def test_a_status_is_one_of_ours(driver, openai, started, status, ours, phase):
    openai.jobs[started.id]["status"] = status
    job = driver.get(started.id)
    assert (job.status, job.phase) == (ours, phase)


def test_a_job_is_read_whole(driver, openai, started):
    openai.jobs[started.id] |= {
        "status": "failed",
        "finished_at": BEGAN + 3600,
        "error": {"code": "grader_failed", "message": "the grader failed"},
        "fine_tuned_model": "ft:openai.gpt-oss-20b:x",
    }
    job = driver.get(NAME)
    assert job == driver.get(started.id) == driver.find(NAME)
    assert job.created == datetime(2026, 11, 22, 9, tzinfo=UTC)
    assert job.ended == datetime(2026, 11, 22, 10, tzinfo=UTC)
    assert job.failure == "the grader failed"
    assert job.tuned_model == "ft:openai.gpt-oss-20b:x"
    assert (job.driver, job.model, job.output) == ("openai", MODEL, "")


def test_a_job_whose_file_is_gone_is_called_by_its_id(driver, openai, started):
    driver.discard("file-0")
    assert OpenAIDriver("us-west-2", driver._api).get(started.id).name == started.id
    assert [job.name for job in driver.jobs()] == [started.id]


@pytest.mark.parametrize(
    ("status", "passed_over"), [(404, True), (403, True), (400, True), (409, False)]
)
def test_a_file_that_may_not_be_read_costs_its_name_and_no_more(
    driver, openai, started, status, passed_over
):
    driver = OpenAIDriver("us-west-2", driver._api)
    openai.fail("GET files file-0", error(status))
    if passed_over:
        assert driver.get(started.id).name == started.id != NAME
    else:
        with pytest.raises(AwsFailed, match="reading the file"):
            driver.get(started.id)


def test_a_watch_asks_for_the_name_once(driver, openai, started):
    for _ in range(5):
        driver.get(started.id)
    assert openai.asked.count("GET files file-0") == 1


@pytest.mark.parametrize("name", ["ftjob-9", "nobody", "../../files", "..", "", "a b", "x" * 999])
def test_what_is_no_job_is_a_sentence(driver, started, name):
    with pytest.raises(NoSuchJob, match="in us-west-2"):
        driver.get(name)


def test_every_page_of_every_list_is_read(driver, openai, data):
    for run in range(1, 6):
        file = driver.upload(data, f"job-{run}")
        driver.start(JobRequest(f"job-{run}", "t", MODEL, GRADER, {}, training=file))
    openai.jobs["ftjob-9"] = {**openai.jobs["ftjob-0"], "id": "ftjob-9", "method": {"type": "dpo"}}
    assert [job.name for job in driver.jobs()] == [f"job-{run}" for run in range(5, 0, -1)]
    assert driver.find("job-1").id == "ftjob-0"
    assert driver.find("job") is None


def event(at, number, **members):
    return {"id": f"ftevent-{number}", "created_at": BEGAN + at, "level": "info",
            "message": f"event {number}", "type": "message", **members}  # fmt: skip


def metrics(at, number, data):
    return event(at, number, type="metrics", data=data)


@pytest.mark.parametrize("newest_first", [True, False])
def test_events_come_oldest_first_however_they_are_listed(driver, openai, started, newest_first):
    listed = [event(0, 0), event(1, 1), event(1, 2), metrics(2, 3, {"step": 1}), event(9, 4)]
    openai.events[started.id] = listed[::-1] if newest_first else listed
    found = list(driver.events(started))
    assert [each.message for each in found] == [f"event {at}" for at in (0, 1, 2, 4)]
    assert found[0].at == datetime(2026, 11, 22, 9, tzinfo=UTC)


def test_figures_are_those_of_the_metric_events(driver, openai, started):
    openai.events[started.id] = [
        metrics(3, 3, {"step": 2, "total_steps": 67, "critic_rewards_mean": 0.5}),
        metrics(2, 2, {"step": 1, "critic_rewards_mean": 0.25, "valid_loss": 1}),
        metrics(1, 1, {"step": 1, "critic_rewards_mean": 0.125}),  # again, and later
        event(0, 0, data={"step": 1, "x": 1}),
    ]
    assert list(driver.metrics(started)) == [
        MetricPoint(1, "critic_rewards_mean", 0.25),
        MetricPoint(1, "valid_loss", 1.0, "validation"),
        MetricPoint(2, "total_steps", 67.0),
        MetricPoint(2, "critic_rewards_mean", 0.5),
    ]


@pytest.mark.parametrize(
    "figures",
    [None, [], "text", {}, {"step": "1", "x": 1}, {"step": True, "x": 1}, {"step": 1},
     {"step": 1, "x": "0.5", "y": None, "z": True}],
)  # fmt: skip
def test_a_figure_that_is_none_is_passed_over(driver, openai, started, figures):
    openai.events[started.id] = [metrics(0, 0, figures)]
    assert list(driver.metrics(started)) == []


def test_checkpoints_can_be_asked_for(driver, openai, started):
    assert list(driver.checkpoints(started)) == []
    openai.checkpoints[started.id] = [
        {"id": f"ckpt-{step}", "created_at": BEGAN + step, "step_number": step,
         "fine_tuned_model_checkpoint": f"ft:x:step-{step}",
         "metrics": {"step": step, "valid_loss": 0.5, "x": None}}
        for step in (30, 20, 10)
    ]  # fmt: skip
    found = list(driver.checkpoints(started))
    assert [(each.step, each.model) for each in found] == [
        (step, f"ft:x:step-{step}") for step in (30, 20, 10)
    ]
    assert found[0].metrics == {"step": 30.0, "valid_loss": 0.5}


def test_a_job_stops_once(driver, openai, started):
    assert driver.stop(started).status == "stopped"
    assert driver.stop(started).status == "stopped"  # a conflict, to the service
    assert driver.stop(driver.get(started.id)).status == "stopped"
    assert openai.asked.count("POST fine_tuning jobs") == 1 + 2


# Keys and refusals


def test_a_key_that_is_refused_is_replaced_once(driver, openai, keys):
    openai.refused = {"bedrock-api-key-1"}
    assert list(driver.jobs()) == []
    assert keys.made == 2
    assert openai.keys[:2] == ["bedrock-api-key-1", "bedrock-api-key-2"]


def test_a_key_that_is_refused_twice_is_a_sentence_without_the_key(driver, openai, keys):
    openai.refused = {f"bedrock-api-key-{at}" for at in range(9)}
    with pytest.raises(AwsFailed, match="is refused: they have expired, or belong to nobody") as no:
        list(driver.jobs())
    assert "bedrock-api-key" not in str(no.value)
    assert keys.made == 2
    assert len(openai.keys) == 2


def test_a_given_key_that_is_refused_names_its_variable(openai):
    openai.refused = {"given"}
    api = Api(f"{openai.address}/v1", given_key("given"))
    with pytest.raises(AwsFailed, match="AWS_BEARER_TOKEN_BEDROCK is refused"):
        list(OpenAIDriver("us-west-2", api).jobs())
    assert len(openai.keys) == 1


def test_no_message_holds_the_key(driver, openai):
    openai.fail("GET files", error(403, "the key bedrock-api-key-1 may not do this"))
    with pytest.raises(AwsFailed, match=r"the key \(the key\) may not do this"):
        driver.find(NAME)


@pytest.mark.parametrize(
    ("status", "message", "quality"),
    [
        (400, "refused: because", ""),
        (403, "not allowed: because; the caller needs the policy of `jobs`", "denied"),
        (404, "not found: because", "missing"),
        (409, "in conflict with what is there: because", ""),
        (413, "too large for the service: because", ""),
        (418, "the service answers because", ""),
        (302, "the service answers because", ""),
    ],
)
def test_a_refusal_is_one_sentence(driver, openai, keys, status, message, quality):
    openai.fail("GET files", error(status, Location="https://elsewhere.example"))
    with pytest.raises(AwsFailed) as raised:
        driver.find(NAME)
    assert str(raised.value) == f"listing files: {message}" or message in str(raised.value)
    assert not quality or getattr(raised.value, quality)
    assert openai.asked == ["GET files"]
    assert not keys.waited


@pytest.mark.parametrize(
    ("header", "waited"),
    [
        ({}, 1.0),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "86400"}, LONGEST_PAUSE),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, 1.0),
        ({"Retry-After": "-1"}, 1.0),
        ({"Retry-After": "9" * 500}, 1.0),
    ],
)
def test_a_throttled_call_waits_as_long_as_the_service_wishes(
    driver, openai, keys, request_, header, waited
):
    openai.fail("POST fine_tuning jobs", error(429, **header))
    assert driver.start(request_).id == "ftjob-0"
    assert keys.waited == [waited, SECOND]


def test_a_service_that_throttles_for_long_is_a_sentence_and_starts_nothing(
    driver, openai, keys, request_
):
    openai.fail("POST fine_tuning jobs", *[error(429)] * 9)
    with pytest.raises(AwsFailed, match=r"throttled \(because\); nothing is lost") as raised:
        driver.start(request_)
    assert raised.value.throttled
    assert keys.waited == [1.0, 2.0, 4.0]
    assert not openai.jobs


def test_a_service_that_fails_is_asked_again_for_what_it_shows_alone(driver, openai, keys, started):
    openai.fail("GET fine_tuning jobs", error(500), BEFORE, error(503))
    assert driver.get(started.id) == started
    assert keys.waited == [1.0, 2.0, 4.0]
    openai.fail("POST fine_tuning jobs", error(500))
    with pytest.raises(AwsFailed, match="the service failed"):
        driver.stop(started)
    assert len(keys.waited) == 3


def test_a_service_that_is_away_is_a_sentence(keys):
    api = Api("http://127.0.0.1:1/v1", keys.source, pause=keys.waited.append)
    with pytest.raises(AwsFailed, match=r"from 127.0.0.1:1 \(ConnectError\).*`reward local up`"):
        OpenAIDriver("us-west-2", api).find(NAME)


HOSTILE = [
    b"",
    b"<html>a proxy's page</html>",
    b"[]",
    b'"text"',
    b"{}",
    b"[" * 100_000,
    b'{"a": ' + b"9" * 5000 + b"}",
    b'{"data": {}}',
    b'{"data": [1, 2]}',
    b'{"data": [{"id": "ftjob-1", "created_at": 1e300, "status": "running"}]}',
    b'{"data": [{"id": "ftjob-1", "created_at": true, "status": "running"}]}',
    b'{"data": [{"id": "ftjob-1", "created_at": 1, "status": ["running"]}]}',
    b'{"data": [{"id": {}, "created_at": 1, "status": "running"}]}',
    b"\xff\xfe\x00",
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_an_answer_of_something_else_is_one_sentence(driver, openai, content):
    openai.fail("GET fine_tuning jobs", (200, {}, content))
    with pytest.raises(AwsFailed, match="is something else at its address"):
        list(driver.jobs())


def test_a_body_that_is_cut_off_is_no_answer(driver, openai):
    openai.fail("GET files", *[(200, {"Content-Length": "999"}, b"{}")] * 9)
    with pytest.raises(AwsFailed, match="no whole answer"):
        driver.find(NAME)


def test_a_certificate_that_nobody_vouches_for_is_refused(keys, tmp_path):
    import ssl
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    from reward_functions.local.emulator.emulator import make_certificate

    made = make_certificate(tmp_path)
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        api = Api(f"https://127.0.0.1:{server.server_port}/v1", keys.source, pause=lambda _: None)
        with pytest.raises(AwsFailed, match=r"the certificate of 127.0.0.1:.* cannot be verified"):
            OpenAIDriver("us-west-2", api).find(NAME)
    finally:
        server.shutdown()
        server.server_close()


def test_without_openais_sdk_the_extra_is_named(monkeypatch, keys):
    monkeypatch.setattr("reward_functions.core.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"needs OpenAI's SDK: pip install .*\[openai\]"):
        Api("https://bedrock-mantle.us-west-2.api.aws/v1", keys.source)


def test_nothing_of_a_shell_of_openais_goes_to_aws(driver, openai, monkeypatch):
    """The SDK reads its own variables: OpenAI's address, key and organization are not AWS's."""
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "BASE_URL"):
        monkeypatch.setenv(f"OPENAI_{name}", "https://openai.example")
    sent = []
    monkeypatch.setattr(openai, "done", lambda asked, path: sent.append(asked) or error(404))
    with pytest.raises(AwsFailed, match="not found"):
        driver.find(NAME)
    assert not [line for line in sent[0].headers.values() if "openai.example" in line]


def test_a_driver_is_made_for_a_service_by_its_name(bedrock):
    from reward_functions.aws.catalogue import DeployedStage

    stage = DeployedStage.model_construct(bucket="bucket")
    for name, region in (("bedrock", "us-east-1"), ("openai", "us-west-2")):
        driver = driver_for(name, region, None, stage)
        assert (driver.name, driver.region) == (name, region)
