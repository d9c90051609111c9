"""The OpenAI-compatible API: as a client sees it, and as the `openai` package's types have it."""

from __future__ import annotations

import json
from itertools import pairwise
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.local.training_double.conftest import ACCOUNT, BROKEN, REGION, allow, jsonl, rows
from tests.local.training_double.test_identity import api_key

MODEL = "openai.gpt-oss-20b"
BOUNDARY = "a-boundary"


class Client:
    """What an SDK does, by hand: paths below /v1, a key, JSON."""

    def __init__(self, world, session):
        self.world, self.key = world, api_key(session)

    def __call__(self, method, path, body=None, kind="application/json"):
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
        url = f"{self.world.double.endpoint}/v1{path}"
        with urlopen(Request(url, data, headers, method=method), timeout=60) as answer:
            return json.load(answer)

    def upload(self, name, content, purpose="fine-tune"):
        field = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name="
        head = f'{field}"purpose"\r\n\r\n{purpose}\r\n{field}"file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
        return self("POST", "/files", body, f"multipart/form-data; boundary={BOUNDARY}")

    def create(self, file, grader, **changes):
        hyperparameters = changes.pop("hyperparameters", {"n_epochs": 1, "batch_size": 100})
        method = {
            "type": "reinforcement",
            "reinforcement": {
                "grader": {"type": "lambda", "lambda": {"function": grader}},
                "hyperparameters": hyperparameters,
            },
        }
        body = {"model": MODEL, "training_file": file, "method": method} | changes
        return self("POST", "/fine_tuning/jobs", body)

    def ended(self, job):
        self.world.wait(job["id"])
        return self("GET", f"/fine_tuning/jobs/{job['id']}")


def refusal(call, *arguments, **named):
    """The status and the error of a refusal."""
    with pytest.raises(HTTPError) as refused:
        call(*arguments, **named)
    with refused.value as answer:
        return answer.code, json.load(answer)["error"]


@pytest.fixture(scope="module")
def client(world):
    return Client(world, world.person)


@pytest.fixture(scope="module")
def file(client):
    return client.upload("run-1.jsonl", jsonl(rows(100, first=1000)))


@pytest.fixture(scope="module")
def job(world, client, file):
    """A job that has succeeded."""
    chosen = {"n_epochs": 3, "batch_size": 100, "learning_rate_multiplier": 10.0}
    started = client.create(file["id"], world.version, hyperparameters=chosen)
    assert started["status"] in ("validating_files", "queued", "running")
    return client.ended(started)


def test_a_file_is_kept_as_it_came(client, file):
    content = jsonl(rows(100, first=1000))
    assert (file["bytes"], file["filename"]) == (len(content), "run-1.jsonl")
    assert client("GET", f"/files/{file['id']}") == file
    assert file in client("GET", "/files?purpose=fine-tune&limit=100")["data"]
    assert client("GET", "/files?purpose=batch")["data"] == []


def test_a_file_keeps_every_byte(world, client):
    content = b'\xff\r\n--x\n\n\r "\xc3\xa4" ' * 3
    made = client.upload("b\u00e4.jsonl", content)
    assert world.double.service.state.made[made["id"]].content == content
    assert client("DELETE", f"/files/{made['id']}") == {
        "id": made["id"],
        "object": "file",
        "deleted": True,
    }
    assert refusal(client, "GET", f"/files/{made['id']}")[0] == 404


def test_a_job_succeeds_and_its_model_answers_at_once(client, job, file):
    assert (job["status"], job["error"], job["training_file"]) == ("succeeded", None, file["id"])
    assert "simulation" in job["fine_tuned_model"]
    asked = [row["messages"] for row in rows(20, first=1000)]

    def right(model):
        found = 0
        for at, prompt in enumerate(asked, 1000):
            body = {"model": model, "messages": prompt, "temperature": 0, "n": 2}
            first, second = client("POST", "/chat/completions", body)["choices"]
            assert first["message"]["content"] == second["message"]["content"]
            assert (first["finish_reason"], second["index"]) == ("stop", 1)
            found += first["message"]["content"].endswith(f"#### {3 * at}")
        return found

    assert right(job["fine_tuned_model"]) > right(MODEL)


def test_its_events_are_paged_newest_first_with_the_metrics_of_each_step(client, job):
    path = f"/fine_tuning/jobs/{job['id']}/events?limit=3"
    found, page = [], client("GET", path)
    while True:
        found += page["data"]
        if not page["has_more"]:
            break
        page = client("GET", f"{path}&after={page['last_id']}")
    assert len({event["id"] for event in found}) == len(found)
    assert all(later["created_at"] >= earlier["created_at"] for later, earlier in pairwise(found))
    steps = [event["data"] for event in found if event["type"] == "metrics"]
    assert [step["step"] for step in steps] == [3, 2, 1]
    # contracts.md 4.5: the names of AWS's notebook
    assert steps[0].keys() == {
        "step", "total_steps", "critic_rewards_mean", "critic_advantages_mean", "actor_pg_loss",
        "actor_entropy", "actor_grad_norm", "response_length_mean",
    }  # fmt: skip
    assert steps[0]["critic_rewards_mean"] > steps[-1]["critic_rewards_mean"]
    assert all("simulation" in event["message"] for event in found)


def test_its_checkpoints_are_models(client, job):
    found = client("GET", f"/fine_tuning/jobs/{job['id']}/checkpoints")["data"]
    assert [each["step_number"] for each in found] == [3, 2, 1]
    model = found[-1]["fine_tuned_model_checkpoint"]
    body = {"model": model, "messages": next(rows(1, first=1000))["messages"]}
    assert client("POST", "/chat/completions", body)["model"] == model


def test_jobs_are_listed_newest_first(client, job, file, world):
    later = client.ended(client.create(file["id"], world.version))
    first, *_ = client("GET", "/fine_tuning/jobs?limit=1")["data"]
    assert first["id"] == later["id"]
    following = client("GET", f"/fine_tuning/jobs?after={later['id']}&limit=100")
    assert job["id"] in [each["id"] for each in following["data"]]


def test_a_job_that_is_cancelled_is_not_resumed(client, file, world):
    with world.slowed(seconds_per_step=3600):
        started = client.create(
            file["id"], world.version, hyperparameters={"n_epochs": 3, "batch_size": 100}
        )
        path = f"/fine_tuning/jobs/{started['id']}"
        world.at_work(started["id"])
        assert client("GET", path)["status"] == "running"
        client("POST", f"{path}/cancel")
    ended = client.ended(started)
    assert (ended["status"], ended["fine_tuned_model"]) == ("cancelled", None)
    assert refusal(client, "POST", f"{path}/cancel")[0] == 409
    assert client("GET", f"{path}/checkpoints")["data"] == []


def surrogate():
    """A file whose first row has half a surrogate pair."""
    return jsonl(rows(100)).replace(b"What is", b"\\ud800 What is", 1)


FAILS = {
    "99 rows": (lambda c, w: {"file": c.upload("few.jsonl", jsonl(rows(99)))["id"]}, "has 99"),
    "no JSON": (lambda c, w: {"file": c.upload("x.jsonl", b"{\n")["id"]}, "line 1 is not"),
    "half a surrogate pair": (
        lambda c, w: {"file": c.upload("y.jsonl", surrogate())["id"]},
        "line 1 is not",
    ),
    "a grader that fails": (
        lambda c, w: {"grader": w.grader("openai-broken", BROKEN)},
        "the table of prices is gone",
    ),
    "a grader that the caller may not invoke": (
        lambda c, w: {"client": Client(w, w.user(allow("bedrock-mantle:*", "*")))},
        "lambda:InvokeFunction",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FAILS)
def test_a_job_fails_with_the_cause(world, client, file, what):
    change, words = FAILS[what]
    given = {"client": client, "file": file["id"], "grader": world.version} | change(client, world)
    asker = given["client"]
    job = asker.ended(asker.create(given["file"], given["grader"]))
    assert (job["status"], words in job["error"]["message"]) == ("failed", True), job
    newest = asker("GET", f"/fine_tuning/jobs/{job['id']}/events?limit=1")["data"][0]
    assert (newest["level"], newest["message"]) == ("error", job["error"]["message"])


GRADER = {"type": "lambda", "lambda": {"function": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:g"}}
OTHER = {"type": "lambda", "lambda": {"function": f"arn:aws:lambda:us-west-2:{ACCOUNT}:function:g"}}


def method(grader=GRADER, **hyperparameters):
    inner = {"grader": grader, "hyperparameters": hyperparameters}
    return {"method": {"type": "reinforcement", "reinforcement": inner}}


INNER = "method.reinforcement"
WRONG = [
    ({"suffix": "mine"}, "suffix"),
    ({"role": "arn"}, "role"),
    ({"model": "gpt-4o"}, "model"),
    ({"model": 1}, "model"),
    ({"training_file": "file-none"}, "training_file"),
    ({"training_file": None}, "training_file"),
    ({"validation_file": "file-none"}, "validation_file"),
    ({"method": {"type": "supervised"}}, "method.type"),
    (method({"type": "python", "lambda": {}}), f"{INNER}.grader.type"),
    (method({"type": "lambda"}), f"{INNER}.grader.lambda"),
    (method(OTHER), f"{INNER}.grader.lambda.function"),
    (method({"type": "lambda", "lambda": {"function": "g"}}), f"{INNER}.grader.lambda.function"),
    (method(batch_size=0), f"{INNER}.hyperparameters.batch_size"),
    (method(batch_size=4.5), f"{INNER}.hyperparameters.batch_size"),
    (method(batch_size=True), f"{INNER}.hyperparameters.batch_size"),
    (method(n_epochs="many"), f"{INNER}.hyperparameters.n_epochs"),
    (method(learning_rate_multiplier=-1), f"{INNER}.hyperparameters.learning_rate_multiplier"),
    (method(epochCount=1), f"{INNER}.hyperparameters.epochCount"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "field"), WRONG)
def test_a_job_that_is_not_as_documented_is_refused_by_its_field(client, file, change, field):
    body = {"model": MODEL, "training_file": file["id"]} | method() | change
    status, error = refusal(client, "POST", "/fine_tuning/jobs", body)
    assert (status, error["param"], error["type"]) == (400, field, "invalid_request_error")


UNKNOWN = {"model": MODEL, "messages": [{"role": "user", "content": "?"}]}
REFUSED = [
    # method, path, body, status
    ("GET", "/fine_tuning/jobs/ftjob-none", None, 404),
    ("POST", "/fine_tuning/jobs/ftjob-none/cancel", None, 404),
    ("GET", "/fine_tuning/jobs/ftjob-none/events", None, 404),
    ("GET", "/fine_tuning/jobs?limit=0", None, 400),
    ("GET", "/fine_tuning/jobs?limit=x", None, 400),
    ("GET", f"/fine_tuning/jobs?limit={'9' * 5000}", None, 400),
    ("GET", "/fine_tuning/jobs?after=none", None, 400),
    ("GET", "/models", None, 404),
    ("GET", "/nothing", None, 404),
    ("POST", "/files", {"purpose": "fine-tune"}, 400),
    ("POST", "/chat/completions", {"model": "none", "messages": []}, 404),
    ("POST", "/chat/completions", UNKNOWN, 400),
    ("POST", "/chat/completions", {"model": MODEL, "messages": [], "stream": True}, 400),
    ("POST", "/chat/completions", b"[", 400),
    ("POST", "/chat/completions", b"[]", 400),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "path", "body", "status"), REFUSED)
def test_what_cannot_be_is_refused_as_openai_refuses_it(client, verb, path, body, status):
    found, error = refusal(client, verb, path, body)
    assert found == status
    assert error.keys() == {"message", "type", "param", "code"}


def test_who_may_not_is_refused_with_403_and_whoever_nobody_knows_with_401(world):
    stranger = Client(world, world.user())
    assert refusal(stranger, "GET", "/files")[0] == 403
    lists = Client(world, world.user(allow("bedrock-mantle:ListFiles", "*")))
    code, error = refusal(lists, "GET", "/files")
    assert (code, "CallWithBearerToken" in error["message"]) == (403, True)
    stranger.key = "bedrock-api-key-none"
    assert refusal(stranger, "GET", "/files")[0] == 401


def test_a_throttled_client_is_asked_to_wait(world, client):
    world.control("throttle", operation="ListFiles")
    with pytest.raises(HTTPError) as throttled:
        client("GET", "/files")
    with throttled.value as answer:
        assert (answer.code, answer.headers["Retry-After"]) == (429, "1")
    assert client("GET", "/files")["object"] == "list"


def test_everything_is_of_the_types_of_the_openai_package(world, client, job, file):
    pytest.importorskip("openai", reason="the openai package, whose types these are, is not here")
    from openai.types import FileObject
    from openai.types.chat import ChatCompletion
    from openai.types.fine_tuning import FineTuningJob, FineTuningJobEvent
    from openai.types.fine_tuning.jobs import FineTuningJobCheckpoint

    # Bedrock's own grader, `lambda`, is none of OpenAI's.
    FineTuningJob.model_validate({name: value for name, value in job.items() if name != "method"})
    FileObject.model_validate(file)
    path = f"/fine_tuning/jobs/{job['id']}"
    for event in client("GET", f"{path}/events")["data"]:
        FineTuningJobEvent.model_validate(event)
    for checkpoint in client("GET", f"{path}/checkpoints")["data"]:
        FineTuningJobCheckpoint.model_validate(checkpoint)
    body = {"model": MODEL, "messages": next(rows(1, first=1000))["messages"]}
    ChatCompletion.model_validate(client("POST", "/chat/completions", body))
