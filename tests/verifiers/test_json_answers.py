"""A JSON object at the end of a response is decoded before its answer is read."""

import json

import pytest

from reward_functions import get, sample

RIGHT = [
    ("math", r"\frac{1}{2}", r'{"answer": "\\frac{1}{2}"}'),
    ("math", r"\frac{1}{2}", r'{"answer":"$\\frac{1}{2}$"}'),
    ("math", r"\frac{1}{2}", r'{"Final Answer": "\\dfrac{1}{2}", "steps": ["a", "b"]}'),
    (
        "math",
        r"\frac{1}{2}",
        r'{"reasoning": "Not \\boxed{2}.", "final_answer": "\\boxed{\\frac12}"}',
    ),
    ("math", r"\frac{1}{2}", '```json\n{\n  "answer": "\\\\frac{1}{2}"\n}\n```'),
    ("math", r"\frac{1}{2}", 'We halve.\n\n```\n{"answer": "\\\\frac{1}{2}"}\n```\n'),
    ("math", r"\frac{1}{2}", r'So it is {"answer": "\\frac{1}{2}"}<|im_end|>'),
    ("math", r"\frac{1}{2}", '{"answer": 0.5}'),
    ("math", r"\frac{\pi}{2}", r'{"answer": "\\frac{\u03c0}{2}"}'),
    ("math", "5", '{"answer": 5, "unit": null, "sure": true}'),
    ("math", "x > 3", r'{"answer": "x \u003e 3"}'),
    ("math", "[1, 2]", '{"answer": [1, 2]}'),
    ("math", r"\text{yes}", '{"answer": "yes"}'),
    # what is no JSON is read as it stands
    ("math", r"\sqrt{2}", r'{"answer": "\sqrt{2}"}'),
    ("math", r"\frac{1}{2}", r'{"answer": "\frac{1}{2}"}'),
    ("math", r"2\times 10^5", r'{"answer": "2\times 10^5"}'),
    ("gsm8k", "1234", '{"answer": "1,234"}'),
    ("finqa", "1.50", '{"answer": 1.50}'),
    ("finqa", "yes", '{"thought": "no doubt", "answer": "yes"}'),
    ("finqa", "-12.5%", r'{"answer": "\u221212.5%"}'),
    ("multiple_choice", "B", '{"answer": "B"}'),
    ("multiple_choice", "B", '{"answer": "B. two", "confidence": 0.9}'),
]
WRONG = [
    ("math", "5", '{"answer": "6", "final_answer": "5"}'),
    ("math", "5", '{"answer": "5 or 6"}'),
    ("math", "5", '{"answer": "6", "guess": "5"}'),
    ("math", "5", '{"answer": "5", "other": "6"}'),
    ("math", "5", '{"answer": "5"} But it is \\boxed{6}.'),
    ("math", "5", '\\boxed{6}\n{"answer": "5"}'),
    ("math", "5", '{"answer": null}'),
    ("math", "5", '{"answer": "not 5"}'),
    ("math", "5", '{"other": {"answer": "5"}, "answer": "6"}'),
    ("math", "5", '{"answer": ["5", "6"]}'),
    ("math", "5", '<think>{"answer": "5"}</think>{"answer": "6"}'),
    ("multiple_choice", "B", '{"answer": "A or B"}'),
]
PROMPT = "Which?\nA. one\nB. two"


def value(reward, reference, response):
    parameters = {"flexible": True} if reward == "gsm8k" else {}
    return get(reward)(sample(response, reference, prompt=PROMPT), **parameters).value


@pytest.mark.parametrize(("reward", "reference", "response"), RIGHT)
def test_a_right_answer_in_json_is_right(reward, reference, response):
    assert value(reward, reference, response) == 1.0


@pytest.mark.parametrize(("reward", "reference", "response"), WRONG)
def test_json_makes_no_answer_right(reward, reference, response):
    assert value(reward, reference, response) == 0.0


@pytest.mark.parametrize(
    "answer",
    [r"\frac{1}{2}", r"\sqrt[3]{2}", r"\left(1,2\right)", r"x\ge -\pi", r"\text{two}", "½"],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_whatever_is_encoded_is_read_as_if_it_was_not(answer, indent):
    assert value("math", answer, json.dumps({"answer": answer}, indent=indent)) == 1.0


@pytest.mark.parametrize(
    "response",
    [
        '{"answer":' * 50_000 + '"5"' + "}" * 50_000,
        '{"answer": ' + "9" * 90_000 + "}",
        '{"answer": "' + "x" * 200_000 + '"}',
        '{"a": ' * 50_000 + '"answer"}',
        '{"answer": "\\ud800"}',
        '{"answer": 1e999999}',
        '{"answer": NaN}',
        '{"answer": ' + "[" * 100_000 + "}",
    ],
)
def test_no_object_makes_a_reward_fail(response):
    for reward in ("math", "finqa", "multiple_choice"):
        assert value(reward, "B" if reward == "multiple_choice" else "7", response) == 0.0
