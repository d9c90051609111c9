"""Two models compared on prompts: means, flips, groups, pass@k, and the verdict in words."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from reward_functions.core.errors import BadReference
from reward_functions.core.spec import Scale
from reward_functions.core.types import Message, Sample, Score, Scored, Unscored, Usage
from reward_functions.jobs.asking import AnswerAttempt, ModelAnswer, Sampling, chosen
from reward_functions.jobs.evaluation.evaluation import (
    FEW,
    MOST_GROUPS,
    Answers,
    Asked,
    Askings,
    NoGroup,
    NothingAnswered,
    NothingCompared,
    Settings,
    Split,
    beside,
    conclusion,
    differences,
    evaluate,
    group_names,
    groups_of,
    in_points,
    is_right,
    pairs,
    passes,
    power_of,
    record_of,
    require_answers,
    turned,
    verdict_of,
    warned,
)
from reward_functions.jobs.evaluation.evaluation_record import Compared, Power
from reward_functions.reports.statistics import Difference

SCORER = SimpleNamespace(
    arn="arn", deployed=None, reasons=lambda samples: [f"why {each.response}" for each in samples]
)


def prompts(count, **metadata):
    samples = [
        Sample(
            id=str(at),
            messages=(Message("user", f"{at}?"),),
            reference="1",
            metadata={name: value(at) for name, value in metadata.items()},
        )
        for at in range(count)
    ]
    return chosen(samples, [f"line {at}" for at in range(count)], count, 0)


def answers(side, asked, shares, mode="greedy", scale=(0.0, 1.0)):
    """Answers of these shares of a prompt's, each; None is one without a score."""
    given, results = {}, {}
    low, high = scale
    for prompt, of in zip(asked, shares, strict=True):
        for number, share in enumerate(of if isinstance(of, list) else [of]):
            at = AnswerAttempt(prompt.digest, number)
            given[at] = ModelAnswer(f"{side} {share}", usage=Usage(10, 20), seconds=1.0 + number)
            value = None if share is None else Scored("", Score(low + share * (high - low)))
            results[at] = value or Unscored("", BadReference("there is none"))
    return Answers(side, mode, given, results, low, high)


def record(base, tuned, *, asked=None, sampled=None, settings=None, aside=(), scale=(0.0, 1.0)):
    asked = asked or prompts(len(base))
    scored = {
        ("base", "greedy"): answers("base", asked, base, scale=scale),
        ("tuned", "greedy"): answers("tuned", asked, tuned, scale=scale),
    }
    if sampled:
        scored["base", "sampled"], scored["tuned", "sampled"] = (
            answers(side, asked, of, "sampled")
            for side, of in zip(("base", "tuned"), sampled, strict=True)
        )
    split = Split(tuple(asked), 2, 1, ("a leak",), ("the training file",))
    return record_of(
        scored,
        {"base": "b", "tuned": "t"},
        Sampling(0.0, 100, "high"),
        split,
        SCORER,
        settings or Settings(answers=len(sampled[0][0]) if sampled else 0),
        aside,
        now=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_a_record_holds_what_was_compared():
    asked = prompts(4)
    place = {each.digest: each.place for each in asked}
    found = record([0.0, 1.0, 0.0, None], [1.0, 0.0, 1.0, 1.0], asked=asked, aside=(None,) * 0)
    assert (found.prompts, found.repeated, found.unread, found.compared_with) == (
        4, 2, 1, ("the training file",),
    )  # fmt: skip
    greedy = found.greedy
    assert (greedy.base, greedy.tuned, greedy.left_out) == (1 / 3, 2 / 3, 1)
    assert greedy.difference.value == pytest.approx(1 / 3)
    assert (found.mcnemar.gained, found.mcnemar.lost) == (2, 1)
    assert [(each.turned, each.base_score, each.tuned_score) for each in found.flips] == [
        ("wrong", 1.0, 0.0),
        ("right", 0.0, 1.0),
        ("right", 0.0, 1.0),
    ]
    assert [each.place for each in found.flips] == [
        place[asked[1].digest], place[asked[0].digest], place[asked[2].digest],
    ]  # fmt: skip
    assert {each.base_text for each in found.flips} == {None}
    assert (found.max_tokens, found.reasoning_effort, found.sampled) == (100, "high", None)
    starts = [
        "a leak",
        "3 prompts are few: the interval is ",
        "1 prompt without a score of one model or both left out: if the reward fails",
        "1 answer without a score: there is none",
        "2 rows of the split asking what another asks: asked once",
        "1 row of the split not valid: `reward data lint` says why",
        "with high effort the model takes no temperature: the greedy answers are drawn",
    ]
    warnings = zip(found.warnings, starts, strict=True)
    assert [each[: len(start)] for each, start in warnings] == starts


def test_shares_are_of_the_scale_and_texts_of_flips_are_kept_where_they_are_known():
    asked = prompts(2)
    aside = (beside(answers("base", asked, [0.0, 1.0]), None, timed=True),)
    found = record([0.25, 1.0], [1.0, 0.25], asked=asked, aside=aside, scale=(-1.0, 3.0))
    assert (found.greedy.base, found.greedy.tuned) == (0.625, 0.625)
    wrong, right = found.flips
    assert (wrong.base_text, wrong.tuned_text) == ("base 1.0", "tuned 0.25")
    assert (right.base_reason, right.tuned_reason) == ("why base 0.25", "why tuned 1.0")


def test_prompts_of_which_none_has_both_scores_are_not_compared():
    with pytest.raises(NothingCompared, match=r"the grader: there is none: look at it with"):
        record([0.0, None], [None, 1.0])
    asked = prompts(2)
    both = pairs(answers("base", asked, [0.0, None]), answers("tuned", asked, [0.5, 1.0]))
    assert both == {asked[0].digest: ([0.0], [0.5])}


def test_sampled_answers_have_a_mean_and_pass_at_k():
    found = record(
        [0.0, 0.0], [1.0, 1.0],
        sampled=([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]),
    )  # fmt: skip
    assert (found.sampled.mode, found.sampled.base, found.sampled.tuned) == ("sampled", 1 / 6, 0.5)
    assert [(each.k, each.base, each.tuned) for each in found.pass_at_k] == [
        (1, pytest.approx(1 / 6), pytest.approx(0.5)),
        (2, pytest.approx(1 / 3), pytest.approx(5 / 6)),
        (3, 0.5, 1.0),
    ]
    uneven = {"a": ([1.0], [1.0, 0.0]), "b": ([1.0, 1.0], [0.0, 0.0])}
    assert [(each.k, each.base, each.tuned) for each in passes(uneven, 3, 1.0, 0)] == [
        (1, 1.0, 0.25),
        (2, 1.0, 0.0),
    ]


@pytest.mark.parametrize(
    ("share", "success", "right"),
    [(1.0, 1.0, True), (1.0 - 1e-10, 1.0, True), (0.999, 1.0, False), (0.5, 0.5, True),
     (0.49, 0.5, False)],
)  # fmt: skip
def test_an_answer_is_right_from_the_share_that_is_asked_for(share, success, right):
    assert is_right(share, success) == right


def test_what_turned_is_by_the_first_answer():
    found = {
        "a": ([0.0, 1.0], [1.0]),
        "b": ([1.0], [0.0, 1.0]),
        "c": ([1.0], [1.0]),
        "d": ([0.0], [0.4]),
    }
    assert turned(found, 1.0)[:2] == (["a"], ["b"])
    assert turned(found, 0.4)[:2] == (["a", "d"], ["b"])
    assert differences(found.values()) == [0.5, -0.5, 0.0, 0.4]
    assert differences([([0.1 + 0.2], [0.3])]) == [0.0]


@pytest.mark.parametrize(
    ("more", "less", "verdict"),
    [
        (FEW, 0, "better"),
        (0, FEW, "worse"),
        (FEW - 1, 0, "better"),
        (5, 0, "no difference shown"),
        (6, 0, "better"),
        (0, 6, "worse"),
    ],
)
def test_of_few_prompts_a_test_has_to_agree(more, less, verdict):
    changes = [(0.0, 1.0)] * more + [(1.0, 0.0)] * less
    found = {str(at): ([ours], [theirs]) for at, (ours, theirs) in enumerate(changes)}
    value = (more - less) / len(changes)
    ends = (0.1, 1.0) if value > 0 else (-1.0, -0.1)
    assert verdict_of(found, Difference(value, *ends, len(changes))) == verdict
    held = Difference(value, min(0.0, value), max(0.0, value), len(changes))
    assert verdict_of(found, held) == "no difference shown"


def compared(difference, left_out=0):
    return Compared(mode="greedy", base=0.4, tuned=0.5, difference=difference, left_out=left_out)


KNOWN = Power(mean_square=0.25, care=0.02, needed=4_906, smallest=0.113)
UNKNOWN = Power(mean_square=0.0, care=0.02, needed=None, smallest=None)


@pytest.mark.parametrize(
    ("verdict", "difference", "power", "words"),
    [
        ("better", Difference(0.1, 0.05, 0.15, 1_000), KNOWN,
         ("the tuned model is better: +10.0 points of the scale, 95 % interval +5.0 to +15.0, on "
         "1,000 prompts")),
        ("no difference shown", Difference(-0.1, -0.2, 0.0004, 1), KNOWN,
         ("no difference shown: -10.0 points of the scale, 95 % interval -20.0 to 0.0, on 1 prompt"
         "; the interval holds 0; four times in five this split shows a difference of 11.3 points, "
         "and 2.0 points take about 4,906 prompts")),
        ("no difference shown", Difference(0.1, 0.05, 0.15, 5), UNKNOWN,
         ("no difference shown: +10.0 points of the scale, 95 % interval +5.0 to +15.0, on 5 "
         "prompts; under 30 prompts an exact test has to agree with the interval, and it does "
         "not; no prompt earned another score, so that nothing says what this split can show")),
    ],
)  # fmt: skip
def test_the_conclusion_is_one_sentence(verdict, difference, power, words):
    assert conclusion(verdict, compared(difference), power) == words


@pytest.mark.parametrize(
    ("value", "signed", "words"),
    [(0.032, True, "+3.2"), (-0.0004, True, "0.0"), (0.0004, True, "0.0"), (0.0, False, "0.0"),
     (0.5, False, "50.0"), (-0.5, True, "-50.0")],
)  # fmt: skip
def test_a_difference_is_in_points(value, signed, words):
    assert in_points(value, signed=signed) == words


PLAIN = Split((), 0, 0, (), ())


@pytest.mark.parametrize(
    ("difference", "power", "left_out", "groups", "said"),
    [
        (Difference(0.0, -0.1, 0.1, 4_906), KNOWN, 0, 0, []),
        (
            Difference(0.0, -0.1, 0.1, 4_905),
            KNOWN,
            0,
            0,
            ["4,905 prompts are few: the interval is"],
        ),
        (Difference(0.2, 0.1, 0.3, FEW), KNOWN, 0, 0, []),
        (
            Difference(0.2, 0.1, 0.3, FEW - 1),
            KNOWN,
            0,
            0,
            ["29 prompts are few: an exact test has"],
        ),
        (Difference(0.0, -0.1, 0.1, 1), UNKNOWN, 0, 0, ["1 prompt is few: an exact test has to"]),
        (Difference(0.2, 0.1, 0.3, 99), KNOWN, 2, 1, ["2 prompts without", "1 smaller group not"]),
    ],
)
def test_what_must_not_be_overlooked_is_said(difference, power, left_out, groups, said):
    found = warned(
        PLAIN, compared(difference, left_out), power, Sampling(), errors={}, groups_left_out=groups
    )
    assert [each[: len(words)] for each, words in zip(found, said, strict=True)] == said


def test_the_power_of_a_split():
    same = {"a": ([0.5], [0.5])}
    assert power_of(same, 0.02) == Power(mean_square=0.0, care=0.02, needed=None, smallest=None)
    found = power_of({"a": ([0.0], [1.0])}, 1.0)
    assert (found.mean_square, found.needed, found.smallest) == (1.0, FEW, 1.0)


def test_groups_are_named_by_a_key_or_by_their_kind_of_answer():
    asked = prompts(4, level=lambda at: [1, "x" * 99, None, ""][at], of=lambda _: {"a": 1})
    names = group_names(asked, "level")
    assert [names[each.digest] for each in sorted(asked, key=lambda one: one.sample.id)] == [
        "1", "x" * 80, "(none)", "(none)",
    ]  # fmt: skip
    assert len(set(group_names(asked).values())) == 1
    with pytest.raises(NoGroup, match=r"--by 'leve': no row's metadata has this key. Did"):
        group_names(asked, "leve")
    with pytest.raises(NoGroup, match="--by 'of'"):
        group_names(asked, "of")


def test_the_largest_groups_are_shown_each_with_its_own_test():
    found, names = {}, {}
    for group in range(MOST_GROUPS + 2):
        for at in range(2 + (group == 7)):
            digest = f"{group} {at}"
            found[digest], names[digest] = ([0.0], [float(group == 7)]), f"g{group:02}"
    rows, left_out = groups_of(found, names, 1.0, 0)
    assert (len(rows), left_out) == (MOST_GROUPS, 2)
    assert [rows[0].name, rows[1].name, rows[-1].name] == ["g07", "g00", "g49"]
    assert (rows[0].gained, rows[0].lost, rows[0].p_value) == (3, 0, 0.25)
    assert rows[0].adjusted == 1.0
    assert (rows[1].gained, rows[1].p_value, rows[1].difference.value) == (0, 1.0, 0.0)


def test_what_stands_beside_a_mean():
    asked = prompts(4)
    at = [AnswerAttempt(each.digest, 0) for each in asked]
    given = {
        at[0]: ModelAnswer("a", "end", Usage(100, 10), 1.0),
        at[1]: ModelAnswer(" \n", "length", Usage(200, 30), 3.0),
        at[2]: ModelAnswer("b", "filtered", Usage(300, 20), None),
        at[3]: ModelAnswer("c", "length", Usage(400, 40), 2.0),
    }
    results = {each: Scored("", Score(1.0)) for each in at[:3]} | {at[3]: Unscored("", KeyError())}
    found = beside(Answers("base", "greedy", given, results, 0.0, 1.0), (1.0, 10.0), timed=True)
    assert (found.answers, found.unscored, found.empty, found.filtered, found.cut) == (
        4,
        1,
        1,
        1,
        2,
    )
    assert (found.tokens_read, found.tokens_written, found.tokens_mean) == (1_000, 100, 25.0)
    assert (found.tokens_p50, found.seconds_p50) == (20.0, 2.0)
    assert found.usd == pytest.approx((1_000 * 1.0 + 100 * 10.0) / 1_000_000)
    alone = beside(Answers("base", "greedy", given, results, 0.0, 1.0), None, timed=False)
    assert (alone.usd, alone.seconds_p50, alone.seconds_p95) == (None, None, None)


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (["length", "end"], "they end at the limit of tokens before the answer begins"),
        (["length", "end", "end"], "look at one with `reward job baseline"),
        (["filtered", "end"], "a filter withholds them"),
        (["filtered", "end", "end"], "look at one with `reward job baseline"),
        (["end"], "answered nothing to 1 of 1 prompts"),
    ],
)
def test_a_model_that_answered_nothing_is_not_compared(ended, words):
    with pytest.raises(NothingAnswered, match=words):
        require_answers("base", "m", [ModelAnswer(" ", each) for each in ended])
    require_answers("base", "m", [ModelAnswer(" "), ModelAnswer("x")])


class Model:
    """A model that answers with its name, or with nothing."""

    def __init__(self, name, text="x"):
        self.model, self.text, self.asked = name, text, 0

    def __call__(self, prompt, /):
        self.asked += 1
        return ModelAnswer(f"{self.model} {prompt[-1].content}" * bool(self.text))


def askings(asked, folder=None, *, text="x"):
    models = [Model("b"), Model("t", text)]
    each = [
        Asked("base", "greedy", models[0], Sampling(0.0), 1, (1.0, 2.0)),
        Asked("tuned", "greedy", models[1], Sampling(0.0), 1, None),
        Asked("tuned", "sampled", models[1], Sampling(1.0), 2, None),
    ]
    return models, Askings(each, asked, folder)


def test_answers_that_are_kept_are_not_asked_again(tmp_path):
    asked = prompts(3)
    models, first = askings(asked, tmp_path / "kept")
    with first:
        assert [each.calls for each in first.costs()] == [3, 3, 6]
        steps = []
        given = first.answers(concurrency=1, advance=steps.append)
        assert sum(steps) == 12
    assert [*given] == [("base", "greedy"), ("tuned", "greedy"), ("tuned", "sampled")]
    assert [len(each) for each in given.values()] == [3, 3, 6]
    assert [each.asked for each in models] == [3, 9]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [
        "base-greedy.jsonl", "tuned-greedy.jsonl", "tuned-sampled.jsonl",
    ]  # fmt: skip
    models, again = askings(asked, tmp_path / "kept")
    with again:
        assert [each.calls for each in again.costs()] == [0, 0, 0]
        assert again.answers() == given
    assert [each.asked for each in models] == [0, 0]
    models, unkept = askings(asked)
    with unkept:
        assert [each.calls for each in unkept.costs()] == [3, 3, 6]
        unkept.answers()
    assert [each.asked for each in models] == [3, 9]


def test_a_model_that_says_nothing_ends_before_the_next_is_asked():
    models, made = askings(prompts(2), text="")
    with made, pytest.raises(NothingAnswered, match="the tuned model t answered nothing to 2 of 2"):
        made.answers(concurrency=1)
    assert [each.asked for each in models] == [2, 2]


def test_answers_are_scored_by_the_version_on_one_scale():
    asked = prompts(2)
    _, made = askings(asked)
    with made:
        given = made.answers(concurrency=1)
    seen, steps = [], []

    def score(samples, advance):
        seen.extend(each.response for each in samples)
        advance(len(samples))
        return [
            Scored(each.id, Score(float(each.response.startswith("t")) * 4)) for each in samples
        ]

    scorer = SimpleNamespace(
        arn="arn", deployed=SimpleNamespace(reward="gsm8k", version=8), score=score,
        scale=lambda values: (sorted(values), Scale(min(values), max(values)))[1],
        reasons=lambda samples: [None for _ in samples],
    )  # fmt: skip
    split = Split(tuple(asked), 0, 0, (), ())
    found = evaluate(given, made.asked, split, scorer, Settings(answers=0), advance=steps.append)
    assert sum(steps) == len(seen) == 8
    assert (found.greedy.base, found.greedy.tuned, found.verdict) == (
        0.0,
        1.0,
        "no difference shown",
    )
    assert (found.base, found.tuned, found.reward, found.reward_version) == ("b", "t", "gsm8k", 8)
    assert [(each.side, each.mode, each.usd is None) for each in found.beside] == [
        ("base", "greedy", False), ("tuned", "greedy", True), ("tuned", "sampled", True),
    ]  # fmt: skip
