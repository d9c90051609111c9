"""Results to export, and trackers that record what they are called with."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from reward_functions import get, sample, score_batch
from reward_functions.serving.contract import result_object

ROWS = [("6 × 7 = 42\n#### 42", "42"), ("#### 41", "42"), ("#### 7", "")]


@pytest.fixture
def scored():
    """Three results of gsm8k: right, wrong, and unscored for want of a reference."""
    samples = [
        sample(response, reference, id=f"r{at}") for at, (response, reference) in enumerate(ROWS)
    ]
    return score_batch(get("gsm8k"), samples)


@pytest.fixture
def results(tmp_path, scored):
    """The same as a file of `reward score -o`."""
    rows = [result_object(each) for each in scored[:2]]
    rows.append(
        {"id": "r2", "aggregate_reward_score": None}
        | {"error": {"type": "BadReference", "message": "input line 3: there is no reference"}}
    )
    path = tmp_path / "results.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


class Recorded:
    """An object of a tracker's package: every call is kept, in order."""

    def __init__(self, calls, name):
        self._calls, self._name = calls, name
        self.id, self.url, self.dir = "1", "", "wandb/offline-run-1"
        self.info, self.experiment_id = SimpleNamespace(run_id="abc"), "7"

    def __getattr__(self, name):
        return Recorded(self._calls, f"{self._name}.{name}")

    def __call__(self, *arguments, **named):
        self._calls.append((self._name, arguments, named))
        return Recorded(self._calls, f"{self._name}()")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._calls.append((f"{self._name}.end", (), {}))


@pytest.fixture
def calls(monkeypatch):
    """The calls of all trackers, whose packages are stand-ins."""
    made = []
    for name in ("mlflow", "wandb", "trackio", "tensorboard", "tensorboard.summary"):
        module = ModuleType(name)
        stand_in = Recorded(made, name)
        module.__getattr__ = lambda asked, stand_in=stand_in: getattr(stand_in, asked)
        module.__spec__ = SimpleNamespace()
        monkeypatch.setitem(sys.modules, name, module)
    return made
