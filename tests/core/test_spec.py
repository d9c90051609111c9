"""A declaration is held to its word, and parameters are checked from the signature."""

import pickle
from functools import partial
from typing import Literal

import pytest

from reward_functions import Metric, Sample, Score, get, reward_function
from reward_functions.core.errors import BadParameter, InvalidScore
from reward_functions.core.spec import Scale, spec_of

SAMPLE = Sample(id="s", messages=())


@reward_function(version=3, metrics=["length"])
def tunable(
    sample: Sample,
    *,
    strict: bool = True,
    limit: int = 4,
    share: float = 0.5,
    mode: Literal["a", "b"] = "a",
    label: str = "",
    cap: int | None = None,
) -> Score:
    """Every type a parameter can have.

    More text.
    """
    return Score(float(strict) * share, (Metric("length", limit),), reason=f"{mode}{label}{cap}")


def declared(score, **declaration):
    return reward_function(name="probe", version=1, **declaration)(lambda sample: score)


def test_a_spec_is_called_with_a_sample():
    assert tunable(SAMPLE).value == 0.5
    assert tunable(SAMPLE, share=0.25).value == 0.25


def test_a_spec_tells_what_its_function_is():
    assert (tunable.name, tunable.version, tunable.summary) == (
        "tunable",
        3,
        "Every type a parameter can have.",
    )
    assert list(tunable.parameters) == ["strict", "limit", "share", "mode", "label", "cap"]
    assert tunable.parameters["mode"].type_name == "'a' | 'b'"
    assert tunable.parameters["cap"].type_name == "int | None"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("strict", "false", False),
        ("strict", "0", False),
        ("strict", "Yes", True),
        ("limit", "1", 1),
        ("limit", "-7", -7),
        ("share", "0", 0.0),
        ("share", "1e-3", 0.001),
        ("mode", "b", "b"),
        ("label", "1", "1"),
        ("label", "true", "true"),
        ("cap", "12", 12),
    ],
)
def test_typed_text_becomes_a_parameter(name, text, value):
    parsed = tunable.parameter(name).parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [("strict", "maybe"), ("limit", "1.5"), ("share", "nan"), ("share", "x"), ("mode", "c")],
)
def test_text_of_another_type_is_refused(name, text):
    with pytest.raises(BadParameter, match=name):
        tunable.parameter(name).parse(text)


@pytest.mark.parametrize(
    "parameters",
    [
        {"strict": 1},
        {"limit": True},
        {"limit": 1.0},
        {"share": "0.5"},
        {"share": float("inf")},
        {"mode": "c"},
        {"label": None},
    ],
)
def test_parameters_of_another_type_are_refused(parameters):
    with pytest.raises(BadParameter):
        tunable.bind(parameters)


def test_a_spec_is_itself_and_nothing_else():
    assert {get("gsm8k"), get("gsm8k")} == {get("gsm8k")}
    assert declared(Score(0.0)) != declared(Score(0.0))


def test_an_unknown_parameter_suggests_the_nearest():
    with pytest.raises(BadParameter, match=r"no parameter 'strick'. Did you mean 'strict'\?"):
        tunable.bind({"strick": True})
    with pytest.raises(BadParameter, match="it has none"):
        declared(Score(0.0)).bind({"x": 1})


def test_a_bound_reward_keeps_its_declaration_and_its_parameters():
    bound = tunable.bind({"share": 1, "limit": 9})
    assert bound(SAMPLE).value == 1.0
    assert spec_of(bound) is tunable
    assert spec_of(lambda sample: Score(0.0)) is None


def test_specs_and_bound_specs_are_picklable():
    spec = get("gsm8k")
    assert pickle.loads(pickle.dumps(spec)) is spec
    bound = pickle.loads(pickle.dumps(spec.bind({"flexible": True})))
    assert isinstance(bound, partial)
    assert (bound.func, bound.keywords) == (spec, {"flexible": True})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (declared(1.0), "returned float"),
        (declared(None), "returned NoneType"),
        (declared(Score(1.5)), "outside"),
        (declared(Score(-0.1)), "outside"),
        (declared(Score(0.5), scale=(-1.0, 0.0)), "outside"),
        (declared(Score(1.0, (Metric("x", 1.0),))), "declares"),
        (declared(Score(1.0), metrics=["x"]), "declares"),
        (declared(Score(1.0, (Metric("y", 1.0),)), metrics=["x"]), "declares"),
    ],
)
def test_a_function_that_breaks_its_declaration_is_our_fault(spec, message):
    with pytest.raises(InvalidScore, match=message):
        spec(SAMPLE)


@pytest.mark.parametrize(
    "declaration",
    [
        {"version": 0},
        {"version": 1, "name": "Upper"},
        {"version": 1, "name": "a..b"},
        {"version": 1, "scale": (1.0, 1.0)},
        {"version": 1, "scale": (0.0, float("inf"))},
        {"version": 1, "scale": (float("nan"), 1.0)},
        {"version": 1, "metrics": ["imputed"]},
        {"version": 1, "metrics": ["a", "a"]},
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(declaration):
    with pytest.raises(ValueError, match=r"name|version|range"):
        reward_function(**{"name": "probe", **declaration})(lambda sample: Score(0.0))


def test_the_usual_scale_is_zero_to_one():
    assert declared(Score(0.0)).scale == Scale(0.0, 1.0)
