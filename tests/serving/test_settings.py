"""Settings go to the environment and come back; what is misspelt is refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from reward_functions.serving.settings import BadSettings, LambdaSettings

PARAMETERS = st.dictionaries(
    st.text(max_size=5),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
)

SETTINGS = st.builds(
    LambdaSettings,
    name=st.text(min_size=1),
    parameters=PARAMETERS,
    response_mode=st.sampled_from(["list", "envelope"]),
    max_samples=st.integers(1, 10**9),
    on_unscored=st.sampled_from(["impute", "minimum", "fail"]),
    max_unscored=st.floats(0, 1),
    deadline_margin_ms=st.integers(0, 10**6),
    workers=st.none() | st.integers(1, 99),
    log_text_rate=st.floats(0, 1),
    log_level=st.sampled_from(["DEBUG", "WARNING"]),
    service=st.text(min_size=1),
    metrics_namespace=st.text(min_size=1),
)


@profile(derandomize=True)
@given(SETTINGS)
def test_the_environment_says_the_same(settings):
    environ = settings.to_env()
    assert LambdaSettings.from_env(environ) == settings
    assert all(isinstance(value, str) for value in environ.values())


def test_only_the_name_is_required():
    settings = LambdaSettings.from_env({"REWARD_NAME": "gsm8k", "PATH": "/bin", "HOME": "/"})
    assert settings == LambdaSettings(name="gsm8k")
    assert (settings.max_samples, settings.max_unscored, settings.log_text_rate) == (10_000, 0.2, 0)


def test_every_variable_is_prefixed_or_powertools_own():
    assert set(LambdaSettings(name="a", workers=2).to_env()) == {
        "REWARD_NAME",
        "REWARD_PARAMETERS",
        "REWARD_RESPONSE_MODE",
        "REWARD_MAX_SAMPLES",
        "REWARD_ON_UNSCORED",
        "REWARD_MAX_UNSCORED",
        "REWARD_DEADLINE_MARGIN_MS",
        "REWARD_WORKERS",
        "REWARD_LOG_TEXT_RATE",
        "POWERTOOLS_LOG_LEVEL",
        "POWERTOOLS_SERVICE_NAME",
        "POWERTOOLS_METRICS_NAMESPACE",
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("REWARD_NAME", ""),
        ("REWARD_PARAMETERS", "flexible"),
        ("REWARD_PARAMETERS", "[1]"),
        ("REWARD_PARAMETERS", "[" * 100_000),
        ("REWARD_RESPONSE_MODE", "json"),
        ("REWARD_MAX_SAMPLES", "0"),
        ("REWARD_MAX_SAMPLES", "many"),
        ("REWARD_ON_UNSCORED", "zero"),
        ("REWARD_MAX_UNSCORED", "1.5"),
        ("REWARD_MAX_UNSCORED", "nan"),
        ("REWARD_DEADLINE_MARGIN_MS", "-1"),
        ("REWARD_WORKERS", "0"),
        ("REWARD_LOG_TEXT_RATE", "20%"),
        ("POWERTOOLS_LOG_LEVEL", "LOUD"),
        ("POWERTOOLS_SERVICE_NAME", ""),
    ],
)
def test_a_wrong_value_names_its_variable(key, value):
    with pytest.raises(BadSettings, match=f"^{key} takes "):
        LambdaSettings.from_env({"REWARD_NAME": "gsm8k", key: value})


def test_a_missing_name_is_named():
    with pytest.raises(BadSettings, match=r"^REWARD_NAME is required$"):
        LambdaSettings.from_env({})


def test_an_unknown_variable_suggests_the_nearest():
    with pytest.raises(
        BadSettings, match=r"REWARD_PARAMETER is not a setting.*'REWARD_PARAMETERS'"
    ):
        LambdaSettings.from_env({"REWARD_NAME": "gsm8k", "REWARD_PARAMETER": "{}"})


def test_several_faults_are_told_at_once():
    with pytest.raises(
        BadSettings,
        match=r"^REWARD_NAME is required; REWARD_WORKERS takes a whole number from 1 to 256$",
    ):
        LambdaSettings.from_env({"REWARD_WORKERS": "x"})


@pytest.mark.parametrize(
    "parameters", [{"a": {1, 2}}, {"a": float("nan")}, {"a": float("inf")}, {1: 2}, "3"]
)
def test_parameters_are_what_json_can_carry(parameters):
    with pytest.raises(BadSettings, match=r"^parameters takes a JSON object"):
        LambdaSettings(name="gsm8k", parameters=parameters)


def test_settings_are_frozen_and_closed():
    settings = LambdaSettings(name="gsm8k")
    with pytest.raises(FrozenInstanceError):
        settings.name = "math"
    with pytest.raises(BadSettings, match=r"nome is not a setting\. Did you mean 'name'\?"):
        LambdaSettings.of({"name": "gsm8k", "nome": "math"})


def test_variable_names():
    assert LambdaSettings.variable("max_samples") == "REWARD_MAX_SAMPLES"
    assert LambdaSettings.variable("log_level") == "POWERTOOLS_LOG_LEVEL"
