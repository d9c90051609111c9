"""Composites are rewards, and never score what a part could not."""

import pickle
from functools import partial

import pytest

from reward_functions import (
    BadReference,
    Example,
    Metric,
    Sample,
    Score,
    cascade,
    clipped,
    gated,
    get,
    reward_function,
    sample,
    score_batch,
    weighted,
)
from reward_functions.core.errors import BadComposite, BadParameter, PartFailed, UnknownReward
from reward_functions.core.parts import MAX_PARTS
from reward_functions.core.spec import Needs, spec_of
from reward_functions.core.types import Evidence
from reward_functions.testing import FakeAsk
from reward_functions.testing.contract import examples_hold, it_can_be_pickled

SAMPLE = Sample(id="s", messages=())


def fixed(value, *, name="fixed", scale=(-9.0, 9.0), credit=None, **rest):
    return reward_function(name=name, scale=scale, partial_credit=credit)(
        lambda sample: Score(value, **rest)
    )


@reward_function(name="broken")
def broken(sample):
    raise BadReference("there is none")


@reward_function(name="bug")
def bug(sample):
    return 1 / 0


@reward_function(name="form", partial_credit=1.0)
def form(sample):
    """Form alone."""
    return sample.response.startswith("<think>")


@reward_function(name="asking")
def asking(sample, *, words: int):
    return len(sample.response.split()) == words


@reward_function(name="measured", metrics=["length"])
def measured(sample):
    return Score(1.0, (Metric("length", len(sample.response)),))


loose = partial(weighted, outranks=False)


def test_weighted_adds_and_reports_its_parts_as_rewards():
    compared = Evidence("equal numbers")
    answer = fixed(1.0, answer="7", reason="equal", evidence=compared)
    parts = {"answer": (answer, 0.8), "format": (fixed(0.5), 0.2)}
    score = loose(parts)(SAMPLE)
    assert score.value == pytest.approx(0.9)
    assert score.metrics == (Metric("answer", 1.0, "Reward"), Metric("format", 0.5, "Reward"))
    assert (score.answer, score.evidence) == ("7", compared)
    assert score.reason == "0.8 × answer 1 (equal) + 0.2 × format 0.5"
    assert [name for name, _ in score.parts] == ["answer", "format"]


def test_a_sum_has_a_part_and_at_most_so_many():
    def summed(parts):
        return weighted({f"part{number}": (fixed(1.0), 1.0) for number in range(parts)})

    assert len(summed(MAX_PARTS)(SAMPLE).parts) == MAX_PARTS
    with pytest.raises(BadComposite, match=f"{MAX_PARTS + 1} parts are more than {MAX_PARTS}"):
        summed(MAX_PARTS + 1)
    with pytest.raises(BadComposite, match="a weighted sum is written"):
        summed(0)


def test_what_was_compared_is_the_first_part_that_compared():
    first, second = Evidence("equal numbers"), Evidence("equal text")
    parts = {
        "format": (fixed(0.5), 0.2),
        "number": (fixed(1.0, evidence=first), 0.4),
        "text": (fixed(1.0, evidence=second), 0.4),
    }
    assert loose(parts)(SAMPLE).evidence == first
    assert loose({"format": (fixed(0.5), 1.0)})(SAMPLE).evidence is None


def test_a_closed_gate_spares_the_reward_behind_it():
    spec = gated(fixed(0.0, name="gate", reason="no box"), broken, outranks=False)
    score = spec(SAMPLE)
    assert score.value == 0.0
    assert score.reason == "the gate is closed: gate 0 (no box)"
    assert {metric.name: metric.value for metric in score.metrics} == {
        "gate": 0.0,
        "broken": 0.0,
        "broken_ran": 0.0,
    }


def test_an_open_gate_lets_the_reward_score():
    spec = gated(
        fixed(0.5, name="gate"), fixed(0.7, reason="well done"), threshold=0.5, outranks=False
    )
    score = spec(SAMPLE)
    assert score.value == 0.7
    assert score.reason == "gate 0.5 opens fixed 0.7 (well done)"


def test_clipped_holds_the_value_and_keeps_the_metrics():
    spec = clipped({"reward": weighted({"m": (measured, 3.0)})}, 0.0, 2.0)
    score = spec(sample("four"))
    assert (score.value, spec.scale) == (2.0, (0.0, 2.0))
    assert score.metrics[1] == Metric("weighted_m", 1.0)
    assert score.reason == "weighted 3 (3 × m 1), held at 2"


def test_a_cascade_stops_at_the_first_that_is_satisfied():
    done = cascade(fixed(1.0), broken, outranks=False)(SAMPLE)
    assert (done.value, [metric.value for metric in done.metrics]) == (1.0, [1.0, 0.0, 0.0])
    late = cascade(fixed(0.0), fixed(0.6, name="b"), broken, enough=0.5, outranks=False)(SAMPLE)
    assert late.value == 0.6
    assert late.reason == "fixed 0, then b 0.6"
    last = cascade(fixed(0.2), fixed(0.4, name="b"), outranks=False)(SAMPLE)
    assert last.value == 0.4


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        (weighted({"a": 0.0, "b": (broken, 1.0)} | {"a": (fixed(1.0), 0.0)}), "b"),
        (gated(broken, fixed(1.0), outranks=False), "broken"),
        (gated(fixed(1.0), broken, outranks=False), "broken"),
        (clipped(broken, 0.0, 0.5), "broken"),
        (cascade(fixed(0.0), broken, outranks=False), "broken"),
        (weighted({"outer": (clipped(broken, 0.0, 0.5), 1.0)}), "outer: broken"),
    ],
)
def test_what_a_part_cannot_score_the_whole_does_not_and_names_it(spec, part):
    with pytest.raises(BadReference, match=f"^{part}: there is none$"):
        spec(SAMPLE)
    (result,) = score_batch(spec, [SAMPLE])
    assert type(result.error) is BadReference


def test_a_bug_in_a_part_is_named_with_its_line_and_without_its_text():
    with pytest.raises(
        PartFailed, match=r"^b raises ZeroDivisionError \(test_combine.py, line \d+"
    ):
        weighted({"b": (bug, 1.0)})(SAMPLE)


def test_an_error_that_others_hold_is_not_changed():
    shared = BadReference("there is none")

    @reward_function(name="raising")
    def raising(sample):
        raise shared

    spec = weighted({"a": (raising, 1.0)})
    for _ in range(2):
        with pytest.raises(BadReference, match=r"^a: there is none$"):
            spec(SAMPLE)
    assert str(shared) == "there is none"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "is written"),
        ({"math": float("nan")}, "weight of math"),
        ({"math": True}, "weight of math"),
        ({"math": "0.5"}, "weight of math"),
        ({"math": 1e300}, "weight of math"),
        ({"math": {"rounded": 2}}, "weight of math is missing"),
        ({"Math": (form, 1.0)}, "does not name a part"),
        ({"a": (lambda sample: 1.0, 1.0)}, "@reward_function"),
        ({"math": 0.0}, "every response earns 0"),
        ({"asking": (asking, 1.0)}, "asking needs the parameter 'words'"),
    ],
)
def test_parts_that_cannot_be_weighed_are_refused(parts, message):
    with pytest.raises(BadComposite, match=message):
        weighted(parts)


def test_parts_are_checked_when_the_composite_is_made():
    with pytest.raises(UnknownReward, match="Did you mean 'math'"):
        weighted({"maht": 1.0})
    with pytest.raises(BadParameter, match="Did you mean 'rounded'"):
        weighted({"math": {"weight": 1.0, "roundd": 2}})
    with pytest.raises(BadParameter, match="takes int"):
        weighted({"math": {"weight": 1.0, "rounded": "2"}})
    with pytest.raises(BadComposite, match="two parts are called 'math'"):
        cascade("math", "math")
    with pytest.raises(BadComposite, match="at least two"):
        cascade("math")
    with pytest.raises(BadComposite, match="never opens"):
        gated("math", "gsm8k", threshold=2.0)
    with pytest.raises(BadComposite, match="never closes"):
        gated("math", "gsm8k", threshold=0.0)
    with pytest.raises(BadComposite, match="between"):
        clipped("math", 1.0, 1.0)
    with pytest.raises(BadComposite, match="never reached"):
        cascade("math", "gsm8k", enough=0.0)
    with pytest.raises(ValueError, match="two metrics are called"):
        weighted({"a": (measured, 1.0), "a_length": (form, 0.1)})


def test_parameters_of_parts_are_set():
    answers = {
        "strict": {"reward": "math", "weight": 0.5},
        "rounded": {"reward": "math", "weight": 0.5, "rounded": 2},
    }
    assert weighted(answers)("0.33", "1/3").value == 0.5
    bound = weighted({"m": (get("math").bind({"rounded": 2}), 1.0)})
    assert bound("0.33", "1/3").value == 1.0


def test_an_additive_reward_that_pays_form_too_much_is_refused_with_both_numbers():
    with pytest.raises(
        BadComposite, match=r"sure of 0.4 and .* earn 0.6: weigh form less, or decl"
    ):
        weighted({"math": 0.4, "form": (form, 0.6)})
    declared = weighted({"math": 0.4, "form": (form, 0.6)}, outranks=False)
    assert declared.partial_credit == 0.6


def test_a_composite_declares_what_its_parts_need():
    spec = weighted({"math": 0.8, "reference": 0.2}, outranks=False)
    assert spec.needs == Needs(workers=256, symbolic=True, judge=True)
    assert weighted({"form": (form, 1.0)}).partial_credit == 1.0


def test_two_judges_of_one_composite_are_answered_in_turn():
    spec = weighted({"reference": 0.5, "b": {"reward": "reference", "weight": 0.5}}, outranks=False)
    ask = FakeAsk({"same": "yes"}, {"same": "no"})
    assert spec("Paris, I think it is Paris.", "Paris", prompt="?", ask=ask).metrics[0].value == 1.0
    assert [question.turn for question in ask.asked] == [0, 1]


def test_a_composite_is_picklable_and_is_itself_afterwards():
    spec = weighted(
        {"math": 0.9, "form": (form, 0.1)},
        name="acme.tutor",
        version=1,
        examples=[Example("positive", response="<think>\\boxed{4}", reference="4", score=0.1)],
    )
    it_can_be_pickled(spec)
    examples_hold(spec)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec_of(spec.bind({})) is spec
    assert spec != weighted({"math": 0.8, "form": (form, 0.2)}, name="acme.tutor", version=1)


def test_the_page_of_a_composite_names_the_versions_of_its_parts():
    spec = weighted({"inner": (cascade("exact_match", "math"), 1.0)}, name="acme.tutor")
    assert f"math: math, version {get('math').version}" in spec.doc
    assert spec.summary == "1 × inner."


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        (loose({"math": 0.5, "form": (form, 2.0)}), "0.5 × math + 2 × form"),
        (
            gated(form, "math", threshold=0.5, outranks=False),
            "math where form is at least 0.5, else 0",
        ),
        (clipped(measured, 0.0, 0.5), "measured, from 0 to 0.5"),
        (cascade("exact_match", "math"), "the first of exact_match, math to earn 1"),
    ],
    ids=["weighted", "gated", "clipped", "cascade"],
)
def test_the_page_of_a_composite_says_how_its_value_is_computed(spec, value):
    assert f"Value: {value}." in spec.doc


def test_a_gold_response_is_made_from_those_of_the_parts():
    parts = {"math": 0.9, "form": (form, 0.1)}
    spec = weighted(parts, gold_response="<think>So.</think>\n{math}")
    right = sample("", "4")
    assert spec(right.answered(spec.gold_response(right))).value == 1.0
    for template, message in (("{maths}", "names no part"), ("{form}", "writes no gold")):
        with pytest.raises(BadComposite, match=message):
            weighted(parts, gold_response=template)


WIDE = fixed(0.0, name="wide", credit=4.0)


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda: clipped(WIDE, -1.0, 2.0), "sure of 2 .* may earn 2: widen the range, or declare"),
        (lambda: gated(form, "math"), "swap form and math, or weigh them, or"),
        (lambda: gated(WIDE, form, threshold=3.0), "threshold be more than its partial credit, or"),
        (lambda: cascade(form, "math", enough=0.5), "let `enough` be more than what its parts pay"),
        (lambda: weighted({"similarity": 1.0}), "pays what is like the reference, right or wrong"),
    ],
)
def test_a_composite_in_which_wrong_may_outrank_right_says_what_to_change(make, remedy):
    with pytest.raises(BadComposite, match=remedy):
        make()


def test_an_option_of_no_composite_is_answered_with_the_nearest():
    with pytest.raises(TypeError, match=r"weighted takes no sumary. Did you mean 'summary'"):
        weighted({"math": 1.0}, sumary="x")


def test_a_part_that_cannot_be_called_names_no_line_of_its_own():
    plain = reward_function(name="plain")(int.__floordiv__)
    with pytest.raises(PartFailed, match=r"^plain raises TypeError \(before its function ran"):
        weighted({"plain": (plain, 1.0)})(SAMPLE)
