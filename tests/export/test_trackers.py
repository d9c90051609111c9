"""A run is sent by a tracker's own package; what that raises is a sentence, and loses nothing.

`make adapters` sends runs by the real packages, in an environment for each.
"""

import json
import os

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import MissingExtra
from reward_functions.export import Curve, TrackedRun, TrackerFailed, results_run, tracker_of
from reward_functions.export.tracked import file_figures

CURVES = (Curve("reward/mean", ((1.0, 0.25), (2.0, 0.5))), Curve("kl (k3)", ((2.0, 0.1),)))


@pytest.fixture
def run(results):
    figures = {"rows": 3.0, "reward_mean": 0.5}
    return TrackedRun("gsm8k answers", {"reward": "gsm8k"}, figures, CURVES, (results,))


SENT = {
    "mlflow": [
        "mlflow.MlflowClient('mlruns')",
        "mlflow.MlflowClient().get_experiment_by_name('reward-functions')",
        "mlflow.MlflowClient().create_run('7', run_name='gsm8k answers')",
        "mlflow.MlflowClient().log_param('abc', 'reward', 'gsm8k')",
        "mlflow.MlflowClient().log_metric('abc', 'rows', 3.0)",
        "mlflow.MlflowClient().log_metric('abc', 'reward_mean', 0.5)",
        "mlflow.MlflowClient().log_metric('abc', 'reward/mean', 0.25, step=1)",
        "mlflow.MlflowClient().log_metric('abc', 'reward/mean', 0.5, step=2)",
        "mlflow.MlflowClient().log_metric('abc', 'kl _k3_', 0.1, step=2)",
        "mlflow.MlflowClient().log_artifact('abc', RESULTS)",
        "mlflow.MlflowClient().set_terminated('abc', 'FINISHED')",
    ],
    "mlflow=http://here:5000": ["mlflow.MlflowClient('http://here:5000')"],
    "wandb": [
        "wandb.init(project='reward-functions', name='gsm8k answers', config={'reward': 'gsm8k'})",
        "wandb.init().log({'reward/mean': 0.25}, step=1)",
        "wandb.init().log({'reward/mean': 0.5, 'kl _k3_': 0.1}, step=2)",
        "wandb.init().summary.update({'rows': 3.0, 'reward_mean': 0.5})",
        "wandb.Artifact('results-1', type='results')",
        "wandb.Artifact().add_file(RESULTS)",
        "wandb.init().log_artifact(…)",
        "wandb.init().finish()",
    ],
    "wandb=team": [
        "wandb.init(project='team', name='gsm8k answers', config={'reward': 'gsm8k'})",
    ],
    "trackio=team": [
        "trackio.init(project='team', name='gsm8k answers', config={'reward': 'gsm8k'})",
        "trackio.log({'reward/mean': 0.25}, step=1)",
        "trackio.log({'reward/mean': 0.5, 'kl _k3_': 0.1}, step=2)",
        "trackio.log({'rows': 3.0, 'reward_mean': 0.5})",
        "trackio.finish()",
    ],
    "tensorboard=boards": [
        "tensorboard.summary.Writer('boards/gsm8k answers')",
        "tensorboard.summary.Writer().add_scalar('rows', 3.0, 0)",
        "tensorboard.summary.Writer().add_scalar('reward_mean', 0.5, 0)",
        "tensorboard.summary.Writer().add_scalar('reward/mean', 0.25, 1)",
        "tensorboard.summary.Writer().add_scalar('reward/mean', 0.5, 2)",
        "tensorboard.summary.Writer().add_scalar('kl _k3_', 0.1, 2)",
        "tensorboard.summary.Writer().close()",
    ],
}


def shown(call, results):
    name, arguments, named = call
    listed = [repr(each) for each in arguments] + [f"{k}={v!r}" for k, v in named.items()]
    listed = ["…" if "object at" in each else each for each in listed]
    return f"{name}({', '.join(listed)})".replace(repr(str(results)), "RESULTS")


@pytest.mark.parametrize("typed", SENT)
def test_a_run_is_sent_by_the_trackers_own_package(typed, calls, run, results, monkeypatch):
    for name in os.environ:
        if name.startswith(("MLFLOW_", "WANDB_")):
            monkeypatch.delenv(name)
    tracker_of(typed).send(run)
    made = [shown(call, results) for call in calls]
    assert made[: len(SENT[typed])] == SENT[typed]
    assert len(made) == len(SENT[typed]) or "=" in typed


@pytest.mark.parametrize(
    ("variable", "asked"),
    [("MLFLOW_EXPERIMENT_NAME", ["mine"]), ("MLFLOW_EXPERIMENT_ID", [])],
)
def test_an_experiment_of_the_environment_is_kept(variable, asked, calls, run, monkeypatch):
    monkeypatch.setenv(variable, "mine")
    tracker_of("mlflow").send(run)
    names = [arguments[0] for name, arguments, _ in calls if name.endswith("experiment_by_name")]
    assert names == asked
    begun = next(arguments for name, arguments, _ in calls if name.endswith("create_run"))
    assert begun == (("mine",) if variable.endswith("_ID") else ("7",))


def test_a_password_is_shown_nowhere(calls, run, monkeypatch):
    import mlflow

    place = "http://me:secret@here:5000"
    assert "secret" not in tracker_of(f"mlflow={place}").send(run)
    monkeypatch.setattr(mlflow, "MlflowClient", lambda *_: 1 / 0, raising=False)
    with pytest.raises(TrackerFailed) as failed:
        tracker_of(f"mlflow={place}").send(run)
    assert "at http://here:5000 did not take the run" in str(failed.value)


def test_a_second_run_has_a_folder_of_its_own(calls, run, tmp_path):
    (tmp_path / "gsm8k answers").mkdir()
    (tmp_path / "gsm8k answers 2").mkdir()
    tracker_of(f"tensorboard={tmp_path}").send(run)
    assert calls[0][1] == (str(tmp_path / "gsm8k answers 3"),)


REFUSED = {
    "": "no tracker is named ''; there are mlflow",
    "mlfow": "no tracker is named 'mlfow'. Did you mean 'mlflow'?",
    "comet": "trackio, wandb",
}


@pytest.mark.parametrize("typed", REFUSED)
def test_an_unknown_tracker_is_a_sentence(typed):
    with pytest.raises(ConfigurationError) as refused:
        tracker_of(typed)
    assert REFUSED[typed] in str(refused.value)


def test_a_tracker_that_is_not_installed_is_a_line_to_type():
    with pytest.raises(MissingExtra, match=r"pip install 'reward-functions\[trackio\]'"):
        tracker_of("trackio")


def test_what_a_tracker_raises_is_one_sentence_and_closes_the_run(calls, run, monkeypatch):
    import wandb

    begun = wandb.init()
    begun.log = lambda *_, **__: (_ for _ in ()).throw(OSError("no route to host\nlong trace"))
    monkeypatch.setattr(wandb, "init", lambda **_: begun, raising=False)
    with pytest.raises(TrackerFailed) as failed:
        tracker_of("wandb=p").send(run)
    assert str(failed.value) == (
        "Weights & Biases at p did not take the run: OSError: no route to host long trace"
    )
    assert calls[-1][0] == "wandb.init().finish"


def test_a_file_of_results_is_a_run(results):
    run = results_run(results, parameters={"reward": "gsm8k"})
    assert (run.name, run.files) == ("results", (results,))
    assert run.figures["rows"] == 3
    assert run.figures["unscored"] == 1
    assert run.figures["reward_mean"] == 0.5
    assert run.figures["answered"] == 1.0


def test_rows_without_a_score_have_no_mean(tmp_path):
    path = tmp_path / "none.jsonl"
    path.write_text('{"id": "a", "aggregate_reward_score": null, "error": {"type": "NoVerdict"}}\n')
    assert results_run(path).figures == {"rows": 1.0, "unscored": 1.0}


def test_metrics_whose_names_become_equal_stay_apart(tmp_path):
    path = tmp_path / "names.jsonl"
    metrics = [{"name": name, "value": at} for at, name in enumerate(("a:b", "a_b", "rows"))]
    row = {"id": "a", "aggregate_reward_score": 1.0, "metrics_list": metrics}
    path.write_text(json.dumps(row) + "\n")
    assert file_figures(path) == {
        "a_b": 0.0,
        "a_b_1": 1.0,
        "metric.rows": 2.0,
        "rows": 1.0,
        "unscored": 0.0,
        "reward_mean": 1.0,
        "reward_std": 0.0,
    }
