"""Markers that end a turn say nothing, in every verifier and behind every form of an answer."""

import pytest

from reward_functions import get, sample

MARKERS = [
    *(
        "<|im_end|>",
        "<|endoftext|>",
        "<|END_OF_TURN_TOKEN|>",
        "<｜end▁of▁sentence｜>",
        "<|eot_id|>",
    ),
    *("</s>", "</s><s>", "<s>", "<eoa>", "<EOS>", "<eod>", "<end_of_turn>", "<end>"),
    *(
        "<pad>",
        "<im_end>",
        "</answer>",
        "</solution>",
        "[EOS]",
        "[/INST]",
        "[DONE]",
        "[pad]",
        "[END]",
    ),
]
PLACES = {
    "glued": "{response}{marker}",
    "spaced": "{response} {marker}",
    "on a line": "{response}\n{marker}\n",
    "repeated": "{response}{marker}{marker} {marker}",
    "on both sides": "{opening}{response}{marker}",
    "behind others": "{response}<eoe>\n<|x_y|>[EOS]{marker}",
    "before the full stop": "{response}{marker}.",
    "on a line that others follow": "So.{marker}\n{response}{marker}\n\n{marker}",
}
FORMS = {
    "a box": "So $\\boxed{{{0}}}$",
    "a bare box": "\\boxed{{{0}}}",
    "a statement": "We add. The answer is {0}",
    "a hash": "#### {0}",
    "Chinese": "【答案】{0}",
    "a line": "ANSWER: {0}",
    "alone": "{0}",
}
MARKED = [form for form in FORMS if form != "alone"]
REWARDS = {
    "math": ("42", FORMS, {}),
    "gsm8k": ("42", ["a hash"], {}),
    "gsm8k, flexible": ("42", MARKED, {"flexible": True}),
    "finqa": ("42", FORMS, {}),
    "multiple_choice": ("B", FORMS, {}),
    "exact_match": ("42", ["alone"], {}),
}
PROMPT = "Which?\nA. one\nB. two\nWrite it between 【答案】 and {marker}, and close with {marker}"


def placed(place, response, marker):
    opening = "<s>" if marker.startswith("</") else marker
    return PLACES[place].format(response=response, marker=marker, opening=opening)


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("reward", REWARDS)
def test_it_changes_no_verdict(reward, marker):
    reference, forms, parameters = REWARDS[reward]
    scored = get(reward.partition(",")[0])
    wrong = [
        response
        for form in forms
        for place in PLACES
        if (form, place) != ("alone", "on a line that others follow")
        for response in [placed(place, FORMS[form].format(reference), marker)]
        if reward != "exact_match" or place != "before the full stop"
        for prompt in ["", PROMPT.format(marker=marker)]
        if scored(sample(response, reference, prompt=prompt), **parameters).value != 1.0
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("reward", "response", "reference"),
    [
        # what the reference contains is text
        ("exact_match", "</s>", "</s>"),
        ("exact_match", "5<EOS>", "5<eos>"),
        ("exact_match", "<|a_b|> 5", "<|a_b|> 5"),
        ("multiple_choice", "The answer is </i>", "B"),
        ("multiple_choice", "ANSWER: </i><eoa>", "B"),
        ("math", "The area is $[CLS]$.", "[CLS]"),
        # what is no marker
        ("exact_match", "<b>5</b>", "<b>5</b>"),
        ("exact_match", "if a<b>", "if a<b>"),
        ("exact_match", "print(a[END])", "print(a[END])"),
        ("exact_match", "a <end> b", "a <end> b"),
        ("math", "The ratio is \\boxed{[ABC]:[ACD]}", "[ABC]:[ACD]"),
        ("math", "<answer>5</answer>", "5"),
        ("math", "The answer is <|begin_of_box|>5<|end_of_box|>.", "5"),
        ("math", "<|im_start|>assistant\n5<|im_end|>", "5"),
    ],
)
def test_what_is_a_part_of_the_answer_stays(reward, response, reference):
    prompt = "Which closes italics?\nA. </b>\nB. </i>\nC. </u>"
    assert get(reward)(sample(response, reference, prompt=prompt)).value == 1.0


@pytest.mark.parametrize(
    ("reward", "response", "reference"),
    [
        ("math", "5</think>", "5"),
        ("math", "<think>5</think><eoa>", "5"),
        ("math", "<think>\\boxed{5}<|im_end|>", "5"),
        ("math", "<|begin_of_thought|>5<|end_of_thought|>", "5"),
        ("math", "<|channel|>analysis<|message|>5<|end|>", "5"),
        ("math", "It was <s>\\boxed{5}</s><eoa>", "5"),
        ("math", "\\boxed{5}<eoa>\n\\boxed{6}<eoa>", "5"),
        ("math", "The answer is 5<eoa> or 6<eoa>", "5"),
        ("math", "<reasoning_a>5", "5"),
        ("gsm8k", "#### 4<end>2", "42"),
        ("multiple_choice", "The answer is <eoa>", "B"),
        ("exact_match", "5 </s> 6", "5"),
        ("exact_match", "<|a_b|>", "5"),
    ],
)
def test_a_marker_makes_nothing_right(reward, response, reference):
    prompt = "Which?\nA. one\nB. two"
    assert get(reward)(sample(response, reference, prompt=prompt)).value == 0.0


@pytest.mark.parametrize("marker", ["[/INST]", "<|im_end|>", "<eoa>"])
def test_a_copy_of_a_prompt_that_ends_with_a_marker_is_no_answer(marker):
    prompt = f"What is 2 + 3? Close your answer so: #### 5 {marker}"
    assert get("gsm8k")(sample(prompt, "5", prompt=prompt)).value == 0.0
