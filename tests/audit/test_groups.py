"""What a reward gave to the responses of each prompt: figures, and the reasons of absent ones."""

import pytest

from reward_functions.audit.groups import (
    ALONE,
    NO_ROWS,
    NO_SCORE,
    group_measures,
    prompts_of,
)
from reward_functions.core.errors import BadSample
from reward_functions.core.spec import Scale
from reward_functions.core.types import Message, Sample, Unscored
from reward_functions.reports.score_report.labels import labels_of
from reward_functions.reports.statistics import mean_difference, wilson
from tests.audit.scored_rows import by_id, earned, ends, rows


def measured(samples, values, label=None, **options):
    """The figures by id, and the findings by id."""
    given = earned(samples, values, **options)
    labels = labels_of(samples, label, given.scale) if label else None
    places = [f"row {number}" for number in range(1, len(samples) + 1)]
    figures, findings = group_measures(given, places, labels)
    assert all(each.value is None or type(each.value) is float for each in figures)
    return by_id(figures), {each.id: each for each in findings}


def test_rows_of_one_prompt_are_a_group_in_any_order():
    one, two, three = rows(["a"], ["b"], ["c"])
    again = one.answered("d")
    bad = Unscored("x", BadSample("no messages"))
    bare = Sample(id="y", messages=(Message("assistant", "z"),))
    assert prompts_of([one, two, again, bad, bare, bare, three]) == [
        *([0, 2], [1]),
        *([3], [4], [5]),  # no prompt: each by itself
        [6],
    ]


@pytest.mark.parametrize(
    ("declared", "values", "scale"),
    [
        (None, [], (0, 1)),
        (None, [0.3, 0.4], (0, 1)),
        (None, [-1, 1], (-1, 1)),
        (None, [5], (0, 5)),
        ((-1, 1), [0.5], (-1, 1)),
        ((0, 1), [1.5, -0.5], (-0.5, 1.5)),
    ],
)
def test_a_scale_is_as_wide_as_what_was_seen(declared, values, scale):
    declared = declared and Scale(*declared)
    samples = rows(*(["a"] for _ in range(len(values) + 1)))
    assert earned(samples, [*values, None], scale=declared).scale == scale


@pytest.mark.parametrize(
    ("value", "pass_at", "passes"),
    [
        (0.5, 0.5, False),  # half a credit is none
        (0.51, 0.5, True),
        (0.0, 0.0, False),
        (0.1, 0.0, True),
        (1.0, 1.0, True),
        (0.99, 1.0, False),
        (0.1 + 0.2, 0.3, False),  # a rounding above it
    ],
)
def test_a_reward_passes_above_a_share_and_at_one_its_maximum_does(value, pass_at, passes):
    assert earned(rows(["a"]), [value], pass_at=pass_at).passes(0) == passes
    moved = earned(rows(["a"]), [2 * value - 1], scale=Scale(-1.0, 1.0), pass_at=pass_at)
    assert moved.passes(0) == passes


def test_shares_of_the_largest_scale_are_numbers():
    given = earned(rows(["a", "b", "c"]), [-1.5e308, 1.5e308, 0.0])
    assert list(given.shares) == [0.0, 1.0, 0.5]
    figures, _ = measured(rows(["a", "b"]), [-1.5e308, 1.5e308])
    assert figures["reward_std"].value == pytest.approx(1.5e308)


LABELLED = rows(*(["long", "b"] for _ in range(10)), label=[True, False] * 10)


def test_paid_wrong_rows_and_refused_right_ones_are_counted_by_prompt():
    figures, findings = measured(LABELLED, [0, 1] + [1, 0] * 9, "label")
    assert ends(figures["fp"]) == wilson(0.1, 10)
    assert figures["fn"].value == pytest.approx(0.1)
    assert (figures["fp"].n, figures["fp"].why) == (10, "")
    assert (findings["FP"].count, findings["FP"].n) == (1, 10)
    assert findings["FP"].rows[0][:4] == ("row 2", "b", 1.0, 0.5)
    assert findings["FN"].rows[0][:4] == ("row 1", "long", 0.0, 0.5)
    assert findings["FP"].message == "1 of 10 rows"


def test_the_worst_rows_are_shown_first_and_few_of_them():
    samples = rows(*(["a"] for _ in range(9)), label=[False] * 9)
    _, findings = measured(samples, [0.6, 0.9, 0.7, 0.1, 0.8, 1.0, 0.95, 0.55, 0.2], "label")
    assert [row.score for row in findings["FP"].rows] == [1.0, 0.95, 0.9, 0.8, 0.7]
    assert findings["FP"].count == 7
    assert findings["FN"].title == "refused, though labelled right"
    assert (findings["FN"].verdict, findings["FN"].message) == ("untested", NOT_RIGHT)
    right = rows(*(["a"] for _ in range(3)), label=[True] * 3)
    _, findings = measured(right, [0.4, 0.1, 0.9], "label")
    assert [row.score for row in findings["FN"].rows] == [0.1, 0.4]


NOT_RIGHT = "no scored row is labelled right"


def test_a_reward_that_makes_no_mistake_is_ok_and_not_certain():
    figures, findings = measured(LABELLED, [1, 0] * 10, "label")
    assert (figures["fp"].value, figures["fp"].high) == (0.0, wilson(0, 10).high)
    assert {each.verdict for name, each in findings.items() if name != "LENGTH"} == {"ok"}


def test_every_prompt_counts_once_however_many_responses_it_has():
    samples = rows(["a"] * 9, ["b"], label=[False] * 10)
    figures, _ = measured(samples, [0] * 9 + [1], "label")
    assert figures["fp"].value == 0.5
    assert (figures["fp"].low, figures["fp"].why) == (None, "an interval takes 20 prompts")


def test_an_unscored_row_is_in_no_figure_but_its_own():
    samples = rows(["a"], ["b"], ["c"], ["d"], label=[False, False, True, None])
    figures, _ = measured(samples, [1, None, None, None], "label")
    assert (figures["fp"].value, figures["fp"].n) == (1.0, 1)
    assert (figures["fn"].value, figures["fn"].why) == (None, NOT_RIGHT)
    assert (figures["unscored"].value, figures["unscored"].n) == (0.75, 4)
    assert (figures["distinct"].value, figures["distinct"].n) == (1.0, 1)


def test_prompts_whose_rewards_are_equal_teach_nothing():
    samples = rows(["a", "b"], ["c", "d", "e"], ["f"], ["g", "h"])
    figures, _ = measured(samples, [1, 1, 0, 0.1 + 0.2 - 0.3, 0, 1, 0, 1])
    dead = figures["frac_reward_zero_std"]
    assert (ends(dead), dead.n) == (wilson(2 / 3, 3), 3)  # a rounding is no difference
    assert figures["reward_std"].value == pytest.approx(0.5 / 3)
    assert figures["reward_std"].unit == "score"


def test_the_standard_deviation_is_in_the_rewards_own_units():
    samples = rows(*(["a", "b"] for _ in range(40)))
    figures, _ = measured(samples, [-1, 1] * 20 + [0, 0] * 20, scale=Scale(-1.0, 1.0))
    stds = mean_difference([1.0] * 20 + [0.0] * 20)
    assert figures["reward_std"].value == 0.5
    assert figures["reward_std"].low == pytest.approx(stds.low)
    assert figures["reward_std"].high == pytest.approx(stds.high)


LONG = rows(*(["a", "bb", "ccc", "dddd"] for _ in range(30)), label=[True, True, False, False] * 30)


def test_what_pays_length_is_seen_and_is_called_bias_where_labels_say_so():
    figures, findings = measured(LONG, [0, 0.1, 0.2, 0.3] * 30)
    length = figures["length.rollouts"]
    assert (length.value, length.n, length.unit) == (1.0, 30, "tau")
    assert length.low < 1.0 == length.high
    assert length.why == "rewards and lengths differ in 30 of 30 prompts"
    assert findings["LENGTH"].title == "reward and length"
    assert "bias" not in findings["LENGTH"].message
    _, findings = measured(LONG, [0, 0.1, 0.2, 0.3] * 30, "label")
    assert findings["LENGTH"].title == "length bias"
    assert findings["LENGTH"].verdict == "note"


def test_right_answers_that_are_longer_are_no_bias():
    """Over all responses tau-b is -0.8; among those of one label nothing differs."""
    figures, findings = measured(LONG, [1, 1, 0, 0] * 30, "label")
    assert figures["length.rollouts"].value is None
    over = "rewards and lengths of one label differ in 0 of 30 prompts, and it takes 20"
    assert figures["length.rollouts"].why == findings["LENGTH"].message == over
    assert findings["LENGTH"].verdict == "untested"


def test_the_labels_of_a_prompt_count_together_as_one():
    """Longer right answers earn more and longer wrong ones less: 0, not two prompts of 1 and -1."""
    figures, _ = measured(LONG, [0.8, 0.9, 0.2, 0.1] * 30, "label")
    assert (figures["length.rollouts"].value, figures["length.rollouts"].n) == (0.0, 30)


def test_rows_without_a_label_say_nothing_of_a_bias():
    labels = [True, None, None, True] * 30
    samples = rows(*(["a", "bb", "ccc", "dddd"] for _ in range(30)), label=labels)
    figures, _ = measured(samples, [0.9, 0.1, 0.8, 0.7] * 30, "label")
    assert figures["length.rollouts"].value == -1.0


def test_groups_that_do_not_vary_are_left_out_and_counted():
    values = [0, 0.1, 0.2, 0.3] * 20 + [1, 1, 1, 1] * 10
    figures, _ = measured(LONG, values)
    assert figures["length.rollouts"].value == 1.0
    assert figures["length.rollouts"].why == "rewards and lengths differ in 20 of 30 prompts"
    figures, _ = measured(LONG, [0, 0.1, 0.2, 0.3] * 19 + [1, 1, 1, 1] * 11)
    assert figures["length.rollouts"].value is None
    assert "19 of 30 prompts, and it takes 20" in figures["length.rollouts"].why


TRAPS = {
    # rows, what each earned, and the figures that are absent with their reasons
    "no row at all": (
        [],
        [],
        {"unscored": NO_ROWS, "frac_reward_zero_std": ALONE, "distinct": NO_SCORE},
    ),
    "one row": (rows(["a"]), [1], {"frac_reward_zero_std": ALONE, "reward_std": ALONE}),
    "three rows of three prompts": (
        rows(["a"], ["b"], ["c"]),
        [1, 0, 1],
        {"frac_reward_zero_std": ALONE, "reward_std": ALONE},
    ),
    "groups of one": (
        rows(*(["a"] for _ in range(40))),
        [1, 0] * 20,
        {"frac_reward_zero_std": ALONE, "reward_std": ALONE},
    ),
    "a group of which one response alone is scored": (
        rows(["a", "b"]),
        [1, None],
        {"frac_reward_zero_std": ALONE, "reward_std": ALONE},
    ),
    "no row is scored": (
        rows(["a", "b"], ["c"]),
        [None, None, None],
        {"frac_reward_zero_std": ALONE, "reward_std": ALONE, "distinct": NO_SCORE},
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_what_cannot_be_measured_is_absent_with_its_reason_and_never_0(name):
    samples, values, absent = TRAPS[name]
    figures, findings = measured(samples, values)
    for each, why in absent.items():
        assert (figures[each].value, figures[each].why) == (None, why)
    assert figures["length.rollouts"].value is None
    assert findings["LENGTH"].verdict == "untested"
    for figure in figures.values():
        assert figure.value is not None or figure.why
        assert figure.value is None or figure.n
