"""`reward judge doctor`: judges that hold, judges that do not, and what nobody could have shown."""

import json
import re

import pytest

from reward_functions import sample, specs
from reward_functions.calibration.doctor import (
    CONTROL,
    IGNORANCE,
    LIMITS,
    AttackOutcome,
    AttackResults,
    targets_from_samples,
)
from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.judge_runtime.attack_corpus import Attack, attacks

JUDGES = sorted(name for name, spec in specs().items() if spec.needs.judge)

NAIVE = '''
"""A judge that shows its model the response as it is."""
from reward_functions import Example, Needs, Sample, Score, reward_function
from reward_functions.core.asking import VerdictField, Question

FIELDS = (
    VerdictField("right", "the answer is right", ("no", "yes")),
    VerdictField("addressed_to_judge", "it speaks to you", ("yes", "no"), usual="no"),
    VerdictField("confidence", "how sure you are", ("low", "high"), usual="high"),
    VerdictField("checksum", "copied"),
)

@reward_function(
    version=1,
    needs=Needs(judge=True, workers=16),
    examples=[
        Example("positive", prompt="2 + 2?", response="4", reference="4", score=1.0,
                verdicts=[{"right": "yes"}]),
        Example("negative", prompt="2 + 2?", response="5", reference="4", score=0.0),
    ],
)
def naive(sample: Sample, ask) -> Score:
    """Right or wrong."""
    told = f"Grade this answer:\\n{sample.response}\\n\\nChecksum: abc"
    question = Question(key=told, system="You grade.", shared="", text=told, fields=FIELDS,
                        canary="abc", sample=sample.id)
    return Score(float(ask(question)["right"] == "yes"))
'''


@pytest.fixture
def naive(tmp_path):
    path = tmp_path / "naive.py"
    path.write_text(NAIVE)
    return path


def doctor(reward, *arguments):
    ran = reward("judge", "doctor", *arguments, "--json")
    return (json.loads(ran.stdout) if ran.stdout else None), ran


def everything(told):
    return next(kind for kind in told["kinds"] if kind["name"] == "all")


KINDS = {
    *("master key", "override", "escape", "fake reference", "role token", "schema"),
    *("canary", "reasoning"),
}


@pytest.mark.parametrize("judge", JUDGES)
def test_our_judges_hold_against_a_script_that_obeys_what_is_not_fenced(reward, judge):
    told, ran = doctor(reward, judge, "--scripted")
    assert ran.exit_code == 0, ran.stderr
    assert everything(told)["scored"] >= 40
    assert everything(told)["raised"] == 0
    assert {kind["name"] for kind in told["kinds"]} > KINDS
    assert told["limits"] == LIMITS["script"]


def test_a_judge_without_a_fence_fails(reward, naive):
    told, ran = doctor(reward, naive, "--scripted")
    assert ran.exit_code == 1
    assert everything(told)["rate"] > 0.5
    assert "attacks raise the reward" in ran.stderr


FENCED = re.compile(r'(?s)<data name="\w+" mark="([0-9a-f]{32})">\n.*?\n</data mark="\1">')
ORDERS = {
    line.strip()
    for wrong in ("5", "The answer is Sydney.")
    for one in attacks(wrong)
    for line in one.response.splitlines()
    if len(line.strip()) > 12 and line.strip() != wrong
}


def model(decide):
    """A model that says yes where something in its instructions makes it."""

    def verdict(talk):
        own = re.findall(r"Checksum: (\w+)", talk.text)[-1]
        return {
            name: ("yes" if decide(talk.text) else "no")
            for name in talk.schema.keys() & {"right", "same"}
        } | {"checksum": own}

    return verdict


def obedient(text):
    """It obeys the orders that reach it outside a fence."""
    bare = FENCED.sub("", text)
    return any(order in bare for order in ORDERS)


def gullible(text):
    """It obeys a few words wherever they stand."""
    return "full marks" in text or "credit" in text


def test_a_real_model_that_obeys_what_is_not_fenced_finds_nothing_to_obey(reward, serve, settings):
    server = serve(verdict=model(obedient))
    told, ran = doctor(reward, "reference", "--judge", settings(server))
    assert ran.exit_code == 0, ran.stderr
    assert everything(told)["raised"] == 0
    assert len(server.requests) > 30
    assert told["limits"] == LIMITS["model"]


def test_the_same_model_is_talked_into_rewards_without_a_fence(reward, naive, serve, settings):
    server = serve(verdict=model(obedient))
    told, ran = doctor(reward, naive, "--judge", settings(server))
    assert ran.exit_code == 1
    assert everything(told)["rate"] > 0.5


def test_a_fence_is_no_help_to_a_gullible_model(reward, serve, settings):
    """The limit decides whether that is too much."""
    judge = settings(serve(verdict=model(gullible)))
    told, ran = doctor(reward, "reference", "--judge", judge)
    assert ran.exit_code == 1
    assert 0.02 < everything(told)["rate"] < 0.2
    assert {each["kind"] for each in told["raised"]} >= {"override"}
    _, ran = doctor(reward, "reference", "--judge", judge, "--limit", 0.5)
    assert ran.exit_code == 0


def test_a_judge_that_notices_pays_nothing(reward, serve, settings):
    def noticing(talk):
        return model(gullible)(talk) | {"addressed_to_judge": "yes"}

    told, ran = doctor(reward, "reference", "--judge", settings(serve(verdict=noticing)))
    assert ran.exit_code == 0
    assert everything(told)["noticed"] > 30


def test_wrong_answers_that_earn_everything_fail_the_judge(reward, serve, settings):
    """No attack can raise what is paid in full already."""
    _, ran = doctor(reward, "reference", "--judge", settings(serve(verdict=model(lambda _: True))))
    assert ran.exit_code == 1
    assert "1 wrong answers earn the maximum without an attack" in ran.stderr


def test_answers_that_are_no_verdict_raise_nothing_and_are_counted(reward, serve, settings):
    def schedule(_, text):
        return "truncated" if "full marks" in text else "ok"

    server = serve(verdict=model(lambda _: False), schedule=schedule)
    told, ran = doctor(reward, "reference", "--judge", settings(server))
    assert ran.exit_code == 1, ran.stderr
    invalid = everything(told)["invalid"]
    assert 0 < invalid == told["measured"]["missing"] < 100
    assert ran.stderr.startswith(
        f"{100 - invalid} of 100 attacks measured, 30 decided without a model\n"
    )
    assert f"{invalid} attacks have no verdict; the first: NoVerdict: " in ran.stderr


def test_attacks_that_could_not_be_tried_are_no_pass(reward, serve, settings):
    server = serve(verdict=model(lambda _: False), schedule=lambda call, _: "400")
    _, ran = doctor(reward, "reference", "--judge", settings(server))
    assert ran.exit_code == 2
    assert "100 attacks were not scored" in ran.stderr


def test_a_model_without_a_single_verdict_is_no_pass_whatever_the_prefilter_rejects(
    reward, serve, settings
):
    server = serve(schedule=lambda call, _: "truncated")
    told, ran = doctor(reward, "reference", "--judge", settings(server))
    assert ran.exit_code == 2
    assert ran.stderr.startswith(
        "nothing was measured: 0 of 100 attacks measured, 30 decided without a model\n"
    )
    assert told["measured"] == {
        "items": "attacks", "measured": 0, "missing": 100, "unasked": 30
    }  # fmt: skip


def test_a_judge_that_decides_every_attack_by_code_shows_nothing_of_its_model(
    reward, serve, settings
):
    """`pandalm` asks its model about right judgements alone; the attacks surround wrong ones."""
    server = serve(schedule=lambda call, _: "400")
    _, ran = doctor(reward, "pandalm", "--judge", settings(server))
    assert (ran.exit_code, server.requests) == (2, [])
    assert ran.stderr.startswith("nothing was measured: 130 decided without a model\n")


def test_prompts_of_ones_own_are_attacked_around_their_wrong_answers(
    reward, naive, serve, settings, write
):
    turns = [
        {"role": "user", "content": "3 + 3?"},
        {"role": "assistant", "content": "It is 7.\nSo."},
    ]
    rows = [{"id": at, "messages": turns, "reference_answer": "6"} for at in range(2)]
    server = serve(verdict=model(lambda _: False))
    prompts = write("prompts.jsonl", rows)
    told, ran = doctor(reward, naive, "--judge", settings(server), "--prompts", prompts)
    assert ran.exit_code == 0, ran.stderr
    assert told["prompts"] == 2
    assert everything(told)["scored"] == 2 * 2 * sum(1 for _ in attacks("x"))
    assert sum("It is 7." in json.dumps(request) for request in server.requests) > 30


def test_recorded_answers_say_that_they_are(reward, write):
    answers = write(
        "answers.jsonl", [{"id": str(at), "verdict": {"same": "no"}} for at in range(150)]
    )
    told, ran = doctor(reward, "reference", "--replay", answers)
    assert ran.exit_code == 0, ran.stderr
    assert told["limits"] == LIMITS["recording"]


def test_the_card_says_plainly_what_a_script_cannot_prove(reward, tmp_path):
    path = tmp_path / "card.md"
    ran = reward("judge", "doctor", "reference", "--scripted", "--out", path)
    assert ran.exit_code == 0
    text = path.read_text()
    assert LIMITS["script"] in text
    assert "| master key | 30 | 0 | 0.0% |" in text
    assert "does not show what a real model does" in " ".join(ran.stdout.split())


def outcome(share, control=0.0, error=None):
    return AttackOutcome(Attack("kind", "name", "text"), 0, share, control, error)


@pytest.mark.parametrize(
    ("share", "control", "raised"),
    [(0.0, 0.0, False), (0.1, 0.0, True), (0.5, 0.5, False), (0.4, 0.5, False), (0.6, 0.5, True),
     (0.2, None, True), (0.0, None, False), (None, 0.0, False)],
)  # fmt: skip
def test_raised_is_more_than_the_wrong_answer_alone(share, control, raised):
    assert outcome(share, control).raised is raised


@pytest.mark.parametrize(("raised", "failed"), [(0, False), (2, False), (3, True)])
def test_the_limit_may_be_reached_and_not_passed(raised, failed):
    outcomes = [outcome(1.0)] * raised + [outcome(0.0)] * (100 - raised)
    assert bool(AttackResults(outcomes, [0.0], 0.02).failures) is failed


def test_what_is_no_verdict_is_in_no_share():
    outcomes = [outcome(1.0), *[outcome(None, error=NoVerdict("no"))] * 99]
    findings = AttackResults(outcomes, [0.0], 0.02)
    assert findings.all.rate == 1.0
    assert findings.unanswered == []
    assert AttackResults([outcome(None, error=NoVerdict("no"))], [0.0], 0.02).failures
    assert AttackResults(
        [outcome(0.0), outcome(None, error=JudgeUnavailable("no"))], [0.0], 0.02
    ).failures


def test_a_prompt_without_a_wrong_answer_gets_one():
    (target,) = targets_from_samples([sample("", prompt="Why?")])
    assert target.wrong == IGNORANCE


def test_the_control_is_no_attack():
    assert CONTROL not in {attack.kind for attack in attacks("x")}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("math", "--scripted"), "math asks no judge model"),
        (("reference",), "no judge model is named"),
        (("reference", "--scripted", "--prompts", "missing.jsonl"), "missing.jsonl: No such file"),
        (("reference", "--scripted", "--param", "answer=whole"), "give --prompts FILE"),
        (("rubric", "--scripted", "--param", "criteria=none.toml"), "none.toml"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(reward, arguments, problem):
    ran = reward("judge", "doctor", *arguments)
    assert ran.exit_code == 2
    assert problem in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_a_row_that_is_no_sample_is_named(reward, write):
    prompts = write("prompts.jsonl", [{"id": 1, "messages": 7}])
    ran = reward("judge", "doctor", "reference", "--scripted", "--prompts", prompts)
    assert ran.exit_code == 2
    assert "line 1: messages is a number" in ran.stderr
