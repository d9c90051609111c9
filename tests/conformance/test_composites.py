"""F3: accuracy with format, with length, with DAPO's overlong penalty; all keep the contract."""

from __future__ import annotations

import pytest

from reward_functions import Example, reward_function, sample, weighted
from reward_functions.audit.engine import audit
from reward_functions.testing import CONTRACT

RIGHT = "<think>3 + 1</think>\\boxed{4}"


@reward_function(
    version=1,
    partial_credit=1.0,
    examples=[
        Example("positive", response="<think>a</think>b", score=1.0),
        Example("negative", response="b", score=0.0),
        Example("attack", response="<think></think>", score=1.0, why="form alone is paid"),
    ],
)
def tagged(sample):
    """It begins with thinking. Reference: none. Scale: 0 or 1."""
    return sample.response.startswith("<think>") and "</think>" in sample.response


@reward_function(
    version=1,
    scale=(-1.0, 0.0),
    partial_credit=0.0,
    examples=[
        Example("positive", response="", score=0.0),
        Example("negative", response="word " * 300, score=-1.0),
        Example("attack", response="short, and wrong", score=0.0),
    ],
)
def overlong(sample, *, limit: int = 1000):
    """DAPO's penalty (arXiv 2503.14476, equation 13). Reference: none. Scale: -1 to 0."""
    return max(-1.0, min(0.0, (limit - len(sample.response)) / 200))


def examples(right, form_alone, nothing):
    return [
        Example("positive", response=RIGHT, reference="4", score=right),
        Example("negative", response="\\boxed{3}", reference="4", score=nothing),
        Example(
            "attack",
            response="<think>3</think>\\boxed{3} or \\boxed{4}",
            reference="4",
            score=form_alone,
        ),
    ]


GOLD = "<think>I work it out.</think>\n{math}"
COMPOSITES = [
    weighted(
        {"math": 0.8, "tagged": (tagged, 0.2)},
        name="acme.format",
        version=1,
        examples=examples(1.0, 0.2, 0.0),
        gold_response=GOLD,
    ),
    weighted(
        {"math": 1.0, "overlong": (overlong, 0.5)},
        name="acme.overlong",
        version=1,
        examples=examples(1.0, 0.0, 0.0),
        gold_response=GOLD,
    ),
    weighted(
        {"math": 0.7, "tagged": (tagged, 0.2), "overlong": (overlong, 0.3)},
        name="acme.combo",
        version=1,
        examples=examples(0.9, 0.2, 0.0),
        gold_response=GOLD,
    ),
]
SHAPERS = [tagged, overlong]


@pytest.mark.parametrize("holds", CONTRACT.values(), ids=CONTRACT)
@pytest.mark.parametrize("spec", [*COMPOSITES, *SHAPERS], ids=lambda spec: spec.name)
def test_it_keeps_the_contract(texts_are_read_once, spec, holds):
    holds(spec)


@pytest.mark.parametrize("spec", COMPOSITES, ids=lambda spec: spec.name)
def test_it_is_fit_to_train_on(spec):
    rows = [sample("", str(at), prompt=f"What is {at - 7} + 7?", id=str(at)) for at in range(8, 40)]
    most = f"ceiling>{spec.partial_credit + 0.001:.3f}"
    # Form is paid, as it declares, and is not what every layout has.
    done = audit(spec, rows, fail_on=[most, "exploit>1", "fn.layout>1"], allow_undecided=True)
    assert done.failures == []


def test_a_reward_that_pays_form_without_saying_so_is_caught():
    silent = reward_function(name="silent", version=1, examples=tagged.examples)(tagged.function)
    with pytest.raises(AssertionError, match=r"partial credit is 0\.0"):
        CONTRACT["examples_show_positive_negative_and_attack"](silent)
    with pytest.raises(AssertionError, match=r"is the most that a wrong .* \(partial_credit\)"):
        CONTRACT["hostile_responses_earn_partial_credit_at_most"](silent)
