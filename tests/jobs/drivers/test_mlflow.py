"""Figures of an MLflow app: signed, page after page, bounded, and by cookies where need be."""

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
    """One run: `history` holds its figures, `(step, value, timestamp)`; `signed` says who may."""

    page = 2

    def empty(self):
        super().empty()
        self.history, self.signed, self.sent = {}, True, ()

    def operation(self, asked):
        self.sent = (*self.sent, asked)
        path = "/".join(asked.path)
        if path == "auth":
            cookies = {"Set-Cookie": "session=a1; Path=/; HttpOnly", "Location": "/opened"}
            return "auth", lambda: (302, cookies, b"")
        if path == "opened":
            return path, lambda: (200, {"Set-Cookie": "second=b2; Path=/"}, b"")
        if asked.headers.get("x-amz-target") == "SageMaker.CreatePresignedMlflowAppUrl":
            url = f"{self.address}/auth?authToken=x"
            return "presigned", lambda: reply(200, {"AuthorizedUrl": url})
        allowed = "authorization" in asked.headers if self.signed else "cookie" in asked.headers
        if not allowed:
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
            *((4, "NaN", 1), (5, True, 1), (-1, 1.0, 1), (2.5, 1.0, 1)),
            *(("6", 0.6, "70"), (7, None, 1)),
        ]
    }
    assert [(step, value) for _, step, value, _ in points(app)] == [(1, 0.1), (3, 0.3), (6, 0.6)]


def test_a_run_without_figures_has_none(service, app):
    assert points(app) == []
    service.fail("api/2.0/mlflow/runs/get", reply(200, {"run": {"data": {}}}))
    assert points(app) == []


def test_where_no_signature_is_taken_a_presigned_address_gives_cookies(service, app):
    service.history, service.signed = {"reward": [(1, 0.1, 1)]}, False
    assert points(app) == [("reward", 1, 0.1, "training")]
    assert service.asked[1:4] == ["presigned", "auth", "opened"]
    assert service.sent[-1].headers["cookie"] == "session=a1; second=b2"
    assert "authorization" not in service.sent[-1].headers


def test_a_presigned_address_of_another_host_gets_no_signature_and_no_cookie(service, app):
    service.signed = False
    url = "https://app.mlflow.example/auth?authToken=x"
    service.fail("presigned", reply(200, {"AuthorizedUrl": url}))
    with pytest.raises(AwsFailed, match="sagemaker-mlflow:Get"):
        points(app)


def test_a_way_that_leaves_its_host_is_not_followed(service, app):
    service.signed = False
    away = {"Location": "http://127.0.0.1:9/steal", "Set-Cookie": "session=a1"}
    service.fail("auth", (302, away, b""))
    service.history = {"reward": [(1, 0.1, 1)]}
    assert points(app) == [("reward", 1, 0.1, "training")]
    assert "opened" not in service.asked


ODD_WAYS = {
    "an address that is none": "http://[",
    "another scheme": "ftp://127.0.0.1/",
    "a name before the host": "http://user@127.0.0.1:9/",
    "nothing": "",
}


@pytest.mark.parametrize("location", ODD_WAYS.values(), ids=ODD_WAYS)
def test_a_redirection_to_nowhere_ends_the_way(service, app, location):
    service.signed = False
    service.fail("auth", (302, {"Location": location, "Set-Cookie": "session=a1"}, b""))
    service.history = {"reward": [(1, 0.1, 1)]}
    assert points(app) == [("reward", 1, 0.1, "training")]


PRESIGNED = {
    # the app's own address, the presigned one, whether it is of the same AWS
    "a host of the app": ("https://mlflow.sagemaker.r.app.aws", "https://a.r.app.aws/auth", True),
    "the older domain": ("https://mlflow.sagemaker.r.app.aws", "https://a.amazonaws.com/", True),
    "the same host": ("https://mlflow.corp.example", "https://mlflow.corp.example/auth", True),
    "another host": ("https://mlflow.sagemaker.r.app.aws", "https://evil.example/auth", False),
    "a host that begins so": ("https://m.app.aws", "https://m.app.aws.evil.example/", False),
    "a host that ends so": ("https://m.app.aws", "https://evilaws/", False),
    "this machine": ("https://m.app.aws", "http://127.0.0.1:9/auth", False),
    "AWS from this machine": ("http://127.0.0.1:9", "https://m.app.aws/auth", False),
    "AWS from a host of one's own": ("https://mlflow.corp.example", "https://m.app.aws/", False),
}


@pytest.mark.parametrize(("own", "presigned", "same"), PRESIGNED.values(), ids=PRESIGNED)
def test_a_presigned_address_is_opened_on_the_same_aws_alone(
    service, monkeypatch, own, presigned, same
):
    app, opened = MlflowApp(APP, own, "us-east-1"), []
    service.fail("presigned", reply(200, {"AuthorizedUrl": presigned}))

    def tried(what, url, headers):
        opened.append(url)
        return 200, {}, b""

    monkeypatch.setattr(app, "_tried", tried)
    assert not app._opened(), "it gave no cookie"
    assert opened == ([presigned] if same else [])


def test_what_is_signed_goes_to_the_apps_own_address_where_a_way_gave_no_cookie(service, app):
    service.signed = False
    elsewhere = {"AuthorizedUrl": f"{service.address}/elsewhere/auth"}
    service.fail("presigned", reply(200, elsewhere))
    with pytest.raises(AwsFailed, match="sagemaker-mlflow:Get"):
        points(app)
    assert app._base_url == service.address
    assert "cookie" not in service.sent[-1].headers


NAMES = ("a\x1b[31m", "a\nb", "\u202eb", "x" * 201, "ok")


def test_a_name_that_does_not_print_is_left_out(service, app):
    service.history = {
        name: [(1, 0.1, 1)] for name in ("a\x1b[31m", "a\nb", "\u202eb", "x" * 201, "ok")
    }
    assert [name for name, *_ in points(app)] == ["ok"]


def test_a_run_is_given_up_that_takes_too_long_or_too_much(service, app, monkeypatch):
    service.history = {name: [(step, 0.1, 1) for step in range(5)] for name in ("a", "b")}
    with monkeypatch.context() as less:
        less.setattr(mlflow, "MAX_VALUES", 9)
        with pytest.raises(AwsFailed, match="over 9 values"):
            points(app)
    monkeypatch.setattr(mlflow, "LONGEST", 0.0)
    with pytest.raises(AwsFailed, match="takes over 0 seconds"):
        points(app)


REFUSED = {
    "a run that is gone": ([reply(404, {"message": "no run"})], "no such run"),
    "a refusal": ([reply(400, {"message": "bad key"})], "answers 400 bad key"),
    "a redirection": ([(302, {"Location": "http://127.0.0.1:9/"}, b"")], "answers 302"),
    "HTML": ([(200, {}, b"<html>")], "not one of this API"),
    "a list": ([reply(200, [])], "not one of this API"),
    "depth": ([(200, {}, b"[" * 100_000)], "not one of this API"),
    "no list of figures": ([reply(200, {"run": {"data": {"metrics": 7}}})], "not one of this"),
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


def test_a_history_without_an_end_is_given_up(service, app, monkeypatch):
    monkeypatch.setattr(mlflow, "MAX_PAGES", 3)
    service.history = {"reward": [(step, 0.1, 1) for step in range(50)]}
    with pytest.raises(AwsFailed, match="has over"):
        points(app)


@pytest.mark.parametrize("arn", ["", "app-1", APP.replace("mlflow-app", "mlflow-tracking-server")])
def test_what_is_no_app_is_not_asked(nobody, arn):
    with pytest.raises(AwsFailed, match="not the ARN of an app"):
        MlflowApp(arn, "https://mlflow.example", "us-east-1")


@pytest.mark.parametrize("run", ["", "../x", "a" * 65, "a&b", "a\n"])
def test_what_is_no_run_is_not_asked(service, app, run):
    with pytest.raises(AwsFailed, match="not the id of a run"):
        list(app.points(run))
    assert service.asked == []


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


def test_cookies_are_kept_to_a_limit(service, app, monkeypatch):
    monkeypatch.setattr(mlflow, "MAX_COOKIES", 1)
    service.history, service.signed = {"reward": [(1, 0.1, 1)]}, False
    assert points(app) == [("reward", 1, 0.1, "training")]
    assert service.sent[-1].headers["cookie"] == "session=a1"
