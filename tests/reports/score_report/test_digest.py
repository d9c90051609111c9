"""The facts of a row: what a digest keeps of it, and by what rows of one prompt are known."""

import pytest

from reward_functions import Message, Sample, get, sample
from reward_functions.core.errors import BadReference, BadSample
from reward_functions.core.spec import Scale
from reward_functions.core.types import Score, Scored, Unscored
from reward_functions.reports.measured import Measured
from reward_functions.reports.score_report.digest import (
    CUT,
    EMPTY,
    NO_SAMPLE,
    UNASKED,
    Digest,
    RowFacts,
    facts_of,
)
from reward_functions.reports.score_report.reasons import DATA

GSM8K = get("gsm8k")


def facts(of, score=1.0):
    return facts_of(GSM8K, of, Scored(of.id, Score(score, reason="it is 42 and not 7; more")))


def turns(*messages):
    return Sample(id="a", messages=tuple(Message(*each) for each in messages))


PROMPTS = [
    turns(("user", "3 + 4?"), ("assistant", "7")),
    turns(("user", "3 + 5?"), ("assistant", "7")),
    turns(("system", "3 + 4?"), ("assistant", "7")),
    turns(("system", ""), ("user", "3 + 4?"), ("assistant", "7")),
    turns(("user", "3 +"), ("user", " 4?"), ("assistant", "7")),
    turns(("user", "\ud800"), ("assistant", "7")),
]


def test_each_prompt_has_a_number_of_its_own_of_64_bits():
    numbers = [facts(each).prompt for each in PROMPTS]
    assert len(set(numbers)) == len(numbers)
    assert all(0 < each < 1 << 64 for each in numbers)
    assert max(numbers) > 1 << 60
    other = turns(("user", "3 + 4?"), ("assistant", "another answer"))
    assert facts(other).prompt == numbers[0]


@pytest.mark.parametrize("given", [[], [("user", "")], [("system", ""), ("user", "")]])
def test_messages_without_a_word_are_no_prompt(given):
    assert facts(turns(*given, ("assistant", "7"))).prompt == 0


@pytest.mark.parametrize(
    ("response", "value", "signs"),
    [
        ("7", 0.0, 0),
        ("", 0.0, EMPTY),
        (" \n", 0.5, EMPTY),
        ("<think>so", 0.0, CUT),
        ("<think>so", 0.5, 0),
    ],
)
def test_the_signs_of_a_response(response, value, signs):
    found = facts(sample(response, "7", prompt="p"), value)
    assert (found.value, found.length, found.signs) == (value, len(response), signs)


def test_a_row_without_a_score_has_its_error():
    error = BadReference("the reference 'x' is not 7 numbers")
    found = facts_of(GSM8K, sample("7", "x", prompt="p"), Unscored("", error))
    assert (found.value, found.length, found.error[:3]) == (
        None,
        1,
        ("BadReference", "", "the data set"),
    )
    assert found.prompt == facts(sample("8", prompt="p")).prompt
    broken = Unscored("a", BadSample("messages is null"))
    found = facts_of(GSM8K, broken, broken)
    assert found[:1] + found[2:5] == (None, 0, 0, NO_SAMPLE)
    nameless = facts_of(GSM8K, sample("7"), Unscored("", KeyError()))
    assert (nameless.reason, nameless.error[0]) == ("KeyError", "KeyError")
    assert isinstance(nameless, RowFacts)


OURS = ("DeadlineReached", "", "the function", "wait")
THEIRS = ("BadSample", "", DATA, "write an id")

COUNTED = [
    ("a", RowFacts(0.0, "low", 1, 2, EMPTY), ""),
    ("b", RowFacts(1.0, "right", 1, 2, UNASKED), ""),
    ("a", RowFacts(0.5, "low", 0, 2, 0), ""),
    ("a", RowFacts(0.0, "other", 0, 2, CUT), ""),
    ("c", RowFacts(None, "no id", 0, 0, NO_SAMPLE, THEIRS), "no id"),
    ("d", RowFacts(None, "late", 2, 4, 0, OURS), "late"),
    ("e", RowFacts(None, "late", 2, 4, 0, OURS), "late"),
]


def test_a_digest_counts_rows_prompts_ids_and_errors():
    found = Digest("any", Scale(0.0, 1.0))
    for row in COUNTED:
        found.add(*row)
    assert (len(found), found.unscored, found.repeated_ids()) == (7, 3, 2)
    assert found.prompts([0, 1]) == 1
    assert found.prompts([0, 1, 2, 3]) == 3
    assert found.prompts([2]) == 1
    assert found.prompts([]) == 0
    assert [*found.scored] == [0.0, 1.0, 0.5, 0.0]
    assert found.kinds() == [("DeadlineReached", 2), ("BadSample", 1)]
    assert [(each.title, each.rows, each.data) for each in found.errors()] == [
        ("DeadlineReached", 2, False),
        ("BadSample", 1, True),
    ]
    assert found.measured == Measured("rows", 3, 3, 1)
    assert [(each.reason, each.rows, each.low) for each in found.reasons()] == [
        ("low", 2, 1),
        ("other", 1, 1),
        ("right", 1, 0),
    ]
    again = Digest("any", Scale(0.0, 1.0))
    again.take_tallies(found.tallies())
    assert again.tallies() == found.tallies()
    assert found.forget_ours() == {"DeadlineReached"}
    assert (found.unscored, found.kinds()) == (1, [("BadSample", 1)])


def test_where_every_row_has_a_score_all_are_measured():
    found = Digest("any", Scale(0.0, 1.0))
    for row in COUNTED[:4]:
        found.add(*row)
    assert found.measured == Measured("rows", 4)
