"""Sentences that state one value, and those that state none or several."""

import pytest

from reward_functions.extraction.candidates.derivations import last_of
from reward_functions.extraction.candidates.other_languages import value_elsewhere, value_in_chinese
from reward_functions.extraction.candidates.predicates import sentence_value
from reward_functions.extraction.cues.matching import cue_after
from reward_functions.extraction.json_answer import with_json_answer

KILOGRAMS = r"5\text{ kg}"


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("The total is 5", "5"),
        ("(1, 2) = 5", "(1, 2) = 5"),
        ("If it rains, the total is 5", ""),
        # About anything of its kind, about what is not said, about several.
        ("A triangle has 3 sides", ""),
        ("A number is 5", ""),
        ("Some sum is 7", ""),
        ("It is 5 that we want", ""),
        ("3, 4 and 5 = 12", ""),
        ("x = 3, y = 4", ""),
        ("1, 2 and 3 = x", ""),
    ],
)
def test_a_sentence_states_the_value_of_what_it_is_about(sentence, value):
    assert sentence_value(sentence) == value


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        # of 5 kg of apples it is the kilogram that counts
        ("Hay 5 kg de manzanas en total", KILOGRAMS),
        ("La somme est de 5 kg de pommes", KILOGRAMS),
        ("Insgesamt sind es 5 kg von Äpfeln", KILOGRAMS),
        ("合計は5個です", "5個"),
        ("모두 5개", "5개"),
        ("답은 5개", ""),
        ("아마 5개입니다", ""),
        ("りんごは5と6", ""),
    ],
)
def test_a_sentence_in_another_language_does(sentence, value):
    assert value_elsewhere(sentence) == value


@pytest.mark.parametrize(
    ("sentence", "prompt", "value"),
    [
        ("所以一共是5个苹果", "", "5个苹果"),
        ("结果是5", "", "5"),
        ("小明有5个", "小明有几个苹果？", "5个"),
        ("面积是5", "面积是多少？", "5"),
        # Not asked for, doubted, about the answer, in no Chinese.
        ("小明有5个", "", ""),
        ("可能面积是5", "面积是多少？", ""),
        ("答案是5", "", ""),
        ("total 5", "", ""),
    ],
)
def test_a_chinese_sentence_does(sentence, prompt, value):
    assert value_in_chinese(sentence, prompt) == value


@pytest.mark.parametrize(
    ("prose", "last"),
    [
        ("We have 2. So 7.", "So 7"),
        ("By fig. 2 it is 7", "By fig. 2 it is 7"),
        ("He has approx. 7 eggs.", "He has approx. 7 eggs"),
        ("Total: 7", "7"),
    ],
)
def test_a_short_form_ends_no_sentence(prose, last):
    assert last_of(prose) == last


@pytest.mark.parametrize(
    ("behind", "cue"),
    [
        (") or 0.5 is wrong", "is denied"),
        (")) plus 3", "is only a part of the value"),
        (")", ""),
    ],
)
def test_closing_brackets_stand_between_an_answer_and_the_words_about_it(behind, cue):
    assert cue_after(f"(5{behind}", 2) == cue


@pytest.mark.parametrize(
    ("answer", "text"),
    [("true", "true"), ("[true, false]", "[true, false]"), ('"x"', "x")],
)
def test_an_answer_in_an_object_is_read_as_text(answer, text):
    assert with_json_answer(f'{{"answer": {answer}}}') == f"<answer>{text}</answer>"
