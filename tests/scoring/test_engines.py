"""Engines as they are typed, what they refuse, and who may make how many calls."""

from types import SimpleNamespace

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import MissingExtra
from reward_functions.scoring import concurrency, engines
from reward_functions.scoring.aws import handler as shard_function
from reward_functions.scoring.concurrency import Shares, refusal, require_room
from reward_functions.scoring.engines import engine_of, engine_row
from reward_functions.scoring.engines.aws import Aws
from reward_functions.scoring.engines.direct import Direct
from reward_functions.scoring.shards import Done, Shard


@pytest.mark.parametrize(
    ("text", "name", "address"),
    [
        ("direct", "direct", ""),
        ("ray", "ray", ""),
        ("ray://host:10001", "ray", "ray://host:10001"),
        ("dask=tcp://host:8786", "dask", "tcp://host:8786"),
        ("ray=auto", "ray", "auto"),
    ],
)
def test_an_engine_as_it_is_typed(text, name, address):
    found, row, where = engine_row(text)
    assert (found, where) == (name, address)
    assert row is engines.ENGINES[name]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raye", "there is no engine 'raye'. Did you mean 'ray'"),
        ("", "there is no engine ''"),
        ("tcp://host:8786", "there is no engine 'tcp'"),
        ("direct=host", "the engine direct has no address: write direct alone"),
        ("aws://host", "the engine aws has no address"),
    ],
)
def test_what_is_no_engine_is_a_sentence(text, words):
    with pytest.raises(ConfigurationError, match=words):
        engine_of(text)


def test_an_engine_takes_what_is_something_to_it(monkeypatch):
    made = engine_of("direct", concurrency=3, stage="dev", store=None)
    assert (type(made), made.concurrency) == (Direct, 3)
    given = []
    monkeypatch.setattr(
        engines, "import_module", lambda _: SimpleNamespace(Ray=lambda **of: given.append(of))
    )
    monkeypatch.setattr(engines, "require", lambda *_, **__: None)
    engine_of("ray://host:1", concurrency=None, stage="dev")
    engine_of("ray", concurrency=2)
    assert given == [{"address": "ray://host:1"}, {"concurrency": 2}]


def test_an_engine_whose_package_is_missing_names_the_extra(monkeypatch):
    monkeypatch.setattr("reward_functions.core.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"the engine dask needs Dask.*\[dask\]"):
        engine_of("dask")


LINES = Shard(0, "lines", "rows.jsonl", 10, "etag", 0, 10)


@pytest.mark.parametrize(
    ("function", "folder", "shard", "words"),
    [
        ("arn", "s3://bucket/scored/run", LINES, None),
        ("", "s3://bucket/scored/run", LINES, "add --stage"),
        ("arn", "s3://bucket/other/run", LINES, r"writes below s3://bucket/scored/ alone"),
        ("arn", "s3://bucket/scored/run", LINES._replace(kind="groups"), "reads no parquet"),
        ("arn", "s3://bucket/scored/run", LINES._replace(name="a.parquet"), "reads no parquet"),
    ],
)
def test_what_the_machine_of_a_stage_can_do(function, folder, shard, words, monkeypatch):
    monkeypatch.setattr("reward_functions.scoring.engines.aws.client", lambda *_: None)
    engine = Aws("arn:aws:states:us-east-1:0:stateMachine:m", "s3://bucket/scored/")
    run = SimpleNamespace(
        asked=SimpleNamespace(function=function), place=SimpleNamespace(address=folder)
    )
    if words is None:
        engine.require(run, [LINES, shard])
        return
    with pytest.raises(ConfigurationError, match=words):
        engine.require(run, [LINES, shard])


@pytest.mark.parametrize(
    ("code", "raised"), [("ExecutionAlreadyExists", False), ("AccessDeniedException", True)]
)
def test_an_execution_that_somebody_else_began_is_the_one(code, raised, monkeypatch):
    def missing(**_):
        raise AwsFailed("no", kind="missing", code="ExecutionDoesNotExist")

    def refused(**_):
        raise AwsFailed("not begun", code=code)

    machine = SimpleNamespace(describe_execution=missing, start_execution=refused)
    monkeypatch.setattr("reward_functions.scoring.engines.aws.client", lambda *_: machine)
    engine = Aws("arn:aws:states:us-east-1:0:stateMachine:m", "s3://bucket/scored/")
    place = SimpleNamespace(address="s3://bucket/scored/run", write=lambda *_: None)
    run = SimpleNamespace(place=place, asked=SimpleNamespace(function="arn"))
    if raised:
        with pytest.raises(AwsFailed, match="not begun"):
            engine.detach(run)
    else:
        assert engine.detach(run).startswith("arn:aws:states:us-east-1:0:execution:m:")


@pytest.mark.parametrize("task", ["count", "score"])
def test_the_shard_function_does_what_its_order_says(task, monkeypatch):
    kept, asked = [], []
    done = Done(3, lines=2, rows=2).item()

    def worked(event, left):
        asked.append((event["shard"], left()))
        return done

    monkeypatch.setattr(shard_function, "worked", worked)
    monkeypatch.setattr(shard_function, "run_at", lambda at: SimpleNamespace(place=f"at {at}"))
    monkeypatch.setattr(shard_function, "keep_count", lambda *given: kept.append(given))
    monkeypatch.setattr(shard_function, "next_step", lambda state: {"after": state})
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: 2_500)
    order = {"run": "s3://b/run", "task": task, "shard": {"part": 3}}
    assert shard_function.handler(order, context) == done
    assert asked == [({"part": 3}, 2.5)]
    assert kept == ([("at s3://b/run", Done(3, lines=2, rows=2))] if task == "count" else [])
    step = {"step": "next", "state": {"run": "s3://b/run"}}
    assert shard_function.handler(step, context) == {"after": {"run": "s3://b/run"}}
    assert len(asked) == 1


def test_a_run_that_wants_more_calls_than_there_are_is_refused(monkeypatch):
    monkeypatch.setattr(concurrency, "shares", lambda session=None: Shares(unreserved=1_000))
    require_room(1_000)
    with pytest.raises(ConfigurationError, match=r"wants 1,001 calls.*has 1,000 functions.*Quotas"):
        require_room(1_001)


@pytest.mark.parametrize(
    ("found", "calls", "words"),
    [
        (Shares(), 10**6, None),
        (Shares(unreserved=100), 100, None),
        (Shares(unreserved=100, jobs=1), 50, None),
        (Shares(unreserved=101, jobs=1), 52, "1 training job that is paid for may need 50"),
        (
            Shares(unreserved=100, jobs=2, peak=90),
            11,
            "2 training jobs that are paid for may n",
        ),
        (Shares(unreserved=100, jobs=2, peak=90), 10, None),
        (Shares(unreserved=100, peak=90), 100, None),
        (Shares(unreserved=100, jobs=1, peak=200), 1, "may need 200 of them"),
        (Shares(unreserved=100, jobs=1, peak=200), 0, None),
    ],
)
def test_calls_of_running_jobs_are_not_taken(found, calls, words):
    why = refusal(found, calls)
    assert words in why if words else why == ""
