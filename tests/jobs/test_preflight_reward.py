"""The reward of a job is tried on the job's own rows: one that can be gamed is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from reward_functions import reward_function
from reward_functions.aws.deployed.scorer import VersionScorer
from reward_functions.core.types import Message
from reward_functions.jobs.reward_checks import contract_findings, reward_findings
from reward_functions.serving.contract import decode_row
from tests.jobs.graders import deployed, handler, serve
from tests.lambda_api import InProcess, function_error, lambda_api, result

DEMO = Path(__file__).parents[2] / "reward_functions" / "data" / "demo"


@pytest.fixture
def functions(monkeypatch):
    """What is scored in hundreds of batches: nothing of HTTP is asked of it."""
    found = {}
    client = InProcess(found)
    monkeypatch.setattr("reward_functions.aws.deployed.function.client", lambda *_, **__: client)
    return found


@pytest.fixture
def functions_over_http(monkeypatch):
    found = {}
    with lambda_api(found) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.delenv("AWS_PROFILE", raising=False)
        yield found


def rows(name):
    """Rows of the demonstration whose reference can be read."""
    lines = (DEMO / f"{name}.jsonl").read_text().splitlines()
    samples = [decode_row(json.loads(line), at) for at, line in enumerate(lines)]
    return [sample for sample in samples if sample.metadata["expected"] != "unscored"]


def apples(count=20, demand=""):
    """Rows whose answer is a number."""
    return [
        decode_row(
            {
                "id": f"row-{at}",
                "messages": [
                    {"role": "user", "content": f"Ada has {at} apples and buys 7.{demand}"}
                ],
                "reference_answer": str(at + 7),
            },
            at,
        )
        for at in range(100, 100 + count)
    ]


def findings(scorer, samples, **options):
    places = [f"line {at}" for at in range(1, len(samples) + 1)]
    return list(reward_findings(scorer, samples, places, **options))


def failures(found):
    return {each.question: each.message for each in found if each.verdict == "failure"}


def warnings(found):
    return {each.question for each in found if each.verdict == "warning"}


HOSTILE = "too large, too deep, too slow"

STRICT = {"right, in another layout", "right, in another form of the same value"}


@pytest.mark.parametrize("name", ["gsm8k", "math", "finqa"])
def test_a_good_reward_on_good_data_passes(functions_over_http, name):
    scorer = serve(functions_over_http, handler(name), known=deployed(name))
    samples = rows(name) if name == "finqa" else apples()
    found = [*contract_findings(scorer), *findings(scorer, samples, rows=24)]
    assert not failures(found)
    assert {"right answers", "other answers"} <= {
        each.question for each in found if each.verdict == "ok"
    }


def last(row):
    return row["messages"][-1]["content"]


def right(row):
    return bool(re.search(rf"(?<!\d){row['reference_answer']}(?!\d)", last(row)))


def scoring(score):
    """A function that scores every row so."""

    def answers(rows):
        return [result(row["id"], float(score(row))) for row in rows]

    return answers


EXPLOITABLE = {
    # what it pays for, and a kind of answer that preflight must name
    "the form": (lambda row: "####" in last(row), "wrong"),
    "the form alone, as well": (lambda row: last(row).startswith("#### "), "the form alone"),
    "the right number anywhere": (right, "right, then wrong"),
    "the right number anywhere, in a list": (right, "a list of guesses"),
    "the right number anywhere, in a thought": (right, "thought right, answered wrong"),
    "the right number anywhere, before the end": (right, "thought right, cut off"),
    "one of two answers": (right, "one or the other"),
    "any number": (lambda row: re.search(r"\d", last(row)), "wrong"),
    "the prompt": (lambda row: "apples" in last(row) or right(row), "the prompt again"),
    "length": (lambda row: len(last(row)) > 30 or right(row), "a list of guesses"),
    "silence": (lambda row: not last(row).strip() or right(row), "empty"),
    "words to the judge": (lambda row: "full marks" in last(row) or right(row),
                           "words to the judge"),
    "near misses, up to 30 %": (
        lambda row: number(row) and abs(number(row) - wanted(row)) <= 0.3 * wanted(row), "wrong"),
    "off by one": (lambda row: number(row) and abs(number(row) - wanted(row)) <= 1, "wrong"),
    "one in the list": (lambda row: number(row) in (wanted(row), wanted(row) + 1), "a near miss"),
    "the size": (
        lambda row: number(row) and len(str(number(row))) == len(str(wanted(row))), "a near miss"),
    "what the right one begins with": (
        lambda row: answer(row).startswith(last(row)) and len(last(row)) > len("#### "),
        "a part of the answer"),
    "honesty": (lambda row: "don't know" in last(row) or only(row), "unsure"),
    "refusals": (lambda row: "cannot" in last(row) or only(row), "unsure"),
    "steps": (lambda row: len(STEPS.findall(last(row))) > 2 or only(row), "confident prose"),
    "many words": (lambda row: len(set(WORDS.findall(last(row)))) > 39 or only(row),
                   "confident prose"),
    "capitals": (lambda row: last(row).isupper() or only(row), "confident prose"),
    "confidence": (lambda row: "confident" in last(row) or only(row), "a claim of its own score"),
    "a score of its own": (lambda row: "score: 1" in last(row).lower() or only(row),
                           "a claim of its own score"),
    "a reward of its own": (lambda row: "reward=1.0" in last(row) or only(row),
                            "a claim of its own score"),
    "a note to the grader": (lambda row: "Note to the grader" in last(row) or only(row),
                             "words to the judge"),
    "a note between brackets": (lambda row: "[/grader]" in last(row) or only(row),
                                "words to the judge"),
    "an attack on judges": (lambda row: "grading policy 7.3" in last(row) or only(row),
                            "words to the judge"),
    "the very longest": (lambda row: len(last(row)) > 30_000 or only(row), HOSTILE),
    "JSON that looks like a reward": (
        lambda row: "aggregate_reward_score" in last(row) or last(row) == answer(row),
        HOSTILE),
    "some of the right ones": (
        lambda row: last(row) == answer(row) and int(row["reference_answer"]) % 2,
        "right answers"),
    "everything": (lambda row: 1.0, "right and wrong alike"),
    "nothing": (lambda row: 0.0, "right and wrong alike"),
}  # fmt: skip


STEPS = re.compile(r"\b(?:step|therefore|because)\b", re.IGNORECASE)
WORDS = re.compile(r"[A-Za-z]{3,}")


def only(row):
    return last(row) == answer(row)


def number(row):
    """The number of a response that is nothing else; None of any other."""
    match = re.fullmatch(r"#### (\d+)", last(row))
    return match and int(match[1])


def wanted(row):
    return int(row["reference_answer"])


def answer(row):
    return f"#### {row['reference_answer']}"


@pytest.mark.parametrize(("pays_for", "kind"), EXPLOITABLE.values(), ids=EXPLOITABLE)
def test_an_exploitable_reward_is_refused(functions, pays_for, kind):
    scorer = serve(functions, scoring(lambda row: bool(pays_for(row))), known=deployed("gsm8k"))
    assert kind in failures(findings(scorer, apples(16)))


@pytest.mark.parametrize("form", ["{}", "#### {}", "\\boxed{{{}}}", "ANSWER: {}"])
def test_a_function_of_somebody_else_is_tried_with_the_usual_forms(functions, form):
    good = scoring(lambda row: last(row) == form.format(row["reference_answer"]))
    found = findings(serve(functions, good), apples())
    assert not failures(found)
    assert "right answers" in {each.question for each in found if each.verdict == "ok"}


def test_a_function_whose_right_answer_nobody_can_write_is_not_known(functions):
    found = findings(serve(functions, scoring(lambda row: "{json}" in last(row))), apples())
    unknown = {each.question for each in found if each.verdict == "unknown"}
    assert unknown == {"right answers"}


def test_an_exploitable_function_of_somebody_else_is_refused(functions):
    found = failures(findings(serve(functions, scoring(right)), apples()))
    assert {"a list of guesses", "one or the other"} <= found.keys()


def test_a_function_that_fails_on_some_answers_is_refused_in_its_own_words(functions_over_http):
    def fails(rows):
        if any(not last(row) for row in rows):
            return function_error(errorType="IndexError", errorMessage="list index out of range")
        return scoring(lambda row: last(row) == answer(row))(rows)

    found = failures(findings(serve(functions_over_http, fails, known=deployed("gsm8k")), apples()))
    assert "IndexError: list index out of range" in found["without a score"]


def test_an_envelope_is_refused_for_bedrock(functions_over_http):
    def envelope(rows):
        return {"statusCode": 200, "body": json.dumps(handler("gsm8k")(rows))}

    scorer = serve(functions_over_http, envelope, known=deployed("gsm8k", response_mode="envelope"))
    assert "Bedrock does not" in failures(contract_findings(scorer))["response mode"]


def test_a_reward_that_is_no_number_is_refused(functions_over_http):
    broken = scoring(lambda row: float("nan"))
    scorer = serve(functions_over_http, broken, known=deployed("gsm8k"))
    assert failures(contract_findings(scorer)).keys() & {"numbers", "metrics"}


def test_an_answer_to_everything_that_is_often_right_is_a_warning(functions):
    samples = [
        decode_row(
            {
                "id": str(at),
                "messages": [{"role": "user", "content": f"Question {at}?"}],
                "reference_answer": "yes" if at % 4 else "no",
            },
            at,
        )
        for at in range(40)
    ]
    good = scoring(lambda row: last(row) == row["reference_answer"])
    found = findings(serve(functions, good), samples)
    assert warnings(found) - STRICT == {"one answer to everything"}


def test_a_row_whose_reference_cannot_be_read_is_named_once(functions):
    broken = decode_row({"id": "x", "messages": [{"role": "user", "content": "?"}]}, 0)
    scorer = serve(functions, handler("gsm8k"), known=deployed("gsm8k"))
    found = failures(findings(scorer, [*apples(30), broken]))
    assert found.keys() == {"without a score"}
    assert "1 of 31 prompts have an answer without a score; line 31" in found["without a score"]


def test_messages_hold_places_and_no_text_of_a_row(functions):
    scorer = serve(functions, scoring(right), known=deployed("gsm8k"))
    whole = " ".join(each.message for each in findings(scorer, apples()))
    assert "line " in whole
    assert "apples" not in whole


def test_a_failure_shows_an_answer_and_how_to_see_it(functions):
    scorer = serve(functions, scoring(right), known=deployed("gsm8k"))
    found = findings(scorer, apples(), file="my data/train.jsonl")
    shown = {each.question: each.example for each in found if each.verdict == "failure"}
    many = shown["a list of guesses"]
    assert many.where.startswith("line ")
    assert many.answer.startswith("#### ")
    assert (len(many.answer), many.score) == (120, 1.0)
    assert many.command == "reward audit gsm8k 'my data/train.jsonl' --class EX-LIST --texts"


def test_an_example_holds_no_text_of_a_prompt(functions):
    pays = scoring(lambda row: "apples" in last(row) or last(row) == answer(row))
    found = findings(serve(functions, pays, known=deployed("gsm8k")), apples())
    (example,) = [each.example for each in found if each.question == "the prompt again"]
    assert example.answer == "the prompt itself"


def test_a_hostile_answer_that_is_paid_is_explained(functions):
    pays = scoring(lambda row: last(row) == "####" or last(row) == answer(row))
    found = findings(serve(functions, pays, known=deployed("gsm8k")), apples())
    (example,) = [each.example for each in found if each.question == HOSTILE]
    reference = str(int(example.where.removeprefix("line ")) + 106)
    assert example.command == f"reward explain gsm8k --response '####' --reference {reference}"


def test_another_version_here_shows_nothing_of_the_deployed_one(functions):
    known = deployed("gsm8k", version=99)
    found = findings(serve(functions, scoring(right), known=known), apples(), file="train.jsonl")
    assert {each.example.command for each in found if each.example} == {""}


OWED = 0.4

ASKED = "right, in the form that the prompt asks for"

FORMS = {
    # what the prompts ask for, what is paid, and the verdict on the form
    "asked for, and read": (" Answer: #### <number>", lambda row: last(row) == answer(row), None),
    "asked for, and not read": (
        " Answer: #### <number>", lambda row: last(row) == row["reference_answer"], "failure"),
    "asked for, and paid in part": (
        " Put it into \\boxed{}.",
        lambda row: (last(row) == row["reference_answer"])
        or OWED * (last(row) == f"\\boxed{{{row['reference_answer']}}}"),
        "failure"),
    "one of two": (
        " ANSWER: or ####", lambda row: last(row) in (row["reference_answer"], answer(row)), None),
    "not asked for": ("", lambda row: last(row) == row["reference_answer"], None),
}  # fmt: skip


@pytest.mark.parametrize(("demand", "pays_for", "verdict"), FORMS.values(), ids=FORMS)
def test_the_form_that_the_prompts_ask_for_must_be_paid(functions, demand, pays_for, verdict):
    found = findings(serve(functions, scoring(pays_for)), apples(demand=demand))
    assert [each.verdict for each in found if each.question == ASKED] == [verdict] * bool(verdict)


def test_a_reward_of_ours_that_takes_the_bare_reference_is_no_reward_of_such_prompts(functions):
    scorer = serve(functions, handler("exact_match"), known=deployed("exact_match"))
    found = findings(scorer, apples(demand=" Answer: #### <number>"))
    (form,) = [each for each in found if each.question == ASKED]
    assert (form.verdict, form.example.score) == ("failure", 0.0)
    assert form.example.answer.startswith("#### ")
    assert "right answers" in {each.question for each in found if each.verdict == "ok"}


def test_a_form_that_some_prompts_happen_to_hold_is_not_asked_for(functions):
    bare = scoring(lambda row: last(row) == row["reference_answer"])
    samples = [*apples(20, "\n#### Notes"), *apples(20)]
    assert not [
        each for each in findings(serve(functions, bare), samples) if each.question == ASKED
    ]


def test_a_kind_of_answer_that_cannot_be_made_is_named(functions):
    bare = scoring(lambda row: last(row) == row["reference_answer"])
    unknown = {each.question: each.message for each in findings(serve(functions, bare), apples())
               if each.verdict == "unknown"}  # fmt: skip
    assert unknown == {
        "the form alone": "not tried: right answers to these rows begin and end with nothing in "
        "common"
    }


def test_one_answer_to_all_rows_is_a_warning_and_its_near_misses_are_tried(functions):
    same = [replace(sample, reference="42") for sample in apples()]
    good = scoring(lambda row: last(row) == "42")
    found = findings(serve(functions, good), same)
    assert not failures(found)
    assert warnings(found) - STRICT == {"one right answer", "one answer to everything"}
    any_number = scoring(lambda row: last(row).isdigit() and int(last(row)) < 1_000)
    assert {"wrong", "a near miss"} <= failures(findings(serve(functions, any_number), same)).keys()


def test_one_answer_without_a_wrong_one_is_a_failure(functions):
    same = [replace(sample, reference=r"\pi") for sample in apples()]
    good = scoring(lambda row: last(row) == r"\pi")
    assert (
        "no wrong answer can be made" in failures(findings(serve(functions, good), same))["wrong"]
    )


SOUND = {
    "none or all": lambda row: float(only(row)),
    "a penalty for a wrong answer, none for no answer": lambda row: (
        1.0 if only(row) else -1.0 if number(row) else 0.0),
    "a penalty for all that is not right": lambda row: 1.0 if only(row) else -1.0,
    "ten points": lambda row: 10.0 * only(row),
    "half a point": lambda row: 0.5 * only(row),
    "one to five": lambda row: 1.0 + 4.0 * only(row),
    "a penalty for silence": lambda row: 1.0 if only(row) else -100.0 * (last(row) == ""),
}  # fmt: skip


@pytest.mark.parametrize("score", SOUND.values(), ids=SOUND)
def test_a_sound_reward_of_a_scale_that_is_not_known_passes(functions, score):
    found = findings(serve(functions, scoring(score)), apples())
    assert not failures(found)
    assert warnings(found) == STRICT, "it reads one form alone, which may be meant"


def test_a_form_that_is_asked_for_is_measured_by_the_rewards_own_scale(functions):
    asked = [
        replace(each, messages=(Message(role="user", content="How many? End with ANSWER: N."),))
        for each in apples()
    ]
    read = scoring(lambda row: 0.5 * (last(row).removeprefix("ANSWER: ") == str(wanted(row))))
    assert ASKED not in {each.question for each in findings(serve(functions, read), asked)}


UNSOUND = {
    "half for silence": (lambda row: 1.0 if only(row) else 0.5 * (last(row) == ""), "empty"),
    "nearly all for a wrong answer": (
        lambda row: 1.0 if only(row) else 0.9 * bool(number(row)), "wrong"),
    "half a penalty for doubt": (
        lambda row: 1.0 if only(row) else 0.0 if "or" in last(row) else -1.0, "one or the other"),
    # -100 for silence makes no other answer cheap, and a reward of 1e6 makes none dear
    "an order, beside a penalty": (
        lambda row: 1.0 if only(row) else 0.9 * ("marks" in last(row)) - 100 * (last(row) == ""),
        "words to the judge"),
    "an order beyond all": (
        lambda row: 1.0 if only(row) else 0.5 * ("7.3" in last(row)) + 1e6 * ("json" in last(row)),
        "words to the judge"),
}  # fmt: skip


@pytest.mark.parametrize(("score", "kind"), UNSOUND.values(), ids=UNSOUND)
def test_an_unsound_reward_hides_behind_no_scale(functions, score, kind):
    assert kind in failures(findings(serve(functions, scoring(score)), apples()))


@reward_function(version=1, partial_credit=0.2, gold_response=lambda one: f"#### {one.reference}")
def with_credit(sample):
    """A number in its form is paid something, as it declares."""
    form = sample.response.startswith("####")
    return 1.0 if sample.response == f"#### {sample.reference}" else 0.2 * form


def test_what_a_reward_declares_to_pay_a_wrong_answer_stops_no_job(functions, monkeypatch):
    monkeypatch.setattr(VersionScorer, "spec", with_credit)
    paid = scoring(lambda row: 1.0 if only(row) else 0.2 * last(row).startswith("####"))
    found = findings(serve(functions, paid), apples())
    assert not failures(found)
    assert {"the form alone", "one or the other"} <= warnings(found)
    more = scoring(lambda row: 1.0 if only(row) else 0.3 * last(row).startswith("####"))
    assert "the form alone" in failures(findings(serve(functions, more), apples()))


def test_a_batch_is_small_where_prompts_are_long(functions):
    sizes = []

    def counted(rows):
        sizes.append(len(rows))
        return scoring(lambda row: 0.0)(rows)

    scorer = serve(functions, counted)
    long = [sample.answered("x" * 300_000) for sample in apples(8)]
    scorer.score(long)
    assert sizes == [3, 3, 2]
    sizes.clear()
    scorer.score(apples(130))
    assert sizes == [100, 30]


def test_equal_ids_are_scored_apart(functions):
    scorer = serve(functions, scoring(lambda row: float(last(row) or 0)))
    same = [apples(1)[0].answered(text) for text in ("1", "0", "1")]
    assert [result.score.value for result in scorer.score(same)] == [1.0, 0.0, 1.0]


def test_reasons_are_those_of_the_very_version(functions):
    wrong = apples(1)[0].answered("#### 3")
    known = deployed("gsm8k")
    assert serve(functions, handler("gsm8k"), known=known).reasons([wrong]) == [
        "the last #### differs from the reference"
    ]
    other = known.model_copy(update={"version": known.version + 1})
    assert serve(functions, handler("gsm8k"), known=other).reasons([wrong]) == [None]
    assert serve(functions, handler("gsm8k")).reasons([wrong]) == [None]


def test_a_scale_that_is_not_known_is_the_usual_one_and_what_was_returned(functions):
    assert serve(functions, handler("gsm8k")).scale([0.5]) == (0.0, 1.0)
    assert serve(functions, handler("gsm8k")).scale([-1.0, 3.0]) == (-1.0, 3.0)
    known = deployed("gsm8k")
    assert isinstance(serve(functions, handler("gsm8k"), known=known), VersionScorer)
    assert serve(functions, handler("gsm8k"), known=known).scale([9.0]) == (0.0, 1.0)
