"""The contract of rewards: a reward that breaks each property, and only what finds it says so."""

from itertools import cycle

from reward_functions import Metric, Sample, Score
from tests.architecture.called.rows import Rows
from tests.test_testing import EXAMPLES, compare, declared


def made(**declaration):
    return declared(lambda sample: Score(compare(sample)), **declaration)


def in_turn(*scores):
    """A reward that scores the same sample otherwise at each call."""
    following = cycle(scores)
    return lambda _: Score(next(following))


def counting():
    seen = []
    return lambda _: Score(0.0, reason=f"number {seen.append(1) or len(seen)}")


def loose(sample: Sample, *, limit: int = "many") -> Score:
    return Score(compare(sample))


BROKEN = {
    "examples_hold": lambda: declared(lambda _: Score(0.0)),
    "the_gold_response_earns_the_maximum": lambda: made(gold_response=lambda _: "Lyon"),
    "examples_show_positive_negative_and_attack": lambda: made(examples=EXAMPLES[:1]),
    "a_version_tells_its_scores_apart": lambda: made(version=0),
    "documentation_answers_the_next_question": lambda: made(doc="Compare."),
    "a_missing_reference_is_attributed_to_the_data_set": lambda: declared(
        lambda given: Score(float(given.reference.strip() == given.response))
    ),
    "parameters_have_a_type_and_a_default_of_it": lambda: declared(loose),
    "scores_keep_to_the_declaration": lambda: declared(
        lambda given: Score(0.0, (Metric("length", 1.0),) if given.response else ()),
        metrics=["length"],
    ),
    "scores_are_deterministic": lambda: declared(counting()),
    "batches_keep_ids_and_order": lambda: declared(counting()),
    "it_can_be_pickled": made,
    "hostile_responses_earn_partial_credit_at_most": lambda: declared(
        lambda given: Score(float(len(given.response) > 0))
    ),
    "the_lambda_scores_like_a_direct_call": lambda: declared(in_turn(1.0, 1.0, 0.0)),
}

SAID = {
    # words of what is said of the reward that breaks it
    "examples_hold": "earns 0.0, not 1.0",
    "the_gold_response_earns_the_maximum": "the gold response 'Lyon' against 'Paris' earns 0.0",
    "examples_show_positive_negative_and_attack": "no example of kind attack, negative",
    "a_version_tells_its_scores_apart": "declare version=1",
    "documentation_answers_the_next_question": "does not say 'Reference:'",
    "a_missing_reference_is_attributed_to_the_data_set": "a missing reference raises Attribute",
    "parameters_have_a_type_and_a_default_of_it": "limit",
    "scores_keep_to_the_declaration": "declares",
    "scores_are_deterministic": "differs the second time",
    "batches_keep_ids_and_order": "depends on its neighbours",
    "it_can_be_pickled": "has no attribute",
    "hostile_responses_earn_partial_credit_at_most": "the hostile response",
    "the_lambda_scores_like_a_direct_call": "the handler says",
}


def broken(name, holds):
    """Whether a property finds what breaks it, and nothing in a reward that keeps it."""
    try:
        holds(BROKEN[name]())
    except Exception as error:  # noqa: BLE001 - also what a reward raises
        return SAID[name] in str(error)
    return False


ROWS = {"testing.contract:CONTRACT": Rows(broken, dict.fromkeys(BROKEN, True))}
