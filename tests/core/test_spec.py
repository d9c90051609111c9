"""A declaration is held to its word, and parameters are checked from the signature."""

import pickle
from fractions import Fraction
from functools import partial
from typing import Literal

import pytest

from reward_functions import Metric, Sample, Score, get, reward_function, sample
from reward_functions.core.errors import BadParameter, InvalidScore
from reward_functions.core.spec import CLOSEST, Example, Scale, lacking, spec_of

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
        (declared(1.5), "outside"),
        (declared(float("nan")), "not finite"),
        (declared(10**400), "not finite"),
        (declared(True, scale=(-1.0, 0.0)), "outside"),
        (declared("1.0"), "returned str, not a Score, a number or a bool"),
        (declared(1.0, metrics=["x"]), "declares"),
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
        {"version": -1},
        {"version": True},
        {"version": 1, "partial_credit": 1.5},
        {"version": 1, "partial_credit": float("nan")},
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
    with pytest.raises(ValueError, match=r"name|version|range|credit|metric"):
        reward_function(**{"name": "probe", **declaration})(lambda sample: Score(0.0))


def test_the_usual_scale_is_zero_to_one():
    assert declared(Score(0.0)).scale == Scale(0.0, 1.0)


class Calls:
    """Ways to ask for one score."""

    SAME = (
        lambda spec: spec("abcd", "ref"),
        lambda spec: spec("abcd", reference="ref"),
        lambda spec: spec(response="abcd", reference="ref"),
        lambda spec: spec(sample("abcd", "ref")),
        lambda spec: spec("abcd", "ref", prompt=""),
    )
    WRONG = (
        (lambda spec: spec(), "not nothing: call echo"),
        (lambda spec: spec(None, "ref"), "not nothing"),
        (lambda spec: spec(["a", "b"], ["c", "d"]), "not list.*score_batch scores many"),
        (lambda spec: spec({"response": "a"}), "not dict"),
        (lambda spec: spec(3, 3), "not int"),
        (lambda spec: spec(b"abcd", "ref"), "not bytes"),
        (lambda spec: spec(sample("abcd"), "ref"), r"call echo\(sample\)"),
        (lambda spec: spec(sample("abcd"), prompt="?"), r"call echo\(sample\)"),
        (lambda spec: spec("abcd", "ref", prompt=[]), "takes the prompt as a string, not list"),
    )


@reward_function
def echo(sample, *, factor: int = 1):
    """The length of the response, a tenth for each character."""
    assert (sample.response, sample.reference) == ("abcd", "ref")
    return len(sample.response) / 10 * factor


@pytest.mark.parametrize("call", Calls.SAME)
def test_a_response_and_its_reference_are_enough(call):
    assert call(echo) == Score(0.4)


@pytest.mark.parametrize(("call", "message"), Calls.WRONG)
def test_a_wrong_call_is_answered_with_what_to_type(call, message):
    with pytest.raises(TypeError, match=message) as caught:
        call(echo)
    assert "\n" not in str(caught.value)


def test_parameters_stand_beside_them_and_are_checked():
    assert echo("abcd", "ref", factor=2).value == 0.8
    with pytest.raises(BadParameter, match="Did you mean 'factor'"):
        echo("abcd", "ref", facter=2)
    with pytest.raises(BadParameter, match="takes int"):
        echo("abcd", "ref", factor="2")


@pytest.mark.parametrize("word", ["prompt", "ask", "group", "reference", "response"])
def test_no_parameter_is_called_like_what_a_call_says_already(word):
    namespace = {}
    exec(f"def probe(sample, *, {word}=1): return 1.0", namespace)
    with pytest.raises(ValueError, match=f"cannot be called '{word}'"):
        reward_function(namespace["probe"])


@pytest.mark.parametrize(
    ("returned", "value"),
    [(1, 1.0), (0.25, 0.25), (True, 1.0), (False, 0.0), (Fraction(1, 4), 0.25), (-0.0, 0.0)],
)
def test_a_number_or_a_bool_is_a_score(returned, value):
    assert declared(returned)(SAMPLE) == Score(value)


def test_a_bare_declaration_is_a_prototype():
    assert (echo.name, echo.version, echo.examples) == ("echo", 0, ())
    assert pickle.loads(pickle.dumps(echo)) is echo
    with pytest.raises(TypeError, match="declare a function"):
        reward_function(1)


@pytest.mark.parametrize(
    ("version", "kinds", "missing"),
    [
        (1, [], ["examples of kind positive, negative, attack"]),
        (1, ["positive"], []),
        (1, ["attack", "negative"], []),
        (0, ["positive"], ["version=1", "examples of kind negative, attack"]),
        (0, ["positive", "negative", "attack"], ["version=1"]),
    ],
)
def test_what_has_a_version_lacks_examples_only_where_it_shows_none(version, kinds, missing):
    examples = [Example(kind, response="x", score=1.0) for kind in kinds]
    spec = reward_function(name="probe", version=version, examples=examples)(tunable.function)
    assert lacking(spec) == missing


def test_a_prototype_lacks_a_docstring_and_what_has_a_version_does_not():
    assert "a docstring" in lacking(reward_function(name="bare")(lambda sample: 1.0))
    assert "a docstring" not in lacking(echo)
    assert "a docstring" not in lacking(declared(1.0))


@pytest.mark.parametrize(
    ("given", "most", "credit"),
    [
        (None, -1.0, -1.0),
        (0.5, 0.5, 0.5),
        (lambda sample: 0.25, 3.0 - 4.0 * CLOSEST, 0.25),
        (lambda sample: 3.0, 3.0 - 4.0 * CLOSEST, 3.0 - 4.0 * CLOSEST),
    ],
)
def test_a_near_miss_earns_less_than_the_maximum_at_every_row(given, most, credit):
    spec = declared(Score(0.0), scale=(-1.0, 3.0), partial_credit=given)
    assert spec.most_undeserved == most
    assert spec.credit(SAMPLE) == credit


def test_a_parameter_that_may_be_none_takes_none():
    assert tunable.bind({"cap": None})(SAMPLE).reason == "aNone"
    for wrong in ("1", 1.0, False):
        with pytest.raises(BadParameter, match="cap"):
            tunable.bind({"cap": wrong})
    with pytest.raises(BadParameter, match="limit"):
        tunable.bind({"limit": None})
