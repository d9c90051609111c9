"""The FinQA program language: all the data set writes, exactly, and nothing without limits."""

import json
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.finqa.equality import same_program
from reward_functions.finqa.program import ProgramError, execute, parse, program_accuracy, rounded

TABLE = [
    ["", "2013", "2012"],
    ["sales", "$ 1,295", "55% ( 55 % )"],
    ["net ( loss ) income, as adjusted", "-45 ( 45 )", "$ 100"],
    ["total ( in millions", "7", "8"],
    ["1) leases", "3", "4"],
    ["bare", "( 45 )", "1"],
    ["missing", "", "1"],
    ["alone"],
    ["twice", "1", "2"],
    ["twice", "3", "4"],
    [],
]

TINY = "exp(2, -64), exp(#0, 64), exp(#1, 24), exp(#0, 26), multiply(#2, #3)"
"""2 to the power of -99,968: 31 bits below what a result may have."""

LARGE = "exp(2, 64), exp(#0, 15)"
"""2 to the power of 960: 64 below what a double holds."""


def run(text, table=()):
    return execute(parse(text), table)


@pytest.mark.parametrize(
    ("program", "result"),
    [
        ("add(1, 2)", 3),
        ("add(1,2)", 3),
        ("ADD ( 1 , 2 )", 3),
        ("subtract(5829, 5735), divide(#0, 5735)", Fraction(94, 5735)),
        ("divide(subtract(5829, 5735), 5735)", Fraction(94, 5735)),
        ("divide(94, add(5000, 735))", Fraction(94, 5735)),
        ("divide(add(1, 2), add(3, 4))", Fraction(3, 7)),
        ("add(5,829, 100)", 5929),
        ("add(100, 5,829)", 5929),
        ("add(1,234,567, 1)", 1234568),
        ("add(1, 2), add(#0,1,234)", 1237),
        ("add(1, 2), add(1,234,#0)", 1237),
        ("add(1,234,const_100)", 1334),
        ("add(const_100,1,234)", 1334),
        ("multiply(5%, 100)", 5),
        ("multiply(-.5, 2.)", -1),
        ("multiply(const_m1, const_100)", -100),
        ("add(const_1000000, CONST_3.5)", Fraction("1000003.5")),
        ("exp(2, 10)", 1024),
        ("exp(2, -2)", Fraction(1, 4)),
        ("exp(0, 0)", 1),
        (f"{TINY}, exp(2, -31), multiply(#4, #5)", Fraction(1, 2**99_999)),
        (f"{LARGE}, exp(2, 63), multiply(#1, #2)", 2**1023),
        ("greater(2, 1)", "yes"),
        ("greater(1, 1)", "no"),
        ("add(1, 2), add(10, 20)", 30),
    ],
)
def test_a_program_computes_to_its_exact_result(program, result):
    assert run(program) == result


@pytest.mark.parametrize(
    ("program", "result"),
    [
        ("table_sum(sales, none)", Fraction("1295.55")),
        ("table_max(2013, none)", None),
        ("table_max(net ( loss ) income, as adjusted, none)", 100),
        ("table_max(net ( loss ) income, as adjusted)", 100),
        ("table_min(total ( in millions, none)", 7),
        ("table_min(1) leases, none)", 3),
        ("table_average(twice, none)", Fraction(7, 2)),
        ("table_sum(twice), table_sum(1) leases, none), add(#0, #1)", 14),
        ("add(table_sum(twice, none), table_max(net ( loss ) income, as adjusted, none))", 107),
        ("table_max(twice, NONE)", 4),
    ],
)
def test_row_names_may_hold_anything(program, result):
    if result is None:
        with pytest.raises(ProgramError, match="no row '2013'"):
            run(program, TABLE)
    else:
        assert run(program, TABLE) == result


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("5", "step 1: an operation"),
        ("add(1, 2", "step 1: its parenthesis"),
        ("add(1)", "step 1: two operands"),
        ("add(1, 2, 3)", "step 1: two operands are expected, and not more"),
        ("add(1,2,3)", "step 1: two operands"),
        ("add(, 2)", "step 1: ''"),
        ("add(1, 2), foo(#0, 2)", "step 2: there is no operation 'foo'"),
        ("add(1, 2), add(#1, 2)", "step 2: #1 is no earlier step"),
        ("add(#0, 2)", "step 1: #0"),
        ("add(1e3, 2)", "step 1: '1e3'"),
        ("add($5, 2)", "step 1"),
        ("add(const_m2, 2)", "step 1"),
        ("add(const_, 2)", "step 1"),
        ("add(1, 2) add(3, 4)", "step 2: something stands after"),
        ("add(1, 2),", "step 2: an operation"),
        ("add(add(1, 2), 3), add(#0, 1)", "do not mix"),
        ("add(add(1, 2), #0)", "do not mix"),
        ("table_max(, none)", "step 1: the name of a row"),
        ("table_max()", "step 1: the name of a row"),
        ("add(1, 2), table_max(#0, none)", "step 2: the name of a row is expected, and not"),
        ("add(" + "9" * 61 + ", 1)", "step 1"),
        ("add(add(1, 2))", "step 2: two operands are expected"),
        ("add(1 add(1, 2))", "step 1: two operands are expected"),
        ("add(1, add(1, 2), 3)", "step 2: a closing parenthesis is expected"),
        ("add(add(1, 2), 3", "step 2: its parenthesis is never closed"),
        ("table_sum(a (b", "step 1: its parenthesis is never closed"),
        ("add(1, 2), " * 20 + "add(1, 2)", "more than 20 steps"),
        ("add(" * 21 + "1, 2)" + ", 1)" * 20, "more than 20 steps"),
        ("add(" * 900, "more than 20 steps"),
        ("add(1, 2)" + " " * 4000, "more than 4,000 characters"),
    ],
)
def test_what_is_no_program_is_refused_with_step_and_reason(program, message):
    with pytest.raises(ProgramError, match=message):
        parse(program)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("add(1, 2), divide(#0, 0)", r"step 2 \(divide\): division by zero"),
        ("exp(0, -1)", r"step 1 \(exp\): division by zero"),
        ("exp(10, 1000000000)", r"step 1 \(exp\): the exponent"),
        ("exp(9, 64), exp(#0, 64)", r"step 2 \(exp\): the result is too large"),
        ("exp(1.00001, 64), exp(#0, 64), exp(#1, 64)", r"step 3 \(exp\): .* bits"),
        (f"{TINY}, exp(2, -32), multiply(#4, #5)", r"step 7 \(multiply\): .* bits"),
        (f"{LARGE}, exp(2, 64), multiply(#1, #2)", r"step 4 \(multiply\): .* too large for a"),
        (f"{TINY}, exp(#4, -63.5)", r"step 6 \(exp\): the result is too large or too small"),
        ("exp(-2, 0.5)", r"step 1 \(exp\): a negative number"),
        ("greater(2, 1), add(#0, 1)", r'step 2 \(add\): "yes" is no number'),
        ("table_max(profit, none)", r"step 1 \(table_max\): the table has no row 'profit'"),
        ("table_max(bare, none)", r"column 2 of the row 'bare' is no number"),
        ("table_max(missing, none)", r"column 2 of the row 'missing' is no number"),
        ("table_max(alone, none)", r"the row 'alone' has no cells"),
    ],
)
def test_what_cannot_be_executed_is_refused_with_step_and_reason(program, message):
    with pytest.raises(ProgramError, match=message):
        run(program, TABLE)


def test_a_fractional_exponent_is_a_decimal_of_many_digits():
    assert abs(run("exp(2, 0.5)") ** 2 - 2) < Fraction(1, 10**50)
    assert rounded(run("exp(1.05, 2.5)")) == 1.12973
    assert run("exp(0, 0.5)") == 0


def test_results_are_rounded_as_the_data_set_rounds_them():
    assert rounded(run("divide(1, 3)")) == 0.33333
    assert rounded(run("divide(2, 3)")) == 0.66667
    assert rounded(run("greater(2, 1)")) == "yes"


numbers = st.one_of(
    st.integers(-9999, 9999).map(str),
    st.decimals(-999, 999, places=2).map(str),
    st.integers(1000, 9_999_999).map("{:,}".format),
    st.integers(0, 200).map("{}%".format),
    st.sampled_from(["const_100", "const_m1", "const_3"]),
)
operations = st.sampled_from(["add", "subtract", "multiply", "divide"])
trees = st.recursive(
    numbers, lambda inner: st.tuples(operations, inner, inner), max_leaves=10
).filter(lambda tree: isinstance(tree, tuple))


def nested(tree):
    if isinstance(tree, str):
        return tree
    return f"{tree[0]}({nested(tree[1])}, {nested(tree[2])})"


def flat(tree):
    steps = []

    def place(node):
        if isinstance(node, str):
            return node
        left, right = place(node[1]), place(node[2])
        steps.append(f"{node[0]}({left}, {right})")
        return f"#{len(steps) - 1}"

    place(tree)
    return ", ".join(steps)


def meaning(tree):
    """The value of a tree by Python's own fractions; None where it divides by zero."""
    if isinstance(tree, str):
        text = tree.replace(",", "").removeprefix("const_").replace("m1", "-1")
        return Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    left, right = meaning(tree[1]), meaning(tree[2])
    if left is None or right is None or (tree[0] == "divide" and not right):
        return None
    return {
        "add": lambda: left + right,
        "subtract": lambda: left - right,
        "multiply": lambda: left * right,
        "divide": lambda: left / right,
    }[tree[0]]()


@given(trees)
def test_both_forms_mean_what_the_tree_means(tree):
    for text in (nested(tree), flat(tree)):
        if meaning(tree) is None:
            with pytest.raises(ProgramError, match="division by zero"):
                run(text)
        else:
            assert run(text) == meaning(tree)


@given(trees)
def test_both_forms_are_one_program(tree):
    if meaning(tree) is not None:
        assert parse(nested(tree)) == parse(flat(tree))


@given(st.text("add(,)#0 123%none_table-x.", max_size=60))
def test_any_text_is_read_or_refused(text):
    with suppress(ProgramError):
        execute(parse(text), TABLE)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("add(1, 2)", "add(2, 1)", True),
        ("multiply(2, 3)", "multiply(3, 2)", True),
        ("subtract(1, 2)", "subtract(2, 1)", False),
        ("divide(1, 2)", "divide(2, 1)", False),
        ("add(1, 2)", "add(1, 3)", False),
        ("add(1, 2)", "subtract(1, 2)", False),
        ("add(5,829, 1)", "add(5829, 1)", True),
        ("multiply(5%, 2)", "multiply(0.05, 2)", True),
        ("divide(2, const_100)", "divide(2, 100)", True),
        ("add(1, 2), add(#0, 3)", "add(2, 3), add(1, #0)", True),
        ("subtract(9, 7), divide(#0, 7)", "divide(subtract(9, 7), 7)", True),
        ("subtract(9, 7), divide(#0, 7)", "divide(9, 7), subtract(#0, 1)", False),
        ("multiply(2, 3), multiply(2, 4), add(#0, #1)", "add(3, 4), multiply(2, #0)", True),
        ("multiply(1, 3), multiply(2, 3), divide(#0, #1)", "divide(1, 2)", True),
        ("divide(1, 3), divide(2, 3), divide(#0, #1)", "divide(1, 2)", True),
        ("add(2, 2)", "multiply(2, 2)", False),
        ("exp(2, 3)", "exp(2, 3)", True),
        ("exp(2, 3)", "exp(3, 2)", False),
        ("greater(2, 3)", "greater(2, 3)", True),
        ("greater(2, 3)", "greater(3, 2)", False),
        ("table_max(a, none)", "table_max(a)", True),
        ("table_max(a, none)", "table_min(a, none)", False),
        ("table_max(a, none)", "table_max(b, none)", False),
        ("add(1, 2)", "add(1, 7), add(1, 2)", False),
        ("add(1, 2)", "subtract(1, 1), divide(2, #0)", False),
        ("subtract(1, 1), divide(2, #0), add(#1, 1)", "add(1, 2)", False),
    ],
)
def test_programs_are_one_when_they_compute_the_same_formula(first, second, same):
    assert same_program(parse(first), parse(second)) == same


def test_every_program_of_the_records_computes_to_its_executed_answer(shared):
    records = list(map(json.loads, (shared / "finqa/records.jsonl").read_text().splitlines()))
    for record in records:
        qa = record["qa"]
        flat_form, nested_form = parse(qa["program"]), parse(qa["program_re"])
        for program in (flat_form, nested_form):
            assert rounded(execute(program, record["table"])) == qa["exe_ans"], record["id"]
        assert same_program(flat_form, nested_form), record["id"]
    assert len(records) == 383


STATED = [
    # response, whether it states a program, whether it is add(1, 2)
    ("add(1, 2)", True, True),
    ("The sum is 3.\nadd(1, 2)", True, True),
    ("  `add(1, 2)`.", True, True),
    ("Program: add(1, 2)", True, True),
    ("add(1, 2)\nThe answer is 3.", True, True),
    ("add(1, 2)\nadd(1, 3)", True, False),
    ("add(1, 3)\nadd(1, 2)", True, True),
    ("dd(1, 2)", False, False),
    ("The answer is 3 (in millions).", False, False),
    ("", False, False),
]


@pytest.mark.parametrize(("text", "stated", "right"), STATED)
def test_the_last_program_of_a_response_is_the_stated_one(text, stated, right):
    assert program_accuracy(text, "add(1, 2)") == (stated, right)
    assert program_accuracy(text, None) == (stated, False)
    assert program_accuracy(text, "add(1,") == (stated, False)
