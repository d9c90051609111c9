"""What core knows of judges: whom they ask, who their group are, and what a verdict is."""

from __future__ import annotations

import pickle

import pytest

from reward_functions.core.asking import Question, ScriptedAsk, VerdictField
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadJudge, BadSample, JudgeUnavailable, NoJudge, NoVerdict
from reward_functions.core.spec import JUDGE_WORKERS, Example, Needs, reward_function, spec_of
from reward_functions.core.types import Message, Sample, Score, Unscored

FIELDS = (
    VerdictField("quote", "words of the response", supports="kind"),
    VerdictField("kind", "whether it is kind", ("no", "yes")),
    VerdictField("checksum", "the checksum"),
)
QUESTION = Question(
    key="k", system="", shared="", text="", fields=FIELDS, canary="1f", quotable="Thank  you,\nAnn."
)
LEGAL = {"quote": "Thank you, Ann", "kind": "yes", "checksum": "1f"}


def sample_of(text, prompt="?", id="s"):
    turns = (Message(role="user", content=prompt), Message(role="assistant", content=text))
    return Sample(id=id, messages=turns)


def refuse_five(*, limit):
    if limit == 5:
        raise BadJudge("five is refused")


@reward_function(version=1, needs=Needs(judge=True), check=refuse_five)
def kind(sample, ask, *, limit: int = 3):
    """Whether the judge finds it kind."""
    return Score(float(ask(QUESTION)["kind"] == "yes"))


@reward_function(version=1, scale=(0, 10), needs=Needs(group=True))
def crowd(sample, group):
    """How many group there are."""
    return Score(float(len(group)))


def test_a_judge_is_given_whom_to_ask():
    yes = ScriptedAsk([{"kind": "yes", "quote": "Ann"}])
    assert kind(sample_of("Hi"), ask=yes).value == 1.0
    assert kind.bind({"limit": 4}, ask=yes)(sample_of("Hi")).value == 1.0
    with pytest.raises(NoJudge):
        kind(sample_of("Hi"))
    (result,) = score_batch(kind, [sample_of("Hi")])
    assert isinstance(result.error, NoJudge)


def test_an_example_brings_its_verdicts():
    full = Example("positive", response="x", score=1.0, verdicts=[{"kind": "yes", "quote": "Ann"}])
    minimum = Example("negative", response="x", score=0.0)
    for example in (full, minimum):
        bound = pickle.loads(pickle.dumps(kind.bound_to_example(example)))
        assert bound(example.sample()).value == example.score


def test_parameters_are_checked_together_when_they_are_bound():
    assert kind.bind({"limit": 4})
    with pytest.raises(BadJudge, match="five"):
        kind.bind({"limit": 5})


def test_group_are_the_samples_with_the_same_prompt():
    batch = [
        sample_of("a", "1"),
        sample_of("b", "2"),
        Unscored("u", BadSample("no row")),
        sample_of("c", "1"),
    ]
    results = score_batch(crowd, batch, workers=2)
    assert [result.score.value for result in (*results[:2], results[3])] == [2.0, 1.0, 2.0]
    assert crowd(sample_of("alone")).value == 1.0


def test_a_judge_has_threads_to_wait_in():
    assert Needs(judge=True).workers == JUDGE_WORKERS
    assert Needs(judge=True, workers=3).workers == 3
    assert Needs().workers == 1


def test_what_holds_a_reward_is_known_by_it():
    class Holder:
        spec = kind

    assert spec_of(Holder()) is kind


def test_a_legal_verdict_is_read_in_the_order_of_the_question():
    assert list(QUESTION.read(dict(reversed(LEGAL.items())))) == ["quote", "kind", "checksum"]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "yes",
        {},
        {**LEGAL, "score": 10},
        {name: value for name, value in LEGAL.items() if name != "quote"},
        {**LEGAL, "kind": "YES"},
        {**LEGAL, "kind": True},
        {**LEGAL, "kind": None},
        {**LEGAL, "checksum": "2f"},
        {**LEGAL, "checksum": ""},
        {**LEGAL, "quote": ""},
        {**LEGAL, "quote": "Thank me"},
        {**LEGAL, "quote": "x" * 1_000_000},
    ],
)
def test_what_is_no_legal_verdict_is_none(answer):
    with pytest.raises(NoVerdict):
        QUESTION.read(answer)


def test_the_worst_choice_needs_no_quotation():
    assert QUESTION.read({**LEGAL, "kind": "no", "quote": ""})["kind"] == "no"


@pytest.mark.parametrize(
    ("kind", "transient"),
    [
        ("throttled", True),
        ("busy", True),
        ("timeout", True),
        ("unreachable", True),
        ("denied", False),
        ("deadline", False),
        ("budget", False),
    ],
)
def test_some_failures_may_pass(kind, transient):
    assert JudgeUnavailable("", kind).transient == transient


@pytest.mark.parametrize("error", [JudgeUnavailable("a", "denied"), NoVerdict("a", "cut")])
def test_failures_reach_another_process(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.kind) == (str(error), error.kind)


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("malformed", "`reward judge probe` finds an output mode"),
        ("cut", "raise max_tokens in the judge's settings"),
        ("refused", "name another model in the judge's settings"),
    ],
)
def test_an_answer_that_is_no_verdict_says_what_to_do(kind, remedy):
    assert str(NoVerdict("m: stopped", kind)).startswith("m: stopped: ")
    assert remedy in str(NoVerdict("m: stopped", kind))
    assert str(NoVerdict("", kind)) == ""
