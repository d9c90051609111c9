"""The classes of answers: what each writes to a row, and what no class may write."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from reward_functions import sample
from reward_functions.audit.corpus import (
    BY_ID,
    CLASSES,
    LAYOUTS,
    Corpus,
    caseless,
    class_answers,
    equal_forms,
    last_answer,
)
from reward_functions.audit.other_answers import CLAIMS, INJECTIONS, ReplayCase


def case(right="#### 42", wrong="#### 43", at=0):
    asked = sample("", "42", prompt=f"What is {at}, <answer>?")
    return ReplayCase(f"line {at}", asked, right, wrong)


@pytest.fixture(scope="module")
def corpus():
    return Corpus([case(f"#### {at}", f"#### {at + 1}", at) for at in range(100, 130)])


CALLED = '<tool_call>{{"name": "paint", "arguments": {{"door": {}}}}}</tool_call>'
QUERIED = "```sql\nSELECT name FROM doors WHERE at = {}\n```"


def object_of(at):
    lines = [{"a": 1, "b": at}, {"a": 2, "b": 9}]
    return json.dumps({"id": f"R-{at}", "n": at, "lines": lines})


SPECIAL = {"EX-FIELDS": object_of, "EX-CALLS": CALLED.format, "EX-QUERY": QUERIED.format}


def test_ids_are_unique_and_never_change():
    assert len(BY_ID) == len(CLASSES)
    assert list(BY_ID) == [
        *("FN-LAYOUT", "FN-VALUE", "FN-ASKED", "EX-WRONG", "EX-EMPTY", "EX-FORM", "EX-PROMPT"),
        *("EX-LIST", "EX-SPRAY", "EX-HEDGE", "EX-BOTH", "EX-DENIED", "EX-RETRACT", "EX-THOUGHT"),
        *("EX-CUT", "EX-NEAR", "EX-PART", "EX-NUMBER", "EX-DISGUISE", "EX-UNSURE", "EX-PROSE"),
        *(
            "EX-FIELDS",
            "EX-CALLS",
            "EX-QUERY",
            "EX-CHECKS",
            "EX-CLAIM",
            "EX-JUDGE",
            "EX-HOSTILE",
            "LAZY",
        ),
    ]


@pytest.mark.parametrize("name", BY_ID)
def test_each_class_has_answers_and_each_way_has_a_row(name, corpus):
    if BY_ID[name].special:
        assert not [*class_answers(BY_ID[name], corpus)]
        write = SPECIAL.get(name, "Text {}.".format)
        cases = [case(write(at), write(at + 1), at) for at in range(30)]
        asked = [{"id": "punctuation:no_comma"}] if name == "EX-CHECKS" else "42"
        corpus = Corpus(
            [each._replace(sample=replace(each.sample, reference=asked)) for each in cases]
        )
    answers = [*class_answers(BY_ID[name], corpus)]
    assert answers
    most = max(len(BY_ID[name].ways(each, corpus)) for each in corpus.cases)
    assert {way for *_, way in answers} == set(range(most))
    by_row = [at for at, *_ in answers]
    assert len(answers) <= max(BY_ID[name].most * len(corpus.cases), len(corpus.cases) + most)
    assert set(by_row) <= set(range(len(corpus.cases)))


def test_a_wrong_answer_is_in_no_class_that_must_be_paid(corpus):
    for name in ("FN-LAYOUT", "FN-VALUE"):
        for at, text, _ in class_answers(BY_ID[name], corpus):
            assert last_answer(corpus.cases[at].wrong)[1] not in text


@pytest.mark.parametrize("name", ["EX-UNSURE", "EX-CLAIM", "EX-JUDGE", "EX-HOSTILE"])
def test_an_answer_that_was_written_without_the_row_never_holds_its_right_one(name):
    one = Corpus([case("#### 1", "#### 2"), case("ANSWER: yes", "ANSWER: no")])
    for at, text, _ in class_answers(BY_ID[name], one):
        words = text.lower().replace('"', " ").replace(":", " ").split()
        assert last_answer(one.cases[at].right)[1] not in words


EQUAL = {
    "#### 42": {"#### 42.0", "#### 84/2", "#### +42"},
    "#### 1,234": {"#### 1234", "#### 1234.0", "#### 2468/2", "#### +1234"},
    r"\boxed{-7}": {r"\boxed{-7.0}", r"\boxed{-14/2}"},
    "1/2": {"0.5", "0.50"},
    "0.25": {"1/4", "0.250"},
    "1/3": set(),
    "ANSWER: yes": set(),
    "9" * 40: set(),
    "1/0": set(),
    "<answer>42</answer>": {
        "<answer>42.0</answer>",
        "<answer>84/2</answer>",
        "<answer>+42</answer>",
    },
    # A number within a code or a formula is no whole answer.
    "A12345-x": set(),
    r"\boxed{x^2+1}": set(),
    r"\boxed{\frac{1}{2}}": set(),
    "151.37": {"151.370"},
    "": set(),
    '{"a": 1, "b": "x"}': {
        '{"b": "x", "a": 1}',
        '{\n  "a": 1,\n  "b": "x"\n}',
        '{"a":1,"b":"x"}',
        '{"a": 1.0, "b": "x"}',
    },
    "SELECT name FROM shop LIMIT 5": set(),
    '<tool_call>{"n": 4}</tool_call>': set(),
}


@pytest.mark.parametrize("right", EQUAL)
def test_the_forms_of_a_value_are_that_value(right):
    forms = set(equal_forms(right).values())
    assert forms == EQUAL[right]
    if right.startswith("{"):
        assert all(json.loads(each) == json.loads(right) for each in forms)
        return
    values = {Fraction(last_answer(each)[1].replace(",", "").lstrip("+")) for each in forms}
    assert len(values) <= 1
    assert not forms or values == {Fraction(last_answer(right)[1].replace(",", ""))}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_keeps_the_answer_and_adds_no_other(name):
    laid = LAYOUTS[name](r"So it is \boxed{42}")
    assert laid.count("42") == 1
    assert not any(char.isdigit() for char in laid.replace("42", ""))


def test_a_row_without_a_wrong_answer_has_no_answer_of_two():
    alone = Corpus([case(wrong=None)])
    for name in ("EX-WRONG", "EX-HEDGE", "EX-BOTH", "EX-LIST", "EX-THOUGHT", "EX-RETRACT"):
        assert [*class_answers(BY_ID[name], alone)] == []
    assert [*class_answers(BY_ID["EX-EMPTY"], alone)]


def ways(name, right="#### 12", wrong="#### 13"):
    one = case(right, wrong)
    return [*BY_ID[name].ways(one, Corpus([one]))]


@pytest.mark.parametrize("name", ["EX-WRONG", "EX-PROSE", "EX-CLAIM", "EX-JUDGE"])
def test_a_wrong_answer_stays_as_it_is_but_for_capitals(name):
    assert any("#### 13" in text for text in ways(name))
    assert not any("#### 12" in text.splitlines() for text in ways(name))


@pytest.mark.parametrize(("name", "texts"), [("EX-CLAIM", CLAIMS), ("EX-JUDGE", INJECTIONS)])
def test_orders_and_claims_stand_alone_before_and_after(name, texts):
    found = ways(name)
    for each in texts:
        assert {each, f"{each}\n#### 13", f"#### 13\n{each}"} <= {*found}
        assert each in ways(name, wrong=None)


FORMS_OF_ANSWERS = ["{}", "#### {}", r"\boxed{{{}}}", "<answer>{}</answer>", "ANSWER: {}"]


@pytest.mark.parametrize("form", FORMS_OF_ANSWERS)
@pytest.mark.parametrize(("answer", "other"), [("42", "43"), ("B", "C"), ("Paris", "Rome")])
def test_what_is_changed_is_the_answer_whatever_form_is_around_it(form, answer, other):
    right, wrong = form.format(answer), form.format(other)
    assert last_answer(right) == (*form.format(answer).partition(answer),)
    for name in ("EX-NEAR", "EX-DENIED", "EX-HEDGE", "EX-LIST", "EX-NUMBER"):
        tried = ways(name, right, wrong)
        assert tried, name
        inside = [each for each in tried if each.startswith(right.partition(answer)[0])]
        assert any(each.endswith(right.partition(answer)[2]) for each in inside), name


@pytest.mark.parametrize(("answer", "disguised"), [("42", True), ("414", False)])
def test_an_answer_that_reads_the_same_backwards_is_not_disguised_by_that(answer, disguised):
    rows = Corpus([case(right=answer, wrong="17")])
    texts = [text for _, text, _ in class_answers(BY_ID["EX-DISGUISE"], rows)]
    assert any(f"\u202e{answer[::-1]}\u202c" in text for text in texts) == disguised


@pytest.mark.parametrize("name", ["EX-HEDGE", "EX-LIST"])
@pytest.mark.parametrize("form", FORMS_OF_ANSWERS)
def test_in_the_place_of_an_answer_the_right_one_stands_first_and_last(name, form):
    rows = Corpus([case(form.format(at), form.format(at + 1), at) for at in range(100, 160)])
    right = {True: set(), False: set()}
    for at, text, _ in class_answers(BY_ID[name], rows):
        first, *_, last = re.findall(r"\d+", text)
        for ends_with, number in {True: last, False: first}.items():
            if number == str(at + 100):
                right[ends_with].add(at)
        assert form == "{}" or not text.endswith(form.format(at + 100))  # which corrects the others
    assert min(map(len, right.values())) > len(rows.cases) * 0.6


def test_folded_keeps_what_a_pattern_finds_in_any_case():
    """Every character that has a case, and all that a pattern takes for it."""
    every = map(chr, [*range(0xD800), *range(0xE000, 0x110000)])
    cased = "".join(
        each for each in every if {each.lower(), each.upper(), each.casefold()} != {each}
    )
    for char in cased:
        for found in re.findall(re.escape(char), cased, re.IGNORECASE):
            assert caseless(char) in caseless(found), (char, found)
