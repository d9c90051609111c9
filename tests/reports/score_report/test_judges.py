"""A judge's decisions, criterion by criterion, and what it cost."""

from __future__ import annotations

import pytest

from reward_functions import get, sample, score_batch
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.types import Evidence, Score, Scored, Usage
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.reports.score_report.criteria import criteria, decisions
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.page import CalledReward, judge_cost, score_page
from reward_functions.reports.score_report.reasons import CRITERIA, tallied

PANDALM = "JUDGMENT: Response 1\nREASONING: Cold is the opposite; warm is close to hot."
VERDICTS = {
    # reward: response, reference, verdicts; (criterion, decisions, how many are met)
    "reference": (
        ("The answer is the city of Canberra.", "Canberra"),
        [{"same": "yes", "reason": "the same city"}],
        [("same", {"yes": 1}, 1)],
    ),
    "pandalm": (
        (PANDALM, {"label": 1}),
        [{"specific": "yes", "true_to_responses": "no", "true_to_responses_reason": "it is not"}],
        [
            ("specific", {"yes": 1}, 1),
            ("true_to_responses", {"no": 1}, 0),
            ("supports_verdict", {"no": 1}, 0),
        ],
    ),
    "pairwise": (
        ("Air scatters blue light.", "Because of the ocean."),
        [{"better": "first"}, {"better": "first"}],
        [
            ("better, shown first", {"first": 1}, 1),
            ("better, shown second", {"first": 1}, 0),
        ],
    ),
    "group": (("fast", None), [{"a": "excellent"}], [("grade", {"excellent": 1}, 1)]),
}


def judged(name, response, reference, verdicts):
    spec = get(name)
    samples = [sample(response, reference, prompt="Say something about it.")]
    results = score_batch(spec.bind({}, ask=ScriptedAsk(verdicts)), samples)
    assert isinstance(results[0], Scored), results
    return Batch.of(samples, results, spec.scale), CalledReward.of(spec.bind({}))


@pytest.mark.parametrize(
    ("name", "row", "verdicts", "expected"),
    [(name, *row) for name, row in VERDICTS.items()],
    ids=VERDICTS,
)
def test_the_criteria_of_a_judge_are_counted(name, row, verdicts, expected):
    batch, subject = judged(name, *row, verdicts)
    found = [
        (each.name, dict(each.choices), len(each.met))
        for each in criteria(batch, name, subject.parameters)
        if each.name not in ("addressed_to_judge", "confidence")
    ]
    assert found == expected


@pytest.mark.parametrize("example", get("rubric").examples, ids=lambda each: each.why or each.kind)
def test_a_rubric_has_each_of_its_criteria(example):
    spec = get("rubric")
    row = example.sample()
    results = score_batch(spec.bound_to_example(example), [row])
    batch = Batch.of([row], results, spec.scale)
    subject = CalledReward.of(spec.bind(example.parameters))
    found = criteria(batch, "rubric", subject.parameters)
    asked = decisions(batch.score(0), "rubric")
    assert sorted(each.name for each in found) == sorted(each.criterion for each in asked)
    known = [each for each in found if each.name not in ("addressed_to_judge", "confidence")]
    assert all(each.best for each in known)
    if batch.value(0) > 0:
        assert [each.reason for each in tallied(batch, "rubric")] == [CRITERIA]
    if batch.value(0) == 1.0:
        assert all(len(each.met) == 1 for each in known)


def test_the_reason_against_is_the_judges(read):
    row, verdicts, _ = VERDICTS["pandalm"]
    batch, subject = judged("pandalm", *row, verdicts)
    page = read(score_page(subject.spec, batch.samples, batch.results).html())
    assert page.cell("Criteria", "true_to_responses", "a reason against") == "it is not"
    assert page.cell("Criteria", "true_to_responses", "met") == "0.0%"
    assert page.cell("Evidence", "true_to_responses", "the judge's reason") == "it is not"


@pytest.mark.parametrize("answer", ["yes", [1], [{"a": 1}], [["a"]], {}, None, [{"a": "x" * 99}]])
def test_evidence_of_another_shape_holds_no_decision(answer):
    assert decisions(Score(1.0, evidence=Evidence("the verdict", answer))) == []


def test_decisions_of_other_packages_are_counted_and_none_is_called_met():
    score = Score(1.0, evidence=Evidence("the verdict", [{"polite": "very", "polite_reason": "p"}]))
    batch = Batch.of([sample("x")], [Scored("s", score)], get("rubric").scale)
    (found,) = criteria(batch, "acme.polite", {})
    assert (found.name, dict(found.choices), found.best, found.met) == (
        *("polite", {"very": 1}, None),
        [],
    )


def pool(*names, **settings):
    models = tuple(
        JudgeModel(model=name, backend="openai", endpoint="http://secret.example/v1")
        for name in names
    )
    asks = dict.fromkeys(names, ScriptedAsk([{"same": "yes"}]))
    return JudgePool(JudgeConfig(models=models, **settings), asks=asks).batch(get("reference"))


COSTS = {
    "a known price": (pool("m", prices={"m": (1.0, 2.0)}), "0.5000 dollars"),
    "an unknown price is not nothing": (pool("m"), "unknown: the price of m is unknown"),
    "one of two": (
        pool("m", "n", prices={"m": (1.0, 2.0)}),
        "0.5000 dollars and more: the price of n is unknown",
    ),
}


@pytest.mark.parametrize(("judge", "words"), COSTS.values(), ids=COSTS)
def test_what_a_judge_cost(judge, words):
    judge.account.settle(0.0, Usage(input=1_000, output=200), 0.5)
    assert judge_cost(judge) == words


def test_the_page_names_the_models_and_no_address(read):
    judge = pool("m", "n")
    samples = [sample("The answer is Canberra city.", "Canberra", prompt="Which?")]
    html = score_page(judge, samples, score_batch(judge, samples)).html()
    page = read(html)
    assert page.facts["judge"] == "m (openai), n (openai); mean of 2"
    assert page.facts["judge calls"].startswith("2, with 2 valid verdicts")
    assert page.facts["parameters"] == "answer=final (default)"
    assert "secret" not in html
    assert "first member that answered" in " ".join(page.paragraphs)
