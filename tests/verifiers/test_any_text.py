"""Whatever stands in a response, a prompt or a reference: a score, or a `BadReference`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions import BadReference, get, sample

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
