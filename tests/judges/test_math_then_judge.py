"""A rule first: who is asked for what, and who is never asked."""

from __future__ import annotations

import pytest

from reward_functions import Scored, get, sample, score_batch
from reward_functions.core.errors import BadReference, JudgeUnavailable, NoVerdict
from reward_functions.core.types import Outcome
from reward_functions.testing import FakeAsk

WHAT = "What is it?"

UNREAD = r"$1\,\textcircled{2}$"


def scored(reference, answer, prompt=WHAT, *verdicts, **parameters):
    """The score, and how many questions were asked."""
    ask = FakeAsk(*(verdicts or [{"same": "yes"}]))
    reward = get("math_then_judge").bind(parameters, ask=ask)
    score = reward(sample(answer, reference, prompt=prompt))
    return score, len(ask.asked)


def judged(score):
    return {metric.name: metric.value for metric in score.metrics}["judged"]


@pytest.mark.parametrize(
    ("reference", "answer", "outcome"),
    [
        (r"\frac{1}{2}", r"\boxed{0.5}", Outcome.EQUAL),
        ("x^2+2x+1", r"\boxed{(x+1)^2}", Outcome.EQUAL),
        ("Canberra", r"\boxed{\text{Canberra}}", Outcome.EQUAL),
        ("5", r"\boxed{\text{five}}", Outcome.EQUAL),
        (r"\frac{1}{2}", r"\boxed{0.6}", Outcome.DIFFERENT),
        ("(1,2)", r"\boxed{(2,1)}", Outcome.DIFFERENT),
        ("yes", r"\boxed{\text{no}}", Outcome.DIFFERENT),
        ("no solution", r"\boxed{5}", Outcome.DIFFERENT),
        ("x+1", r"\boxed{x+2}", Outcome.DIFFERENT),
    ],
)
def test_a_proof_is_never_judged(reference, answer, outcome):
    score, asked = scored(reference, answer)
    assert (score.evidence.outcome, asked, judged(score)) == (outcome, 0, 0.0)
    assert score.value == float(outcome is Outcome.EQUAL)
    assert get("math")(sample(answer, reference, prompt=WHAT)).evidence.outcome is outcome


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("all real numbers except 0", r"\boxed{\text{every real number but zero}}"),
        ("a circle of radius 2", r"\boxed{x^2+y^2=4}"),
        ("no solution", r"\boxed{\text{There are none}}"),
        ("injective but not surjective", "The answer is one-to-one and not onto."),
        ("Evelyn", r"\boxed{\text{Carla}}"),
        ("3 hours", r"\boxed{\text{three hours}}"),
        ("Monday", "Answer: the day behind Sunday"),
        (UNREAD, r"\boxed{\text{the first and the second}}"),
        ("the empty set", r"\boxed{\text{the set without elements}}"),
        ("Solution", r"\boxed{\text{the solution set}}"),
        ("391", r"\boxed{\text{four hundred less nine}}"),
        ("injective or surjective", r"\boxed{\text{one-to-one or onto}}"),
    ],
)
def test_what_no_proof_settles_is_the_judges(reference, answer):
    for same, value in (("yes", 1.0), ("no", 0.0)):
        score, asked = scored(reference, answer, WHAT, {"same": same})
        assert (score.value, asked, judged(score)) == (value, 1, 1.0)


@pytest.mark.parametrize(
    ("reference", "answer", "prompt"),
    [
        ("a circle", "It may be a circle.\nIt may be an ellipse.", WHAT),
        ("a circle", r"\boxed{}", WHAT),
        ("a circle", "", WHAT),
        ("391", r"\boxed{17 \cdot 23}", r"Compute $17 \cdot 23$."),
        ("5", r"\boxed{5}. The answer is 6.", WHAT),
        ("a circle", "The answer is not a circle.", WHAT),
        ("a circle", r"\boxed{\text{a circle or an ellipse}}", WHAT),
        ("a circle", "The answer is an ellipse or a circle.", WHAT),
        ("a circle", r"\boxed{\text{Answer:}}", WHAT),
        ("a circle", r"\boxed{\text{Let's think step by step.}}", WHAT),
        ("a circle", r"\boxed{?}", WHAT),
        ("a circle", r"\boxed{\text{a round curve}} <think> hm", WHAT),
        ("a circle", "\\boxed{\\text{a round curve}}\n```\n", WHAT),
        ("a circle", r"\boxed{\text{a round cur", WHAT),
        ("a circle", r"\boxed{x^2+y^2=4}", "Which conic is $x^2+y^2=4$?"),
        (UNREAD, r"\boxed{17 \cdot 23}", r"Compute $17 \cdot 23$."),
        ("391", r"\boxed{\text{the product of 17 and 23}}", "Compute the product of 17 and 23."),
        ("391", r"\boxed{17 \text{ times } 23}", "What is 17 times 23?"),
    ],
)
def test_without_an_answer_of_its_own_nobody_is_asked(reference, answer, prompt):
    score, asked = scored(reference, answer, prompt)
    assert (score.value, asked) == (0.0, 0)


@pytest.mark.parametrize("reference", [None, "", r"\frac{1}{2", "{1", "a\0b"])
def test_a_reference_without_content_is_the_data_sets_fault(reference):
    with pytest.raises(BadReference):
        scored(reference, r"\boxed{\text{one}}")


@pytest.mark.parametrize("failure", [JudgeUnavailable(), NoVerdict(), NoVerdict("", "refused")])
def test_a_judge_that_cannot_be_asked_leaves_only_its_share_unscored(failure):
    ask = FakeAsk(answer=lambda _: failure)
    batch = [
        sample(r"\boxed{2}", "2", prompt=WHAT, id="right"),
        sample(r"\boxed{3}", "2", prompt=WHAT, id="wrong"),
        sample(r"\boxed{\text{an ellipse}}", "a circle", prompt=WHAT, id="words"),
    ]
    results = score_batch(get("math_then_judge").bind({}, ask=ask), batch)
    assert [isinstance(result, Scored) for result in results] == [True, True, False]
    assert results[2].error is failure


def test_a_solution_as_reference_is_judged_by_its_answer():
    ask = FakeAsk({"same": "yes"})
    reward = get("math_then_judge").bind({}, ask=ask)
    solution = "We look at it. It is round, so it is \\boxed{\\text{a circle}}."
    assert reward(sample(r"\boxed{\text{a round curve}}", solution, prompt=WHAT)).value == 1.0
    assert "We look at it" not in ask.asked[0].shared


def test_a_judge_that_is_not_asked_is_not_counted():
    score, asked = scored("a circle", r"\boxed{\text{a circle or an ellipse}}")
    assert (asked, judged(score)) == (0, 0.0)


def test_metrics_are_the_same_on_every_path():
    paths = [
        ("2", r"\boxed{2}"),
        ("2", r"\boxed{3}"),
        ("2", ""),
        ("391", r"\boxed{34 \cdot 23/2}"),
        ("a circle", r"\boxed{\text{a round curve}}"),
        ("a circle", r"\boxed{\text{Answer:}}"),
        ("a circle", r"\boxed{\text{a round curve}} <think> hm"),
        (UNREAD, r"\boxed{2}"),
    ]
    scores = [scored(*path)[0] for path in paths]
    names = [[metric.name for metric in score.metrics] for score in scores]
    assert {tuple(each) for each in names} == {get("math_then_judge").metrics}
    flags = [{metric.name: metric.value for metric in score.metrics} for score in scores]
    assert [each["unevaluated"] for each in flags] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert [each["truncated"] for each in flags] == [0, 0, 0, 0, 0, 0, 1, 0]


def test_parameters_of_the_rule_reach_it():
    assert scored("391", r"\boxed{34 \cdot 23/2}")[0].value == 1.0
    assert scored("391", r"\boxed{34 \cdot 23/2}", WHAT, evaluated=True)[0].value == 0.0
    thought = r"<think>\boxed{\text{a round curve}}</think>"
    assert scored("a circle", thought)[1] == 0
    assert scored("a circle", thought, WHAT, include_reasoning=True)[1] == 0  # nothing is left
    thought += " I said it."
    assert scored("a circle", thought, WHAT, include_reasoning=True)[1] == 1
    assert scored(r"\frac{1}{3}", r"\boxed{0.33}")[0].value == 0.0
    assert scored(r"\frac{1}{3}", r"\boxed{0.33}", WHAT, rounded=2)[0].value == 1.0


def test_an_undecided_comparison_says_so_and_one_without_answer_names_its_rule():
    score = get("math")(sample(r"\boxed{\text{an ellipse}}", "a circle", prompt=WHAT))
    assert (score.value, score.evidence.outcome) == (0.0, Outcome.UNDECIDED)
    evidence = get("math")(sample("", "a circle", prompt=WHAT)).evidence
    assert (evidence.rule, evidence.outcome) == ("empty-response", None)
