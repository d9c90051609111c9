"""Two rewards on the same responses: flips, tests, what training would be taught, and traps."""

import json
from itertools import chain

import pytest

from reward_functions.audit import rendering
from reward_functions.audit.comparing import BATCH, compare
from reward_functions.audit.groups import ALONE, NO_ROWS, NO_SCORE
from reward_functions.core.errors import BadSample, ConfigurationError
from reward_functions.core.types import Message, Sample, Unscored
from reward_functions.reports.statistics import mcnemar, mean_difference, sign_flip, wilson
from tests.audit.scored_rows import Paying, by_id, ends, rows


def compared(samples, a, b, **options):
    """The comparison, its figures by id and its findings by id; values go by the response."""
    first, second = (each if isinstance(each, Paying) else Paying(each) for each in (a, b))
    found = compare(first, second, samples, **options)
    for figure in found.figures:
        assert figure.value is not None or figure.why, figure
        assert figure.value is None or type(figure.value) is float, figure
    return found, by_id(found.figures), {each.id: each for each in found.findings}


def alone(*values):
    """Responses of prompts of their own, each with what A and B pay, as two tables."""
    samples = rows(*([f"r{at}"] for at in range(len(values))))
    return samples, *({f"r{at}": pair[of] for at, pair in enumerate(values)} for of in (0, 1))


def grouped(*groups):
    """The same of prompts with several responses."""
    names = [[f"r{number}.{at}" for at in range(len(each))] for number, each in enumerate(groups)]
    flat = list(zip(chain(*names), chain(*groups), strict=True))
    return rows(*names), *({name: pair[of] for name, pair in flat} for of in (0, 1))


def test_the_four_cells_and_the_rows_that_flip():
    pairs = [(1, 1)] * 4 + [(1, 0)] * 3 + [(0, 1)] * 2 + [(0, 0)]
    found, figures, findings = compared(*alone(*pairs))
    cells = {name: figures[name].value for name in ("both", "lost", "gained", "neither")}
    assert cells == {"both": 0.4, "lost": 0.3, "gained": 0.2, "neither": 0.1}
    assert ends(figures["lost"]) == wilson(0.3, 10)
    assert figures["passed.a"].value == 0.7
    assert figures["passed.b"].value == 0.6
    assert (findings["FLIP-LOST"].count, findings["FLIP-LOST"].n) == (3, 10)
    assert findings["FLIP-LOST"].verdict == "note"
    assert [each.place for each in findings["FLIP-GAINED"].rows] == ["row 8", "row 9"]
    shown = findings["FLIP-LOST"].rows[0]
    assert shown[:3] == ("row 5", "r4", 0.0)
    assert shown.reason == "A: 1, read r4; B: 0, read r4"
    assert (found.measured.measured, found.measured.missing) == (10, 0)
    assert found.data == {"file": "", "rows": 10, "prompts": 10, "sha256": ""}
    assert found.passed
    assert found.target["name"] == "paying"
    assert found.other["described"] == "paying, a function"


def test_the_rows_that_move_furthest_are_shown_first():
    pairs = [(0.6, 0.4), (1, 0), (0.8, 0.2), (0.2, 0.9), (0.4, 0.6)]
    _, _, findings = compared(*alone(*pairs))
    assert [each.response for each in findings["FLIP-LOST"].rows] == ["r1", "r2", "r0"]
    assert [each.response for each in findings["FLIP-GAINED"].rows] == ["r3", "r4"]


@pytest.mark.parametrize(("gained", "lost"), [(1, 9), (3, 12), (0, 5), (0, 0)])
def test_one_response_a_prompt_has_mcnemars_test(gained, lost):
    pairs = [(0, 1)] * gained + [(1, 0)] * lost + [(1, 1)] * 20
    _, figures, findings = compared(*alone(*pairs))
    test = mcnemar(gained, lost)
    assert (figures["p"].value, figures["p.mid"].value) == (test.p_value, test.mid_p)
    assert (figures["p"].unit, figures["p"].n) == ("p", gained + lost + 20)
    assert findings["TEST"].title == "McNemar's test, exact"
    assert (findings["TEST"].count, findings["TEST"].n) == (gained + lost, gained + lost + 20)


def test_several_responses_a_prompt_have_the_sign_flip_test():
    groups = [[(0, 1), (0, 1), (1, 0)]] * 3 + [[(1, 0), (1, 1)]] + [[(0, 1), (1, 0)]]
    _, figures, findings = compared(*grouped(*groups))
    assert figures["p"].value == sign_flip([1, 1, 1, -1, 0]).p_value
    assert figures["p"].n == 5
    assert (figures["p.mid"].value, figures["p.mid"].why) == (
        None,
        "the sign-flip test has no mid-p",
    )
    assert findings["TEST"].title == "sign-flip test by prompt, exact"
    assert findings["TEST"].count == 4
    _, figures, findings = compared(*grouped(*[[(0, 1), (0, 0)]] * 30))
    assert findings["TEST"].title == "sign-flip test by prompt, 10,000 draws"
    assert figures["p"].value == sign_flip([1] * 30).p_value


def test_the_difference_is_of_the_means_of_prompts():
    groups = [[(0, 1), (0.5, 0.5)]] * 10 + [[(1, 0.5)]] * 20
    _, figures, _ = compared(*grouped(*groups))
    expected = mean_difference([0.5] * 10 + [-0.5] * 20)
    assert figures["diff"].value == pytest.approx(expected.value)
    assert -1 < figures["diff"].low < figures["diff"].value < figures["diff"].high < 1
    assert figures["diff"].n == 30


def test_the_difference_of_few_prompts_has_no_interval():
    _, figures, _ = compared(*alone(*[(0, 1)] * 19))
    assert ends(figures["diff"]) == (1.0, None, None)
    assert figures["diff"].why == "an interval takes 20 prompts"
    _, figures, _ = compared(*alone(*[(0, 1)] * 20))
    assert figures["diff"].low is not None


def test_scores_are_compared_as_shares_of_each_ones_own_scale():
    """The same reward on two scales: nothing differs, and each mean is in its own units."""
    samples, one, _ = alone(*[(1, 0), (0, 0), (1, 0), (0.75, 0)] * 10)
    other = {name: 2 * value - 1 for name, value in one.items()}
    _, figures, _ = compared(samples, one, Paying(other, scale=(-1.0, 1.0)))
    assert figures["diff"].value == 0.0
    assert (figures["lost"].value, figures["gained"].value, figures["p"].value) == (0, 0, 1)
    assert figures["mean.a"].value == pytest.approx(0.6875)
    assert figures["mean.b"].value == pytest.approx(0.375)
    assert figures["mean.b"].low < 0.375 < figures["mean.b"].high
    assert figures["mean.b"].unit == "score"


def test_the_raw_score_is_shown():
    samples, one, _ = alone((1, 0))
    _, _, findings = compared(samples, one, Paying({"r0": -1}, scale=(-1.0, 1.0)))
    assert findings["FLIP-LOST"].rows[0].score == -1.0
    assert findings["FLIP-LOST"].rows[0].reason.startswith("A: 1, read r0; B: -1")


@pytest.mark.parametrize(
    ("scale", "pays", "words"),
    [
        (None, 1, "A declares no scale: its scores are read on 0 to 1"),
        (None, -3, "A declares no scale: its scores are read on -3 to 1"),
        ((0.0, 1.0), 2, "A leaves its scale: its scores are read on 0 to 2"),
        ((-1.0, 1.0), 1, None),
    ],
)
def test_a_scale_that_is_not_declared_or_left_is_said(scale, pays, words):
    found, _, _ = compared(rows(["a"]), Paying({"a": pays}, scale=scale), {"a": 1})
    assert list(found.notes) == ([words] if words else [])


def test_the_share_of_the_scale_that_passes_is_asked_for():
    samples, one, other = alone((0.4, 0.2), (0.9, 0.4))
    _, figures, _ = compared(samples, one, other, pass_at=0.3)
    assert (figures["lost"].value, figures["both"].value) == (0.5, 0.5)
    _, figures, _ = compared(samples, one, other, pass_at=0.95)
    assert figures["neither"].value == 1.0


def test_advantages_that_change_their_sign_are_counted():
    """Above the mean under A and below it under B, of each prompt's own mean."""
    pairs = [(1, 0), (0, 1), (0.5, 0.5), (1, 1)]  # means 0.625 and 0.625
    _, figures, _ = compared(*grouped(*[pairs] * 20))
    assert figures["signflips"].value == 0.5
    assert figures["signflips"].low < 0.5 < figures["signflips"].high
    assert (figures["taught.gained"].value, figures["taught.lost"].value) == (0, 0)


def test_an_advantage_of_zero_is_a_sign_of_its_own():
    flat, apart = [(0.5, 0), (0.5, 1)], [(0, 0.3), (1, 0.1 + 0.2)]
    _, figures, _ = compared(*grouped(flat, apart, apart, apart))
    assert figures["signflips"].value == 0.0
    assert figures["taught.gained"].value == 0.25
    assert figures["taught.lost"].value == 0.75  # 0.1 + 0.2 is above 0.3 by a rounding


def test_the_middle_of_a_prompt_is_no_advantage():
    pairs = [(0, 0), (0.5, 0.9), (1, 1)]
    _, figures, _ = compared(*grouped(pairs))
    assert figures["taught.gained"].value == pytest.approx(1 / 3)


def test_a_row_that_either_cannot_score_is_left_out_of_both_means():
    """With it the mean of A would be 0.75, and the second row below it."""
    with_hole = [(1, 1), (0.7, 0.7), (0.6, 0.6), (0.7, None)]
    found, figures, _ = compared(*grouped(with_hole, with_hole))
    assert figures["signflips"].value == 0.0
    assert figures["taught.gained"].value == figures["taught.lost"].value == 0.0
    assert (found.measured.measured, found.measured.missing) == (6, 2)
    assert figures["unscored"].value == figures["unscored.b"].value == 0.25
    assert figures["unscored.a"].value == 0.0
    assert figures["mean.a"].value == pytest.approx(0.75)


def test_the_mean_of_what_both_score_decides_a_sign():
    """Over all three rows the mean of A is 0.53, under which the first stands; over two 0.3."""
    _, figures, _ = compared(*grouped([(0.5, 1), (0.1, 0), (1, None)]))
    assert figures["signflips"].value == 0.0


def test_prompts_that_teach_nothing_under_either_are_counted():
    one, other, both, neither = (
        *([(1, 1), (1, 0)], [(1, 1), (0, 1)]),
        *([(1, 0), (1, 0)], [(1, 0), (0, 1)]),
    )
    _, figures, _ = compared(*grouped(one, other, other, both, both, both, neither, [(1, 1)]))
    shares = {name: figures[name].value for name in ("dead.a", "dead", "dead.both")}
    assert shares == pytest.approx({"dead.a": 1 / 7, "dead": 2 / 7, "dead.both": 3 / 7})
    assert figures["dead"].n == 7


def test_the_order_within_prompts_is_a_mean_of_tau_b():
    same, turned = [(0.1, 1), (0.2, 2), (0.3, 3)], [(0.1, 3), (0.2, 2), (0.3, 1)]
    flat = [(0.1, 1), (0.1, 2), (0.1, 3)]
    groups = grouped(*[same] * 15, *[turned] * 5, *[flat] * 10)
    _, figures, _ = compared(*groups[:2], Paying(groups[2], scale=(0.0, 3.0)))
    order = figures["order"]
    assert (order.value, order.n, order.unit) == (0.5, 20, "tau")
    assert order.low < 0.5 < order.high
    assert order.why == "the rewards of both differ in 20 of 30 prompts"
    _, figures, _ = compared(*grouped(*[same] * 19, flat))
    assert figures["order"].value is None
    assert "19 of 20 prompts, and it takes 20" in figures["order"].why


def test_labels_say_which_mistakes_each_makes_and_which_flips_are_right():
    _, one, other = alone((1, 0), (0, 1), (1, 0), (0, 1), (1, 1))
    samples = rows(
        *([f"r{at}"] for at in range(5)), label=["right", "right", "wrong", None, "wrong"]
    )
    _, figures, findings = compared(samples, one, other, label="label")
    assert {name: figures[name].value for name in ("fp.a", "fn.a", "fp.b", "fn.b")} == {
        "fp.a": 1.0,
        "fn.a": 0.5,
        "fp.b": 0.5,
        "fn.b": 0.5,
    }
    right = figures["flips.right"]
    assert (right.value, right.n) == (pytest.approx(2 / 3), 3)  # rows 2 and 3, not row 1
    assert findings["FN-B"].rows[0].place == "row 1"
    assert findings["FN-A"].rows[0].place == "row 2"
    assert findings["FP-A"].count == 2


def test_flips_without_labels_are_not_judged():
    samples, one, other = alone((1, 1), (0, 0))
    for each, label in zip(samples, (True, False), strict=True):
        each.metadata["label"] = label
    _, figures, _ = compared(samples, one, other, label="label")
    assert figures["flips.right"].why == "no row that flips has a label"
    assert figures["fp.a"].value == 0.0


def test_a_label_that_no_row_has_costs_no_score():
    first = Paying({"a": 1})
    with pytest.raises(ConfigurationError, match="no row has a label 'lable'"):
        compare(first, Paying({"a": 1}), rows(["a"], label=[True]), label="lable")
    assert first.calls == 0


RECORDED = {
    "the score of now": ("reward", [1, 0, 1], []),
    "another score": ("reward", [1, 1, 1], ["A is not what scored this file (1 of 3 rows)"]),
    "a score of some rows": (
        "score",
        [0, None, 0],
        ["A is not what scored this file (2 of 2 rows)"],
    ),
    "single precision": ("score", [1.0000001, 1e-8, 1], []),
    "the reward's own name": (
        "paying",
        [0, 0, 0],
        ["A is not what scored this file (2 of 3 rows)"],
    ),
    "words, and truths": ("score", ["1", True, None], []),
    "a number beyond any float": ("score", [10**400, None, None], []),
    "no number": ("score", [float("nan"), float("inf"), None], []),
    "another field": ("difficulty", [9, 9, 9], []),
    "our own results": (
        "aggregate_reward_score",
        [0, 0, 0],
        ["A is not what scored this file (2 of 3 rows)"],
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_file_that_a_did_not_score_is_said_first(name):
    field, values, expected = RECORDED[name]
    samples = rows(["a"], ["b"], ["c"], **{field: values})
    table = {"a": 1, "b": 0, "c": 1}
    found, _, findings = compared(samples, table, Paying(table, scale=None))
    assert [each for each in found.notes if each.startswith("A")] == expected
    assert ("RECORDED" in findings) == bool(expected)
    if expected:
        assert found.notes[0] == expected[0]
        assert found.findings[0].id == "RECORDED"


def test_the_recorded_score_stands_beside_that_of_now():
    samples = rows(["a", "b", "c"], reward=[0.9, 0.2, 0])
    _, _, findings = compared(samples, {"a": 1, "b": 1, "c": 0}, lambda _: 1)
    shown = findings["RECORDED"].rows
    assert [(each.place, each.score, each.wanted) for each in shown] == [
        ("row 2", 1.0, 0.2),
        ("row 1", 1.0, 0.9),
    ]
    assert (findings["RECORDED"].count, findings["RECORDED"].n) == (1, 1)


def test_a_label_is_no_recorded_score():
    samples = rows(["a"], ["b"], reward=[1, 0])
    found, _, _ = compared(samples, {"a": 0, "b": 1}, lambda _: 1, label="reward")
    assert list(found.notes) == []


def test_the_scale_of_a_recorded_score_is_that_of_a():
    samples = rows(["a"], score=[50.00001])
    found, _, _ = compared(samples, Paying({"a": 50}, scale=(0.0, 100.0)), {"a": 1})
    assert list(found.notes) == []


def test_a_target_in_this_process_is_asked_prompt_by_prompt_and_another_in_batches():
    samples = rows(*(["a", "b"] for _ in range(40)))
    here = Paying(lambda _: 1, kind="reward")
    there = Paying(lambda _: 1)
    seen = []
    found, figures, _ = compared(samples, here, there, progress=seen.append)
    assert [len(each) for each in here.batches] == [2] * 40
    assert [len(each) for each in there.batches] == [BATCH, 16]
    assert sum(seen) == 160
    assert (figures["calls.a"].value, figures["calls.b"].value, found.calls) == (40, 2, 42)
    assert figures["seconds.a.p50"].value <= figures["seconds.a.p95"].value <= found.seconds
    assert figures["seconds.b.p95"].unit == "seconds"


def test_a_judge_in_this_process_is_asked_in_batches():
    judge = Paying(lambda _: 1, kind="reward")
    judge.judges = True
    compared(rows(*(["a"] for _ in range(BATCH + 1))), judge, {"a": 1})
    assert [len(each) for each in judge.batches] == [BATCH, 1]


def test_calls_of_before_do_not_count():
    first = Paying({"a": 1})
    first.calls = 7
    found, _, _ = compared(rows(["a"]), first, {"a": 1})
    assert found.calls == 2
    assert not first.closed  # whoever made it may go on with it


def test_a_file_is_read_in_any_shape_and_has_a_checksum(tmp_path):
    file = tmp_path / "dump.jsonl"
    lines = [
        {"input": f"q{at}", "output": f"r{at}", "gts": "1", "score": float(at), "step": 1}
        for at in range(2)
    ]
    file.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    found, _, findings = compared(file, lambda _: 1, lambda _: 0)
    assert found.data["file"] == str(file)
    assert len(found.data["sha256"]) == 64
    assert (found.data["rows"], found.data["prompts"]) == (2, 2)
    assert list(found.notes) == ["A is not what scored this file (1 of 2 rows)"]
    assert findings["FLIP-LOST"].rows[0].place.endswith("line 1")


def test_records_of_rollouts_are_read_and_their_reward_is_a_recorded_score(tmp_path):
    file = tmp_path / "rollouts.jsonl"
    content = {"id": "a", "messages": [{"role": "user", "content": "q"}], "reference_answer": "1"}
    lines = [
        {"record": 1, "id": "a", "sample": at, "rollout": f"x{at}", "response": f"r{at}"}
        | {"status": "rewarded", "rewards": [at, 0.5], "reward": at + 0.5, "content": content}
        for at in range(2)
    ]
    lost = {"record": 1, "id": "a", "rollout": "x2", "status": "lost", "content": content}
    file.write_text("".join(f"{json.dumps(each)}\n" for each in [*lines, lost]))
    found, figures, _ = compared(file, lambda _: 0.5, lambda _: 0)
    assert (found.data["rows"], found.data["prompts"]) == (3, 2)
    assert figures["unscored"].value == 0.5  # a rollout without a response is a row by itself
    assert list(found.notes) == ["A is not what scored this file (1 of 2 rows)"]


def test_rows_that_are_not_valid_are_scored_by_neither():
    samples = [*rows(["a"]), Unscored("x", BadSample("no messages"))]
    found, figures, _ = compared(samples, {"a": 1}, {"a": 0})
    assert figures["unscored"].value == figures["unscored.a"].value == 0.5
    assert (found.measured.measured, found.measured.missing) == (1, 1)


def test_rows_of_one_id_are_rows_of_their_own():
    samples = [each for at in range(3) for each in rows([f"r{at}"])]
    assert len({each.id for each in samples}) == 1
    _, figures, findings = compared(
        samples, {"r0": 1, "r1": 0, "r2": 1}, {"r0": 0, "r1": 1, "r2": 1}
    )
    assert figures["both"].value == pytest.approx(1 / 3)
    assert findings["FLIP-LOST"].rows[0].response == "r0"
    assert findings["FLIP-GAINED"].rows[0].response == "r1"


def bare(response):
    return Sample(id="s", messages=(Message("assistant", response),))


NOT_BOTH = "no row has a score of both"
DEAD = {"signflips": ALONE, "taught.gained": ALONE, "dead": ALONE, "dead.both": ALONE}
NEITHER = dict.fromkeys(("both", "lost", "gained", "neither", "diff", "p", "p.mid"), NOT_BOTH)

TRAPS = {
    # samples, A, B, the exit status, and the absent figures with their reasons
    "an empty file": ([], {}, {}, 2, {**DEAD, **NEITHER, "unscored": NO_ROWS}),
    "one row": (rows(["a"]), {"a": 1}, {"a": 0}, 0, DEAD),
    "A scores nothing": (
        rows(["a", "b"], ["c"]),
        lambda _: None,
        lambda _: 1,
        *(2, {**DEAD, **NEITHER, "mean.a": NO_SCORE, "passed.a": NO_SCORE}),
    ),
    "each scores what the other cannot": (
        rows(["a", "b"]),
        *({"a": 1, "b": None}, {"a": None, "b": 1}, 2, {**DEAD, **NEITHER}),
    ),
    "groups of one": (rows(*(["a"] for _ in range(30))), {"a": 1}, {"a": 0}, 0, DEAD),
    "one response alone is scored by both": (
        rows(["a", "b"]),
        *({"a": 1, "b": None}, {"a": 1, "b": 1}, 0, DEAD),
    ),
    "responses without a prompt": ([bare("a"), bare("a")], {"a": 1}, {"a": 1}, 0, DEAD),
}


@pytest.mark.parametrize("name", TRAPS)
def test_what_cannot_be_measured_is_absent_with_its_reason_and_never_0(name):
    samples, one, other, status, absent = TRAPS[name]
    found, figures, findings = compared(samples, one, other)
    for each, why in absent.items():
        assert (figures[each].value, figures[each].why) == (None, why)
    assert figures["order"].value is None
    assert found.status == status
    if "p" in absent:
        assert {each.verdict for each in findings.values()} == {"untested"}


def test_the_same_reward_twice_differs_in_nothing():
    samples = rows(*(["a", "b", "c"] for _ in range(25)))
    table = {"a": 1, "b": 0.3, "c": 0}
    _, figures, findings = compared(samples, table, table)
    nothing = ("lost", "gained", "diff", "signflips", "taught.gained", "taught.lost", "dead")
    assert {figures[name].value for name in nothing} == {0.0}
    assert (figures["p"].value, figures["order"].value) == (1.0, 1.0)
    assert figures["lost"].high > 0  # nothing seen in 25 prompts is no certainty
    assert [findings[name].verdict for name in ("FLIP-LOST", "FLIP-GAINED")] == ["ok", "ok"]


def test_two_rewards_of_opposite_sign_differ_in_everything():
    samples = rows(*(["a", "b"] for _ in range(25)))
    worst = Paying({"a": -1, "b": 0}, scale=(-1.0, 0.0))
    _, figures, _ = compared(samples, {"a": 1, "b": 0}, worst)
    assert (figures["signflips"].value, figures["order"].value) == (1.0, -1.0)
    assert (figures["lost"].value, figures["gained"].value) == (0.5, 0.5)
    assert (figures["p"].value, figures["diff"].value) == (1.0, 0.0)


def test_gates_are_decided_of_its_figures():
    gates = pytest.importorskip("reward_functions.audit.gates")
    samples, one, other = alone(*[(1, 0)] * 30)
    found, _, _ = compared(samples, one, other, fail_on=["lost>0.02", "gained>0.2", "p<0.05"])
    assert [each.decision for each in found.gates] == ["broken", "held", "broken"]
    assert found.status == 1
    assert gates


def test_a_gate_that_cannot_be_read_costs_no_score():
    pytest.importorskip("reward_functions.audit.gates")
    first = Paying({"a": 1})
    with pytest.raises(ConfigurationError):
        compare(first, Paying({"a": 1}), rows(["a"]), fail_on=["lost over 2"])
    assert first.calls == 0


def test_a_reward_is_named_and_closed_by_who_opened_it():
    pytest.importorskip("reward_functions.audit.targets")
    samples = rows(["#### 1"], ["2"])
    found, figures, _ = compared_by_name(samples)
    assert found.target["name"] == "gsm8k"
    assert figures["unscored.a"].value == 1.0  # the rows have no reference


def compared_by_name(samples):
    found = compare("gsm8k", "math", samples)
    return found, by_id(found.figures), found.findings


def test_the_result_is_a_sentence_that_names_what_flips_and_what_training_would_do():
    found, _, _ = compared(*grouped(*[[(1, 0), (0, 1), (0, 1)]] * 3, [(1, 1)]))
    assert found.verdict == (
        "B pays 6 rows that A refuses, and refuses 3 that A pays (p = 0.25); "
        "100.0% of advantages change their sign"
    )
    assert str(found).splitlines() == [f"A paying, B paying: {found.verdict}"]
    gated, _, _ = compared(*alone((1, 0)), fail_on=["lost>0.02"])
    assert gated.verdict == (
        "B pays 0 rows that A refuses, and refuses 1 that A pays (p = 1); "
        "does not hold: of 1 gates 1 broken"
    )
    assert str(gated).splitlines()[1].startswith("lost>0.02: lost is 100.0% (")
    nothing, _, _ = compared([], {}, {})
    assert nothing.verdict == "nothing was measured: there are no rows"


def test_markdown_names_both_and_has_the_figures_and_no_empty_table():
    found, _, _ = compared(*alone((1, 0), (1, 1)))
    shown = rendering.audit_markdown(found)
    assert shown.startswith("### `A paying, B paying`\n\n**B pays 0 rows that A refuses")
    assert "| lost | 50.0% (9.5% to 90.5%, 2 prompts) |" in shown
    assert "| FLIP-LOST | pass under A, and not under B | note | 1 of 2 | 1 of 2 rows |" in shown
    assert "| gate |" not in shown
    assert "(2 rows)" in next(each for each in shown.splitlines() if "calls.a" in each)
    assert [each.title for each in rendering.audit_sheets(found)][-1] == "figures"


def test_a_row_has_what_both_gave():
    found, _, findings = compared(*alone((1, 0)))
    (row,) = findings["FLIP-LOST"].rows
    assert (row.before, row.score) == (1.0, 0.0)
    assert '"before": 1.0' in rendering.audit_json(found)
    html = rendering.audit_page(found).html()
    assert "<summary>row 1: A 1, B 0</summary>" in html
    assert '<p class="lead">B pays 0 rows that A refuses' in html
    assert "<h1>Comparison of A paying, B paying</h1>" in html
