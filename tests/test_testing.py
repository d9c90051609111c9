"""The public testing module: it accepts what keeps the contract, and names what does not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reward_functions import (
    BadReference,
    Evidence,
    Example,
    Metric,
    Sample,
    Score,
    reward_function,
    sample,
    weighted,
)
from reward_functions.core.errors import BadParameter
from reward_functions.serving.contract import decode
from reward_functions.testing import (
    CONTRACT,
    assert_contract,
    assert_score,
    hostile_responses,
    wire_row,
)

EXAMPLES = [
    Example("positive", response="Paris", reference="Paris", score=1.0),
    Example("negative", response="paris", reference="Paris", score=0.0),
    Example("attack", response="Paris Lyon", reference="Paris", score=0.0),
]
DOC = "Compare. Reference: a string. Scale: 0 or 1. Raises: BadReference."


@reward_function(version=1, examples=EXAMPLES)
def same(sample: Sample, *, ignore_case: bool = False) -> Score:
    """Compare. Reference: a string. Scale: 0 or 1. Raises: BadReference."""
    if sample.reference is None:
        raise BadReference("there is no reference")
    wanted, found = str(sample.reference), sample.response
    if ignore_case:
        wanted, found = wanted.lower(), found.lower()
    return Score(float(wanted == found), (), found, "compared", Evidence("text", found, wanted))


def declared(function, **declaration):
    """A reward made in a test: the function under a name of its own."""
    function.__doc__ = declaration.pop("doc", DOC)
    given = {"version": 1, "examples": EXAMPLES} | declaration
    return reward_function(name="made", **given)(function)


def compare(sample: Sample) -> float:
    if sample.reference is None:
        raise BadReference("there is no reference")
    return float(sample.response == sample.reference)


def test_a_sample_in_one_line():
    made = sample("yes", 1, prompt="Is it?", id="a", topic="b")
    assert (made.response, made.reference, made.prompt, made.id) == ("yes", 1, "Is it?", "a")
    assert made.metadata == {"topic": "b"}


def test_a_wire_row_decodes_to_its_sample():
    made = sample("yes", {"answer": 1}, prompt="Is it?", id="a", topic="b")
    assert decode([wire_row(made)]) == [made]


def test_a_score_that_holds_passes():
    assert_score(same, "Paris", "Paris", 1.0)
    assert_score(same, "paris", "Paris", 1.0, ignore_case=True)
    assert_score(weighted({"a": (same, 0.3)}), "Paris", "Paris", pytest.approx(0.3))


def test_a_score_that_does_not_hold_shows_answer_reason_and_rule():
    with pytest.raises(AssertionError) as caught:
        assert_score(same, "Lyon", "Paris", 1.0)
    assert str(caught.value).splitlines() == [
        "the score is 0.0, not 1.0",
        "  answer: 'Lyon'",
        "  reason: compared",
        "  rule:   text: Lyon against Paris",
    ]


def test_a_parameter_that_does_not_exist_is_no_failed_assertion():
    with pytest.raises(BadParameter, match="ignore_case"):
        assert_score(same, "Paris", "Paris", 1.0, ignore_cse=True)


def test_a_reward_that_keeps_the_contract_passes():
    assert_contract(same)


def test_hostile_responses_have_names_of_their_own_and_are_the_same_every_time():
    names = [name for name, _ in hostile_responses()]
    assert len(names) == len(set(names)) > 100
    first, second = hostile_responses(), hostile_responses()
    assert all(a == b for a, b in zip(first, second, strict=True))


def test_hostile_responses_have_what_the_page_promises():
    texts = dict(hostile_responses())
    assert max(map(len, texts.values())) == 5_000_000
    assert texts["nested braces"].count("{") > 100_000
    assert any("\ud800" in text for text in texts.values())
    assert "" in texts.values()


def assert_broken(spec, contract, *words):
    with pytest.raises(AssertionError) as caught:
        CONTRACT[contract](spec)
    for word in (spec.name, *words):
        assert word in str(caught.value)


def test_an_example_that_does_not_hold_is_named():
    examples = [*EXAMPLES, Example("positive", response="Rome", reference="Paris", score=1.0)]
    spec = declared(lambda sample: Score(compare(sample)), examples=examples)
    assert_broken(spec, "examples_hold", "positive example 'Rome'", "0.0, not 1.0")


def test_an_example_that_raises_is_named():
    spec = declared(lambda sample: Score(float(sample.response)))
    assert_broken(spec, "examples_hold", "positive example 'Paris'", "ValueError")


def test_kinds_of_examples_that_are_missing_are_named():
    spec = declared(lambda sample: Score(compare(sample)), examples=EXAMPLES[:1])
    assert_broken(spec, "examples_show_positive_negative_and_attack", "attack, negative")


def test_an_example_of_the_wrong_kind_is_named():
    examples = [*EXAMPLES, Example("attack", response="Paris", reference="Paris", score=1.0)]
    spec = declared(lambda sample: Score(compare(sample)), examples=examples)
    assert_broken(spec, "examples_show_positive_negative_and_attack", "attack example 'Paris'")


@pytest.mark.parametrize("doc", ["", "Compare.", "Reference: a string.", "Reference: a. Scale: 1."])
def test_a_docstring_that_leaves_questions_open_is_refused(doc):
    spec = declared(lambda sample: Score(compare(sample)), doc=doc)
    assert_broken(spec, "documentation_answers_the_next_question", "doc" if doc else "no docstring")


def test_a_crash_on_a_missing_reference_is_not_attributed_to_the_data_set():
    spec = declared(lambda sample: Score(float(sample.reference.strip() == sample.response)))
    assert_broken(spec, "a_missing_reference_is_attributed_to_the_data_set", "AttributeError")


def test_a_reward_without_a_reference_need_not_raise():
    spec = declared(lambda sample: Score(float(sample.response == "Paris")), doc=DOC[:-21])
    CONTRACT["a_missing_reference_is_attributed_to_the_data_set"](spec)
    CONTRACT["documentation_answers_the_next_question"](spec)


def test_a_parameter_whose_default_is_of_another_type_is_refused():
    def loose(sample: Sample, *, limit: int = "many") -> Score:
        return Score(compare(sample))

    with pytest.raises(BadParameter, match="limit"):
        CONTRACT["parameters_have_a_type_and_a_default_of_it"](declared(loose))


def test_a_metric_that_is_sometimes_missing_is_noticed():
    def lazy(sample: Sample) -> Score:
        return Score(compare(sample), (Metric("length", 1.0),) if sample.response else ())

    with pytest.raises(Exception, match="declares"):
        CONTRACT["scores_keep_to_the_declaration"](declared(lazy, metrics=["length"]))


def test_memory_between_samples_is_noticed():
    seen = []

    def remembers(sample: Sample) -> Score:
        seen.append(sample)
        return Score(compare(sample), reason=f"number {len(seen)}")

    assert_broken(declared(remembers), "scores_are_deterministic", "second time")
    assert_broken(declared(remembers), "batches_keep_ids_and_order", "neighbours")


def test_a_reward_that_cannot_be_pickled_is_noticed():
    spec = declared(lambda sample: Score(compare(sample)))
    with pytest.raises((AssertionError, AttributeError)):
        CONTRACT["it_can_be_pickled"](spec)


def test_a_reward_that_pays_for_length_is_caught_by_the_hostile_responses():
    spec = declared(lambda sample: Score(min(1.0, len(sample.response) / 5)))
    assert_broken(
        spec,
        "hostile_responses_earn_partial_credit_at_most",
        "hostile response",
        "positive example",
    )


def test_a_reward_that_recurses_is_caught_by_the_hostile_responses():
    def depth(text):
        return 1 + depth(text[text.index("{") + 1 :]) if "{" in text else 0

    spec = declared(lambda sample: Score(depth(sample.response) and compare(sample)))
    assert_broken(spec, "hostile_responses_earn_partial_credit_at_most", "RecursionError")


def test_hostile_responses_of_ones_own():
    spec = declared(lambda sample: Score(compare(sample)))
    CONTRACT["hostile_responses_earn_partial_credit_at_most"](spec, [("own", "Lyon")])
    with pytest.raises(AssertionError, match="'own' against the positive example"):
        CONTRACT["hostile_responses_earn_partial_credit_at_most"](spec, [("own", "Paris")])


def test_every_property_is_part_of_the_contract(monkeypatch):
    called = []
    for name in CONTRACT:
        monkeypatch.setitem(CONTRACT, name, lambda _, name=name: called.append(name))
    assert_contract(same, hostile=[])
    assert called == list(CONTRACT)


PAGE = Path(__file__).parents[1] / "docs" / "write-your-own-reward.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_on_rewards_works_as_written(tmp_path):
    named = [block for block in BLOCKS if block.startswith("# ")]
    for block in named:
        (tmp_path / block.partition("\n")[0].removeprefix("# ")).write_text(block, "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert len(named) == 3


def test_the_other_code_of_the_page_runs():
    rest = [block for block in BLOCKS if not block.startswith("# ")]
    spaces = {}
    for block in rest:
        exec(block, spaces)
    assert spaces["brief"](sample("word " * 51)).value == -1.0
    CONTRACT["examples_hold"](spaces["brief"])
    assert spaces["brief"].examples
    assert len(rest) == 1


def test_the_reward_of_the_page_is_short():
    assert len(BLOCKS[0].partition("@reward_function")[2].splitlines()) == 11
