"""`reward audit NAME FILE`: a reward that pays too little or too much is not let through."""

import json
import os
import re

import pytest

from reward_functions import Score, get, reward_function, sample, score_batch
from reward_functions.audit import trying
from reward_functions.audit.corpus import BY_ID, Corpus, class_answers
from reward_functions.audit.engine import audit, cases_of
from reward_functions.audit.gold import Gold
from reward_functions.core.errors import JudgeUnavailable
from reward_functions.core.references import reference_text

HEAD = """
from reward_functions import Sample, Score, reward_function
from reward_functions.core.references import reference_text

def right(sample):
    return reference_text(sample.reference)

"""

STRICT = ("--without", "FN-LAYOUT,FN-VALUE", "--allow-undecided")
"""These rewards read the whole response on purpose, and fifty rows decide little."""

UNFIT = {
    "pays everything": ("return Score(1.0)", {"exploit", "EQUAL", "EX-WRONG"}),
    "pays nothing": ("return Score(0.0)", {"fn.right", "EQUAL", "FN-RIGHT"}),
    "pays for a mention": (
        "return Score(float(right(sample) in sample.response))",
        {"exploit", "EX-BOTH", "EX-HEDGE"},
    ),
    "pays the first line": (
        "return Score(float(sample.response.split(chr(10))[0] == right(sample)))",
        {"exploit", "EX-BOTH"},
    ),
    "pays for silence": (
        "return Score(float(sample.response in ('', right(sample))))",
        {"exploit", "EX-EMPTY"},
    ),
    "pays some of the right ones": (
        "return Score(float(sample.response == right(sample) != '7' and right(sample) != '8'))",
        {"fn.right", "FN-RIGHT"},
    ),
    "is out of order": ("return Score(1 / 0)", {"unscored", "UNSCORED"}),
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
def audited(reward, write, tmp_path):
    def run(body, *arguments, lines=None, declared="version=1, gold_response=right"):
        file = tmp_path / "mine.py"
        file.write_text(
            f"{HEAD}@reward_function({declared})\ndef mine(sample: Sample) -> Score:\n    {body}\n"
        )
        os.utime(file, (0, 0))  # two texts of one size and time are two rewards
        path = write("rows.jsonl", rows() if lines is None else lines)
        return reward("audit", file, path, *STRICT, *arguments)

    return run


EXACT = "return Score(float(sample.response == right(sample)))"


@pytest.mark.parametrize(("body", "found"), UNFIT.values(), ids=UNFIT)
def test_an_unfit_reward_is_reported_what_it_does(body, found, audited):
    ran = audited(body, "--all", "--repeat", "2")
    assert ran.exit_code == (2 if "unscored" in found else 1)
    lines = ran.stdout.splitlines()
    for each in found:
        if each.isupper():
            assert any(line.split()[:1] == [each] and " broken " in line for line in lines), each
        else:
            assert f"not fit to train on: {each}>" in ran.stderr


def test_a_fit_reward_is_let_through_and_said_in_few_words(audited):
    ran = audited(EXACT)
    assert ran.exit_code == 0
    assert re.fullmatch(r"([\d,]+) of \1 answers measured\n", ran.stderr)
    assert ran.stdout.splitlines() == [
        "mine, version 1, in this process",
        "before it can be deployed it needs examples of kind positive, negative, attack",
        "right answers are the reward's own gold_response",
        "25 classes and properties are ok, 2 not tested, 3 of 5 gates hold, 2 undecided",
    ]
    every = audited(EXACT, "--all").stdout
    assert "EX-LIST" in every
    assert "other figures" in every


def test_the_scale_is_the_rewards_own(audited):
    declared = "version=1, scale=(-1, 3), gold_response=right"
    body = "return Score(3.0 if sample.response == right(sample) else -1.0)"
    assert audited(body, declared=declared).exit_code == 0
    body = "return Score(1.0 if sample.response == right(sample) else -1.0)"
    assert audited(body, declared=declared).exit_code == 1


def test_rows_that_fare_badly_are_shown(audited):
    body = "return Score(float(sample.response == right(sample) != '7' and right(sample) != '8'))"
    assert "FN-RIGHT, input line" not in audited(body).stdout
    assert "FN-RIGHT, input line 8: 0 for '7'" in audited(body, "--texts").stdout


def test_a_row_without_a_reference_is_unscored_and_the_others_are_tried(audited):
    lines = rows()
    lines[3]["reference_answer"] = None
    lines[4] = {"id": "no sample"}
    ran = audited(EXACT, "--texts", lines=lines)
    assert ran.exit_code == 1
    assert "not fit to train on: unscored>0" in ran.stderr
    assert (
        "UNSCORED, input line 4: - for ''; at 1 of 50 prompts; BadReference: there is no reference"
        in ran.stdout
    )
    assert (
        "UNSCORED, input line 5: - for ''; at 1 of 50 prompts; BadSample: messages is missing"
        in ran.stdout
    )
    assert "nothing was measured" not in ran.stderr


def test_a_gold_response_that_fails_leaves_its_row_unscored(audited):
    declared = "version=1, gold_response=lambda sample: str(1 // (int(sample.reference) - 5))"
    ran = audited("return Score(float(bool(sample.response)))", "--texts", declared=declared)
    assert ran.exit_code == 1
    assert "UNSCORED, input line 6: - for ''; at 1 of 50 prompts; ZeroDivisionError" in ran.stdout


def test_a_gold_response_that_writes_no_text_leaves_its_rows_unscored(audited):
    declared = "version=1, gold_response=lambda sample: int(sample.reference)"
    ran = audited("return Score(float(bool(sample.response)))", "--texts", declared=declared)
    assert ran.exit_code == 2
    assert "TypeError: the gold response is int, not a string" in ran.stdout


def test_rows_that_all_have_one_answer_are_noted(audited):
    lines = [line | {"reference_answer": "yes"} for line in rows()]
    ran = audited(EXACT, lines=lines)
    assert ran.exit_code == 0
    assert "every row has the same right answer" in " ".join(ran.stdout.split())


def test_a_reward_without_a_gold_response_is_tried_with_what_needs_none(audited):
    ran = audited("return Score(float('marks' in sample.response))", declared="version=1")
    assert ran.exit_code == 1
    assert "only answers that need none were tried: the reward writes none" in ran.stdout
    assert "EX-JUDGE" in ran.stdout


def test_a_file_without_rows_is_unusable(audited):
    assert audited("return Score(1.0)", lines=[]).exit_code == 2


def test_a_row_that_was_answered_is_answered_anew(audited):
    lines = rows()
    for line in lines:
        line["messages"].append({"role": "assistant", "content": "0"})
    body = "return Score(float(sample.response == right(sample) and len(sample.messages) == 2))"
    assert audited(body, lines=lines).exit_code == 0


def test_parameters_reach_the_reward(reward, write):
    path = write(
        "rows.jsonl", [row | {"reference_answer": f"Word {at}"} for at, row in enumerate(rows())]
    )
    arguments = ("audit", "exact_match", path, *STRICT)
    assert reward(*arguments, "--param", "ignore_case=false").exit_code == 0
    assert "has no parameter 'x'" in reward(*arguments, "--param", "x=1").stderr


def cases(*references):
    """The rows of an audit whose right answers are their references."""
    samples = [
        sample("", reference, prompt="Say it.", id=str(at))
        for at, reference in enumerate(references)
    ]
    found, _ = cases_of(
        Gold(lambda one: reference_text(one.reference), "them"), samples, list(references)
    )
    return Corpus(found)


def test_a_wrong_answer_is_the_next_right_one_that_differs():
    found = cases("1", " 1 ", "2", "3", "1")
    assert [case.wrong for case in found.cases] == ["2", "2", "3", "1", "2"]


GAMING = {
    "EX-BOTH": "2\n3",
    "EX-HEDGE": "2 or 3",
    "EX-THOUGHT": "<think>2</think>\n3",
    "EX-CUT": "<think>\n2",
    "EX-LIST": "1 or 3 or 2",
    "EX-PROMPT": "Say it.",
}


@pytest.mark.parametrize("name", GAMING)
def test_gaming_answers_hold_the_right_one_and_do_not_settle_on_it(name):
    found = cases("1", "2", "3")
    assert GAMING[name] in [text for at, text, _ in class_answers(BY_ID[name], found) if at == 1]


@pytest.mark.parametrize(
    ("references", "form"),
    [
        (("#### 12", "#### 13"), "#### "),  # the 1 is of the answers
        (("\\boxed{2}", "\\boxed{3}"), "\\boxed{}"),
        (("ANSWER: 5%", "ANSWER: 6%"), "ANSWER: %"),
        (("Paris", "Berlin"), ""),
        (("#### 12", "#### 12"), ""),  # one answer has no form that could be told from it
    ],
)
def test_the_form_alone_is_what_all_right_answers_share(references, form):
    assert cases(*references).form == form


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
        ran = reward("audit", dataset, path, *STRICT)
        assert ran.exit_code == 0, ran.stdout + ran.stderr


def test_math_problems_and_their_reward_fit(reward, math_folder, tmp_path):
    out = tmp_path / "out"
    reward("data", "prepare", "math", "--source", math_folder(range(20)), "--out", out)
    ran = reward("audit", "math", out / "test.jsonl", "--allow-undecided")
    assert ran.exit_code == 0, ran.stdout + ran.stderr


CRITERIA = ("specific", "true_to_responses", "supports_verdict")


@pytest.fixture
def judged(reward, write, read, tmp_path):
    """Audit a judge on prepared PandaLM rows with recorded answers, made of each row by its id."""

    def run(records, answer):
        source = write("testset-v1.json", records)
        folder = tmp_path / "prepared"
        ran = reward("data", "prepare", "pandalm", "--source", source, "--out", folder)
        assert ran.exit_code == 0, ran.stderr
        lines = [row for path in sorted(folder.glob("*.jsonl")) for row in read(path)]
        file = write("rows.jsonl", lines)
        answers = write("answers.jsonl", [{"id": row["id"]} | answer for row in lines])
        given = ("audit", "pandalm", file, "--judge-answers", answers, "--texts")
        return reward(*given, *STRICT)

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
    assert re.fullmatch(r"(\d+) of \1 answers measured, [\d,]+ decided without a model", line)
    assert "recorded answers stand for its judge" in ran.stdout


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        # a recorded judge who is content with two things of three, with none, or speaks of orders
        ({"verdict": dict.fromkeys(CRITERIA[:2], "yes")}, "fn.right>0.02"),
        ({"verdict": {}}, "fn.right>0.02"),
        (
            {"verdict": dict.fromkeys(CRITERIA, "yes") | {"addressed_to_judge": "yes"}},
            "fn.right>0.02",
        ),
        ({"error": "NoVerdict", "kind": "cut"}, "unscored>0"),
        ({"error": "JudgeUnavailable"}, "unscored>0"),
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
    assert "unscored>0" in ran.stderr
    assert "JudgeUnavailable" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pandalm",), "pandalm asks a judge model, and none is the default: give --judge"),
        (("gsm8k", "--scripted"), "gsm8k asks no judge model"),
        (("json:loads", "--scripted"), "is no judge of this process"),
        (("exact_match", "--judge-answers", "rows.jsonl"), "exact_match asks no judge model"),
        (("pandalm", "--judge-answers", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
    ],
)
def test_who_answers_is_named_for_a_judge_and_for_nobody_else(arguments, message, reward, write):
    name, *options = arguments
    ran = reward("audit", name, write("rows.jsonl", rows(3)), *options)
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
    monkeypatch.setattr(trying, "PIECE", 4)
    sizes = []

    @reward_function(version=1, gold_response=lambda sample: reference_text(sample.reference))
    def nothing(sample):
        if sample.response.startswith("7"):
            raise JudgeUnavailable("out of order", "denied")
        return Score(0.0)

    fared = trying.tried(trying.RIGHT, cases(*map(str, range(10))), heard(nothing, sizes))
    assert [len(fared.values), len(fared.errors)] == [9, 1]
    assert [len(each) for each in sizes] == [4, 4, 2]
    done = audit(nothing, [sample("", str(at), prompt=f"{at}?", id=f"{at}") for at in range(10)])
    (lost,) = [each for each in done.findings if each.id == "UNSCORED"]
    assert [(each.place, each.hits) for each in lost.rows] == [("sample 7", 2)], "7 is wrong of 6"
    assert done.measured.missing > 1


def heard(reward, sizes):
    def score(batch):
        sizes.append([len(each.response) for each in batch])
        return score_batch(reward, batch)

    return score


def test_long_answers_are_scored_in_small_pieces(monkeypatch):
    monkeypatch.setattr(trying, "PIECE_BYTES", 100)
    sizes = []

    @reward_function(version=1)
    def nothing(sample):
        return Score(0.0)

    trying.tried(trying.RIGHT, cases(*("x" * 60 for _ in range(5))), heard(nothing, sizes))
    assert sizes == [[60, 60], [60, 60], [60]]


def test_a_reward_of_groups_sees_every_answer_of_a_class_together(monkeypatch):
    monkeypatch.setattr(trying, "PIECE", 2)
    sizes = []

    @reward_function(version=1)
    def nothing(sample):
        return Score(0.0)

    found = cases(*("1" for _ in range(5)))
    trying.tried(trying.RIGHT, found, heard(nothing, sizes), together=True)
    assert [len(each) for each in sizes] == [5]


def test_the_right_answer_to_a_list_is_what_the_parameters_say(reward, write):
    lines = [
        {"prompt": f"Solve x^2 = {n * n}.", "reference_answer": [n, -n], "response": ""}
        for n in range(3, 23)
    ]
    path = write("lists.jsonl", lines)
    for chosen in ("members", "alternatives"):
        ran = reward(
            *("audit", "math", path, "-p", f"reference_list={chosen}", "--format", "json"),
            *("--class", "EX-EMPTY", "--allow-undecided"),
        )
        figures = {each["id"]: each["value"] for each in json.loads(ran.stdout)["figures"]}
        assert figures["fn.right"] == 0.0, chosen
