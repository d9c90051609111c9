"""The final answer is found where the rules say, or not at all, in linear work."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.candidates.math_spans import last_span
from reward_functions.extraction.candidates.statements import LOOK, last_hash_marker
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.extraction.selection import final_answer, hash_answer
from reward_functions.extraction.visible import MIN_ECHO, visible_response

TABLE = Path(__file__).parents[1] / "cases" / "answers.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()]


def answer_of(response, prompt=""):
    return final_answer(visible_response(response, prompt))


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["response"])[:48] for case in CASES])
def test_table(case):
    found = answer_of(case["response"], case.get("prompt", ""))
    if case["answer"] is None:
        assert isinstance(found, NoAnswer)
    else:
        assert isinstance(found, Answer), found
        assert (found.text, case["where"] in found.where) == (case["answer"], True)


def test_a_statement_behind_the_last_box_is_handed_to_the_caller():
    assert answer_of("\\boxed{5}. So the answer is 6.").conflicting_answer == "6"
    assert answer_of("The answer is 6: \\boxed{5}.").conflicting_answer == ""


def test_the_last_marker_of_gsm8k_wins():
    assert hash_answer("#### 5\n#### 6").text == "6"
    assert hash_answer("#### 6\nP.S. 5").text == "6"
    assert hash_answer("no marker") is None
    assert hash_answer("####\n5").text == "5"
    assert isinstance(hash_answer("####\nthen 5"), NoAnswer)


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("5", "hash_marker", "5"),
        ("**5**", "hash_marker", "5"),
        ("x = 5", "hash_marker", "x = 5"),
        ("The answer is 5", "statement", "5"),
        ("Answer: 5", "statement", "5"),
        ("answer 5", "hash_marker", "answer 5"),
        ("5 (the answer)", "hash_marker", "5 (the answer)"),
    ],
)
def test_words_behind_a_marker_that_state_the_answer_are_no_part_of_it(line, kind, text):
    found = hash_answer(f"work\n#### {line}")
    assert (found.kind, found.text) == (kind, text)


@pytest.mark.parametrize("number", ["5000", "5", "1,234.50", "$12", r"\frac{1}{2}", "-7%"])
def test_a_number_below_a_marker_is_read_whole_or_not_at_all(number):
    found = {}
    for blanks in (1, *range(LOOK - 12, LOOK + 2)):
        for rest in ("", "\n", "\n\nP.S. 6"):
            answer = hash_answer("####" + "\n" * blanks + number + rest)
            found[answer.text if isinstance(answer, Answer) else ""] = blanks, rest
    assert found.keys() == {"", number}
    assert found[number] == (LOOK - len(number), "")


COMPLETE = [
    ("We add.\nIt is 5 apples.", "5 apples"),
    ("We add.\nIt is 5 apples!", "5 apples"),
    ("We add.\nIt is **5 apples.**", "5 apples"),
    ("We add.\nThe total is 12。", "12"),
    ("We add.\nThe total is 12।", "12"),
    ("2+10=12\nThe total is 12", "12"),
    ("The total is 12", "12"),
    ("We add.\n\nSo there are 7 dogs in all.\n", "7 dogs"),
]
BROKEN_OFF = [
    "It is 5 apples",
    "It is 5 apples;",
    "The total is 12,",
    "There are 7 dogs and",
    "12 is",
]


@pytest.mark.parametrize(("response", "answer"), COMPLETE)
def test_a_last_sentence_is_read_where_it_is_complete(response, answer):
    assert answer_of(response).text == answer


@pytest.mark.parametrize("sentence", BROKEN_OFF)
def test_a_last_line_that_breaks_off_is_no_answer(sentence):
    assert isinstance(answer_of(f"We add.\n{sentence}"), NoAnswer)


@pytest.mark.parametrize("items", [1, 2, 3, 11, 12, 13])
@pytest.mark.parametrize("mark", [". ", ") "])
def test_a_numbered_list_is_one_answer_where_it_has_one_item(items, mark):
    lines = [f"{at}{mark}{7 * at}" for at in range(1, items + 1)]
    found = answer_of("Answer:\n" + "\n".join(lines))
    assert (found.text == "7") if items == 1 else (found.rule == "several")


def test_an_item_behind_a_tab_ends_a_list_of_several():
    assert answer_of("Answer:\n1. 7\n2. 8\n3.\t9").rule == "several"


BELOW = ["####\n5", "####\n\n  5", "#### Answer\n5", "####\n5\n\nP.S. 6", "So.\n####\n 1,234 \n"]


@pytest.mark.parametrize("text", BELOW)
def test_a_number_below_a_marker_ends_where_its_line_does(text):
    found = last_hash_marker(text)
    assert text[: found.end].rstrip().endswith(found.text)
    assert not text[found.end :].split("\n")[0].strip()


def test_reasoning_is_searched_when_asked():
    text = "<think>\\boxed{4}</think>"
    assert isinstance(final_answer(visible_response(text)), NoAnswer)
    assert final_answer(visible_response(text, include_reasoning=True)).text == "4"


@pytest.mark.parametrize("decoys", [1, 10, 500])
def test_the_final_box_survives_a_flood_of_earlier_ones(decoys):
    flood = " and then ".join(f"\\boxed{{{n}}}" for n in range(decoys))
    assert answer_of(f"{flood} so it is \\boxed{{77}}").text == "77"


def test_a_run_of_every_candidate_is_one_long_list():
    flood = ", ".join(f"\\boxed{{{n}}}" for n in range(100))
    assert answer_of(flood).text.count(",") == 99


@given(st.text(), st.text())
def test_nothing_raises(response, prompt):
    assert isinstance(answer_of(response, prompt), Answer | NoAnswer)


pieces = st.lists(
    st.sampled_from(
        [
            "\\boxed{",
            "}",
            "{",
            "$",
            "$$",
            "\\[",
            "\\]",
            "\\(",
            "\\)",
            "####",
            "answer",
            " is ",
            ": ",
            "<think>",
            "</think>",
            "~~",
            "<!--",
            "-->",
            "\\phantom{",
            "\\cancel{",
            "\n",
            " ",
            ".",
            "5",
            "-",
            "not",
            "or",
            ",",
            "\\",
            "<answer>",
            "</answer>",
            "<|channel|>",
            "final<|message|>",
        ]
    ),
    max_size=40,
)


@given(pieces)
def test_nothing_raises_near_the_grammar(tokens):
    assert isinstance(answer_of("".join(tokens)), Answer | NoAnswer)


@given(st.text(alphabet=st.characters(exclude_characters="<|"), max_size=50), st.integers(0, 99))
def test_thoughts_never_count(thought, value):
    hidden = f"<think>{thought}\\boxed{{{value}}} #### {value}</think>"
    assert isinstance(answer_of(hidden), NoAnswer)
    assert without_reasoning(hidden + "spoken") == "spoken"


@given(st.integers(), st.text(alphabet="abc .\n", max_size=40))
def test_white_space_and_chatter_before_a_box_change_nothing(value, chatter):
    assert answer_of(f"{chatter}\\boxed{{ {value} }}").text == str(value)


@pytest.mark.parametrize(
    "bait",
    [
        "{" * 100_000,
        "\\boxed{" * 50_000,
        "\\phantom{" * 50_000,
        "$" * 100_000,
        "\\(" * 50_000,
        "the answer is " * 20_000,
        "answer to " * 20_000,
        "#" * 100_000,
        "#### " * 50_000,
        "<think>" * 50_000,
        "</think>" * 50_000,
        "~~a" * 50_000,
        "\\boxed{1}," * 20_000,
        "1," * 50_000,
        " " * 500_000,
        "\u200b" * 100_000,
        "\0" * 100_000,
        "\ud800" * 10_000,
        "<|channel|>final" * 20_000,
        "if " * 50_000 + "the answer is 5",
        "*" * 100_000 + "answer",
        "\\boxed{5}" + " " * 200_000 + "x",
        "\\boxed{5} or" * 20_000,
        "\\boxed{5}" + ", maybe" * 50_000,
        "at least " * 50_000 + "\\boxed{5}",
        "(3," * 50_000 + "\\boxed{5}",
        "\\boxed{5}" + "." * 100_000 + "wait",
        "so 5 is the answer " * 20_000,
        "if the answer would be 5 " * 20_000,
        "\\newcommand{\\a}{" * 20_000,
        "{\\color{white}" * 20_000,
        "<span " * 50_000,
        "\\boxed{5} or" + " " * 200_000,
        "\\boxed{5}; 5" + " " * 200_000,
        "\\boxed{5} wait, it" + " " * 200_000,
    ],
    ids=lambda bait: ascii(bait[:16]),
)
def test_baits_come_back(bait):
    assert isinstance(answer_of(bait), Answer | NoAnswer)


@pytest.mark.parametrize(
    ("prompt", "seen"),
    [
        ("Is it \\boxed{77}?", ""),
        ("Is it \\boxed{7}?", ""),
        ("Is \\boxed{7} it?", ""),
        ("It is \\boxed{77}", ""),
        ("It is\\boxed{77}", "It is\\boxed{77}"),
        ("It is\\boxed{7}", "It is\\boxed{7}"),
        ("\\boxed{7}", "\\boxed{7}"),
    ],
)
def test_a_copy_of_a_prompt_is_no_answer_unless_it_is_short(prompt, seen):
    assert (len(prompt) < MIN_ECHO) == bool(seen)
    assert visible_response(prompt, prompt).strip() == seen


@pytest.mark.parametrize("word", ["if", "Since", "when", "because", "given that", "where"])
def test_a_formula_behind_a_first_word_that_makes_it_a_condition_is_none(word):
    assert last_span(f"{word} $9$") is None
    assert last_span(f"{word} $9$ and $x=3$").text == "x=3"
    assert last_span(f"The value is $5$ {word} $9$").text == "5"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("so $7$, as said", "7"),
        ("so $ 7 $, as said", "7"),
        ("so $a$b$ c", "a"),
        # Two prices, a price and a formula, and a formula that ends nowhere.
        ("it costs $5 and $6", None),
        ("it costs $5 and $x", None),
        ("it costs $5 or $ more", None),
        ("of $a$5", None),
        ("$ 7$", None),
        ("$7 $", None),
        ("$x\n\ny$", None),
    ],
)
def test_dollars_delimit_a_formula_or_are_money(text, span):
    found = last_span(text)
    assert (found.text if found else None) == span


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\u3000"])
def test_a_formula_ends_a_response_whatever_space_is_behind_it(space):
    behind = space * 3_000
    assert answer_of("We find $5$" + behind).text == "5"
    for more in ("x", ".", "word ", "$"):
        found = answer_of(f"We find $5${behind}{more}")
        assert isinstance(found, NoAnswer), more
