"""Reasons counted together, and remedies that are true of an example each."""

from __future__ import annotations

import pytest

from reward_functions import get, sample, score_batch
from reward_functions.core.asking import ScriptedAsk
from reward_functions.reports.pages.charts.drawing import CELL
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.reasons import (
    CUT,
    EMPTY,
    normal_form,
    remedy_rows,
    sentence,
    tallied,
)

FORMS = {
    "choice 'B' is not 'A'": "choice … is not …",
    "the last 3 boxes equals the reference": "the last … boxes equals the reference",
    "graded 0.5 among 4": "graded … among …",
    "the mean of 0.25, -1e3": "the mean of … …e…",
    "the gate on_task failed; on_task no, accurate yes": "the gate on_task failed",
    "there is no ####": "there is no ####",
    "a\n b\t c": "a b c",
    "": "no reason is given",
}


@pytest.mark.parametrize(("reason", "form"), FORMS.items())
def test_a_normal_form_leaves_out_numbers_and_quotations(reason, form):
    assert normal_form(reason) == form


def test_a_normal_form_of_a_hostile_reason_is_short():
    for reason in ("'" * 100_000, '"' + "x" * 100_000, "1," * 100_000, "-+" * 100_000):
        assert len(normal_form(reason)) <= 300


QUESTION = "What is the capital of France?\nA) Lyon\nB) Paris"
EXAMPLES = {
    # (reward, reason): response, reference, prompt, parameters; and what the remedy changes
    ("gsm8k", "there is no ####"): (
        ("So the answer is 42.", "42", "", {}),
        {"parameters": {"flexible": True}},
    ),
    ("gsm8k", "the last #### does not show one number"): (
        ("#### 6 \\times 7", "42", "", {}),
        {"reward": "math", "response": "\\boxed{6 \\times 7}"},
    ),
    ("gsm8k", "nothing follows the last ####"): (
        ("####\nSo it is 42", "42", "", {}),
        {"response": "#### 42"},
    ),
    ("gsm8k", "there is no final answer"): (
        ("I count them.\nThere are many, I think.", "42", "", {"flexible": True}),
        {"response": "#### 42"},
    ),
    ("math", "there is no final answer"): (
        ("I count them.\nThere are many of them, I think.", "42", "", {}),
        {"response": "\\boxed{42}"},
    ),
    ("math", "another number"): (
        ("\\boxed{0.333}", "\\frac{1}{3}", "", {}),
        {"parameters": {"rounded": 3}},
    ),
    ("math", "the words differ"): (
        ("\\boxed{\\text{the red house}}", "the red building", "", {}),
        {"reward": "reference", "verdict": {"same": "yes"}},
    ),
    ("math", "the answer restates the question"): (
        ("\\boxed{17 \\cdot 23}", "391", "Compute $17 \\cdot 23$.", {}),
        {"response": "\\boxed{391}"},
    ),
    ("math", "the answer is not worked out"): (
        ("\\boxed{17 \\cdot 23}", "391", "Find it.", {"evaluated": True}),
        {"parameters": {"evaluated": False}},
    ),
    ("math", "the last box is never closed"): (
        ("So it is \\boxed{4", "42", "", {}),
        {"response": "So it is \\boxed{42}"},
    ),
    ("math", "the answer names several values"): (
        ("\\boxed{6}, \\boxed{7}, \\boxed{42}", "42", "", {}),
        {"response": "\\boxed{42}"},
    ),
    ("math", "a later statement of the answer contradicts it"): (
        ("\\boxed{42}. Wait, the answer is 41.", "42", "", {}),
        {"response": "\\boxed{42}"},
    ),
    ("math", "the response goes on after its last formula"): (
        ("We get $x=42$. However, this is not correct", "42", "", {}),
        {"response": "\\boxed{42}"},
    ),
    ("exact_match", "the response is another text"): (
        ("The answer is 42.", "42", "", {}),
        {"reward": "math"},
    ),
    ("multiple_choice", "the whole response does not pick one option"): (
        ("it is nice there", "B", QUESTION, {}),
        {"response": "Answer: B"},
    ),
    ("multiple_choice", "there is no final answer"): (
        ("It is nice there.\nMany people like it.\nAnd so on.", "B", QUESTION, {}),
        {"response": "Answer: B"},
    ),
    ("finqa", "no answer is marked"): (
        ("It rose by 12.5%.", "12.5%", "", {"marked": True}),
        {"parameters": {"marked": False}},
    ),
    ("finqa", "the answer has no number"): (
        ("It rose by 12.5%. That is a lot.", "12.5%", "", {}),
        {"response": "ANSWER: 12.5%"},
    ),
    ("finqa", "the stated answer has another unit"): (
        ("ANSWER: 12.5%", "12.5", "", {}),
        {"response": "ANSWER: 12.5"},
    ),
    ("finqa", "the stated answer differs from the reference by a power of ten"): (
        ("ANSWER: 1,250", "12.5", "", {}),
        {"response": "ANSWER: 12.5"},
    ),
    ("finqa", "the stated answer agrees with the reference, but has too few digits"): (
        ("ANSWER: 0.1", {"answer": "12.5%", "exe_ans": 0.12497}, "", {}),
        {"response": "ANSWER: 12.50%"},
    ),
    ("pandalm", "there is no judgment"): (
        ("The first one is better.", {"label": 1}, "", {}),
        {"response": "JUDGMENT: Response 1", "parameters": {"reasoning_weight": 0.0}},
    ),
    ("reference", "there is no final answer"): (
        ("Large cities are many there.\nCanberra is the seat.\nSo it is.", "Canberra", "", {}),
        {"parameters": {"answer": "whole"}, "verdict": {"same": "yes"}},
    ),
    ("", "the response is a copy of the prompt"): (
        ("Which city is the capital?", "Canberra", "Which city is the capital?", {}),
        {"response": "Canberra"},
    ),
}


def test_every_remedy_has_an_example():
    assert [(each.reward, each.reason) for each in remedy_rows()] == list(EXAMPLES)


def scored(name, response, reference, prompt, parameters, verdict=None):
    spec = get(name)
    ask = ScriptedAsk([verdict or {}]) if spec.needs.judge else None
    samples = [sample(response, reference, prompt=prompt)]
    results = score_batch(spec.bind(parameters, ask=ask), samples)
    return Batch.of(samples, results, spec.scale), spec


@pytest.mark.parametrize("remedy", remedy_rows(), ids=lambda each: f"{each.reward} {each.reason}")
def test_a_remedy_is_true_of_its_example(remedy):
    (response, reference, prompt, parameters), change = EXAMPLES[remedy.reward, remedy.reason]
    name = remedy.reward or "reference"
    before, spec = scored(name, response, reference, prompt, parameters)
    assert before.value(0) == spec.scale.minimum
    assert [each.remedy for each in tallied(before, name)] == [remedy]
    after, spec = scored(
        change.get("reward", name),
        change.get("response", response),
        reference,
        prompt,
        change.get("parameters", {}),
        change.get("verdict"),
    )
    assert after.value(0) == spec.scale.maximum


@pytest.mark.parametrize("remedy", [*remedy_rows(), CUT, EMPTY], ids=lambda each: each.cause)
def test_a_remedy_fits_into_a_cell_and_its_parameter_exists(remedy):
    assert max(len(remedy.cause), len(remedy.attempt)) <= CELL
    if remedy.attempt.startswith("-p ") or ": -p " in remedy.attempt:
        typed = remedy.attempt.partition("-p ")[2].split(",")[0]
        name, _, value = typed.partition("=")
        get(remedy.reward).parameter(name).parse(value)


def gsm8k(*responses):
    samples = [sample(each, "42", prompt="p") for each in responses]
    spec = get("gsm8k")
    return Batch.of(samples, score_batch(spec, samples), spec.scale)


def test_a_correct_response_needs_no_remedy():
    assert [each.remedy for each in tallied(gsm8k("#### 42"), "gsm8k")] == [None]


def test_where_most_are_cut_off_the_limit_of_tokens_is_the_remedy():
    made = gsm8k("<think>so", "<think>so", "no")
    assert tallied(made, "gsm8k", {0, 1})[0].remedy is CUT
    assert tallied(made, "gsm8k", {0})[0].remedy is not CUT


def test_where_most_are_empty_the_rows_are_the_cause():
    assert tallied(gsm8k("", " \n", "no"), "gsm8k")[0].remedy is EMPTY


def test_one_empty_response_is_the_policys_own():
    """The rows hold responses: what the file lacks is not the cause."""
    for others in (["no"] * 5, ["#### 42"] * 5, ["no"]):
        made = tallied(gsm8k("", *others), "gsm8k")
        assert EMPTY not in [each.remedy for each in made]


def test_empty_responses_beside_rows_that_a_judge_left_unscored_are_no_fault_of_the_file():
    spec, samples = get("gsm8k"), [sample(each, "42") for each in ("", "#### 42", "#### 42")]
    results = score_batch(spec, [samples[0], *(sample("", None) for _ in range(2))])
    made = tallied(Batch.of(samples, results, spec.scale), "gsm8k")
    assert [each.remedy for each in made] != [EMPTY]


def test_the_line_of_the_terminal_counts_what_it_does_not_name():
    made = gsm8k("no", "no", "#### 41", "#### 1 or 2", "####", "#### 42")
    line = sentence(tallied(made, "gsm8k"))
    assert line.startswith("at the minimum: there is no #### (2), the last #### ")
    assert ", other reasons (1) · perhaps the responses mark their answer in another way; " in line
    assert line.endswith("ask in the prompt for a last line #### NUMBER")
    assert sentence(tallied(gsm8k("#### 42"), "gsm8k")) == ""
