"""What a sentence says is said by its main clauses, and by no condition beside them."""

import pytest

from reward_functions.extraction.candidates.boxes import labelled_boxes
from reward_functions.extraction.candidates.clauses import HIDDEN, hidden, main_clauses
from reward_functions.extraction.candidates.derivations import prose
from reward_functions.extraction.prompt_facts import repeats, states
from tests.extraction.test_answers import answer_of


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        ("the price is 5", ["5"]),
        ("the price is 5 when x is 2", ["5"]),
        ("when x = 2, the price is 5", ["5"]),
        ("because the train stops at 3, the time is 5", ["5"]),
        ("the price is 5 when x is 2, and the cost is 7", ["5", "7"]),
        ("the price is 5 since the weight is 3, so the answer is 12", ["12"]),
        ("the price is 5 if the weight is 3, and the height is 9", ["5", "9"]),
        ("the sum has 3 terms and the product has 4", ["3 terms", "4"]),
        ("the quotient is 5 with remainder 3", ["5 with remainder 3"]),
        ("the value is 5 with x = 3", ["5"]),
        ("the point is 5 at 3", ["5"]),
        # A clause inside has a verb of its own, whatever stands between commas before it.
        ("The number that, when doubled, is 10 is 5", ["5"]),
        ("The number that, in total, is 10, is 5", ["5"]),
        ("The number that, minus 3, is 4, is 7", ["7"]),
        ("The total that, without tax, is 5 is 6 with tax", ["6"]),
    ],
)
def test_a_main_clause_has_its_value_whatever_is_subordinate_to_it(sentence, values):
    clauses, _ = main_clauses(sentence)
    assert [clause.value.strip() for clause in clauses] == values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"\boxed{9} is the maximum and the minimum is \boxed{-7}.", ["9", "-7"]),
        (r"The maximum is \boxed{9} and the minimum is \boxed{-7}.", ["9", "-7"]),
        (r"\boxed{9}. So we subtract 16 and find \boxed{-7}.", []),
        (r"\boxed{9} and the minimum is \boxed{-7", []),
        ("", []),
    ],
)
def test_boxes_are_one_answer_where_each_but_the_first_has_a_label(text, found):
    assert labelled_boxes(text) == found


@pytest.mark.parametrize(
    ("formula", "read"),
    [
        (r"x = 5,\quad y = 6", "$x$ = $5$, , $y$ = $6$"),
        ("x = 5; y = 6", "$x$ = $5$; $y$ = $6$"),
        ("x = 5, y = 6", "$x$ = $5$, $y$ = $6$"),
        (r"3 \text{ cm}^2", "$3$ cm²"),
        ("$x$", "$x$"),
    ],
)
def test_a_formula_with_pauses_is_read_as_prose(formula, read):
    assert prose(formula) == read


@pytest.mark.parametrize(
    ("prompt", "text", "said"),
    [
        ("How many are not red?", "those that are not red", True),
        ("How many are not red?", "those that are not blue", False),
        ("How many are red?", "those that are not red", False),
        ("", "those that are not red", False),
        ("", "those that are red", True),
    ],
)
def test_a_denial_is_the_question_s_where_it_denies_the_same(prompt, text, said):
    assert repeats(prompt, text, frozenset({"not"}), denying=True) is said


# A clause that leads ends at its comma or before the main verb, and one that follows at the end.
EQUATIONS = [
    ("When {}, x + y = 7.", "x + y = 7"),
    ("X + y = 7, when {}.", "X + y = 7"),
    ("X + y = 7 when {}.", "X + y = 7"),
    ("There are 7, when {}.", "7"),
    ("The total is 9, when {}.", "9"),
]


@pytest.mark.parametrize("condition", ["she eats 3", "x is 5", "she eats 3 of 8"])
@pytest.mark.parametrize(("sentence", "answer"), EQUATIONS)
def test_a_condition_is_no_part_of_the_answer_before_or_after_it(sentence, answer, condition):
    assert answer_of(sentence.format(condition)).text == answer


DELIMITED = ["$x$ so $y$", r"x \(so\) y", r"a \Rightarrow $b$", r"a \Rightarrow \(b\)"]


@pytest.mark.parametrize("text", DELIMITED)
def test_a_formula_with_delimiters_in_it_is_prose_already(text):
    assert prose(text) == text


HIDDEN_PARTS = [
    # a text, and it with a dot for each character that is blotted out
    ("the area (in cm) is 5", "the area ....... is 5"),
    ("((a)) b", "..... b"),
    ("(a [b] c) d", "......... d"),
    ("[x] {y} z", "... ... z"),
    ("f(2) + 1 is 5", "f... + 1 is 5"),
    ("x) b (c) d", "x) b ... d"),
    ("a (b", "a .."),
    ("$x$ y", "... y"),
    (r"\(x\) is \[y\]", "..... is ....."),
    ("it costs $5 and $6", "it costs $5 and $6"),
]


@pytest.mark.parametrize(("text", "shown"), HIDDEN_PARTS)
def test_formulas_and_brackets_are_hidden_and_what_follows_is_not(text, shown):
    assert hidden(text).replace(HIDDEN, ".") == shown


PROMPT = "A rope is 4.5 metres long, and costs $3.25 a metre. Ann buys 12 metres of rope."
STATED = [
    ("the rope is 4.5 metres long", True),
    ("the rope is 3.5 metres long", False),
    ("the rope costs $3.25 a metre", True),
    ("the rope costs $4.25 a metre", False),
    ("Ann buys 12 metres of rope", True),
    ("Ann buys 13 metres of rope", False),
    ("Ann buys 1 metres of rope", False),
    ("the metres of rope that Ann buys", True),
    ("Bob sells rope", False),
    ("rope", False),
    ("", False),
]


@pytest.mark.parametrize(("condition", "stated"), STATED)
def test_a_condition_repeats_all_numbers_of_the_prompt_and_most_of_its_words(condition, stated):
    assert states(PROMPT, condition) == stated
    assert not states("", condition)
