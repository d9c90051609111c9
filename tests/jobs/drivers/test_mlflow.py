"""Figures of an MLflow app: signed, page after page."""

from __future__ import annotations

import json

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.drivers import mlflow
from reward_functions.jobs.drivers.mlflow import MlflowApp, split_of
from tests.loopback import Service, served

APP = "arn:aws:sagemaker:us-east-1:123456789012:mlflow-app/app-0A1B2C3D4E5F"
RUN = "0f1e2d3c4b5a"
JSON = {"Content-Type": "application/json"}


def reply(status, content, **headers):
    return status, JSON | headers, json.dumps(content).encode()


class Mlflow(Service):
    """One run: `history` holds its figures, `(step, value, timestamp)`."""

    page = 2

    def empty(self):
        super().empty()
        self.history, self.sent = {}, ()

    def operation(self, asked):
        self.sent = (*self.sent, asked)
        path = "/".join(asked.path)
        if "authorization" not in asked.headers:
            return path, lambda: reply(403, {"message": "no"})
        if path.endswith("runs/get"):
            metrics = [{"key": name, "value": 1.0} for name in self.history]
            return path, lambda: reply(200, {"run": {"data": {"metrics": metrics}}})
        values = self.history[asked.query["metric_key"]]
        begin = int(asked.query.get("page_token", 0))
        shown = values[begin : begin + self.page]
        more = {"next_page_token": str(begin + self.page)} if values[begin + self.page :] else {}
        metrics = [
            {"key": "k", "step": step, "value": value, "timestamp": at} for step, value, at in shown
        ]
        return path, lambda: reply(200, {"metrics": metrics} | more)


@pytest.fixture(scope="module")
def server():
    with served(Mlflow()) as service:
        yield service


@pytest.fixture
def service(server, nobody, monkeypatch):
    server.empty()
    for name in ("", "_SAGEMAKER", "_BEDROCK", "_BEDROCK_RUNTIME", "_BEDROCK_MANTLE"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL{name}", server.address)
    monkeypatch.setattr(
        "reward_functions.jobs.clients.Endpoints.check", lambda self: self.check_one_aws()
    )
    return server


@pytest.fixture
def app(service):
    return MlflowApp(APP, service.address, "us-east-1", pause=lambda _: None)


@pytest.mark.parametrize(("named", "verify"), [("", True), ("/etc/own.pem", "/etc/own.pem")])
def test_the_certificate_of_an_app_is_checked(nobody, monkeypatch, named, verify):
    monkeypatch.setenv("AWS_CA_BUNDLE", named)
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    asked = []
    monkeypatch.setattr("botocore.httpsession.URLLib3Session", lambda **given: asked.append(given))
    MlflowApp(APP, "https://app.example", "us-east-1")
    assert [each["verify"] for each in asked] == [verify]


def points(app):
    return [(each.name, each.step, each.value, each.split) for each in app.points(RUN)]


def test_a_run_is_read_page_after_page_with_a_signature(service, app):
    service.history = {
        "critic/rewards/mean": [(step, step / 10, 1) for step in range(5)],
        "val-score/rewards/mean@1": [(4, 0.5, 1)],
    }
    assert points(app) == [
        *(("critic/rewards/mean", step, step / 10, "training") for step in range(5)),
        ("val-score/rewards/mean@1", 4, 0.5, "validation"),
    ]
    assert len(service.sent) == 1 + 3 + 1
    first = service.sent[0].headers
    assert first["x-sm-mlflow-app-arn"] == APP
    assert "/us-east-1/sagemaker/aws4_request" in first["authorization"]
    assert "x-sm-mlflow-app-arn" in first["authorization"], "the header is signed with the rest"


def test_a_step_counts_as_it_was_written_last_and_no_number_is_none(service, app):
    service.history = {
        "reward": [
            *((3, 0.3, 30), (1, 0.1, 10), (3, 0.2, 20)),
            *((4, "NaN", 1), (5, True, 1)),
            *(("6", 0.6, "70"), (7, None, 1)),
        ]
    }
    assert [(step, value) for _, step, value, _ in points(app)] == [(1, 0.1), (3, 0.3), (6, 0.6)]


def test_a_run_without_figures_has_none(service, app):
    assert points(app) == []
    service.fail("api/2.0/mlflow/runs/get", reply(200, {"run": {"data": {}}}))
    assert points(app) == []


def test_a_name_that_does_not_print_is_left_out(service, app):
    service.history = {name: [(1, 0.1, 1)] for name in ("a\x1b[31m", "a\nb", "\u202eb", "ok")}
    assert [name for name, *_ in points(app)] == ["ok"]


REFUSED = {
    "a run that is gone": ([reply(404, {"message": "no run"})], "no such run"),
    "a refusal": ([reply(400, {"message": "bad key"})], "answers 400 bad key"),
    "a redirection": ([(302, {"Location": "http://127.0.0.1:9/"}, b"")], "answers 302"),
    "HTML": ([(200, {}, b"<html>")], "not one of this API"),
    "a list": ([reply(200, [])], "not one of this API"),
    "throttled to the end": ([reply(429, {})] * mlflow.ATTEMPTS, "throttled"),
    "broken to the end": ([reply(500, {"message": "x"})] * mlflow.ATTEMPTS, "answers 500 x"),
}


@pytest.mark.parametrize(("faults", "words"), REFUSED.values(), ids=REFUSED)
def test_what_an_app_answers_otherwise_is_a_sentence(service, app, faults, words):
    service.fail("api/2.0/mlflow/runs/get", *faults)
    with pytest.raises(AwsFailed, match=words):
        points(app)


def test_a_busy_app_is_asked_again(service, app):
    service.history = {"reward": [(1, 0.1, 1)]}
    service.fail("api/2.0/mlflow/runs/get", reply(429, {}), reply(503, {}))
    assert points(app) == [("reward", 1, 0.1, "training")]


SPLITS = {
    "critic/rewards/mean": "training",
    "val-score/rewards/mean@1": "validation",
    "val/reward/pass_at_k": "validation",
    "val-aux/math/score/best@4/mean": "validation",
    "eval/reward": "validation",
    "valid_reward": "validation",
    "validation.loss": "validation",
    "Val/Loss": "validation",
    "value/loss": "training",
    "evaluator/latency": "training",
    "rollout/reward/mean": "training",
    "training/total_tokens": "training",
    "7b/loss": "training",
    "/val/loss": "training",
    "": "training",
}


@pytest.mark.parametrize(("name", "split"), SPLITS.items(), ids=SPLITS)
def test_the_first_word_of_a_name_says_its_split(name, split):
    assert split_of(name) == split


def test_of_two_values_of_one_moment_the_later_counts(service, app):
    service.history = {"reward": [(3, 0.1, 10), (3, 0.2, 10)]}
    assert points(app) == [("reward", 3, 0.2, "training")]
