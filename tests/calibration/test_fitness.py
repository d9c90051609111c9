"""The verdict of a card: by kappa's interval, and never "fit" of what was not measured."""

from dataclasses import replace

import pytest

from reward_functions.calibration.asking import recorded
from reward_functions.calibration.figures import CardFigure, figures
from reward_functions.calibration.fitness import concerns, digits, fitness, with_ends
from reward_functions.reports.statistics import Interval


def rated(read, *answers, label=lambda at: 1 + at % 2):
    rows = [
        {"id": str(at), "instruction": f"{at}?", "response1": "yes", "response2": "no",
         "label": label(at), "judge": answer}
        for at, answer in enumerate(answers)
    ]  # fmt: skip
    cases = read(*rows)
    ratings = recorded(cases, "judge")
    return figures(cases, ratings, times=20), len(ratings.missing)


VERDICTS = [
    # kappa, the ends of its interval, prompts, trials without a rating, the verdict
    (0.06, (-0.12, 0.27), 100, 0, "not fit: kappa 0.06, -0.12 to 0.27, includes chance"),
    (0.2, (0.0, 0.3), 100, 0, "not fit: kappa 0.20, 0.00 to 0.30, includes chance"),
    (-0.3, (-0.5, -0.1), 100, 0, "not fit: kappa -0.30, -0.50 to -0.10, is below chance"),
    (0.2, (0.1, 0.3), 100, 0, "not fit: kappa 0.20, 0.10 to 0.30, is below 0.4"),
    (0.5, (0.3, 0.7), 100, 0, "undecided: kappa 0.50, 0.30 to 0.70, includes 0.4: label more"),
    (1.0, (1.0, 1.0), 29, 0, "undecided: kappa 1.00, 1.00 to 1.00, of 29 prompts only: label 30"),
    (0.7, (0.6, 0.8), 100, 2, "undecided: kappa 0.70, 0.60 to 0.80, before every trial has a rat"),
    (0.7, (0.4, 0.8), 30, 0, "fit: kappa 0.70, 0.40 to 0.80, is above 0.4"),
    (0.7, None, 1, 0, "not known: kappa 0.70 has no interval: one prompt only"),
    (None, None, 100, 0, "not known: kappa is not defined"),
]


@pytest.mark.parametrize(("kappa", "ends", "prompts", "missing", "verdict"), VERDICTS)
def test_the_verdict_is_that_of_the_table(read, kappa, ends, prompts, missing, verdict):
    found, _ = rated(read, 1, 2, 1, 2)
    figure = CardFigure(kappa, ends and Interval(*ends))
    found = replace(found, prompts=prompts, agreement={"wrong": {"kappa": figure}})
    found = replace(found, deciding={"kappa": 10})
    assert str(fitness(found, missing)).startswith(verdict)


RARE = [
    # labels by how often, the verdict on a judge that is right
    ({1: 29, 2: 1}, "undecided", "of 1 prompt with another label than most: label 10"),
    ({1: 38, 2: 2}, "undecided", "of 2 prompts with another label than most: label 10"),
    ({1: 38, 2: 1, 0: 1}, "undecided", "of 2 prompts with another label than most: label 10"),
    ({1: 31, 2: 9}, "undecided", "of 9 prompts with another label than most: label 10"),
    ({1: 30, 2: 10}, "fit", "is above 0.4"),
    ({1: 19, 2: 19, 0: 2}, "fit", "is above 0.4"),
]


@pytest.mark.parametrize(("labels", "fit", "why"), RARE)
def test_a_judge_is_not_fit_by_a_label_that_hardly_anyone_gave(read, labels, fit, why):
    """Draws without the rarer label have no kappa: those that are left find the judge right."""
    given = [label for label, count in labels.items() for _ in range(count)]
    found, missing = rated(read, *given, label=given.__getitem__)
    assert found.agreement["wrong"]["kappa"].interval == (1.0, 1.0)
    assert str(fitness(found, missing)) == f"{fit}: kappa 1.00, 1.00 to 1.00, {why}"


def test_one_prompt_with_many_cases_of_a_label_is_one(read):
    """Thirty responses to one prompt are all that is good: a third of the draws lack them."""
    rows = [
        {"id": str(at), "instruction": f"{min(at, 30)}?", "response1": "yes", "response2": "no",
         "label": 1 + (at >= 30), "judge": 1 + (at >= 30)}
        for at in range(60)
    ]  # fmt: skip
    cases = read(*rows)
    found = figures(cases, recorded(cases, "judge"), times=20)
    assert (found.prompts, found.deciding["kappa"]) == (31, 1)
    assert fitness(found, 0).fit == "undecided"


def test_prompts_that_differ_by_spaces_or_capitals_are_one(read):
    """40 spellings of one question are as many cases of one prompt, which has no interval."""
    spelled = [
        {"id": str(at), "instruction": ("What", "WHAT")[at % 2] + " is 1+1?" + " " * at,
         "response1": "2", "response2": "3", "label": 1 + at % 2, "judge": 1 + at % 2}
        for at in range(40)
    ]  # fmt: skip
    cases = read(*spelled)
    found = figures(cases, recorded(cases, "judge"), times=20)
    assert (found.cases, found.prompts) == (40, 1)
    assert fitness(found, 0).fit == "not known"
    assert found.consistency["asked again"].whole == 0, "no question came twice to the letter"


def test_without_a_valid_verdict_nothing_is_known_of_a_judge(read):
    assert str(fitness(*rated(read, None, None, None))) == "not known: no verdict is valid"


def test_concerns_are_invalid_verdicts_then_biases_then_what_was_cut(read):
    found, _ = rated(read, 1, 2, 1, 2)
    bad = {
        "invalid": {"malformed": 2, "cut": 1},
        "bias": CardFigure(-0.2, Interval(-0.3, -0.1)),
        "length_bias": CardFigure(0.05, Interval(0.01, 0.09)),
    }
    assert [each.words for each in concerns(replace(found, **bad), pairs=True)] == [
        "3 of 4 verdicts are invalid, and count as wrong.",
        "It prefers the second response: -0.20, -0.30 to -0.10.",
        "It prefers long responses: +0.05, +0.01 to +0.09 for each doubling.",
        "1 verdict was cut off: raise `max_tokens` of the model.",
    ]
    grades = [each.words for each in concerns(replace(found, **bad), pairs=False)]
    assert "It grades too low: -0.20, -0.30 to -0.10." in grades
    none = {"invalid": {}, "bias": CardFigure(0.1, Interval(-0.1, 0.3))}
    assert list(concerns(replace(found, **none, length_bias=CardFigure(0.1)), pairs=True)) == []


def test_a_figure_has_two_decimals_and_no_minus_before_a_zero():
    assert digits(-0.001) == "0.00"
    assert with_ends(CardFigure(None)) == "–"
    assert with_ends(CardFigure(0.5)) == "0.50"
