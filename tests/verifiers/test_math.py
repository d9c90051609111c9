"""`math` pays for a final answer that is mathematically the reference."""

import json
from pathlib import Path

import pytest

from reward_functions import BadReference, get, sample

MATH = get("math")
TABLES = [
    Path(__file__).parents[1] / "cases" / name
    for name in ("math.jsonl", "wording.jsonl", "almost_alike.jsonl")
]
CASES = [json.loads(line) for table in TABLES for line in table.read_text().splitlines()]


def scored(response, reference, prompt="", **parameters):
    return MATH(sample(response, reference, prompt=prompt), **parameters)


def name_of(case):
    return ascii(f"{case['source']}: {case['reference']} | {case['response']}"[:90])


@pytest.mark.parametrize("case", CASES, ids=map(name_of, CASES))
def test_table(case):
    score = scored(case["response"], case["reference"], case.get("prompt", ""))
    assert score.value == case["right"], score


@pytest.mark.parametrize(
    "reference",
    [None, "", " ", {}, "\\boxed{", "\\boxed{}", [], "\u200b", "\\,", "\\text{}", "~~5~~"],
)
def test_a_reference_without_an_answer_is_the_data_sets_fault(reference):
    with pytest.raises(BadReference):
        scored("\\boxed{1}", reference)


def test_a_score_tells_what_was_compared():
    score = scored("so \\boxed{\\frac{2}{4}}", "0.5")
    assert score.answer == "\\frac{2}{4}"
    assert score.evidence.rule == "exact-value"
    assert [str(form) for form in (score.evidence.answer, score.evidence.reference)]


def test_what_exact_means_cannot_decide_is_marked():
    score = scored("\\boxed{f(y)}", "f(x)")
    metrics = {metric.name: metric.value for metric in score.metrics}
    assert (score.value, metrics) == (
        0.0,
        {
            "answered": 1.0,
            "truncated": 0.0,
            "undecided": 1.0,
            "unevaluated": 0.0,
            "percent_sign": 0.0,
        },
    )


@pytest.mark.parametrize("reference", ["\\frac{", "\\frac{1}{2", "{" * 100_000, "2}", "5\0"])
def test_a_reference_that_was_cut_off_or_garbled_is_the_data_sets_fault(reference):
    with pytest.raises(BadReference, match="cannot be read"):
        scored("\\boxed{1}", reference)


NOT_READ = [
    "7" * 5000,
    "(" * 60 + "x" + ")" * 60,
    "5 46",
    "\\oint_C x",
    "19_8",
    "x \\in \\{1,\\ldots,10^9\\}",
]


@pytest.mark.parametrize("reference", NOT_READ, ids=[each[:20] for each in NOT_READ])
def test_a_reference_that_the_grammar_lacks_is_the_data_sets_fault(reference):
    for response in ("\\boxed{1}", "\\boxed{\\foo}", "The answer is 12."):
        with pytest.raises(BadReference, match="cannot be read"):
            scored(response, reference)


@pytest.mark.parametrize("reference", NOT_READ, ids=[each[:20] for each in NOT_READ])
def test_the_same_text_as_a_reference_that_is_not_read_is_right(reference):
    assert scored(f"\\boxed{{{reference}}}", reference).value == 1.0


@pytest.mark.parametrize(
    "reference",
    [
        "Monday",
        "the function is even",
        "\\text{yes, if } n > 2",
        "3 for odd n, 4 otherwise",
        "30''",
    ],
)
def test_a_text_in_words_is_a_reference_that_is_read(reference):
    assert scored("\\boxed{1}", reference).value == 0.0


@pytest.mark.parametrize("answer", ["\\oint x", "(" * 60 + "x" + ")" * 60, "5 46"])
def test_what_a_policy_writes_is_never_the_data_sets_fault(answer):
    for parameters in ({}, {"rounded": 2}, {"strict_percent": True}):
        assert scored(f"\\boxed{{{answer}}}. The answer is 24.", "24", **parameters).value == 0.0


@pytest.mark.parametrize("reference", ["\\{1, 2\\}", "\\left\\{1, 2\\right\\}"])
def test_an_escaped_brace_balances_nothing(reference):
    assert scored("\\boxed{\\{1, 2\\}}", reference).value == 1.0


@pytest.mark.parametrize(
    ("response", "reference", "digits", "right"),
    [
        ("0.333", "\\frac{1}{3}", 3, True),
        ("0.333", "\\frac{1}{3}", 4, False),
        ("0.334", "\\frac{1}{3}", 3, False),
        ("3.14", "\\pi", 3, True),
        ("3.15", "\\pi", 3, False),
        ("0.33", "\\frac{1}{3}", 0, False),
        ("0.33", "0.333", 2, False),
        ("3", "\\pi", 1, False),
        ("1.73", "\\sqrt{3}", 2, True),
    ],
)
def test_rounded_decimals_are_right_when_asked(response, reference, digits, right):
    assert scored(f"\\boxed{{{response}}}", reference, rounded=digits).value == right


def test_the_evidence_of_a_rounded_answer_names_each_side_by_its_own():
    evidence = scored(r"\boxed{0.333}", r"\frac{1}{3}", rounded=3).evidence
    assert (str(evidence.answer), str(evidence.reference)) == ("333/1000", "1/3")


@pytest.mark.parametrize(
    ("response", "reference", "right"),
    [
        ("35\\%", "35\\%", True),
        ("0.35", "35\\%", True),
        ("35", "35\\%", False),
        ("35%", "0.35", True),
        ("35\\%", "35", False),
        ("35", "35", True),
    ],
)
def test_a_percentage_is_a_fraction_when_asked(response, reference, right):
    assert scored(f"\\boxed{{{response}}}", reference, strict_percent=True).value == right


def test_reasoning_counts_when_asked():
    assert scored("<think>\\boxed{7}</think>", "7", include_reasoning=True).value == 1.0


def closed(solution, end):
    """A solution of GSM8K with another last line."""
    steps, _, answer = solution.rpartition("\n#### ")
    return steps + end % answer


def test_a_box_behind_a_real_solution_is_its_answer(shared):
    rows = map(json.loads, (shared / "gsm8k/test.jsonl").read_text().splitlines())
    wrong = [
        row["answer"][-60:] + end
        for row in rows
        for end in ("\n\\boxed{%s}", "\nThe answer is $\\boxed{%s}$ in all.")
        if scored(closed(row["answer"], end), row["answer"]).value != 1.0
    ]
    assert wrong == []


LABELLED = [
    "adversarial_false",
    "gold_identity",
    "gold_negatives",
    "human_solutions",
    "perturbed_false",
    "real_math_responses",
]


OVERRULED = {"adverfals-114", "adverfals-118"}
"""Rows whose labels refuse 2.4999 for 2.5 and 0.0501 for 0.05, which round to their references."""


@pytest.mark.parametrize("suite", LABELLED)
def test_labelled_suites_are_judged_as_their_labels_say(shared, suite):
    rows = map(json.loads, (shared / "math" / f"{suite}.jsonl").read_text().splitlines())
    wrong = [
        (row["gold"], row["pred"])
        for row in rows
        if (scored(row["pred"], row["gold"]).value == 1.0)
        != (row["label"] or row["id"] in OVERRULED)
    ]
    assert wrong == []
