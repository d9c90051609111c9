"""What a model earns before training, judged by the services' rule, as surely as it is known."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import isclose

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Message, Sample, Usage
from reward_functions.jobs.asking import AnswerAttempt, ModelAnswer, chosen
from reward_functions.jobs.baseline import (
    BaselineOrigin,
    Reason,
    baseline_findings,
    judged,
    measured,
    recorded,
    save,
    saved,
)
from reward_functions.reports.statistics import share
from tests.jobs.graders import deployed, handler, serve
from tests.lambda_api import InProcess, function_error, result

RIGHT, WRONG = "#### 7", "#### 8"
SECRET = "How many apples does Ada have?"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture(scope="module")
def functions():
    found = {}
    client = InProcess(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reward_functions.aws.deployed.function.client", lambda *_, **__: client)
        yield found


@pytest.fixture
def scorer(functions):
    return serve(functions, handler("gsm8k"), known=deployed("gsm8k"))


def asked(groups):
    """(prompts, answers) of groups of texts, or of answers."""
    samples = [
        Sample(
            id=f"row-{at}",
            messages=(Message(role="user", content=f"{SECRET} {at}"),),
            reference="7",
        )
        for at in range(len(groups))
    ]
    prompts = chosen(samples, [f"line {at}" for at in range(len(samples))], len(samples))
    answers = {}
    for prompt, group in zip(prompts, groups, strict=True):
        for number, each in enumerate(group):
            answer = each if isinstance(each, ModelAnswer) else ModelAnswer(each)
            answers[AnswerAttempt(prompt.digest, number)] = answer
    return prompts, answers


def baseline(scorer, groups):
    return measured(*asked(groups), scorer)


def test_figures_are_shares_of_answers_and_of_prompts(scorer):
    found = baseline(scorer, [[RIGHT, WRONG], [WRONG, WRONG], [RIGHT, RIGHT], [WRONG, ""]])
    assert (found.prompts, found.each, found.scored, found.unscored) == (4, 2, 8, 0)
    assert found.mean.value == 3 / 8
    assert found.at_minimum.value == 5 / 8
    assert found.at_maximum.value == 3 / 8
    assert found.mixed.value == 1 / 4
    for figure in (found.mean, found.at_minimum, found.at_maximum, found.mixed):
        assert 0 <= figure.low <= figure.value <= figure.high <= 1


ENDS = {
    "": "(blank)",
    " \n\n": "(blank)",
    "So it is\n#### 4\n": "So it is\n#### 4",
    "a" * 999: "a" * 160,
}


@pytest.mark.parametrize("example", ENDS)
def test_an_example_is_shown_by_its_end(example):
    assert Reason("there is no ####", 1, 0.0, "line 1", example).end == ENDS[example]


def test_reasons_are_counted_with_an_example(scorer):
    found = baseline(scorer, [[RIGHT, WRONG], [WRONG, "#### 9"], ["no marker", RIGHT]])
    reasons = {each.text: each for each in found.reasons}
    differs = reasons["the last #### differs from the reference"]
    assert (differs.answers, differs.reward, differs.example) == (3, 0.0, WRONG)
    assert differs.place.startswith("line ")
    assert reasons["the last #### equals the reference"].answers == 2
    assert reasons["there is no ####"].answers == 1


def test_answers_that_are_cut_off_or_withheld_are_counted(scorer):
    cut = ModelAnswer("So 3 + 4", "length", Usage(10, 64))
    kept = ModelAnswer("", "filtered", Usage(10, 2))
    found = baseline(scorer, [[cut, cut, kept, RIGHT]] * 2)
    assert found.cut.value == 0.5
    assert found.filtered == 2
    assert found.output == (64 + 64 + 2 + 0) / 4
    assert "raise inferenceMaxTokens" in messages(found)["cut off"]


def test_a_function_that_fails_leaves_answers_unscored(functions):
    broken = function_error(errorType="KeyError", errorMessage="'x'")
    found = baseline(serve(functions, broken, known=deployed("gsm8k")), [[RIGHT] * 2] * 3)
    assert (found.scored, found.unscored, found.mean) == (0, 6, None)
    assert "KeyError" in next(iter(found.errors))
    assert messages(found) == {"baseline": "no answer of the model was scored"}


def test_the_scale_is_the_functions_own(functions):
    def minus_one_to_one(rows):
        return [result(row["id"], 1.0 if "7" in str(row["messages"][-1]) else -1.0) for row in rows]

    found = baseline(serve(functions, minus_one_to_one), [[RIGHT, WRONG]] * 4)
    assert (found.mean.value, found.at_minimum.value) == (0.5, 0.5)


def messages(found):
    return {each.question: each.message for each in judged(found)}


def verdicts(found):
    return {each.question: each.verdict for each in judged(found)}


def mixture(prompts, right, of=4):
    """Groups in which so many answers are right, spread over the prompts."""
    groups = [[WRONG] * of for _ in range(prompts)]
    for at in range(right):
        groups[at % prompts][at // prompts] = RIGHT
    return groups


@pytest.mark.parametrize(
    ("prompts", "right", "verdict", "sentence"),
    [
        # AWS: 0 % teach first, under 5 % sparse, over 95 % nothing to learn; each with its bound
        (100, 0, "failure", "none of 400 answers earns more than the minimum: teach the format"),
        (10, 0, "warning", "so few prompts leave 27.8% possible: ask more with --prompts"),
        (100, 1, "warning", "0.2% of the answers earn more than the minimum: under 5%"),
        (100, 19, "warning", "4.7% of the answers"),
        (100, 20, "ok", "the model earns 5.0% of the scale"),
        (100, 200, "ok", "the model earns 50.0% of the scale"),
        (100, 380, "ok", "the model earns 95.0% of the scale"),
        (100, 400, "failure", "100.0% of the scale before any training: over 95% there is nothing"),
        (20, 77, "warning", "96.2% of the scale before any training"),
    ],
)
def test_the_services_rule(scorer, prompts, right, verdict, sentence):
    found = baseline(scorer, mixture(prompts, right))
    assert verdicts(found)["baseline"] == verdict
    assert sentence in messages(found)["baseline"]


def test_groups_without_a_difference_teach_nothing(scorer):
    found = baseline(scorer, [[RIGHT] * 4] * 50 + [[WRONG] * 4] * 50)
    assert verdicts(found) == {"baseline": "ok", "groups": "failure"}
    assert "every group has zero advantage" in messages(found)["groups"]
    few = baseline(scorer, [[RIGHT] * 4, [WRONG] * 4])
    assert verdicts(few)["groups"] == "warning"


def test_one_answer_to_a_prompt_says_nothing_of_groups(scorer):
    found = baseline(scorer, [[RIGHT], [WRONG]] * 10)
    assert found.mixed is None
    assert verdicts(found).keys() == {"baseline"}


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_a_share_has_wilsons_interval(count, of, low, high):
    found = share(count, of, of)
    assert isclose(found.low, low, abs_tol=5e-5)
    assert isclose(found.high, high, abs_tol=5e-5)


MEASURED = BaselineOrigin(model="m", asked="us.m", data="d" * 64, temperature=1.0, max_tokens=64)


@pytest.fixture(scope="module")
def record(functions):
    scorer = serve(functions, handler("gsm8k"), known=deployed("gsm8k"))
    return recorded(baseline(scorer, mixture(100, 200)), MEASURED, scorer, NOW)


def test_a_record_holds_figures_and_no_text(record, tmp_path):
    path = tmp_path / "baseline.json"
    save(record, path)
    assert saved(path) == record
    text = path.read_text()
    assert SECRET not in text
    assert RIGHT not in text
    assert "####" not in text
    kept = json.loads(text)
    assert (kept["model"], kept["grader"].endswith(":7"), kept["prompts"]) == ("m", True, 100)
    assert kept["measured_at"] == "2026-11-22T00:00:00Z"


def test_a_record_is_judged_as_its_figures_were(record, scorer):
    assert [*judged(record)] == [*judged(baseline(scorer, mixture(100, 200)))]


def job(**changed):
    return {"model": "m", "data": "d" * 64} | changed


def test_a_record_of_this_job_is_its_baseline(record, scorer):
    (first, *_) = baseline_findings(record, scorer=scorer, **job())
    assert (first.verdict, first.question) == ("ok", "baseline")


def test_a_redeployed_function_of_the_same_digest_is_the_same_reward(record, functions):
    again = deployed("gsm8k", version_arn="arn:aws:lambda:us-east-1:123456789012:function:x:8")
    scorer = serve(functions, handler("gsm8k"), known=again)
    (first, *_) = baseline_findings(
        record.model_copy(update={"grader": "arn:other:7"}), scorer=scorer, **job()
    )
    assert first.verdict == "ok"


@pytest.mark.parametrize(
    ("changed", "digest", "sentence"),
    [
        ({"model": "other"}, "0" * 16, "is of another model;"),
        ({"data": "e" * 64}, "0" * 16, "is of other data;"),
        ({}, "1" * 16, "is of another reward;"),
        ({"simulation": True}, "0" * 16, "is of a real model;"),
        ({"model": "x", "data": "y"}, "0" * 16, "is of another model and other data;"),
    ],
)
def test_a_record_of_another_job_is_not_this_ones(record, functions, changed, digest, sentence):
    scorer = serve(functions, handler("gsm8k"), known=deployed("gsm8k", digest=digest))
    other = record.model_copy(update={"grader": "arn:of:another:version"})
    (finding,) = baseline_findings(other, scorer=scorer, **job(**changed))
    assert finding.verdict == "warning"
    assert sentence in finding.message


@pytest.mark.parametrize(
    "changed",
    [
        {"reward": "math"},
        {"version": 99},
        {"parameters": {"tolerance": 0.5}},
        {"response_mode": "envelope"},
        {"digest": "1" * 16},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_baseline_of_another_grader_does_not_count_though_the_arn_be_the_same(
    record, functions, changed
):
    known = deployed("gsm8k").model_copy(update=changed)
    scorer = serve(functions, handler("gsm8k"), known=known)
    (finding,) = baseline_findings(record, scorer=scorer, **job())
    assert "is of another reward;" in finding.message


def test_a_function_that_the_catalogue_does_not_name_is_known_by_its_arn(record, functions):
    scorer = serve(functions, handler("gsm8k"))
    (first, *_) = baseline_findings(record, scorer=scorer, **job())
    assert first.verdict == "ok"
    other = record.model_copy(update={"grader": "arn:other:7"})
    (finding,) = baseline_findings(other, scorer=scorer, **job())
    assert "is of another reward;" in finding.message


def test_where_nothing_was_measured_that_is_a_warning(scorer, tmp_path):
    assert saved(tmp_path / "baseline.json") is None
    (finding,) = baseline_findings(None, scorer=scorer, **job())
    assert finding.verdict == "warning"
    assert finding.message.startswith("not measured: `reward job baseline`")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"baseline": 2}', '{"baseline": 1}', "\xff"])
def test_a_file_that_is_no_record_is_one_sentence(tmp_path, content):
    path = tmp_path / "baseline.json"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match="is no baseline of this version: "):
        saved(path)
