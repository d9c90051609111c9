"""The page of an evaluation: the worst finding first, both answers of a flip side by side."""

import pytest

from reward_functions.jobs.evaluation.page import OPEN, concerns_of_evaluation, page
from tests.gallery.evaluations import record
from tests.gallery.hostile import NAME
from tests.gallery.parsed import parsed
from tests.parsed_page import harmless


@pytest.fixture(scope="module")
def worse():
    return record(-0.2)


def test_findings_are_in_the_order_of_how_bad_they_are(worse):
    found = list(concerns_of_evaluation(worse))
    assert [each.kind for each in found] == [
        *("failed", "unscored", "reasons", "reasons", "truncation"),
    ]
    verdict, unscored, group, empty, cut = (each.words for each in found)
    assert verdict.startswith("The tuned model is worse: -")
    assert unscored.startswith("3 of 200 greedy answers of the tuned model have no score")
    assert group.startswith("The tuned model is worse in 1 group: level 1 by ")
    assert empty.startswith("1 of 200 greedy answers of the tuned model are empty")
    assert "15 of 200" in cut
    assert "cut off at 2,048 tokens (7.5%)" in cut


def test_the_page_begins_with_the_worst_and_every_finding_leads_to_its_section(worse):
    html = page(worse).html()
    harmless(html)
    tree = parsed(html)
    (worst,) = (each for each in tree.all("p") if each.attributes.get("class") == "worst")
    assert "The tuned model is worse" in worst.text
    linked = {each.section for each in concerns_of_evaluation(worse)}
    assert linked <= {each.text for each in tree.all("h2")}


def test_a_better_model_says_so_first_and_no_difference_is_a_finding():
    sound = record(0.2, texts=False, sampled=False)
    found = [each.kind for each in concerns_of_evaluation(sound)]
    assert "failed" not in found
    assert page(sound).lead.startswith("The tuned model is better: +")
    undecided = sound.model_copy(update={"verdict": "no difference shown", "groups": ()})
    assert next(concerns_of_evaluation(undecided)).kind == "labels"
    assert page(undecided).lead.startswith("The base earns ")


BESIDE_BASE = {
    # empty and cut answers of (base, tuned), and which of the two is a finding
    ((0, 0), (0, 0)): [],
    ((1, 0), (0, 0)): [],
    ((0, 0), (1, 0)): ["empty"],
    ((3, 0), (3, 0)): [],
    ((3, 0), (4, 0)): ["empty"],
    ((0, 9), (0, 8)): [],
    ((0, 8), (0, 9)): ["cut off"],
    ((2, 2), (3, 3)): ["empty", "cut off"],
}


@pytest.mark.parametrize(("base", "tuned"), BESIDE_BASE)
def test_what_the_base_did_as_often_is_no_finding(base, tuned):
    sound = record(0.2, texts=False, sampled=False)
    counts = {"base": base, "tuned": tuned}
    beside = [
        each.model_copy(
            update={"unscored": 0, "filtered": 0}
            | dict(zip(("empty", "cut"), counts[each.side], strict=True))
        )
        for each in sound.beside
    ]
    found = concerns_of_evaluation(sound.model_copy(update={"beside": beside, "groups": ()}))
    words = [each.words for each in found]
    expected = BESIDE_BASE[base, tuned]
    assert [any(name in each for each in words) for name in expected] == [True] * len(expected)
    assert len(words) == len(expected)


def test_both_answers_of_a_flip_stand_side_by_side(worse):
    parts = page(worse).sections[-1].parts
    assert [len(part.cases) for part in parts[:OPEN]] == [2] * OPEN
    assert "turned wrong" in parts[0].title
    assert parts[0].cases[1].facts[0][0] == "why"
    evil = page(record(-0.2, name=NAME, text=NAME * 5_000)).html()
    assert NAME.splitlines()[0][:30] in harmless(evil).text
