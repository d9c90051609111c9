"""Whatever stands in a response, a prompt or a reference: a score, or a `BadReference`.

What the policy wrote alone refuses nothing.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions import BadReference, get, sample, specs

PIECES = (
    *(
        r"\boxed{",
        "}",
        "{",
        "$",
        "####",
        "ANSWER: ",
        "The answer is ",
        r"\frac",
        r"\{",
        r"\\",
        "\n",
    ),
    *("5", "-", "1,234", "%", "x", "=", "(", ")", "[", "|", "^", "_", "yes", "not ", " or ", "中"),
    *("(A) ", "B", r"\text{", r"\begin{pmatrix}", "&", "<think>", "</s>", "~~", "①", "½", "\u200b"),
    *("<eoa>", "<|im_end|>", "<s>", "[/INST]", '{"answer": "', '"}', "```", "，", "：", "答案是"),
    *(
        "三",
        "十",
        "分之",
        "根号",
        "e=",
        r"\sum_{k=1}^",
        r"\int",
        r"\binom",
        "!",
        "≤",
        "\ud800",
        "\0",
    ),
)
TEXT = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.tuples(st.sampled_from(PIECES), st.integers(1, 200)).map(lambda pair: pair[0] * pair[1]),
)
SHAPES = {
    "bare": lambda text: text,
    "an object": lambda text: {"final_answer": text},
    "a list": lambda text: [text],
    "a record": lambda text: {"answer": text, "question": text, "exe_ans": text},
}


@pytest.mark.parametrize("name", ["math", "gsm8k", "finqa", "exact_match", "multiple_choice"])
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=15, derandomize=True, deadline=None)
@given(response=TEXT, prompt=TEXT, reference=TEXT)
def test_any_text_is_scored_or_its_reference_refused(name, shape, response, prompt, reference):
    try:
        found = get(name)(sample(response, SHAPES[shape](reference), prompt=prompt))
    except BadReference:
        return
    assert found.value in (0.0, 1.0)


RULES = {name: spec for name, spec in specs().items() if not spec.needs.judge}
PAIRS = [(name, at) for name, spec in RULES.items() for at in range(len(spec.examples))]


@pytest.mark.parametrize(("name", "at"), PAIRS)
@settings(max_examples=10, derandomize=True, deadline=None)
@given(response=TEXT)
def test_no_text_of_the_policy_leaves_a_sample_unscored(name, at, response):
    """In the place of a worked example's, whose reference is good."""
    example = RULES[name].examples[at]
    found = RULES[name](example.sample().answered(response), **example.parameters)
    assert RULES[name].scale[0] <= found.value <= RULES[name].scale[1]


MANY = "9" * 5_000
LONG_NUMBERS = [
    MANY,
    "1" + ",000" * 2_000,
    "-$1" + ",000" * 2_000 + ".5",
    "(1" + ",000" * 2_000 + ")",
    f"0.{MANY}",
    f"1/{MANY}",
    f"5e{MANY}",
    f"subtract(#{MANY}, 3)",
    f"const_{MANY}",
    r"x^{3^{16000}}",
    r"(3^{16000}+1)^x",
    "two " * 3_000,
]
"""Python reads and writes 4,300 digits, and a float holds 309."""


ANSWERED = {
    # how a response answers, and a reference
    "math": (r"\boxed{%s}", "3x^2"),
    "gsm8k": ("#### %s", "7"),
    "finqa": ("ANSWER: %s", {"answer": "5%"}),
    "exact_match": ("%s", "7"),
    "multiple_choice": ("The answer is %s.", "A"),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_a_number_of_more_digits_than_python_reads_is_scored(name):
    dress, reference = ANSWERED[name]
    for number in LONG_NUMBERS:
        assert get(name)(sample(dress.replace("%s", number), reference)).value == 0.0
