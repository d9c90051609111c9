"""MLflow, Weights & Biases, TensorBoard and Trackio: a run is sent by each one's own package.

A tracker is a row of `TRACKERS`. Its exception becomes one `TrackerFailed` with the remedy: a run
that is scored has been written before, and nothing here changes it.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import require
from reward_functions.core.suggest import did_you_mean
from reward_functions.export.tracked import plain_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.export.tracked import TrackedRun

PROJECT: Final = "reward-functions"
"""The experiment or project of a run, where you name none."""

MLFLOW_SETTINGS: Final = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_ALLOW_FILE_STORE": "true",
}
"""Without these MLflow 3.17 asks a server that does not answer for minutes, and refuses folders.
Yours stay as they are."""

MESSAGE: Final = 300
"""Characters of a tracker's own message that are shown."""

PASSWORD: Final = re.compile(r"//[^/@\s]{1,200}@")
"""User and password in an address."""


class TrackerFailed(ConfigurationError):
    """A tracker did not take a run. The message says which, why, and that results are kept."""


class TrackerKind(NamedTuple):
    """One tracker.

    Args:
        title: as its people write it.
        module: that sends.
        place: what stands after `=`.
        send: sends a run to a place, "" for the tracker's own default; returns where it is now.
    """

    title: str
    module: str
    place: str
    send: Callable[[Any, TrackedRun, str], str]


class Tracker(NamedTuple):
    """A tracker and the place that was named, "" for its own default."""

    kind: TrackerKind
    place: str

    def send(self, run: TrackedRun) -> str:
        """Send a run; returns where it can be looked at.

        Raises:
            MissingExtra: the tracker's package is not installed.
            TrackerFailed: it did not take the run.
        """
        try:
            where = self.kind.send(import_module(self.kind.module), run, self.place)
            return _without_password(where)
        except Exception as error:  # a tracker's own package may raise anything
            words = " ".join(str(error).split())[:MESSAGE] or "no message"
            at = f" at {self.place}" if self.place else ""
            failure = f"{self.kind.title}{at} did not take the run: {type(error).__name__}: {words}"
            raise TrackerFailed(_without_password(failure)) from error


def tracker_of(text: str) -> Tracker:
    """The tracker of `NAME` or `NAME=PLACE`, such as `mlflow=http://localhost:5000`.

    Raises:
        ConfigurationError: no tracker has this name; the message suggests the nearest.
        MissingExtra: its package is not installed.
    """
    name, _, place = text.partition("=")
    kind = TRACKERS.get(name)
    if kind is None:
        raise ConfigurationError(f"no tracker is named {name!r}{did_you_mean(name, TRACKERS)}")
    require(kind.module.partition(".")[0], by=f"the tracker {name}")
    return Tracker(kind, place)


def _without_password(text: str) -> str:
    return PASSWORD.sub("//", text)


def _mlflow(mlflow: Any, run: TrackedRun, place: str) -> str:
    for variable, setting in MLFLOW_SETTINGS.items():
        os.environ.setdefault(variable, setting)
    address = place or os.environ.get("MLFLOW_TRACKING_URI") or "mlruns"
    client = mlflow.MlflowClient(address)  # the module's own functions keep a state for all
    begun = client.create_run(_experiment(client), run_name=run.name).info.run_id
    status = "FAILED"
    try:
        for name, text in run.parameters.items():
            client.log_param(begun, name, text)
        for name, figure in run.figures.items():
            client.log_metric(begun, name, figure)
        for curve in run.curves:
            for step, value in curve.points:
                client.log_metric(begun, plain_name(curve.name), value, step=int(step))
        for file in run.files:
            client.log_artifact(begun, str(file))
        status = "FINISHED"
    finally:
        client.set_terminated(begun, status)
    return f"{address}, run {begun}"


def _experiment(client: Any) -> str:
    """The id of the experiment that the environment names, else of ours; made if missing."""
    if named := os.environ.get("MLFLOW_EXPERIMENT_ID"):
        return named
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
    found = client.get_experiment_by_name(name)
    return str(found.experiment_id if found else client.create_experiment(name))


def _wandb(wandb: Any, run: TrackedRun, place: str) -> str:
    project = place or os.environ.get("WANDB_PROJECT", PROJECT)
    begun = wandb.init(project=project, name=run.name, config=dict(run.parameters))
    try:
        for step, values in _by_step(run):
            begun.log(values, step=step)
        begun.summary.update(dict(run.figures))
        for file in run.files:
            kept = wandb.Artifact(f"results-{begun.id}", type="results")
            kept.add_file(str(file))
            begun.log_artifact(kept)
    finally:
        begun.finish()
    return str(begun.url or begun.dir)


def _trackio(trackio: Any, run: TrackedRun, place: str) -> str:
    project = place or PROJECT
    trackio.init(project=project, name=run.name, config=dict(run.parameters))
    try:
        for step, values in _by_step(run):
            trackio.log(values, step=step)
        trackio.log(dict(run.figures))
    finally:
        trackio.finish()
    return f"trackio show --project {project}"


def _tensorboard(summary: Any, run: TrackedRun, place: str) -> str:
    folder = _new_folder(Path(place or "runs"), plain_name(run.name).replace("/", "_"))
    writer = summary.Writer(str(folder))
    try:
        for name, value in run.figures.items():
            writer.add_scalar(name, value, 0)
        for curve in run.curves:
            for step, value in curve.points:
                writer.add_scalar(plain_name(curve.name), value, int(step))
    finally:
        writer.close()
    return f"tensorboard --logdir {folder.parent}"


def _new_folder(below: Path, name: str) -> Path:
    """A folder that no run has yet: two runs in one are drawn as one."""
    tried = (below / (name if at == 1 else f"{name} {at}") for at in count(1))
    return next(folder for folder in tried if not folder.exists())


def _by_step(run: TrackedRun) -> list[tuple[int, dict[str, float]]]:
    """The points of all curves, step by step: a step that is logged late is dropped by W&B."""
    steps: dict[int, dict[str, float]] = {}
    for curve in run.curves:
        for step, value in curve.points:
            steps.setdefault(int(step), {})[plain_name(curve.name)] = value
    return sorted(steps.items())


TRACKERS: Final = {
    "mlflow": TrackerKind("MLflow", "mlflow", "TRACKING_URI", _mlflow),
    "wandb": TrackerKind("Weights & Biases", "wandb", "PROJECT", _wandb),
    "tensorboard": TrackerKind("TensorBoard", "tensorboard.summary", "FOLDER", _tensorboard),
    "trackio": TrackerKind("Trackio", "trackio", "PROJECT", _trackio),
}
"""By the name that is typed."""
