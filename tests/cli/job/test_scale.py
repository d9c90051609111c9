"""The scale of a plot is that of the reward a job's grader has, wherever it is declared."""

from types import SimpleNamespace

import pytest

from reward_functions.cli.job import metrics
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.spec import Scale
from reward_functions.jobs.tags import OURS

COMPOSITE = {
    "name": "acme.tutor",
    "gated": {"gate": "math", "reward": "think_format", "minimum": -1.0},
}


class Record(SimpleNamespace):
    def spec(self):
        from reward_functions.core.declared import composite_of

        return composite_of(COMPOSITE)


def job(**tags):
    return SimpleNamespace(tags={f"{OURS}{key}": value for key, value in tags.items()})


@pytest.mark.parametrize(
    ("tags", "scale"),
    [
        ({"reward": "acme.tutor", "deployment": "tutor"}, Scale(-1.0, 1.0)),
        ({"reward": "overlong", "deployment": "tutor"}, Scale(-1.0, 0.0)),  # another now
        ({"reward": "overlong", "deployment": "gone"}, Scale(-1.0, 0.0)),
        ({"reward": "acme.gone", "deployment": "gone"}, Scale(0.0, 1.0)),
        ({}, Scale(0.0, 1.0)),
    ],
)
def test_a_plots_scale(monkeypatch, tags, scale):
    def find(name, stage, session):
        if name != "tutor":
            raise ConfigurationError("not deployed")
        return Record(reward="acme.tutor")

    monkeypatch.setattr(metrics, "find", find)
    assert metrics._scale(job(**tags), "dev", None) == scale
