"""The batches a check sends, and the answers that are known beforehand.

A reward of this project brings its examples, scored here with the deployment's own parameters: the
function must return the same. Of any other function only the contract is known; rows of a file, or
four made up here, are enough to test that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.batch import score_batch
from reward_functions.core.errors import UnknownReward
from reward_functions.core.types import Scored
from reward_functions.data.rows.writing import write
from reward_functions.testing import wire_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.core.spec import RewardSpec, Scale
    from reward_functions.serving.contract import ResponseMode

Row = dict[str, Any]

QUESTION: Final = "What is 17 + 25? Write the answer behind ####."

ANSWERS: Final = ("17 + 25 = 42\n#### 42", r"\boxed{42}", "#### 43", "")
"""Right in two forms, wrong, and nothing at all."""

UNUSUAL: Final = ("0", "é🎉", 'a "quoted" id\n', "x" * 300)
"""Ids a data set may well have."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is known of a function before it is asked.

    Args:
        rows: samples as a trainer sends them, of different ids.
        scores: what rows must earn, by id; empty where they are not known.
        scale: the range of its rewards; None where it is not known.
        mode: its response mode; None where either is right.
        reward: the reward function's name, where it is one of this project's.
    """

    rows: tuple[Row, ...]
    scores: Mapping[str, float] = field(default_factory=dict)
    scale: Scale | None = None
    mode: ResponseMode | None = None
    reward: str | None = None


def expectation(deployed: DeployedReward) -> Expectation:
    """What a deployment must answer: the examples of its reward, with its own parameters.

    Where the reward is not installed here, nothing is known but how it answers.

    Raises:
        BadParameter: the reward that is installed here has no such parameter.
    """
    try:
        spec = deployed.spec()
    except UnknownReward:
        return Expectation(made_up(), mode=deployed.response_mode)
    return expectation_of(spec, deployed.parameters, deployed.response_mode)


def expectation_of(
    spec: RewardSpec, parameters: Mapping[str, Any], mode: ResponseMode | None = None
) -> Expectation:
    """The same for a reward and its parameters; the scores of a judge are not known.

    Raises:
        BadParameter: the reward has no such parameter, or one of another type.
    """
    samples = [example.sample(f"example-{at}") for at, example in enumerate(spec.examples)]
    results = [] if spec.needs.judge else score_batch(spec.bind(parameters), samples)
    return Expectation(
        rows=tuple(wire_row(sample) for sample in samples) or made_up(),
        scores={result.id: result.score.value for result in results if isinstance(result, Scored)},
        scale=spec.scale,
        mode=mode,
        reward=spec.name,
    )


def made_up() -> tuple[Row, ...]:
    """Rows for a function nothing is known of: one question, four answers."""
    return tuple(
        {
            "id": f"sample-{at}",
            "messages": [
                {"role": "user", "content": QUESTION},
                {"role": "assistant", "content": answer},
            ],
            "reference_answer": "42",
            "metadata": {"reference_answer": "42"},
        }
        for at, answer in enumerate(ANSWERS)
    )


def repeated(rows: Sequence[Row], count: int) -> list[Row]:
    """A batch of so many rows: these over and over, each under an id of its own."""
    return [rows[at % len(rows)] | {"id": f"{at:06}"} for at in range(count)]


def renamed(rows: Sequence[Row]) -> list[Row]:
    """One row under ids a data set may have."""
    return [rows[0] | {"id": unusual} for unusual in UNUSUAL]


def without_turn(row: Row) -> Row:
    """A row without a generated turn, as AWS's own checks before a job send them."""
    return row | {"id": "no turn", "messages": row["messages"][:-1]}


def otherwise_written(row: Row) -> dict[str, Row]:
    """The same sample as other trainers write it, by what is different."""
    *before, last = row["messages"]
    blocks = [{"type": "text", "text": last["content"]}]
    reference = {"reference_answer": row.get("reference_answer")}
    bare = {key: value for key, value in row.items() if key != "reference_answer"}
    return {
        "the role nova_assistant": row | {"messages": [*before, last | {"role": "nova_assistant"}]},
        "a list of content blocks": row | {"messages": [*before, last | {"content": blocks}]},
        "the reference in metadata": bare
        | {"metadata": {**(row.get("metadata") or {}), **reference}},
    }


def as_evaluated(row: Row) -> Row | None:
    """The same sample as an evaluation job of open weights sends it.

    None where it cannot be one: a job of that kind asks a single question.
    """
    *before, last = row["messages"]
    asked = {key: row[key] for key in ("reference_answer", "metadata") if row.get(key) is not None}
    data, lost = write({"messages": before, **asked}, "sagemaker-eval")
    if lost or not before:
        return None
    gold = {"reference_answer": {"text": data["response"]}}
    return {"id": row["id"], "metadata": {}, **data, "model_response": last["content"], **gold} | {
        "processor_config": {}
    }


MALFORMED: Final[Row] = {"id": "malformed", "messages": None, "reference_answer": None}
"""A row that is not a valid sample."""
