"""Engines of clusters over doubles of their calls: workers that die, failures, interrupts."""

import sys

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring import score_file
from reward_functions.scoring.engines.dask import Dask
from reward_functions.scoring.engines.ray import Ray
from reward_functions.scoring.folder import RunIncomplete
from reward_functions.scoring.plan import Plan
from tests.scoring import cluster_doubles
from tests.scoring.test_runs import MB, joined, lines, samples

ENGINES = {
    "ray": (Ray, "ray", cluster_doubles.ray, "ray://nowhere:10001"),
    "dask": (Dask, "distributed", cluster_doubles.dask, "tcp://nowhere:8786"),
}


@pytest.fixture(params=ENGINES)
def kind(request, monkeypatch):
    """An engine, its cluster, and an address where none is."""
    engine, module, double, nowhere = ENGINES[request.param]
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    cluster = cluster_doubles.Cluster()
    monkeypatch.setitem(sys.modules, module, double(cluster))
    return engine, cluster, nowhere


@pytest.fixture
def plan(tmp_path):
    """A run of several shards."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(samples(60)))

    def made(reward="gsm8k"):
        return Plan.of(str(path), str(tmp_path / "run"), reward, shard_mb=2_000 / MB)

    score_file("gsm8k", path, tmp_path / "expected.jsonl")
    made.expected = (tmp_path / "expected.jsonl").read_bytes()
    return made


def test_parts_in_any_order_give_the_bytes_of_reward_score(kind, plan):
    engine, cluster, _ = kind
    assert joined(plan().start(engine())) == plan.expected
    assert cluster.open == 0


def test_a_shard_whose_worker_died_is_done_once_more_with_its_rows_apart(kind, plan):
    engine, cluster, _ = kind
    cluster.dies = {1: 1}
    assert joined(plan().start(engine())) == plan.expected
    again = [order["shard"]["part"] for order in cluster.orders if order.get("apart")]
    assert again == [1]


def test_a_shard_whose_workers_always_die_is_named(kind, plan):
    engine, cluster, _ = kind
    cluster.dies = {1: 100}
    with pytest.raises(RunIncomplete, match=r"part 1 since: .*: the worker died$"):
        plan().start(engine())
    assert cluster.open == 0


def test_a_worker_without_the_reward_says_so(kind, plan, monkeypatch):
    engine, _, _ = kind
    found = plan()

    def gone(*_):
        raise ConfigurationError("no reward is named gsm8k")

    monkeypatch.setattr("reward_functions.scoring.asked.reward_named", gone)
    with pytest.raises(RunIncomplete, match="run: no reward is named gsm8k"):
        found.start(engine())


def test_an_interrupt_leaves_no_cluster_and_a_resumed_run_goes_on(kind, plan):
    engine, cluster, _ = kind

    def interrupted(event):
        if event.kind == "done" and event.task == "score":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan().start(engine(), hear=interrupted)
    assert cluster.open == 0
    assert joined(plan().start(engine(), resume=True)) == plan.expected


def test_no_cluster_is_a_sentence(kind, plan):
    engine, _, nowhere = kind
    with pytest.raises(ConfigurationError, match=f"no cluster of .* at {nowhere}"):
        plan().start(engine(nowhere))


def test_a_file_of_a_reward_is_refused_where_others_score(kind, plan, tmp_path):
    engine, _, nowhere = kind
    path = tmp_path / "own.toml"
    path.write_text('[reward]\nname = "own"\n[[parts]]\nreward = "gsm8k"\nweight = 1.0\n')
    found = plan()
    run = found.start(engine())
    object.__setattr__(run.asked, "reward", str(path))
    with pytest.raises(ConfigurationError, match="install a package that registers"):
        engine(nowhere).require(run, found.shards)


def test_a_worker_that_lives_on_reads_the_run_that_is_there_now(plan, tmp_path, kind):
    engine, _, _ = kind
    plan().start(engine())
    for each in list((tmp_path / "run").iterdir()):
        each.unlink()
    path = tmp_path / "rows.jsonl"
    score_file("exact_match", path, tmp_path / "other.jsonl")
    other = plan("exact_match").start(engine())
    assert joined(other) == (tmp_path / "other.jsonl").read_bytes()
