"""Two judges on one card: differences by case, and the card of an earlier run as it may be."""

import json
from dataclasses import replace
from math import comb

import pytest

from reward_functions import get
from reward_functions.calibration.asking import recorded
from reward_functions.calibration.beside import judge_beside, read_card
from reward_functions.calibration.card import Card, about, markdown, page, record
from reward_functions.calibration.disagreeing import LISTED, SHOWN
from reward_functions.calibration.figures import figures
from reward_functions.core.errors import ConfigurationError
from tests.parsed_page import harmless

COUNT = 60
SCRIPT = "</pre><script>alert(1)</script>\x1b[31m"


def row(at, **more):
    return {
        "id": f"case-{at}",
        "instruction": f"Question {at}?",
        "response1": f"first of {at} {SCRIPT}",
        "response2": "second " * (at % 7),
        "label": 1 + at % 2,
    } | more


def answers(wrong):
    """The label, and the other response for every case below `wrong`."""
    return [2 - at % 2 if at < wrong else 1 + at % 2 for at in range(COUNT)]


def card(cases, field, other=None, file="other.json"):
    ratings = recorded(cases, field)
    found = figures(cases, ratings, times=40)
    second = None if other is None else judge_beside(cases, ratings, other, file, found, times=40)
    origin = about(get("pairwise"), {}, cases, models=[field], instructions="", answers=[])
    return Card(origin, cases, ratings, found, second)


@pytest.fixture
def cases(read):
    good, bad = answers(5), answers(40)
    bad[59] = None
    return read(*(row(at, good=good[at], bad=bad[at]) for at in range(COUNT)))


@pytest.fixture
def written(tmp_path):
    def write(made):
        path = tmp_path / "card.json"
        path.write_text(made if isinstance(made, str) else json.dumps(made))
        return path

    return write


def test_the_difference_is_the_first_less_the_second_and_cases_are_counted(cases, written):
    path = written(record(card(cases, "bad")))
    second = card(cases, "good", read_card(path, cases), path).beside
    assert second.counts == (19, 36, 0, 5)
    assert second.differences["accuracy"].value == pytest.approx((55 - 19) / COUNT)
    low, high = second.differences["accuracy"].interval
    assert 0 < low < 36 / COUNT < high < 1
    assert second.p < 0.001
    assert second.called == "pairwise (bad)"


def test_few_differences_are_tested_exactly(read, written):
    rows = [row(at, one=1 + at % 2, other=2 if at == 0 else 1 + at % 2) for at in range(4)]
    cases = read(*rows)
    path = written(record(card(cases, "other")))
    second = card(cases, "one", read_card(path, cases), path).beside
    assert (second.counts, second.p) == ((3, 1, 0, 0), 2 * comb(1, 0) / 2)


def test_both_are_compared_where_both_have_a_rating(cases, written):
    earlier = record(card(cases, "bad"))
    earlier["verdicts"] = earlier["verdicts"][:10]
    path = written(earlier)
    second = card(cases, "good", read_card(path, cases), path).beside
    assert second.first.cases == second.figures.cases == sum(second.counts) == 10
    earlier["verdicts"] = [{"case": "nobody", "value": 1.0, "invalid": ""}]
    path = written(earlier)
    with pytest.raises(ConfigurationError, match="no case has a rating of both"):
        card(cases, "good", read_card(path, cases), path)


def cut(earlier):
    """20 of 60 cases were not rated, and the card says of no trial that it has no rating."""
    earlier["verdicts"] = earlier["verdicts"][:-20]


@pytest.mark.parametrize("fields", [("good", "none"), ("none", "good")])
def test_a_judge_without_a_valid_verdict_has_no_difference(read, written, fields):
    rows = [row(at, good=answer, none=None) for at, answer in enumerate(answers(5))]
    cases = read(*rows)
    one, other = fields
    path = written(record(card(cases, other)))
    made = card(cases, one, read_card(path, cases), path)
    assert [each.value for each in made.beside.differences.values()] == [None, None]
    assert "the difference" not in made.verdict
    harmless(page(made).html())


UNRATED = {
    "the trials that it says": (lambda earlier: earlier.update(missing=35), 35),
    "the cases that it lacks": (cut, 20),
}


@pytest.mark.parametrize("case", UNRATED)
def test_a_second_judge_with_trials_without_a_rating_is_not_fit(cases, written, case):
    change, missing = UNRATED[case]
    earlier = record(card(cases, "good"))
    assert earlier["verdict"] == "fit"
    change(earlier)
    path = written(earlier)
    made = card(cases, "good", read_card(path, cases), path)
    assert "Beside it, pairwise (good) is undecided: kappa" in made.verdict
    assert "before every trial has a rating" in made.verdict
    beside = record(made)["beside"]
    assert (beside["verdict"], beside["missing"]) == ("undecided", missing)


REFUSED = [
    ({"missing": -1}, "not the .json of a card"),
    ("", "not the .json of a card"),
    ("[]", "not the .json of a card"),
    ("[" * 100_000, "not the .json of a card"),
    ('{"judge": "x"}', "not the .json of a card"),
    ({"verdicts": [{"case": "a", "value": 1e999}]}, "not the .json of a card"),
    ({"verdicts": [{"case": "a", "value": "1"}]}, "not the .json of a card"),
    ({"judge": "\ud800"}, "not the .json of a card"),
    ({"models": ["\udfff"]}, "not the .json of a card"),
    ({"verdicts": [{"case": "a", "value": None, "invalid": "\ud800"}]}, "not the .json of a card"),
    ({"digest": "0"}, "its cases or their labels are others"),
    ({"verdicts": []}, "it holds no rating of a case: write it again with --resume"),
]


@pytest.mark.parametrize(("there", "problem"), REFUSED, ids=range(len(REFUSED)))
def test_a_card_that_cannot_stand_beside_is_one_sentence(cases, written, there, problem):
    known = {"judge": "x", "version": 1, "models": [], "digest": cases.digest}
    whole = there if isinstance(there, str) else known | there
    with pytest.raises(ConfigurationError, match=problem) as raised:
        read_card(written(whole), cases)
    assert "\n" not in str(raised.value)


def test_the_page_begins_with_the_verdict_and_shows_who_is_right(cases, written):
    path = written(record(card(cases, "bad")))
    made = card(cases, "good", read_card(path, cases), path)
    parsed = harmless(page(made, ["kappa<0.9: it is 0.83"]).html())
    lead, *_ = [each for each in parsed.text.split("\n") if "kappa" in each]
    assert lead.startswith("Fit: kappa 0.83")
    assert "Beside it, pairwise (bad) is not fit: kappa" in lead
    assert "Failed. kappa<0.9: it is 0.83" in parsed.text
    headings = [words for order, words in parsed.headings if order == 2]
    assert headings[:3] == ["Agreement with the label", "Two judges", "Where they disagree"]
    assert "Who is right" in parsed.text


def test_disagreements_have_their_texts_on_the_page_alone(cases):
    made = card(cases, "bad")
    assert len(made.disagreements) == 41
    assert made.disagreements[-1].rating.value is None, "an invalid verdict has no distance"
    html = page(made).html()
    parsed = harmless(html)
    titles = [words for order, words in parsed.headings if order == 3]
    assert titles[0] == "case-0: people first, the judge second"
    assert len(titles) == SHOWN
    assert "21 more disagreements are not shown here." in parsed.text
    assert "first of 0 </pre><script>alert(1)</script>\\x1b" in parsed.text
    (sheet,) = (each for each in made.sheets if each.title == "Where they disagree")
    assert len(sheet.rows) == LISTED
    assert "first of 0" not in markdown(made) + json.dumps(record(made))


def test_texts_are_cut_to_their_two_ends(read):
    long = "a" * 50_000 + "the end"
    cases = read(row(0, response1=long, bad=2), row(1, bad=2))
    html = page(card(cases, "bad")).html()
    assert len(html) < 40_000
    assert "the end" in html


@pytest.mark.parametrize("text", ["\ud800", "\u202e", "\x1b", "\x00"], ids=ascii)
def test_what_does_not_print_is_shown_by_its_escape_and_every_file_can_be_written(read, text):
    cases = read(*(row(at, id=f"{at}{text}", bad=2) for at in range(4)))
    made = card(cases, "bad")
    made = replace(made, about=replace(made.about, models=[text], file=text))
    for written in (markdown(made), page(made).html()):
        assert text not in written
        assert text.encode("unicode_escape").decode() in written.replace("\\\\", "\\")
        assert written.encode()
