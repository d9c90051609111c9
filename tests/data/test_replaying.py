"""`reward data replay`: a reward that pays too little or too much is not let through."""

import json
import os
import re

import pytest

from reward_functions import Needs, Score, Unscored, get, reward_function, sample, score_batch
from reward_functions.audit import replaying
from reward_functions.audit.replayed_answers import ORDER
from reward_functions.audit.replaying import replay
from reward_functions.core.errors import BadSample, JudgeUnavailable
from reward_functions.core.references import reference_text

HEAD = """
from reward_functions import Sample, Score, reward_function
from reward_functions.core.references import reference_text

def right(sample):
    return reference_text(sample.reference)

"""

BARE = [kind for kind in ORDER if kind != "the form alone"]
"""The kinds of rows whose right answers have nothing in common."""

UNFIT = {
    "pays everything": ("return Score(1.0)", ["wrong: earns more", "all responses score the same"]),
    "pays nothing": ("return Score(0.0)", ["right: earns less", "all responses score the same"]),
    "pays for a mention": (
        "return Score(float(right(sample) in sample.response))",
        ["right, then wrong: earns more", "one or the other: earns more"],
    ),
    "pays the first line": (
        "return Score(float(sample.response.split(chr(10))[0] == right(sample)))",
        ["right, then wrong: earns more"],
    ),
    "pays for silence": (
        "return Score(float(sample.response in ('', right(sample))))",
        ["empty: earns more than 0.02"],
    ),
    "pays some of the right ones": (
        "return Score(float(sample.response == right(sample) != '7'))",
        ["right: earns less than 0.99"],
    ),
    "is out of order": ("return Score(1 / 0)", ["right: nothing was scored", "right: 50 unscored"]),
}


def rows(count=50):
    return [
        {
            "id": f"row-{at}",
            "messages": [{"role": "user", "content": f"Say number {at}."}],
            "reference_answer": str(at),
        }
        for at in range(count)
    ]


@pytest.fixture
def replayed(reward, write, tmp_path):
    def run(body, *arguments, lines=None, declared="version=1, gold_response=right"):
        file = tmp_path / "mine.py"
        file.write_text(
            f"{HEAD}@reward_function({declared})\ndef mine(sample: Sample) -> Score:\n    {body}\n"
        )
        os.utime(file, (0, 0))  # two texts of one size and time are two rewards
        path = write("rows.jsonl", rows() if lines is None else lines)
        return reward("data", "replay", path, "--reward", file, *arguments)

    return run


@pytest.mark.parametrize(("body", "failures"), UNFIT.values(), ids=UNFIT)
def test_an_unfit_reward_is_reported_what_it_does(body, failures, replayed):
    ran = replayed(body)
    assert ran.exit_code == (2 if "right: nothing was scored" in failures else 1)
    for failure in failures:
        assert f"not fit to train on: {failure}" in ran.stderr


def test_a_fit_reward_is_let_through(replayed):
    ran = replayed("return Score(float(sample.response == right(sample)))")
    assert (ran.exit_code, ran.stderr) == (0, "840 of 840 answers measured\n")
    lines = [line for line in ran.stdout.splitlines() if " 50 " in line or " 40 " in line]
    kinds = [line.split("  ")[1] for line in lines]  # ten answers are of one digit: without a part
    assert kinds == BARE


def test_the_json_format_has_the_figures(replayed):
    ran = replayed("return Score(float(sample.response == right(sample)))", "--format", "json")
    report = json.loads(ran.stdout)
    assert list(report["responses"]) == BARE
    assert report["responses"]["right"] == {"rows": 50, "mean": 1.0, "unscored": 0, "surprises": 0}
    assert report["responses"]["wrong"]["mean"] == 0.0
    assert report["responses"]["always the most frequent"]["mean"] == 0.02
    assert report["failures"] == []


def test_the_scale_is_the_rewards_own(replayed):
    declared = "version=1, scale=(-1, 3), gold_response=right"
    body = "return Score(3.0 if sample.response == right(sample) else -1.0)"
    assert replayed(body, declared=declared).exit_code == 0
    body = "return Score(1.0 if sample.response == right(sample) else -1.0)"
    assert replayed(body, declared=declared).exit_code == 1


def test_rows_that_fare_badly_are_shown(replayed):
    ran = replayed("return Score(float(sample.response == right(sample) != '7'))")
    assert "right, input line 8: 0 for 7" in ran.stdout


def test_a_row_without_a_reference_is_unscored_and_the_others_are_played(replayed):
    lines = rows()
    lines[3]["reference_answer"] = None
    lines[4] = {"id": "no sample"}
    ran = replayed("return Score(float(sample.response == right(sample)))", lines=lines)
    assert ran.exit_code == 1
    assert "not fit to train on: right: 2 unscored" in ran.stderr
    assert "right, input line 4: BadReference: there is no reference" in ran.stdout
    assert "right, input line 5: BadSample: messages is missing" in ran.stdout
    assert "nothing was scored" not in ran.stderr


def test_a_gold_response_that_fails_leaves_its_row_unscored(replayed):
    declared = "version=1, gold_response=lambda sample: str(1 // (int(sample.reference) - 5))"
    ran = replayed("return Score(float(bool(sample.response)))", declared=declared)
    assert ran.exit_code == 1
    assert "right, input line 6: ZeroDivisionError" in ran.stdout


def test_a_gold_response_that_writes_no_text_leaves_its_rows_unscored(replayed):
    declared = "version=1, gold_response=lambda sample: int(sample.reference)"
    ran = replayed("return Score(float(bool(sample.response)))", declared=declared)
    assert ran.exit_code == 2
    assert "right, input line 1: TypeError: the gold response is int, not a string" in ran.stdout


def test_rows_that_all_have_one_answer_cannot_be_told_from_wrong_ones(replayed):
    lines = [line | {"reference_answer": "yes"} for line in rows()]
    ran = replayed("return Score(float(sample.response == right(sample)))", lines=lines)
    assert ran.exit_code == 1
    assert "every row has the same right answer" in ran.stderr


def test_a_reward_without_a_gold_response_says_how_to_declare_one(replayed):
    ran = replayed("return Score(1.0)", declared="version=1")
    assert ran.exit_code == 2
    assert "mine declares no gold_response, which writes a right answer" in ran.stderr


def test_a_file_without_rows_is_unusable(replayed):
    assert replayed("return Score(1.0)", lines=[]).exit_code == 2


def test_a_row_that_was_answered_is_answered_anew(replayed):
    lines = rows()
    for line in lines:
        line["messages"].append({"role": "assistant", "content": "0"})
    body = "return Score(float(sample.response == right(sample) and len(sample.messages) == 2))"
    assert replayed(body, lines=lines).exit_code == 0


def test_parameters_and_workers_reach_the_reward(reward, write):
    path = write(
        "rows.jsonl", [row | {"reference_answer": f"Word {at}"} for at, row in enumerate(rows())]
    )
    arguments = ("data", "replay", path, "--reward", "exact_match", "--workers", "3")
    assert reward(*arguments, "--param", "ignore_case=false").exit_code == 0
    assert "has no parameter 'x'" in reward(*arguments, "--param", "x=1").stderr


def responses(*references):
    """What is played for each row, by kind; the first where a row is asked for several."""
    batches = []

    @reward_function(version=1, gold_response=lambda sample: reference_text(sample.reference))
    def exact(sample):
        return Score(float(sample.response == sample.reference))

    def listening(batch):
        batches.append(batch)
        return score_batch(exact, batch)

    samples = [
        sample("", reference, prompt="Say it.", id=str(at))
        for at, reference in enumerate(references)
    ]
    done = replay(exact, samples, [str(at) for at in range(len(samples))], listening)
    played = {each.id: {} for each in samples}
    for one, batch in zip(done.played, batches, strict=True):
        for each in batch:
            played[each.id].setdefault(one.kind, each.response)
    return played


def test_a_wrong_answer_is_the_next_right_one_that_differs():
    played = responses("1", " 1 ", "2", "3", "1")
    assert [row["wrong"] for row in played.values()] == ["2", "2", "3", "1", "2"]


def test_gaming_answers_hold_the_right_one_and_do_not_settle_on_it():
    played = responses("1", "2", "3")["1"]
    assert played["right, then wrong"] == "2\n3"
    assert played["one or the other"] == "2 or 3"
    assert played["thought right, answered wrong"] == "<think>2</think>\n3"
    assert played["thought right, cut off"] == "<think>\n2"
    assert played["many answers"] == "1\n2\n3\n2\n3"
    assert played["the prompt again"] == "Say it."
    assert played["always the most frequent"] == "1"


@pytest.mark.parametrize(
    ("references", "form"),
    [
        (("#### 12", "#### 13"), "#### "),  # the 1 is of the answers
        (("\\boxed{2}", "\\boxed{3}"), "\\boxed{}"),
        (("ANSWER: 5%", "ANSWER: 6%"), "ANSWER: %"),
        (("Paris", "Berlin"), None),
        (("#### 12", "#### 12"), None),  # one answer has no form that could be told from it
    ],
)
def test_the_form_alone_is_what_all_right_answers_share(references, form):
    assert responses(*references)["0"].get("the form alone") == form


ORACLES = [
    ("gsm8k", "3 + 4 = 7\n#### 7", "#### 7"),
    ("gsm8k", {"final_answer": "1,200"}, "#### 1,200"),
    ("finqa", {"answer": "12.5%", "exe_ans": 0.12497}, "ANSWER: 12.497%"),
    ("finqa", {"answer": "263", "exe_ans": 263.0}, "ANSWER: 263"),
    ("finqa", {"answer": "-4.5", "exe_ans": -4.5}, "ANSWER: -4.5"),
    ("finqa", {"answer": "yes", "exe_ans": "yes"}, "ANSWER: yes"),
    ("math", {"answer": "\\frac{1}{2}"}, "\\boxed{\\frac{1}{2}}"),
    ("math", "So it is \\boxed{x^2}.", "\\boxed{x^2}"),
    ("exact_match", {"text": "Paris"}, "Paris"),
    ("multiple_choice", "b", "Answer: B"),
]


@pytest.mark.parametrize(("name", "reference", "response"), ORACLES)
def test_the_rewards_of_this_project_write_right_answers_in_their_own_format(
    name, reference, response
):
    spec = get(name)
    asked = sample("", reference)
    assert spec.gold_response(asked) == response
    assert spec(asked.answered(response)).value == 1.0


@pytest.mark.parametrize("dataset", ["gsm8k", "finqa"])
def test_the_public_data_and_their_rewards_fit(dataset, reward, prepared):
    for path in prepared(dataset):
        ran = reward("data", "replay", path, "--reward", dataset)
        assert ran.exit_code == 0, ran.stdout + ran.stderr


def test_math_problems_and_their_reward_fit(reward, math_folder, tmp_path):
    out = tmp_path / "out"
    reward("data", "prepare", "math", "--source", math_folder(range(20)), "--out", out)
    ran = reward("data", "replay", out / "test.jsonl", "--reward", "math")
    assert ran.exit_code == 0, ran.stdout + ran.stderr


CRITERIA = ("specific", "true_to_responses", "supports_verdict")


@pytest.fixture
def judged(reward, write, read, tmp_path):
    """Replay prepared PandaLM rows with recorded answers, made of each row by its id."""

    def run(records, answer):
        source = write("testset-v1.json", records)
        folder = tmp_path / "prepared"
        ran = reward("data", "prepare", "pandalm", "--source", source, "--out", folder)
        assert ran.exit_code == 0, ran.stderr
        lines = [row for path in sorted(folder.glob("*.jsonl")) for row in read(path)]
        file = write("rows.jsonl", lines)
        answers = write("answers.jsonl", [{"id": row["id"]} | answer for row in lines])
        return reward(*("data", "replay", file, "--reward", "pandalm", "--judge-answers", answers))

    return run


def pairs(records, count=12):
    """Pairs of every label."""
    votes = [
        dict.fromkeys(("annotator1", "annotator2", "annotator3"), at % 3) for at in range(count)
    ]
    return [
        records["pandalm"](at, instruction=f"Shorten text {at}.", **vote)
        for at, vote in enumerate(votes)
    ]


def test_prepared_comparisons_pass_with_their_judge_replayed(judged, records):
    ran = judged(pairs(records), {"verdict": dict.fromkeys(CRITERIA, "yes")})
    assert ran.exit_code == 0, ran.stdout
    (line,) = ran.stderr.splitlines()
    assert re.fullmatch(r"(\d+) of \1 answers measured, \d+ decided without a model", line)


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        # a recorded judge who is content with two things of three, with none, or speaks of orders
        ({"verdict": dict.fromkeys(CRITERIA[:2], "yes")}, "right: earns less than 0.99"),
        ({"verdict": {}}, "right: earns less than 0.99"),
        (
            {"verdict": dict.fromkeys(CRITERIA, "yes") | {"addressed_to_judge": "yes"}},
            "right: earns less than 0.99",
        ),
        ({"error": "NoVerdict", "kind": "cut"}, "right: 12 unscored"),
        ({"error": "JudgeUnavailable"}, "right: 12 unscored"),
    ],
    ids=["two of three", "none", "addressed", "no verdict", "unavailable"],
)
def test_what_a_replayed_judge_says_counts(answer, failure, judged, records):
    ran = judged(pairs(records), answer)
    assert ran.exit_code == (2 if "error" in answer else 1)
    assert f"not fit to train on: {failure}" in ran.stderr


def test_a_row_nobody_recorded_is_unscored(judged, records):
    ran = judged(pairs(records), {"id": "another", "verdict": {}})
    assert ran.exit_code == 2, "no verdict was recorded for any row"
    assert "right: 12 unscored" in ran.stderr
    assert "JudgeUnavailable" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pandalm",), "pandalm asks a judge model: name the file of its recorded answers"),
        (("exact_match", "--judge-answers", "rows.jsonl"), "exact_match asks no judge model"),
        (("pandalm", "--judge-answers", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
    ],
)
def test_who_answers_is_named_for_a_judge_and_for_nobody_else(arguments, message, reward, write):
    ran = reward("data", "replay", write("rows.jsonl", rows(3)), "--reward", *arguments)
    assert ran.exit_code == 2
    assert message in ran.stderr


def as_published(case, records):
    """A labelled case in the format PandaLM's test set came in."""
    votes = {f"annotator{at}": vote for at, vote in enumerate(case["votes"], 1)}
    texts = {name: case[name] for name in ("instruction", "input", "response1", "response2")}
    return records["pandalm"](int(case["id"].removeprefix("pandalm-")), **texts, **votes)


def test_human_verdicts_pass_with_their_judge_replayed(judged, records, shared):
    lines = (shared / "pandalm/cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [as_published(json.loads(line), records) for line in lines]
    ran = judged(cases, {"verdict": dict.fromkeys(CRITERIA, "yes")})
    assert ran.exit_code == 0, ran.stdout


def test_answers_are_scored_a_few_at_a_time_and_counted_in_all(monkeypatch):
    monkeypatch.setattr(replaying, "PIECE", 4)
    monkeypatch.setattr(replaying, "KEPT", 3)
    sizes = []

    @reward_function(version=1, gold_response=lambda sample: reference_text(sample.reference))
    def nothing(sample):
        if sample.response.startswith("7"):
            raise JudgeUnavailable("out of order", "denied")
        return Score(0.0)

    def listening(batch):
        sizes.append(len(batch))
        return score_batch(nothing, batch)

    samples = [
        sample("", str(at), prompt="Say it.", id=str(at)) if at else Unscored("0", BadSample("x"))
        for at in range(10)
    ]
    done = replay(nothing, samples, [f"line {at}" for at in range(10)], listening)
    right = done.played[0]
    assert (right.kind, right.scored, right.unscored, right.surprising) == ("right", 8, 2, 8)
    assert [place for place, _ in right.errors] == ["line 0", "line 7"]
    assert [place for place, *_ in right.surprises] == ["line 1", "line 2", "line 3"]
    assert max(sizes) == 4
    assert done.measured.measured + done.measured.missing == 1 + sum(sizes)


def test_long_answers_are_scored_in_small_pieces(monkeypatch):
    monkeypatch.setattr(replaying, "BATCH", 100)
    sizes = []

    @reward_function(version=1, gold_response=lambda sample: "x" * 60)
    def nothing(sample):
        return Score(0.0)

    def listening(batch):
        sizes.append([len(each.response) for each in batch])
        return score_batch(nothing, batch)

    samples = [sample("", "1", prompt="Say it.", id=str(at)) for at in range(5)]
    replay(nothing, samples, [str(at) for at in range(5)], listening)
    assert sizes[:3] == [[60, 60], [60, 60], [60]]


def test_a_reward_of_groups_sees_every_answer_of_a_kind_together(monkeypatch):
    monkeypatch.setattr(replaying, "PIECE", 2)
    sizes = []

    @reward_function(version=1, gold_response=lambda sample: "1", needs=Needs(group=True))
    def nothing(sample, group):
        return Score(0.0)

    def listening(batch):
        sizes.append(len(batch))
        return score_batch(nothing, batch)

    samples = [sample("", "1", prompt="Say it.", id=str(at)) for at in range(5)]
    replay(nothing, samples, [str(at) for at in range(5)], listening)
    assert sizes[0] == 5


def test_the_right_answer_to_a_list_is_what_the_parameters_say(reward, write):
    lines = [
        {"prompt": f"Solve x^2 = {n * n}.", "reference_answer": [n, -n], "response": ""}
        for n in range(3, 23)
    ]
    path = write("lists.jsonl", lines)
    for chosen in ("members", "alternatives"):
        ran = reward(
            *("data", "replay", path, "--reward", "math", "-p", f"reference_list={chosen}"),
            *("--format", "json"),
        )
        right = json.loads(ran.stdout)["responses"]["right"]
        assert (right["mean"], right["surprises"]) == (1.0, 0), chosen
