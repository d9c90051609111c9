"""What an answer may earn, and must: as a composite declares it, and as nobody does."""

import pytest

from reward_functions import cascade, clipped, gated, get, reward_function, weighted
from reward_functions.audit.corpus import AnswerClass, Corpus
from reward_functions.audit.earning import Declared, declared_by, earnings
from reward_functions.audit.other_answers import ReplayCase
from reward_functions.audit.trying import judged, tried
from reward_functions.core.spec import CLOSEST
from reward_functions.core.types import Score, Scored, sample


def made(maker, parts, **declared):
    return maker(parts, name="made", **declared)


DECLARED = {
    # by what is declared: the reward, and what an audit takes from it
    "nobody says anything": (lambda: None, Declared()),
    "a verifier pays nothing for a wrong answer": (lambda: get("math"), Declared(None)),
    "form alone, and no truth to be sure of": (
        lambda: made(weighted, {"length": 0.5, "tag_count": 0.5}),
        Declared(1.0, True, None),
    ),
    "truth and form: any wrong answer may have the form": (
        lambda: made(weighted, {"math": 0.8, "think_format": 0.2}),
        Declared(0.2, True, 0.8),
    ),
    "truth and truth: nobody is paid for form": (
        lambda: made(weighted, {"math": 0.8, "exact_match": 0.2}, outranks=False),
        Declared(0.8, False, 1.0),
    ),
    "a penalty leaves a right answer less": (
        lambda: made(weighted, {"math": 1.0, "overlong": 0.5}),
        Declared(0.0, True, 0.5),
    ),
    "form inside of a part": (
        lambda: made(
            weighted,
            {"inner": (made(weighted, {"math": 0.8, "length": 0.2}), 0.5), "gsm8k": 0.5},
            outranks=False,
        ),
        Declared(0.6, True, 0.9),
    ),
    "a part cut short": (lambda: clipped("math", 0.0, 0.5, name="made"), Declared(0.0, False, 0.5)),
    "one after another": (
        lambda: cascade("exact_match", "math", name="made"),
        Declared(0.0, False, 1.0),
    ),
    "the truth opens the gate to form": (
        lambda: gated("math", "think_format", name="made", minimum=-1.0),
        Declared(-1.0, True, 0.0),
    ),
}


@pytest.mark.parametrize("why", DECLARED)
def test_what_a_reward_declares(why):
    reward, expected = DECLARED[why]
    found = declared_by(reward())
    assert found.form == expected.form
    assert (found.undeserved, found.sure) == pytest.approx((expected.undeserved, expected.sure))


def test_a_right_answer_in_another_layout_may_lack_what_form_is_worth_and_no_more():
    earned = earnings((0.0, 1.0), declared=Declared(0.2, form=True, sure=0.8))
    assert earned.least(own=True) == pytest.approx(0.99)
    assert earned.least(own=False) == pytest.approx(0.792)
    assert earned.most(credit=False) == earned.most(credit=True) == pytest.approx(0.22)


def test_without_a_composite_any_layout_must_earn_all_and_a_spray_nothing():
    earned = earnings((0.0, 1.0), declared=Declared(0.2))
    assert earned.least(own=True) == earned.least(own=False) == pytest.approx(0.99)
    assert earned.most(credit=False) == pytest.approx(0.02)


def test_answers_to_one_prompt_stand_in_batches_of_their_own_where_a_reward_compares_them():
    cases = [ReplayCase(f"row {at}", sample(prompt=f"{at}?", id=str(at)), "r") for at in range(3)]
    answers = AnswerClass("EX-WRONG", "wrong", "nothing", lambda *_: ["a", "b"])
    batches = []

    def ranked(samples):
        batches.append([each.prompt for each in samples])
        return [Scored(each.id, Score(0.0)) for each in samples]

    tried(answers, Corpus(cases), ranked, together=True)
    assert batches == [["0?", "1?", "2?"]] * 2


def words_right(sample):
    """The share of the reference's words that the response has."""
    words = str(sample.reference).split()
    return sum(word in sample.response.split() for word in words) / len(words)


def all_but_one(sample):
    return 1 - 1 / len(str(sample.reference).split())


@pytest.mark.parametrize(
    ("credit", "paid"),
    [
        (all_but_one, set()),
        (lambda _: 0.0, {0, 1}),
        (lambda _: 0.5, {1}),
        # One that has no room of its own is held below the maximum.
        (lambda _: 7.0, set()),
    ],
    ids=["what one word less earns", "none", "that of the shorter row", "too much"],
)
def test_a_near_miss_may_earn_what_its_own_row_allows(credit, paid):
    spec = reward_function(name="words", partial_credit=credit)(words_right)
    rows = [sample("", "one two"), sample("", "one two three four")]
    cases = [ReplayCase(str(at), row, row.reference, "") for at, row in enumerate(rows)]
    nearly = AnswerClass(
        "EX-PART", "a part", "credit", lambda case, _: [case.right.rpartition(" ")[0]]
    )
    corpus = Corpus(cases)
    fared = tried(nearly, corpus, lambda samples: [Scored(each.id, spec(each)) for each in samples])
    earned = earnings(spec.scale, declared=declared_by(spec))
    assert judged(fared, corpus, earned, lambda _: "").wrong == paid


def test_a_credit_by_the_row_leaves_a_composite_room_to_outrank():
    spec = reward_function(name="words", partial_credit=all_but_one)(words_right)
    assert spec.most_undeserved == 1 - CLOSEST
    assert spec.credit(sample("", "one two three four")) == 0.75
    assert made(weighted, {"words": (spec, 1.0)}).partial_credit == pytest.approx(1 - CLOSEST)
