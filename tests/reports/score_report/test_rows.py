"""Which rows are cut off, surprising or mislabelled: one row of a table for each case."""

from __future__ import annotations

import pytest

from reward_functions import sample
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.spec import Scale
from reward_functions.core.types import Score, Scored, Unscored
from reward_functions.reports.score_report.cases import (
    CUT_AND_CORRECT,
    DISAGREES,
    ONLY_FAILURE,
    ONLY_SUCCESS,
    REFERENCE_AT_END,
    surprises,
)
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.labels import confusion, labels_of
from reward_functions.reports.score_report.reasons import SIGNALS, truncated

UNIT = Scale(0.0, 1.0)
STOPPED, REASONING, BOX, FENCE = (signal.name for signal in SIGNALS)


def batch(samples, values):
    results = [Scored(str(at), Score(value)) for at, value in enumerate(values)]
    return Batch.of(samples, results, UNIT)


ENDINGS = {
    "a whole response": (sample("\\boxed{4} ```a```\n"), []),
    "OpenAI's reason": (sample("x", finish_reason="length"), [STOPPED]),
    "Anthropic's and Bedrock's": (sample("x", stopReason="max_tokens"), [STOPPED]),
    "the end of a turn": (sample("x", finish_reason="stop"), []),
    "a reason that is no string": (sample("x", finish_reason=["length"]), []),
    "open reasoning": (sample("<think>so 4"), [REASONING]),
    "closed reasoning": (sample("<think>so</think>4"), []),
    "an open box": (sample("it is \\boxed{\\frac{1}{2"), [BOX]),
    "an open box with escaped braces": (sample("\\boxed{\\{1, 2\\}"), [BOX]),
    "a closed box with escaped braces": (sample("\\boxed{\\{1, 2\\}}"), []),
    "an open box long ago": (sample("\\boxed{4" + " x" * 5_000), []),
    "an open fence": (sample("```python\nprint(1)"), [FENCE]),
    "an open fence in tildes": (sample("~~~\nprint(1)"), [FENCE]),
    "two signs": (sample("<think>so", finish_reason="length"), [STOPPED, REASONING]),
    "nothing": (sample(""), []),
}


@pytest.mark.parametrize(("row", "signs"), ENDINGS.values(), ids=ENDINGS)
def test_a_sign_of_truncation(row, signs):
    found = truncated(batch([row], [0.0]))
    assert [name for name, rows in found.items() if rows] == signs


def test_signs_are_found_in_ten_million_characters():
    row = sample("\\boxed{" * 1_500_000)
    assert truncated(batch([row], [0.0]))[BOX] == [0]


LAST_LINES = {
    "the reference alone": ("so\n42", "42", True),
    "in a sentence": ("It is 42.", "42", True),
    "in other letters": ("It is paris", "Paris", True),
    "the end of a solution": ("It is 42", "20 + 22 = 42\n#### 42", True),
    "inside a number": ("It is 142 or 420", "42", False),
    "before a decimal": ("It is 42.5", "42", False),
    "behind a decimal point": ("It is 0.42", "42", False),
    "the end of a decimal of one digit": ("It is 1.5", "5", False),
    "the begin of a decimal of one digit": ("It is 1.5 now", "1", False),
    "before a full stop": ("It is 15. So it is", "15", True),
    "behind a full stop": ("Yes.15", "15", True),
    "forty characters": (f"It is {'x' * 40}", "x" * 40, True),
    "forty-one characters": (f"It is {'x' * 41}", "x" * 41, False),
    "after a comma of thousands": ("It is 1,042", "042", False),
    "on an earlier line": ("42\nno", "42", False),
    "a long reference": ("x" * 50, "x" * 50, False),
    "no reference": ("42", None, False),
    "a second place": ("142 and 42", "42", True),
}


@pytest.mark.parametrize(("response", "reference", "found"), LAST_LINES.values(), ids=LAST_LINES)
def test_a_reference_in_the_last_line_of_a_low_row_is_surprising(response, reference, found):
    row = sample(response, reference, prompt="p")
    rules = list(surprises(batch([row], [0.0]), ()))
    assert rules == [REFERENCE_AT_END] * found
    assert surprises(batch([row], [1.0]), ()) == {}


def test_the_only_one_of_its_group_is_surprising():
    samples = [sample("x", "y", prompt=prompt) for prompt in "aaabbbcc"]
    found = surprises(batch(samples, [0, 1, 0, 1, 1, 0, 0, 1]), ())
    assert found == {ONLY_SUCCESS: [1], ONLY_FAILURE: [5]}


def test_a_row_that_two_rules_find_is_shown_once():
    samples = [sample("x", "y", prompt="a") for _ in "abc"]
    found = surprises(batch(samples, [0, 1, 0]), {1}, [1])
    assert found == {DISAGREES: [1]}
    found = surprises(batch(samples[:2], [0, 1]), {1})
    assert found == {CUT_AND_CORRECT: [1]}


LABELS = {
    "booleans": ([True, False], UNIT, [True, False]),
    "0 and 1": ([1, 0], UNIT, [True, False]),
    "0 and 1 on another scale": ([1, 0], Scale(0, 10), [True, False]),
    "words": (["Correct", " wrong "], UNIT, [True, False]),
    "numbers": ([0.51, 0.5], UNIT, [True, False]),
    "numbers on another scale": ([0.1, -1], Scale(-1, 1), [True, False]),
    "a row without": ([None, True], UNIT, [None, True]),
    "a mixture": (["yes", 0], UNIT, [True, False]),
}


@pytest.mark.parametrize(("values", "scale", "read"), LABELS.values(), ids=LABELS)
def test_what_counts_as_a_label(values, scale, read):
    rows = [sample("x", label=value) for value in values]
    assert labels_of(rows, "label", scale).values == read


PATHS = ["label", "metadata.label", "reference_answer.label", "deep.er.label", "dotted.name"]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_leads_into_objects(path):
    fields = {"label": True, "deep": {"er": {"label": True}}, "dotted.name": True}
    row = sample("x", {"label": True}, **fields)
    assert labels_of([row], path, UNIT).values == [True]


REFUSED = {
    "a misspelt field": ([True], "lable", "no row has a label 'lable'. Did you mean 'label'?"),
    "nulls alone": ([None], "label", "no row has a label 'label': it is null wherever it is"),
    "an object": ([{"a": 1}], "label", "such as an object:"),
    "no row at all": ([], "label", "no row has a label 'label'; it has none"),
    "words": (["maybe", "maybe", True], "label", "2 of 3 values of 'label' are not labels, such"),
    "numbers out of scale": ([3, 0.5], "label", "such as 3: a label is true or false"),
    "not a number": ([float("nan")], "label", "such as nan"),
    "a list": ([["x" * 9_999]], "label", "such as a list:"),
    "many digits": ([10**5_000], "label", "such as an integer of many digits"),
    "a long word": (["x" * 9_999], "label", f"'{'x' * 40}':"),
}


@pytest.mark.parametrize(("values", "field", "words"), REFUSED.values(), ids=REFUSED)
def test_other_values_are_refused_in_one_sentence(values, field, words):
    rows = [sample("x", label=value) for value in values]
    with pytest.raises(ConfigurationError) as refused:
        labels_of(rows, field, UNIT)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 400


def test_precision_recall_and_accuracy_leave_out_unscored_rows():
    samples = [sample("x", prompt=str(at), ok=at < 5) for at in range(10)]
    values = [1, 1, 1, 0, None, 1, 0, 0, 0, None]
    results = [
        Unscored(str(at), ValueError()) if value is None else Scored(str(at), Score(value))
        for at, value in enumerate(values)
    ]
    found = confusion(Batch.of(samples, results, UNIT), labels_of(samples, "ok", UNIT))
    counts = {key: len(rows) for key, rows in found.cells.items()}
    assert counts == {
        (True, True): 3, (True, False): 1, (True, None): 1,
        (False, True): 1, (False, False): 3, (False, None): 1,
    }  # fmt: skip
    figures = (
        found.agreement["precision"].share.value,
        found.agreement["recall"].share.value,
        found.agreement["accuracy"].share.value,
    )
    assert figures == (3 / 4, 3 / 4, 6 / 8)
    assert found.disagreements == [3, 5]
    # Wilson (1927) for 3 of 4: 0.3006 to 0.9544
    assert found.agreement["precision"].share[1:] == pytest.approx((0.3006, 0.9544), abs=1e-4)


def test_without_a_row_of_its_kind_a_share_is_none():
    rows = [sample("x", ok=False)]
    found = confusion(batch(rows, [0.0]), labels_of(rows, "ok", UNIT))
    assert (
        found.agreement["precision"].share,
        found.agreement["recall"].share,
        found.agreement["accuracy"].share.value,
    ) == (None, None, 1.0)
