"""MLflow itself, over a store of files, and pandas itself."""

import math
from dataclasses import replace

import mlflow
import pytest

from reward_functions import get, sample, score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.export import Curve, TrackedRun, to_frame, tracker_of

RUN = TrackedRun(
    "gsm8k answers",
    {"reward": "gsm8k", "version": "8"},
    {"rows": 3.0, "reward_mean": 0.5},
    (Curve("reward/mean", ((1.0, 0.25), (2.0, 0.5))),),
)


def test_without_a_place_a_run_is_kept_in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    where = tracker_of("mlflow").send(RUN)
    kept = mlflow.MlflowClient(str(tmp_path / "mlruns")).get_run(where.rpartition(" ")[2])
    assert kept.data.metrics["reward_mean"] == 0.5


def test_a_run_is_read_back_as_it_was_sent(tmp_path):
    store = (tmp_path / "store").as_uri()
    results = tmp_path / "results.jsonl"
    results.write_text('{"id": "a", "aggregate_reward_score": 1.0}\n')
    where = tracker_of(f"mlflow={store}").send(replace(RUN, files=(results,)))
    client = mlflow.MlflowClient(store)
    kept = client.get_run(where.rpartition(" ")[2])
    assert kept.info.run_name == "gsm8k answers"
    assert kept.data.params == {"reward": "gsm8k", "version": "8"}
    assert kept.data.metrics == {"rows": 3.0, "reward_mean": 0.5, "reward/mean": 0.5}
    points = client.get_metric_history(kept.info.run_id, "reward/mean")
    assert [(each.step, each.value) for each in points] == [(1, 0.25), (2, 0.5)]
    assert [each.path for each in client.list_artifacts(kept.info.run_id)] == ["results.jsonl"]


def test_a_server_that_does_not_answer_is_a_sentence_soon():
    with pytest.raises(ConfigurationError, match=r"MLflow at http://127\.0\.0\.1:9 did not"):
        tracker_of("mlflow=http://127.0.0.1:9").send(RUN)


def test_results_are_a_frame():
    samples = [sample("#### 42", "42", id="a"), sample("#### 1", "", id="b")]
    frame = to_frame(score_batch(get("gsm8k"), samples))
    assert list(frame["id"]) == ["a", "b"]
    assert frame["reward"].mean() == 1.0  # pandas leaves the unscored row out
    assert math.isnan(frame["reward"][1])
    assert frame["error"][1] == "BadReference"
    assert str(frame["reward"].dtype) == "float64"
