"""Cases with labels: two kinds, and what is wrong with a line in one sentence."""

from hashlib import sha256

import pytest

from reward_functions.core.spec import Scale
from reward_functions.data.json_rows import BadInput


def pair(id="a", label=1, **fields):
    texts = {"instruction": "Say hello.", "response1": "Hello!", "response2": "No."}
    return {"id": id, **texts, "label": label, **fields}


def graded(id="a", label=1, response="4", **fields):
    turns = [
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": response},
    ]
    return {"id": id, "messages": turns, "reference_answer": "4", "label": label, **fields}


def test_a_pair_is_its_prompt_and_two_responses(read):
    cases = read(pair(input="To Ada."), pair("b", 2), pair("c", 0))
    first = cases.items[0]
    assert first.sample.prompt == "Say hello.\n\nTo Ada."
    assert (first.sample.response, first.second_response) == ("Hello!", "No.")
    assert [case.label for case in cases.items] == [1.0, 0.0, 0.5]
    assert [cases.labels.name(label) for label in cases.classes] == ["second", "tie", "first"]


def test_a_pair_may_have_a_conversation_for_its_prompt(read):
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    bare = {key: value for key, value in pair(messages=turns).items() if key != "instruction"}
    cases = read(bare, pair("b", 2))
    assert [turn.content for turn in cases.items[0].sample.context] == ["Be brief.", "Hi"]
    assert cases.items[0].sample.response == "Hello!"


def test_grades_are_on_the_judges_scale(read):
    cases = read(graded(label=1), graded("b", 5), graded("c", 3), scale=Scale(1, 5))
    assert [case.label for case in cases.items] == [0.0, 1.0, 0.5]
    assert [cases.labels.name(label) for label in cases.classes] == ["1", "3", "5"]


def test_true_and_false_are_the_ends_of_any_scale(read):
    cases = read(graded(label=True), graded("b", False), scale=Scale(-1, 5))
    assert [case.label for case in cases.items] == [1.0, 0.0]


def test_no_judge_is_shown_what_people_said(read):
    cases = read(graded(votes=[1, 1, 0], source="ours"), graded("b", 0, votes=[0, 0, 0]))
    assert cases.items[0].sample.metadata == {"source": "ours"}


def test_most_votes_are_the_label_where_there_is_none(read):
    cases = read(pair(label=None, votes=[2, 2, 1]), pair("b", 1, votes=[1, 1, 1]))
    assert cases.items[0].label == 0.0


@pytest.mark.parametrize(
    ("value", "label"), [(0.0, 0.0), (0.24, 0.0), (0.25, 0.0), (0.26, 0.5), (0.9, 1.0)]
)
def test_a_score_is_of_the_nearest_class_and_of_the_worse_of_two(read, value, label):
    assert read(pair(), pair("b", 2)).nearest(value) == label


def test_the_same_cases_have_the_same_hash_and_others_another(read):
    first = read(pair(), pair("b", 2)).digest
    assert read(pair(note="x"), pair("b", 2)).digest == first
    assert read(pair(label=0), pair("b", 2)).digest != first
    assert read(pair(response2="Go."), pair("b", 2)).digest != first


UNUSABLE = [
    ([], "holds no cases"),
    ([pair(label=None), pair("b", 2)], "line 1: the case has no label: no 'label', and no votes"),
    ([pair(), pair("b", 3)], "line 2: the label is 3, not 1, 2 or 0 for a tie"),
    ([pair(), pair("b", True)], "line 2: the label is True, not 1, 2 or 0 for a tie"),
    ([pair(), pair("b", "1")], "line 2: the label is a str, not 1, 2 or 0 for a tie"),
    ([graded(), graded("b", 1.5)], "line 2: the label is 1.5, not a number from 0 to 1"),
    ([graded(), graded("b", "good")], "line 2: the label is a str, not a number from 0 to 1"),
    ([pair(), pair("a", 2)], "line 2: the id 'a' comes twice"),
    ([pair(id=None), pair("b", 2)], "line 1: the case has no id"),
    ([pair(id=" "), pair("b", 2)], "line 1: the case has no id"),
    ([pair(), graded("b", 0)], "line 2: pairs and graded responses stand in files of their own"),
    ([pair(), pair("b", 2, response2=None)], "line 2: response2 is missing, not a string"),
    ([pair(), pair("b", 2, response1=7)], "line 2: response1 is 7, not a string"),
    ([pair(), pair("b", 2, instruction=" ")], "line 2: the pair has no prompt"),
    ([graded(messages="hi"), graded("b", 0)], "line 1: messages is a string"),
    ([pair(votes=1), pair("b", 2)], "line 1: votes are a list of labels"),
    ([pair(votes=[1, 4]), pair("b", 2)], "line 1: a vote is 4, not 1, 2 or 0 for a tie"),
    ([pair(votes=[1]), pair("b", 2)], "line 2: 0 votes, where"),
    ([pair(label=None, votes=[1, 2])], "the votes no majority"),
    ([pair(), pair("b", 1)], "all labels are the same"),
    ([graded(str(at), at / 20) for at in range(20)], "20 different labels; at most 11"),
]


@pytest.mark.parametrize(("rows", "problem"), UNUSABLE, ids=[said for _, said in UNUSABLE])
def test_what_cannot_be_used_is_said_in_one_sentence(read, rows, problem):
    with pytest.raises(BadInput) as caught:
        read(*rows)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_votes_do_not_stand_in_for_a_label_that_is_misspelt(read):
    rows = [pair(votes=[1, 1]), pair("b", 2, votes=[2, 2])]
    with pytest.raises(BadInput, match="no row has the label 'lable'"):
        read(*rows, label="lable")
    named = [{**row, "gold": 1} for row in rows[:1]] + rows[1:]
    assert [case.label for case in read(*named, label="gold").items] == [1.0, 0.0]


@pytest.mark.parametrize("grade", [float("nan"), float("inf"), -0.1, 1.1])
def test_no_number_outside_the_scale_is_a_grade(read, grade):
    with pytest.raises(BadInput, match="not a number from 0 to 1"):
        read(graded(), graded("b", grade))


def test_the_digest_is_that_of_the_whole_list(read):
    """A ledger of an earlier version goes on: its name holds the digest."""
    for some in ([pair(), pair("b", 2)], [pair(f"{at}", at % 3) for at in range(9)]):
        found = read(*some)
        content = [
            (case.id, case.sample, case.second_response, case.label, case.votes)
            for case in found.items
        ]
        whole = repr(content).encode("utf-8", "replace")
        assert found.digest == sha256(whole).hexdigest()


ALIKE = {
    # how two prompts differ: whether they are one prompt
    "a space": (("What is 1+1?", "What is 1 + 1? "), True),
    "capitals": (("What is 1+1?", "WHAT IS 1+1?"), True),
    "punctuation": (("What is 1+1?", "What is 1+1."), True),
    "a number": (("What is 1+1?", "What is 1+2?"), False),
    "a sign": (("What is 1+1?", "What is 1-1?"), False),
    "signs alone": (("😀", "😡"), False),
}


@pytest.mark.parametrize("case", ALIKE)
@pytest.mark.parametrize("make", ["a pair", "a conversation"])
def test_prompts_are_told_apart_as_duplicates_of_a_data_set_are(read, case, make):
    (one, other), same = ALIKE[case]

    def asked(id, prompt, label):
        if make == "a pair":
            return pair(id, label, instruction=prompt, input="")
        return pair(id, label, instruction=None) | {
            "messages": [{"role": "user", "content": prompt}, {"role": "assistant", "content": "x"}]
        }

    first, second = read(asked("a", one, 1), asked("b", other, 2)).items
    assert (first.prompt == second.prompt) is same
    assert first.question != second.question
