"""The promises of every reward beyond its signature, a property a function.

`CONTRACT` lists them by name; `assert_contract` checks them all.
"""

from __future__ import annotations

import pickle
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadSample, DatasetError
from reward_functions.core.extras import MissingExtra, require
from reward_functions.core.types import Sample, Score, Scored, Unscored, sample
from reward_functions.testing.assertions import shown, wire_row
from reward_functions.testing.hostile import hostile_responses
from reward_functions.testing.models import CredulousAsk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reward_functions.core.spec import Example, RewardFunction, RewardSpec

_Row = TypeVar("_Row")


def assert_contract(spec: RewardSpec, *, hostile: Iterable[tuple[str, str]] | None = None) -> None:
    """The reward has every property of `CONTRACT`.

    Args:
        spec: a declared reward.
        hostile: named responses that must earn the reward's partial credit at most, which is the
            minimum unless declared, against the references of the positive examples;
            `hostile_responses()` where not given.

    Raises:
        AssertionError: it has not; the message names the property and the case.
    """
    for holds in CONTRACT.values():
        if holds is not hostile_responses_earn_partial_credit_at_most:
            holds(spec)
    hostile_responses_earn_partial_credit_at_most(spec, hostile)


# The properties, one function each. Their names are the ids of the conformance tests.


def examples_hold(spec: RewardSpec) -> None:
    """Every worked example earns what it says."""
    for example in spec.examples:
        score = _score_of(spec, example)
        if score.value != example.score:
            message = f"{_named(example)} earns {score.value}, not {example.score}"
            raise AssertionError(f"{spec.name}: {message}\n{shown(score)}")


def the_gold_response_earns_the_maximum(spec: RewardSpec) -> None:
    """Where a reward can write the right response, it pays for it in full."""
    for example in spec.examples:
        if spec.gold_response and example.kind == "positive":
            response = spec.gold_response(example.sample())
            (result,) = score_batch(
                spec.bound_to_example(example), [_with_response(example, response)]
            )
            subject = f"the gold response {response[:60]!r} against {example.reference!r}"
            score = _score(result, f"{spec.name}: {subject}")
            earned = score.value == spec.scale.maximum
            _require(earned, spec, f"{subject} earns {score.value}\n{shown(score)}")


def examples_show_positive_negative_and_attack(spec: RewardSpec) -> None:
    """There is an example of each kind a reader needs, and each kind means what it says."""
    minimum, maximum = spec.scale
    kinds = {example.kind for example in spec.examples}
    missing = {"positive", "negative", "attack"} - kinds
    _require(not missing, spec, f"no example of kind {', '.join(sorted(missing))}")
    for example in spec.examples:
        undeserved = spec.credit(example.sample())
        fits = {
            "positive": example.score == maximum,
            "partial": minimum < example.score < maximum,
            "negative": minimum <= example.score <= undeserved,
            "attack": minimum <= example.score <= undeserved,
        }[example.kind]
        _require(
            fits,
            spec,
            f"{_named(example)} says {example.score} on a scale {minimum}-{maximum} whose partial "
            f"credit is {undeserved}",
        )


def a_version_tells_its_scores_apart(spec: RewardSpec) -> None:
    """It has a version; a prototype, of version 0, has none."""
    _require(spec.version > 0, spec, "it is a prototype: declare version=1")


def documentation_answers_the_next_question(spec: RewardSpec) -> None:
    """The docstring says what the reward does, the reference's shape, the scale, what it raises."""
    _require(bool(spec.summary), spec, "the function has no docstring")
    for word in ("Reference:", "Scale:"):
        _require(word in spec.doc, spec, f"the docstring does not say {word!r}")
    if isinstance(_without_reference(spec), Unscored):
        _require("Raises:" in spec.doc, spec, "it raises, and the docstring has no 'Raises:'")


def a_missing_reference_is_attributed_to_the_data_set(spec: RewardSpec) -> None:
    """Without a reference there is a score, where none is needed, or a `DatasetError`."""
    result = _without_reference(spec)
    if isinstance(result, Unscored):
        _require(
            isinstance(result.error, DatasetError),
            spec,
            f"a missing reference raises {type(result.error).__name__}, not BadReference",
        )


def parameters_have_a_type_and_a_default_of_it(spec: RewardSpec) -> None:
    """Every parameter can be left alone, and every default can be set."""
    spec.bind({name: parameter.default for name, parameter in spec.parameters.items()})


def scores_keep_to_the_declaration(spec: RewardSpec) -> None:
    """Finite, inside the scale, with the declared metrics in the declared order, on every score."""
    responses = [example.response for example in spec.examples] + ["", "\0\ud800"]
    for example in spec.examples:
        for response in responses:
            score = spec.bound_to_example(example)(_with_response(example, response))
            inside = spec.scale.minimum <= score.value <= spec.scale.maximum
            _require(isfinite(score.value) and inside, spec, f"a score of {score.value}")
            _require(
                tuple(metric.name for metric in score.metrics) == spec.metrics,
                spec,
                f"metrics {[metric.name for metric in score.metrics]}",
            )


def scores_are_deterministic(spec: RewardSpec) -> None:
    """The same again, and the same in another order: nothing is remembered between samples."""
    reward, batch = _bound_to_defaults(spec), _example_batch(spec)
    scores = {result.id: result for result in score_batch(reward, batch)}
    shuffled = _shuffled(batch, seed=0)
    for result in (*score_batch(reward, batch), *score_batch(reward, shuffled)):
        before = scores[result.id]
        _require(_outcome(result) == _outcome(before), spec, f"{result.id} differs the second time")


def batches_keep_ids_and_order(spec: RewardSpec) -> None:
    """Shuffled, duplicated or malformed: one result per row, in its place, under its id.

    The result is the row's own, unless the reward declares that it looks at its group.
    """
    reward, samples = _bound_to_defaults(spec), _example_batch(spec)
    rows: list[Sample | Unscored] = [*samples, *samples]
    rows += [Unscored(f"malformed-{position}", BadSample("no row")) for position in range(5)]
    alone = {row.id: _outcome(score_batch(reward, [row])[0]) for row in rows}
    for seed in range(3):
        shuffled = _shuffled(rows, seed)
        for workers in (1, 4):
            results = score_batch(reward, shuffled, workers=workers)
            ids = [result.id for result in results]
            _require(ids == [row.id for row in shuffled], spec, "ids or their order were lost")
            for result in results:
                same = spec.needs.group or _outcome(result) == alone[result.id]
                _require(same, spec, f"{result.id} depends on its neighbours")


def it_can_be_pickled(spec: RewardSpec) -> None:
    """The spec and every binding of it reach another process and score the same there."""
    for example in spec.examples:
        bound = spec.bound_to_example(example)
        for reward in (bound, pickle.loads(pickle.dumps(bound))):  # noqa: S301 - just made here
            score = reward(example.sample())
            _require(score.value == example.score, spec, f"{_named(example)}: another score")
    _require(
        pickle.loads(pickle.dumps(spec)) == spec,  # noqa: S301 - just made here
        spec,
        "it is another reward after pickling; keep it under its function's name in its module",
    )


def hostile_responses_earn_partial_credit_at_most(
    spec: RewardSpec, hostile: Iterable[tuple[str, str]] | None = None
) -> None:
    """No hostile response raises, or earns more than a wrong one may, at any positive example.

    A credit that depends on the row is for near misses, and none of them is one.
    """
    undeserved = spec.scale.minimum if callable(spec.partial_credit) else spec.most_undeserved
    targets = {
        repr((example.reference, sorted(example.parameters.items()))): example
        for example in spec.examples
        if example.kind == "positive"
    }
    for name, text in hostile_responses() if hostile is None else hostile:
        for example in targets.values():
            attack = _with_response(example, text, id=name)
            ask = CredulousAsk(text) if spec.needs.judge else None
            reward = spec.bind(example.parameters, ask=ask)
            (result,) = score_batch(reward, [attack])
            where = f"the hostile response {name!r} against {_named(example)}"
            score = _score(result, f"{spec.name}: {where}")
            if score.value > undeserved:
                most = f"{undeserved} is the most that a wrong response may earn"
                message = f"{spec.name}: {where} earns {score.value}; {most} (partial_credit)"
                raise AssertionError(f"{message}\n{shown(score)}")


def the_lambda_scores_like_a_direct_call(spec: RewardSpec) -> None:
    """Every example, sent to the Lambda handler as a trainer sends it, earns what it earns here.

    Raises:
        SkipTest: Powertools is not installed, and no handler runs without it.
    """
    try:
        require("aws_lambda_powertools", by="the handler")
    except MissingExtra as error:
        from unittest import SkipTest  # noqa: PLC0415 - 30 ms, for the laptop without the extra

        raise SkipTest(str(error)) from None

    from reward_functions.serving import contract, handler, settings  # noqa: PLC0415 - pydantic

    for example in spec.examples:
        direct = Scored("example", _score_of(spec, example))
        # A service of its own: Powertools keeps one logger per service in the whole process.
        deployed = settings.LambdaSettings(
            name=spec.name,
            parameters=dict(example.parameters),
            service="contract",
            log_level="CRITICAL",
        )
        with redirect_stdout(StringIO()):  # where the handler's metrics go
            bound = handler.bind(deployed, spec, ask=ScriptedAsk(tuple(example.verdicts)))
            answered = bound([wire_row(example.sample())])
        expected = [contract.result_object(direct)]
        _require(
            answered == expected,
            spec,
            f"{_named(example)}: the handler says {answered}, a direct call {expected}",
        )


CONTRACT: Final[Mapping[str, Callable[[RewardSpec], None]]] = {
    holds.__name__: holds
    for holds in (
        examples_hold,
        the_gold_response_earns_the_maximum,
        examples_show_positive_negative_and_attack,
        a_version_tells_its_scores_apart,
        documentation_answers_the_next_question,
        a_missing_reference_is_attributed_to_the_data_set,
        parameters_have_a_type_and_a_default_of_it,
        scores_keep_to_the_declaration,
        scores_are_deterministic,
        batches_keep_ids_and_order,
        it_can_be_pickled,
        hostile_responses_earn_partial_credit_at_most,
        the_lambda_scores_like_a_direct_call,
    )
}
"""What a reward promises beyond its signature, by the name of the property."""


def _score_of(spec: RewardSpec, example: Example) -> Score:
    (result,) = score_batch(spec.bound_to_example(example), [example.sample()])
    return _score(result, f"{spec.name}: {_named(example)}")


def _score(result: Scored | Unscored, subject: str) -> Score:
    if isinstance(result, Scored):
        return result.score
    raise AssertionError(f"{subject} raises {type(result.error).__name__}") from result.error


def _shuffled(rows: Sequence[_Row], seed: int) -> list[_Row]:
    return Random(seed).sample(rows, len(rows))  # noqa: S311 - the same shuffle in every run


def _bound_to_defaults(spec: RewardSpec) -> RewardFunction:
    """The reward with its default parameters; a judge always gets the worst verdicts."""
    return partial(spec, ask=ScriptedAsk()) if spec.needs.judge else spec


def _example_batch(spec: RewardSpec) -> list[Sample]:
    """The examples without their parameters, an empty response, and a row without a reference."""
    samples = [
        example.sample(f"example-{position}") for position, example in enumerate(spec.examples)
    ]
    return [
        *samples,
        sample(id="empty", reference="0"),
        sample("no reference", prompt="?", id="bad"),
    ]


def _with_response(example: Example, response: str, id: str = "example") -> Sample:  # noqa: A002
    return sample(
        response, example.reference, prompt=example.prompt, id=id, **dict(example.metadata)
    )


def _without_reference(spec: RewardSpec) -> Scored | Unscored:
    return score_batch(_bound_to_defaults(spec), [sample("an answer")])[0]


def _outcome(result: Scored | Unscored) -> object:
    """What must be the same again: all of a score but its evidence, or the kind of failure."""
    if isinstance(result, Unscored):
        return type(result.error), str(result.error)
    score = result.score
    return score.value, score.metrics, score.answer, score.reason


def _named(example: Example) -> str:
    return f"the {example.kind} example {example.response[:60]!r}"


def _require(condition: bool, spec: RewardSpec, message: str) -> None:  # noqa: FBT001
    if not condition:
        raise AssertionError(f"{spec.name}: {message}")
