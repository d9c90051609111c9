"""Each judge: what its verdicts are worth, and what it refuses to judge by."""

from __future__ import annotations

import json
from statistics import fmean, pstdev

import pytest

from reward_functions import Scored, get, sample, score_batch
from reward_functions.core.asking import VerdictField
from reward_functions.core.errors import (
    BadJudge,
    BadReference,
    JudgeUnavailable,
    NoJudge,
    NoOtherResponse,
    NoVerdict,
)
from reward_functions.core.types import Usage
from reward_functions.judge_runtime.backends.replay import Recorder, Replay
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.prompting import prompt_of, question
from reward_functions.judge_runtime.rubric_file import PER_CALL, rubric_of
from reward_functions.judges import reference
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from reward_functions.testing import FakeAsk, assert_score, wire_row


def metrics(score):
    return {metric.name: metric.value for metric in score.metrics}


def test_without_a_model_a_judge_says_so():
    with pytest.raises(NoJudge, match="rubric asks a judge model"):
        get("rubric")(sample("Paris"))


# --- rubrics


def rubric_file(folder, *criteria, **more):
    path = folder / "mine.json"
    path.write_text(json.dumps({"version": 1, "criteria": list(criteria), **more}))
    return str(path)


CLEAR = {"id": "clear", "text": "It is clear."}


@pytest.mark.parametrize(
    ("criteria", "more", "said"),
    [
        ([], {}, "no criteria"),
        ([CLEAR, CLEAR], {}, "same id"),
        ([CLEAR, {"id": "clear_reason", "text": "x"}], {}, "same id"),
        ([{**CLEAR, "weight": 0}], {}, "add up to nothing"),
        ([{**CLEAR, "weight": -1}], {}, "weight"),
        ([{**CLEAR, "weight": "2"}], {}, "weight"),
        ([{**CLEAR, "weight": True}], {}, "weight"),
        ([{**CLEAR, "weight": float("inf")}], {}, "weight"),
        ([{**CLEAR, "kind": "likert"}], {}, "kind"),
        ([{**CLEAR, "kind": "scale"}], {}, "choices"),
        ([{**CLEAR, "choices": ["a", "b"]}], {}, "choices"),
        ([{**CLEAR, "kind": "scale", "choices": ["a"]}], {}, "two or more"),
        ([{**CLEAR, "kind": "scale", "choices": ["a", "a"]}], {}, "two or more"),
        ([{**CLEAR, "kind": "scale", "choices": 5}], {}, "two or more"),
        ([{**CLEAR, "id": "Is it clear?"}], {}, "id"),
        ([{"id": "clear"}], {}, "no text"),
        ([{**CLEAR, "gate": "yes"}], {}, "gate"),
        ([{**CLEAR, "wieght": 1}], {}, "wieght.*Did you mean 'weight'"),
        ([CLEAR], {"version": 2}, "version"),
        ([CLEAR], {"refernce": "none"}, "refernce"),
        ([CLEAR], {"reference": "perhaps"}, "reference"),
        ([CLEAR], {"material": {"name": "x", "kees": []}}, "kees"),
        ([CLEAR], {"material": {"name": "x", "keys": "context"}}, "material"),
        ([CLEAR] * 31, {}, "more than 30"),
        (["clear"], {}, "no table"),
        ([{**CLEAR, "id": "confidence"}], {}, "every verdict has.*confidence"),
        ([{**CLEAR, "id": "checksum"}], {}, "every verdict has.*checksum"),
        ([{**CLEAR, "weight": 1e308}, {**CLEAR, "id": "short", "weight": 1e308}], {}, "weight"),
        ([{**CLEAR, "weight": 10**400}], {}, "weight"),
        ([CLEAR], {"examples": 5}, "examples"),
        ([CLEAR], {"examples": ["clear"]}, "examples"),
    ],
)
def test_a_rubric_that_cannot_be_used_is_refused_when_it_is_bound(tmp_path, criteria, more, said):
    path = rubric_file(tmp_path, *criteria, **more)
    with pytest.raises(BadJudge, match=said):
        get("rubric").bind({"criteria": path})
    with pytest.raises(BadJudge, match=said):
        bind(LambdaSettings(name="rubric", parameters={"criteria": path}), ask=FakeAsk())


@pytest.mark.parametrize("content", ["[1]", "version = 1", "{", "\xff"])
def test_a_file_that_is_no_rubric_is_refused(tmp_path, content):
    for suffix in ("toml", "json"):
        path = tmp_path / f"mine.{suffix}"
        path.write_bytes(content.encode("latin-1"))
        with pytest.raises(BadJudge):
            rubric_of(str(path))


def test_a_json_rubric_that_says_a_thing_twice_is_refused_as_toml_is(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"version": 1, "criteria": [{"id": "a", "text": "x", "id": "b"}]}')
    with pytest.raises(BadJudge, match="repeated"):
        rubric_of(str(path))


def test_the_greatest_weight_beside_the_smallest_still_weighs(tmp_path):
    heavy = {**CLEAR, "weight": 1_000_000}
    light = {**CLEAR, "id": "short", "weight": 0}
    path = rubric_file(tmp_path, heavy, light)
    assert rubric_of(path).score({"clear": "yes", "short": "no"})[0] == 1.0
    assert rubric_of(path).score({"clear": "no", "short": "yes"})[0] == 0.0


def test_two_fields_of_one_name_are_refused():
    fields = (VerdictField("confidence", "how sure the response is", ("low", "high")),)
    data = {"prompt": "Capital?", "reference": "Canberra", "answer": "Sydney"}
    with pytest.raises(BadJudge, match="same name"):
        question(prompt_of(reference.__file__), sample("x"), fields, data)


@pytest.mark.parametrize("name", ["summarisation", "../secrets", "", "no/such.toml"])
def test_a_rubric_that_is_not_there_is_refused(name):
    with pytest.raises(BadJudge):
        rubric_of(name)


def test_the_nearest_rubric_is_suggested():
    with pytest.raises(BadJudge, match="Did you mean 'summarization'"):
        rubric_of("summarisation")


def test_weights_scales_and_gates_make_the_score(tmp_path):
    path = rubric_file(
        tmp_path,
        {**CLEAR, "weight": 1},
        {"id": "deep", "text": "x", "weight": 3, "kind": "scale", "choices": ["a", "b", "c"]},
        {"id": "legal", "text": "x", "weight": 0, "gate": True},
    )
    for verdict, value in (
        ({"clear": "yes", "deep": "c", "legal": "yes"}, 1.0),
        ({"clear": "no", "deep": "c", "legal": "yes"}, 0.75),
        ({"clear": "yes", "deep": "b", "legal": "yes"}, 0.625),
        ({"clear": "yes", "deep": "c", "legal": "no"}, 0.0),
        ({"clear": "no", "deep": "a", "legal": "yes"}, 0.0),
    ):
        ask = FakeAsk(verdict)
        assert_score(get("rubric"), "An essay.", None, value, ask=ask, criteria=path)


def test_a_quotation_must_be_in_the_response(tmp_path):
    path = rubric_file(tmp_path, {**CLEAR, "evidence": True})
    reward = get("rubric")
    said = sample("The sky  is\nblue.", prompt="Sky?")
    for quote, legal in (("sky is blue", True), ("", False), ("sky is green", False)):
        ask = FakeAsk({"clear": "yes", "clear_quote": quote})
        bound = reward.bind({"criteria": path}, ask=ask)
        if legal:
            assert bound(said).value == 1.0
        else:
            with pytest.raises(NoVerdict, match="quotes"):
                bound(said)
    worst = FakeAsk({"clear": "no", "clear_quote": ""})
    assert reward.bind({"criteria": path}, ask=worst)(said).value == 0.0


def test_a_long_rubric_is_asked_in_parts(tmp_path):
    criteria = [{"id": f"c{at}", "text": "x"} for at in range(PER_CALL + 3)]
    path = rubric_file(tmp_path, *criteria)
    ask = FakeAsk(
        {f"c{at}": "yes" for at in range(PER_CALL)}, {f"c{at}": "yes" for at in (10, 11, 12)}
    )
    assert_score(get("rubric"), "An essay.", None, 1.0, ask=ask, criteria=path)
    assert [question.turn for question in ask.asked] == [0, 1]


def test_each_reason_stands_before_what_it_is_the_reason_of():
    for name in ("instruction_following", "summarization", "reasoning", "rag_faithfulness"):
        for criterion in rubric_of(name).criteria:
            *_, reason, decision = criterion.fields
            assert (reason.name, decision.name) == (f"{criterion.id}_reason", criterion.id)


def test_passages_are_the_data_sets_duty():
    reward = get("rubric").bind({"criteria": "rag_faithfulness"}, ask=FakeAsk())
    for metadata in ({}, {"context": ""}, {"context": []}, {"context": 5}):
        with pytest.raises(BadReference):
            reward(sample("In 1958.", prompt="When?", **metadata))
    for metadata in (
        {"context": "It opened."},
        {"documents": ["a", "b"]},
        {"passages": [{"t": 1}]},
    ):
        assert reward(sample("In 1958.", prompt="When?", **metadata)).value == 0.0


def test_the_reasoning_rubric_needs_a_reference():
    with pytest.raises(BadReference):
        get("rubric").bind({"criteria": "reasoning"}, ask=FakeAsk())(sample("It is 2."))


# --- reference and pairs


@pytest.mark.parametrize(
    "response",
    ["I do not know.\nNobody does.", "\\boxed{}", "The answer is not Canberra.", "####"],
)
def test_without_a_final_answer_nobody_is_asked(response):
    ask = FakeAsk({"same": "yes"})
    score = get("reference").bind({}, ask=ask)(sample(response, "Canberra", prompt="Capital?"))
    assert (score.value, metrics(score)["prefiltered"], ask.asked) == (0.0, 1.0, [])


@pytest.mark.parametrize(
    ("first", "second", "value", "inconsistent"),
    [
        ("first", "second", 1.0, 0),
        ("second", "first", 0.0, 0),
        ("tie", "tie", 0.5, 0),
        ("first", "first", 0.5, 1),
        ("second", "second", 0.5, 1),
        ("first", "tie", 0.5, 1),
    ],
)
def test_both_orders_must_agree(first, second, value, inconsistent):
    ask = FakeAsk({"better": first}, {"better": second})
    score = get("pairwise").bind({}, ask=ask)(sample("Mine.", "Theirs.", prompt="?"))
    assert (score.value, metrics(score)["inconsistent"]) == (value, inconsistent)
    assert '"Mine."' in ask.asked[0].text.partition("second response")[0]
    assert '"Mine."' in ask.asked[1].text.partition("second response")[2]


def test_the_second_order_can_wait_for_doubt():
    for confidence, calls in (("high", 1), ("medium", 2), ("low", 2)):
        sure = {"confidence": confidence}
        ask = FakeAsk({"better": "first", **sure}, {"better": "second", **sure})
        reward = get("pairwise").bind({"orders": "auto"}, ask=ask)
        assert reward(sample("Mine.", "Theirs.", prompt="?")).value == 1.0
        assert len(ask.asked) == calls


def length_judge(question):
    """Prefers the longer of two responses, in whatever order."""
    first, second = (
        json.loads(line) for line in question.text.splitlines() if line.startswith('"')
    )
    better = (
        "tie" if len(first) == len(second) else "first" if len(first) > len(second) else "second"
    )
    return {"better": better}


def test_siblings_are_compared_in_a_ring():
    batch = [sample("word " * at, prompt="Write.", id=str(at)) for at in range(1, 9)]
    reward = get("pairwise").bind({"against": "group"}, ask=FakeAsk(answer=length_judge))
    results = score_batch(reward, batch)
    values = {int(result.id): result.score.value for result in results}
    assert values[8] == 1.0
    assert values[1] == 0.0
    assert set(values.values()) == {0.0, 1.0}


def test_a_pair_needs_two():
    reward = get("pairwise").bind({"against": "group"}, ask=FakeAsk())
    (result,) = score_batch(reward, [sample("Alone.", prompt="Write.")])
    assert isinstance(result.error, NoOtherResponse)
    results = score_batch(reward, [sample("Same.", prompt="Write.", id=str(at)) for at in (1, 2)])
    assert [result.score.value for result in results] == [0.5, 0.5]


# --- groups


def grade_by_length(question):
    """Grades each response by its number of words."""
    lines = question.text.splitlines()
    texts = {
        line.split()[1].rstrip(":"): lines[at + 3]
        for at, line in enumerate(lines)
        if line.startswith("Response ")
    }
    grades = ("useless", "poor", "fair", "good", "excellent")
    return {letter: grades[min(4, text.count("word"))] for letter, text in texts.items()}


def test_a_group_is_ranked_in_one_call():
    batch = [sample("word " * at, prompt="Write.", id=str(at)) for at in (3, 1, 2, 1)]
    batch.append(sample("", prompt="Write.", id="empty"))
    ask = FakeAsk(answer=grade_by_length)
    pool = JudgePool(
        JudgeConfig(models=(JudgeModel(model="m", region="us-east-1"),)), asks={"m": ask}
    )
    results = score_batch(pool.batch(get("group")), batch, workers=4)
    assert [result.score.value for result in results] == [1.0, 0.375, 0.75, 0.375, 0.0]
    assert [metrics(result.score)["grade"] for result in results] == [0.75, 0.25, 0.5, 0.25, 0.0]
    assert len(ask.asked) == 1


def test_two_orders_of_a_group_are_averaged():
    calls = []

    def first_is_best(question):
        calls.append(question)
        return {"a": "excellent", "b": "poor"}

    reward = get("group").bind({"orders": 2}, ask=FakeAsk(answer=first_is_best))
    batch = [sample(text, prompt="Write.", id=text) for text in ("one word", "two words")]
    results = score_batch(reward, batch)
    assert [result.score.value for result in results] == [0.5, 0.5]
    assert {question.turn for question in calls} == {0, 1}


def test_a_verdict_that_leaves_a_response_out_is_none():
    ask = FakeAsk()
    get("group").bind({}, ask=ask)(sample("one", prompt="Write."))
    (question,) = ask.asked
    answer = question.filled({"a": "good"})
    del answer["a"]
    with pytest.raises(NoVerdict):
        question.read(answer)
    with pytest.raises(NoVerdict):
        question.read({**question.filled({}), "b": "good"})


def test_more_than_a_call_can_hold_are_split():
    batch = [sample(f"response {at}", prompt="Write.", id=str(at)) for at in range(40)]
    ask = FakeAsk()
    reward = get("group").bind({}, ask=ask)
    assert all(isinstance(result, Scored) for result in score_batch(reward, batch))
    assert len({question.key for question in ask.asked}) == 3


# --- PandaLM


@pytest.mark.parametrize(
    ("response", "label", "correct"),
    [
        ("JUDGMENT: Response 1\nREASONING: x", 1, 1),
        ("JUDGMENT: [Response 2] REASONING: [x]", "Response 2", 1),
        ("**JUDGMENT:** Tie\n\n**REASONING:** x", 0, 1),
        ("**Judgement**: response 1.\nReasoning: x", {"label": "1"}, 1),
        ("REASONING: x\nJUDGMENT: Response 2", 2, 1),
        ("The second names the year.\nJUDGMENT: Response 2", 2, 1),
        ("The second names the year.\n\n**JUDGMENT: Response 2**", 2, 1),
        ("So:\nJUDGMENT: Response 1, or JUDGMENT: Response 2, or JUDGMENT: Tie", 1, 0),
        ("JUDGMENT: Response 1\nNo.\nJUDGMENT: Response 2\nREASONING: x", 2, 1),
        ("JUDGMENT: Response 1\nNo.\nJUDGMENT: Response 2\nREASONING: x", 1, 0),
        ("JUDGMENT: Response 1 and Response 2\nREASONING: x", 1, 0),
        ("JUDGMENT: Response 1 / Response 2 / Tie\nREASONING: x", 1, 0),
        ("JUDGMENT: not Response 1\nREASONING: x", 1, 0),
        ("Response 1 is better.", 1, 0),
        ("<think>JUDGMENT: Response 1</think>I cannot say.", 1, 0),
        ("JUDGMENT:\nREASONING: Response 1", 1, 0),
    ],
)
def test_the_label_is_compared_in_code(response, label, correct):
    ask = FakeAsk()
    score = get("pandalm").bind({}, ask=ask)(sample(response, label, prompt="Which?"))
    assert metrics(score)["correct"] == correct
    assert score.value == pytest.approx(0.7 * correct)
    assert len(ask.asked) == correct


@pytest.mark.parametrize(
    "response",
    [
        "JUDGMENT: Tie\nREASONING: the reasons",
        "REASONING: the reasons\nJUDGMENT: Tie",
        "the reasons\nJUDGMENT: Tie",
        "JUDGMENT: Tie\nthe reasons",
    ],
)
def test_the_judge_sees_the_reasons_wherever_they_stand(response):
    ask = FakeAsk()
    get("pandalm").bind({}, ask=ask)(sample(response, 0, prompt="Which?"))
    assert '"JUDGMENT: tie\\nREASONING: the reasons"' in ask.asked[0].text


def test_without_weight_on_the_reasons_nobody_is_asked():
    said = sample("JUDGMENT: Tie\nREASONING: x", 0, prompt="Which?")
    assert (
        get("pandalm").bind({"reasoning_weight": 0}, ask=FakeAsk(BadJudge("asked")))(said).value
        == 1
    )
    with pytest.raises(BadJudge):
        get("pandalm").bind({"reasoning_weight": 1.5})


@pytest.mark.parametrize("label", [None, 3, "both", {"label": None}, {"question": "?"}, [1]])
def test_another_label_is_the_data_sets_fault(label):
    with pytest.raises(BadReference):
        get("pandalm").bind({}, ask=FakeAsk())(sample("JUDGMENT: Tie", label))


def test_human_verdicts_pass_with_their_judge_replayed(shared, tmp_path):
    lines = (shared / "pandalm/cases.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    words = {1: "Response 1", 2: "Response 2", 0: "Tie"}
    verdict = {"specific": "yes", "true_to_responses": "yes", "supports_verdict": "yes"}
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "".join(json.dumps({"id": row["id"], "verdict": verdict}) + "\n" for row in rows)
    )
    judge = {"models": [{"model": "recorded", "backend": "replay", "answers": str(answers)}]}
    function = bind(LambdaSettings(name="pandalm", judge=judge))

    def value_of(row, label):
        text = f"JUDGMENT: {words[label]}\nREASONING: {row['gpt35_reason'] or 'so it is'}"
        prompt = "\n".join(row[key] for key in ("instruction", "input", "response1", "response2"))
        return wire_row(sample(text, {"label": row["label"]}, prompt=prompt, id=row["id"]))

    right = function([value_of(row, row["label"]) for row in rows])
    assert {result["aggregate_reward_score"] for result in right} == {1.0}
    wrong = function([value_of(row, (row["label"] + 1) % 3) for row in rows])
    assert {result["aggregate_reward_score"] for result in wrong} == {0.0}


# --- recorded answers


def test_what_was_recorded_is_replayed_by_key(tmp_path):
    path = tmp_path / "answers.jsonl"
    reward, said = get("reference"), sample("The answer is A.", "B", prompt="?")
    recorder = Recorder(FakeAsk({"same": "yes"}, usage=Usage(5, 7)), path)
    assert reward.bind({}, ask=recorder)(said).value == 1.0
    replay = Replay(path)
    assert reward.bind({}, ask=replay)(said).value == 1.0
    with pytest.raises(JudgeUnavailable, match="add a line with this id to the recorded") as caught:
        reward.bind({}, ask=replay)(sample("The answer is C.", "B", prompt="?", id="other"))
    assert caught.value.kind == "unrecorded"


def test_failures_can_be_recorded(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"id": "a", "error": "NoVerdict", "kind": "cut"}\n\n'
        '{"id": "b", "error": "JudgeUnavailable", "kind": "throttled"}\n'
    )
    replay = Replay(path)
    for name, kind in (("a", NoVerdict), ("b", JudgeUnavailable)):
        with pytest.raises(kind):
            get("reference").bind({}, ask=replay)(sample("It is A.", "B", prompt="?", id=name))


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        '{"verdict": {}}',
        '{"id": "a", "verdict": {"same": 1}}',
        '{"id": "a", "error": "Exception"}',
        '{"id": "a", "error": "NoVerdict", "kind": "whatever"}',
        '{"id": ["a"], "verdict": {}}',
        '{"id": "a", "turn": "0", "verdict": {}}',
        '{"key": 5, "verdict": {}}',
        '{"id": "a", "verdict": {}, "usage": {"inputs": 1}}',
        '{"id": "a", "verdict": {}, "usage": {"input": "1"}}',
    ],
)
def test_a_line_that_is_no_recorded_answer_is_named(tmp_path, line):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "x", "verdict": {}}\n' + line)
    with pytest.raises(BadJudge, match=r"line 2: not an answer {.id.: "):
        Replay(path)
    with pytest.raises(BadJudge, match="cannot be read"):
        Replay(tmp_path / "nowhere.jsonl")


# --- the simulation of groups


def advantages(rewards):
    mean, spread = fmean(rewards), pstdev(rewards)
    return [(reward - mean) / (spread + 1e-6) for reward in rewards]


def test_a_failed_sample_has_no_advantage_and_a_group_without_signal_keeps_none():
    """Groups of 8 as GRPO sees them; two of the judge's calls in fifty fail."""
    failed = {at for at in range(400) if at % 50 in (7, 33)}

    def answer(question):
        at = int(question.sample)
        if at in failed:
            return NoVerdict("", "refused")
        group = at // 8
        right = {0: True, 1: False}.get(group % 4, at % 3 > 0)
        return {"same": "yes" if right else "no"}

    rows = [
        wire_row(sample(f"It is {at}.", "x", prompt=f"Question {at // 8}?", id=str(at)))
        for at in range(400)
    ]
    settings = LambdaSettings(name="reference", parameters={"answer": "whole"})
    function = bind(settings, ask=FakeAsk(answer=answer))
    values = [result["aggregate_reward_score"] for result in function(rows)]
    for group in range(50):
        members = range(group * 8, group * 8 + 8)
        told = dict(zip(members, advantages(values[group * 8 : group * 8 + 8]), strict=True))
        for at in members:
            if at in failed:
                assert told[at] == pytest.approx(0, abs=1e-9)
        if group % 4 in (0, 1):
            assert set(told.values()) == {0.0}
        judged = [values[at] for at in members if at not in failed]
        assert set(judged) <= {0.0, 1.0}
