"""`exact_match` pays for the reference and nothing around it."""

import pytest

from reward_functions import BadReference, get, sample

REWARD = get("exact_match")


@pytest.mark.parametrize(
    ("response", "reference", "right"),
    [
        ("Paris", "Paris", True),
        ("  paris ", "Paris", True),
        ("New\n York", "new york", True),
        ("cafe\u0301", "café", True),
        ("Pa\u200bris", "Paris", True),
        ("18", 18, True),
        ("<think>no</think> Paris", "Paris", True),
        ("Paris.", "Paris", False),
        ("Paris!", "Paris", False),
        ("It is Paris", "Paris", False),
        ("", "Paris", False),
        ("<think>Paris</think>", "Paris", False),
        ("\0", "Paris", False),
        ("\ud800", "Paris", False),
    ],
)
def test_table(response, reference, right):
    assert REWARD(sample(response, reference)).value == right


def test_case_counts_when_asked():
    assert REWARD(sample("paris", "Paris"), ignore_case=False).value == 0.0


@pytest.mark.parametrize("reference", [None, "", "\u200b", {"label": "x"}])
def test_without_a_reference_nothing_is_scored(reference):
    with pytest.raises(BadReference):
        REWARD(sample("Paris", reference))
