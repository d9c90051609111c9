"""`answer_text`: what is one answer, what is another, and what no part of an answer earns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions import get, sample, score_batch
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.types import Scored
from reward_functions.verifiers.answer_text import words_of

REWARD = get("answer_text")

SAME = [
    ("Answer: Paris; that is what the page says.", "Paris"),
    ("Answer: Paris;", "Paris"),
    # Case, punctuation around words, articles, width, quotes, dashes: one answer.
    ("paris", "Paris"),
    ("Paris.", "Paris"),
    ('"Paris"', "Paris"),
    ("“Paris”", "Paris"),
    ("the Seine", "Seine"),
    ("An apple a day", "apple day"),
    ("Saint\u2010Denis", "Saint-Denis"),
    ("O’Neill", "O'Neill"),
    ("café", "cafe\u0301"),
    ("ＮＡＴＯ", "NATO"),
    ("New  York\n", "New York"),
    ("*Paris*", "Paris"),
    # A number is its value.
    ("1,000", "1000"),
    ("5.0", "5"),
    ("0.50", ".5"),
    ("1/2", "0.5"),
    ("10 %", "10%"),
    ("$5$", "5"),
    ("<Paris>", "Paris"),
    ("...Paris", "Paris"),
    (".NET", ".net"),
    ("−5", "-5"),
    # Articles are an answer where nothing else is left.
    ("A", "a"),
    ("The The", "the the"),
    # What the reference denies or doubts may be denied and doubted.
    ("not guilty", "Not guilty"),
    ("no", "No."),
    ("none", "None"),
    ("either", "Either"),
    # The forms of a final answer.
    ("The answer is Paris.", "Paris"),
    ("First Lyon, then more.\n\nAnswer: Paris", "Paris"),
    (r"\boxed{\text{Paris}}", "Paris"),
    ("<answer>Paris</answer>", "Paris"),
    ("6 × 7 = 42\n#### 42", 42),
    ("<think>Lyon?</think>Paris", "Paris"),
    ('{"answer": "Paris"}', "Paris"),
    ("Paris", ["Lutetia", "Paris"]),
    ("42", 42),
    ("Paris", {"answer": "Paris"}),
]


@pytest.mark.parametrize(("response", "reference"), SAME)
def test_the_same_answer_is_paid_in_full(response, reference):
    assert REWARD(response, reference).value == 1.0


OTHER = [
    # A list behind a semicolon is no answer.
    ("Answer: Paris; Lyon", "Paris"),
    ("Answer: New York; Los Angeles; Rome", "New York"),
    # What SQuAD's normaliser takes for equal (families.md 5, measured): none of it is.
    ("5", "-5"),
    ("314", "3.14"),
    ("12", "1/2"),
    ("10", "10%"),
    ("C", "C++"),
    ("C", "C#"),
    ("5", "<5"),
    ("5", "> 5"),
    ("<=5", ">=5"),
    ("net", ".NET"),
    ("", "A"),
    ("a", "an"),
    ("", "the"),
    # Nothing, blanks, what nobody sees, and punctuation alone.
    ("", "Paris"),
    (" \n\t", "Paris"),
    ("\u200b", "Paris"),
    ("...", "Paris"),
    ("<think>Paris</think>", "Paris"),
    # Another answer, several, a denied one, one that is taken back.
    ("Lyon", "Paris"),
    ("Paris or Lyon", "Paris"),
    ("Paris, Lyon", "Paris"),
    ("not Paris", "Paris"),
    ("maybe Paris", "Paris"),
    ("guilty", "not guilty"),
    ("The answer is not Paris.", "Paris"),
    ("The answer is Paris.\nThe answer is Lyon.", "Paris"),
    ("John F Smith", "John F Kennedy"),
    ("Paris " * 500, "Paris"),
    ("1000000", "1000"),
    ("5 apples", "5 pears"),
]


@pytest.mark.parametrize("f1", [False, True])
@pytest.mark.parametrize(("response", "reference"), OTHER)
def test_another_answer_earns_nothing_or_its_declared_part(response, reference, f1):
    score = REWARD(response, reference, f1=f1)
    words = {"John F Smith", "5 apples", "Paris, Lyon"}
    assert score.value <= (0.5 * score_of(score, "f1") if f1 and response in words else 0.0)


def score_of(score, name):
    return next(metric.value for metric in score.metrics if metric.name == name)


def test_a_prompt_that_is_copied_is_no_answer():
    prompt = "Is the capital of France Paris, or is it Lyon?"
    assert REWARD(prompt, "Paris", prompt=prompt, f1=True).value == 0.0


PARTS = [
    # response, reference, what half of the F1 of its words is
    ("John Kennedy", "John F Kennedy", 0.4),
    ("the Seine river", "Seine", 1 / 3),
    ("not guilty verdict", "not guilty", 0.4),
    ("John", "John F Kennedy", 0.25),
    ("Johannes Kennedy Smith", "John F Kennedy", 0.0),  # F1 1/3 is below 0.5
    ("not John Kennedy", "John F Kennedy", 0.0),
    ("John Kennedy perhaps", "John F Kennedy", 0.0),
    ("John Kennedy or Lyndon Johnson", "John F Kennedy", 0.0),
    ("John Kennedy / Johnson", "John F Kennedy", 0.0),
    ("hardly John Kennedy", "John F Kennedy", 0.0),
    ("anyone but John Kennedy", "John F Kennedy", 0.0),
]


@pytest.mark.parametrize(("response", "reference", "value"), PARTS)
def test_a_part_earns_half_of_its_f1_where_that_is_asked_for(response, reference, value):
    assert REWARD(response, reference, f1=True).value == pytest.approx(value)
    assert REWARD(response, reference).value == 0.0


LABELS = "entailment, not entailment, neutral"

LABELLED = [
    ("neutral", "neutral", 1.0),
    ("It is neutral.", "neutral", 1.0),
    ("The label is: not entailment", "not entailment", 1.0),
    ("Answer: Not Entailment", "not entailment", 1.0),
    ("not entailment", "entailment", 0.0),
    ("entailment", "not entailment", 0.0),
    ("entailment neutral", "neutral", 0.0),
    ("not neutral", "neutral", 0.0),
    ("neutral or entailment", "neutral", 0.0),
    ("probably neutral", "neutral", 0.0),
    ("neutrality", "neutral", 0.0),
    ("contradiction", "neutral", 0.0),
    ("", "neutral", 0.0),
]


@pytest.mark.parametrize(("response", "reference", "value"), LABELLED)
def test_exactly_one_label_is_asserted(response, reference, value):
    assert REWARD(response, reference, labels=LABELS).value == value


@pytest.mark.parametrize(
    "denied",
    [
        "anything but {}",
        "far from {}",
        "the opposite of {}",
        "{} is wrong",
        '{{"{}": false}}',
        "I doubt it is {}",
        "It may be {}",
        "hardly {}",
        "rather than {}",
        "I can't say {}",
        "{}?",
    ],
)
def test_a_label_that_is_denied_or_doubted_is_not_asserted(denied):
    assert REWARD(denied.format("neutral"), "neutral", labels=LABELS).value == 0.0


def test_reasons_may_deny_and_so_may_a_no():
    assert REWARD("Neutral, because it does not say.", "neutral", labels=LABELS).value == 1.0
    assert REWARD("Not neutral, because it says so.", "neutral", labels=LABELS).value == 0.0
    assert REWARD("Because it is not neutral.", "neutral", labels=LABELS).value == 0.0
    assert REWARD("Neutral, since entailment needs more.", "neutral", labels=LABELS).value == 0.0
    for response, value in (("No, it is not.", 1), ("No, maybe", 0), ("It is not yes", 0)):
        assert REWARD(response, "no", labels="yes,no").value == value


WEIGHTED = [("spam", "spam", 1.0), ("ham", "ham", 0.2), ("spam", "ham", 0.0), ("ham", "spam", 0.0)]


@pytest.mark.parametrize(("response", "reference", "value"), WEIGHTED)
def test_a_right_label_pays_its_weight(response, reference, value):
    assert REWARD(response, reference, labels="spam,ham", weights="Ham=0.2").value == value


BAD = [(None, {}), ("", {}), ("...", {}), ("x" * 3_000, {}), ("spam", {"labels": LABELS}), ([], {})]


@pytest.mark.parametrize(("reference", "parameters"), BAD)
def test_a_reference_that_cannot_be_used_is_the_data_sets_failure(reference, parameters):
    """Whatever the response: an empty one and one of the right length, too."""
    for response in ("", "Paris", "x" * 3_000):
        with pytest.raises(BadReference):
            REWARD(response, reference, **parameters)


SETTINGS = [
    ({"at_least": 0.0}, "at_least is above 0"),
    ({"at_least": 1.5}, "at_least is above 0"),
    ({"labels": "spam"}, "labels are 2 to 256"),
    ({"labels": "spam,SPAM"}, "labels are 2 to 256"),
    ({"labels": "spam,,ham"}, "labels are 2 to 256"),
    ({"labels": "A,B,C,D"}, "a label that is an article"),
    ({"labels": "b, The ,c"}, "a label that is an article"),
    ({"labels": "spam,ham", "f1": True}, "leave f1 out"),
    ({"labels": "", "weights": "spam=1"}, "labels are 2 to 256"),
    *(
        ({"labels": "spam,ham", "weights": weights}, "weights are label=number")
        for weights in (
            "spam",
            "spam=",
            "spam=0",
            "spam=1.1",
            "spam=nan",
            "eggs=1",
            "spam=1,",
            "=1",
        )
    ),
]


@pytest.mark.parametrize(("parameters", "problem"), SETTINGS)
def test_settings_that_cannot_be_used_are_one_sentence(parameters, problem):
    with pytest.raises(ConfigurationError, match=problem):
        REWARD.bind(parameters)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=40)


@given(TEXTS, TEXTS)
def test_it_is_symmetric_and_words_are_their_own_words(one, other):
    words = words_of(one)
    assert words_of(" ".join(words)) == words or any("/" in word for word in words)
    assert (words == words_of(other)) == (words_of(other) == words)


@given(TEXTS)
def test_any_response_is_scored_and_never_more_than_half_unless_it_is_right(response):
    (result,) = score_batch(REWARD.bind({"f1": True}), [sample(response, "a b c d")])
    assert isinstance(result, Scored)
    assert result.score.value == 1.0 or result.score.value <= 0.5
