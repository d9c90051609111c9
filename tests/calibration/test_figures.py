"""The figures beside agreement: people, length, bias, consistency; by hand and by the library."""

from math import log2
from random import Random
from statistics import linear_regression

import pytest

from reward_functions.calibration.asking import Rating, Ratings, Tally, Trial, recorded
from reward_functions.calibration.figures import consistency, figures


def pair(id, label, first="yes", second="no", prompt="Well?", **fields):
    texts = {"instruction": prompt, "response1": first, "response2": second}
    return {"id": id, **texts, "label": label, **fields}


def said(*ratings):
    return Ratings({each.trial: each for each in ratings}, {})


def one(id, value, *, swapped=False, repeat=0, **fields):
    return Rating(trial=Trial(id, swapped, repeat), value=value, **fields)


def test_the_slope_of_length_is_the_least_squares_line(read):
    random = Random(7)
    rows = [
        pair(str(at), random.choice((0, 1, 2)), "a" * random.randint(0, 90), "b" * at, str(at))
        for at in range(60)
    ]
    judged = [random.choice((0, 1, 2)) for _ in rows]
    cases = read(*({**row, "judge": told} for row, told in zip(rows, judged, strict=True)))
    found = figures(cases, recorded(cases, "judge"))
    worth = {1: 1.0, 0: 0.5, 2: 0.0}
    lengths = [log2(1 + len(row["response1"])) - log2(1 + len(row["response2"])) for row in rows]
    extra = [worth[told] - worth[row["label"]] for told, row in zip(judged, rows, strict=True)]
    line = linear_regression(lengths, extra)
    assert found.length_bias.value == pytest.approx(line.slope)
    assert found.bias.value == pytest.approx(sum(extra) / len(extra))
    low, high = found.length_bias.interval
    assert low < line.slope < high


def test_a_judge_that_likes_the_longer_response_is_found_out(read):
    rows = [
        pair(f"{at}{flip}", 1 if flip else 2, *(("long " * 30, "short")[:: 1 if at % 2 else -1]),
             prompt=str(at))
        for at in range(20)
        for flip in (True, False)
    ]  # fmt: skip
    for row in rows:
        row["judge"] = 1 if len(row["response1"]) > len(row["response2"]) else 2
    cases = read(*rows)
    slope = figures(cases, recorded(cases, "judge")).length_bias
    assert slope.value > 0
    assert slope.interval.low > 0


def test_equal_lengths_have_no_slope(read):
    cases = read(pair("a", 1, "yes", "non", judge=2), pair("b", 2, "yes", "non", judge=2))
    assert figures(cases, recorded(cases, "judge")).length_bias.value is None


def test_what_is_not_usable_is_in_no_slope_and_no_leaning(read):
    cases = read(pair("a", 1, judge=1), pair("b", 2, judge="?"), pair("c", 2, judge=2))
    found = figures(cases, recorded(cases, "judge"))
    assert found.bias.value == 0
    assert found.invalid == {"other": 1}
    assert len(found.points) == 2


def test_people_against_the_label_and_the_judge_against_people(read):
    cases = read(
        pair("a", 1, votes=[1, 1, 2], judge=1),
        pair("b", 2, votes=[2, 2, 2], judge=2),
        pair("c", 0, votes=[0, 1, 0], judge=1),
        pair("d", 2, votes=[2, 2, 1], judge=None),
    )
    found = figures(cases, recorded(cases, "judge"))
    assert [person.accuracy for person in found.people] == [1.0, 0.75, 0.5]
    assert [person.judge_accuracy for person in found.people] == [0.5, 0.75, 0.25]
    assert found.ceiling[0] == pytest.approx(0.75)
    assert found.between == Tally(1 + 3 + 1 + 1, 12)


def test_the_file_itself_shows_orders_and_repeats(read):
    """b is a with the responses swapped, c is a again; d has no mirror."""
    cases = read(
        pair("a", 1, "x", "y", judge=1),
        pair("b", 2, "y", "x", judge=1),
        pair("c", 1, "x", "y", judge=1),
        pair("d", 2, "x", "z", judge=0),
    )
    found = consistency(cases, recorded(cases, "judge"))
    assert found["both orders"] == Tally(0, 1)
    assert (found["right where consistent"], found["right where not"]) == (Tally(0, 0), Tally(1, 1))
    assert found["asked again"] == Tally(1, 1)


def test_another_prompt_is_no_mirror(read):
    cases = read(
        pair("a", 1, "x", "y", prompt="1", judge=1), pair("b", 2, "y", "x", prompt="2", judge=2)
    )
    assert consistency(cases, recorded(cases, "judge"))["both orders"] == Tally(0, 0)


def test_a_run_shows_orders_and_repeats(read):
    cases = read(pair("a", 1), pair("b", 2, prompt="Else?"))
    ratings = said(
        one("a", 1.0),
        one("a", 1.0, swapped=True),
        one("a", 0.0, repeat=1),
        one("b", 0.0),
        one("b", 0.5, swapped=True),
        one("b", 0.0, repeat=1),
    )
    found = consistency(cases, ratings)
    assert found["both orders"] == Tally(1, 2)
    assert found["asked again"] == Tally(1, 2)
    assert (found["right where consistent"], found["right where not"]) == (Tally(1, 1), Tally(1, 1))


def test_a_judge_that_asks_both_orders_itself_is_believed(read):
    cases = read(pair("a", 1), pair("b", 2))
    ratings = said(one("a", 1.0, inconsistent=False), one("b", 0.5, inconsistent=True))
    assert consistency(cases, ratings)["own orders"] == Tally(1, 2)


def test_right_answers_by_confidence(read):
    cases = read(pair("a", 1), pair("b", 2), pair("c", 2))
    ratings = said(
        one("a", 1.0, confidence=1.0), one("b", 1.0, confidence=0.0), one("c", 0.1, confidence=1.0)
    )
    assert figures(cases, ratings).confidence == {0.0: Tally(0, 1), 1.0: Tally(2, 2)}


def test_cases_without_a_reading_are_in_no_figure(read):
    cases = read(pair("a", 1, judge=1), pair("b", 2))
    ratings = recorded(cases, "judge")
    found = figures(cases, ratings)
    assert found.cases == 1
    assert found.agreement["wrong"]["accuracy"].value == 1.0
    assert "nothing is recorded" in ratings.missing[Trial("b")]


def test_the_middle_of_a_scale_of_grades_is_no_tie(read):
    """A tie is between the responses of a pair: 5 of 0 to 10 is a grade like the others."""
    rows = [
        {"id": str(at), "messages": [{"role": "user", "content": f"{at}?"}], "response": "yes",
         "label": label, "judge": judged}
        for at, (label, judged) in enumerate([(0.0, 0.0), (0.5, None), (1.0, 1.0), (0.5, 0.5)])
    ]  # fmt: skip
    cases = read(*rows)
    found = figures(cases, recorded(cases, "judge"))
    assert not any("tie F1" in values for values in found.agreement.values())
    # Imputed, the invalid verdict is the worst grade, and not the middle one that people gave.
    assert found.agreement["imputed"]["accuracy"].value == 0.75


def test_one_prompt_says_nothing_of_others_and_has_no_interval(read):
    rows = [pair(str(at), 1, judge=1) for at in range(5)]
    cases = read(*rows, pair("last", 2, judge=2))
    found = figures(cases, recorded(cases, "judge"))
    assert found.prompts == 1
    assert found.agreement["wrong"]["accuracy"] == (1.0, None)
    assert found.bias == (0.0, None)
