"""The reward that a name means, its parameters as typed, and who answers where it is a judge."""

import json

import pytest

from reward_functions import get, sample
from reward_functions.core.errors import BadParameter, ConfigurationError, NoJudge, UnknownReward
from reward_functions.scoring.rewards import is_path, nobody, parameter_values, ready, reward_named
from reward_functions.testing import FakeAsk

DECORATED = """
from reward_functions import reward_function
@reward_function(version=1)
def {name}(sample): return 1.0
"""


@pytest.mark.parametrize(
    ("name", "path"),
    [("math", False), ("acme.math", False), ("math.py", True), ("a.toml", True), ("a.json", True),
     ("a/b", True), ("a\\b", True)],
)  # fmt: skip
def test_a_name_with_a_suffix_or_a_folder_is_a_path(name, path):
    assert is_path(name) == path


def in_file(tmp_path, *names, file="mine.py"):
    path = tmp_path / file
    path.write_text("".join(DECORATED.format(name=name) for name in names) or "x = 1\n")
    return str(path)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["other"], "other"),
        (["mine"], "mine"),
        (["other", "mine"], "mine"),
        (["mine", "x"], "mine"),
    ],
)
def test_the_reward_of_a_file_is_its_only_one_or_its_namesake(names, found, tmp_path):
    assert reward_named(in_file(tmp_path, *names)).name.rpartition(".")[2] == found


def test_a_file_of_no_reward_or_of_several_is_a_sentence(tmp_path):
    with pytest.raises(ConfigurationError, match=r"no function in it is decorated.*mine.py:NAME"):
        reward_named(in_file(tmp_path))
    with pytest.raises(ConfigurationError, match=r"none of .*\ba, .*\bb is named like the file"):
        reward_named(in_file(tmp_path, "b", "a"))
    with pytest.raises(UnknownReward, match="Did you mean 'math'"):
        reward_named("maht")


@pytest.mark.parametrize("suffix", ["json", "toml"])
def test_a_file_declares_a_composite(suffix, tmp_path):
    path = tmp_path / f"acme.{suffix}"
    declared = {"name": "acme.x", "version": 1, "weighted": {"exact_match": 1}}
    text = json.dumps(declared)
    toml = 'name = "acme.x"\nversion = 1\n[weighted]\nexact_match = 1\n'
    path.write_text(text if suffix == "json" else toml)
    spec = reward_named(str(path))
    assert (spec.name, spec("a", "a").value) == ("acme.x", 1.0)


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        ([], {}),
        (["rounded=2"], {"rounded": 2}),
        (["rounded"], "a parameter is written name=value, not 'rounded'"),
        (["rounded=2", "rounded=2"], "parameter 'rounded' is set twice"),
        (["roundd=2"], "Did you mean 'rounded'"),
        (["rounded=a=b"], "takes"),
    ],
)
def test_parameters_as_they_are_typed(settings, values):
    if isinstance(values, str):
        with pytest.raises((BadParameter, ConfigurationError), match=values):
            parameter_values(get("math"), settings)
        return
    assert parameter_values(get("math"), settings) == values
    ready(get("math"), settings)("1", "1")


def test_a_reward_is_ready_with_its_parameters_by_name_or_as_typed():
    for parameters in ({"rounded": 2}, ["rounded=2"]):
        assert ready(get("math"), parameters)(sample("0.33", "1/3")).value == 1.0
    assert ready(get("math"), {})(sample("0.33", "1/3")).value == 0.0


def test_a_judge_needs_somebody_who_answers():
    judge = get("reference")
    with pytest.raises(NoJudge, match=r"reference asks a judge model.*--judge FILE"):
        ready(judge, {})
    assert ready(judge, {}, answers=FakeAsk()) is not None
    assert nobody(get("math")) is None
    with pytest.raises(NoJudge, match="reference asks a judge model"):
        nobody(judge)(None)


@pytest.mark.parametrize(("given", "most"), [(None, 7.0), (0.5, 0.5)])
def test_a_judge_may_cost_what_is_said_last(given, most, monkeypatch):
    made = []

    class Pool:
        def __init__(self, config, store):
            made.append((config.max_usd, store))

        def batch(self, spec, values):
            return spec.name, values

    monkeypatch.setattr("reward_functions.judge_runtime.panel.JudgePool", Pool)
    model = {"backend": "openai", "endpoint": "http://localhost:8000/v1", "model": "m"}
    settings = json.dumps({"models": [model], "max_usd": 7, "prices": {"m": [1, 2]}})
    assert ready(get("reference"), {}, settings, max_usd=given) == ("reference", {})
    assert made == [(most, None)]
