"""SageMaker's training sessions: the datum that a row of tokens and its advantage become.

    sequence   t0  t1  t2  t3        inputs    t0  t1  t2
    written             x   x        targets   t1  t2  t3
                                     weights    0   1   1

Inputs and targets are the sequence without its last and without its first token. `weights`,
`logprobs` and `advantages` belong to the targets, and are 0.0 where the policy did not write the
target: advantages too, because a loss that ignores the weights would train on a log-probability
that nobody measured. Form and shift: agentcore_rl_toolkit 0.2.0,
`backends/experimental/sagemaker/datum.py`; AWS documents none of it. Nothing here ran on AWS.

A datum cannot say that a log-probability is missing: such a row is refused. So is one without a
prompt, whose first token would be nobody's target.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.rollouts.record.exchange.fields import BadTrace, Fields
from reward_functions.rollouts.record.exchange.token_rows import TokenRow
from reward_functions.rollouts.request.errors import InvalidReward, MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

ENCODED: Final = "encoded_text"
MASKED: Final = 0.0


class Tensor(NamedTuple):
    """An input of the loss.

    Args:
        name: of the field.
        dtype: of its values.
    """

    name: str
    dtype: str

    def of(self, data: Sequence[float]) -> dict[str, Any]:
        """It with its values, as JSON data."""
        return {"data": list(data), "dtype": self.dtype, "shape": [len(data)]}


TARGETS, LOGPROBS, ADVANTAGES, WEIGHTS = (
    Tensor("target_tokens", "int64"),
    *(Tensor(name, "float32") for name in ("logprobs", "advantages", "weights")),
)


def datum(row: TokenRow, advantage: float) -> dict[str, Any]:
    """A row as a datum.

    Args:
        row: with a prompt, and with a log-probability for each token that is trained.
        advantage: of each of these tokens.

    Raises:
        MisalignedTokens: it has no prompt, trains nothing, or lacks a log-probability.
        InvalidReward: the advantage is not finite.
    """
    if not isfinite(advantage):
        raise InvalidReward("an advantage is a finite number")
    if not row.prompt_ids or not row.trained:
        raise MisalignedTokens("a datum needs a prompt, and a token that the policy wrote")
    if not row.has_logprobs:
        raise MisalignedTokens(
            f"a datum needs the log-probabilities of the tokens of turns {_words(row.turns)}"
        )
    ids, before = row.token_ids, [MASKED] * (len(row.prompt_ids) - 1)
    logprobs = [MASKED if each is None else each for each in row.logprobs]
    tensors = {
        TARGETS: ids[1:],
        LOGPROBS: [*before, *logprobs],
        ADVANTAGES: [*before, *(advantage if each else MASKED for each in row.mask)],
        WEIGHTS: [*before, *map(float, row.mask)],
    }
    return {
        "modelInput": {"chunks": [{"tokens": list(ids[:-1]), "type": ENCODED}]},
        "lossFnInputs": {tensor.name: tensor.of(data) for tensor, data in tensors.items()},
    }


def _words(turns: Sequence[int]) -> str:
    return ", ".join(map(str, turns)) or "that it has"


@dataclass(frozen=True, slots=True, kw_only=True)
class Datum:
    """A datum that was read.

    Args:
        row: its tokens; the prompt is what stands before the first that is trained.
        advantages: of the response, 0.0 where masked.
    """

    row: TokenRow
    advantages: tuple[float, ...]


def read_datum(given: Any, *, rollout: str = "") -> Datum:
    """A datum from JSON data.

    Args:
        given: the object.
        rollout: the id of its rollout, which a datum does not hold.

    Raises:
        BadTrace: a field is missing or of another type, or a chunk is no text.
        MisalignedTokens: its lists do not belong together, or are not shifted by one.
    """
    fields = Fields(given, "datum")
    chunks = Fields(fields.object("modelInput"), "modelInput of a datum").list("chunks")
    inputs = tuple(each for chunk in chunks for each in _tokens(chunk))
    loss = Fields(fields.object("lossFnInputs"), "lossFnInputs of a datum")
    targets = _tensor(loss, TARGETS).ids("data")
    logprobs, advantages, weights = (
        _tensor(loss, tensor).numbers("data") for tensor in (LOGPROBS, ADVANTAGES, WEIGHTS)
    )
    lengths = {len(each) for each in (inputs, targets, logprobs, advantages, weights)}
    if len(lengths) != 1 or inputs[1:] != targets[:-1]:
        raise MisalignedTokens("the targets of a datum are its inputs, shifted by one token")
    if not set(weights) <= {0.0, 1.0} or 1.0 not in weights:
        raise BadTrace("weights of a datum are 0 and 1, and one of them is 1")
    return _read(rollout, (*inputs, targets[-1]), weights, logprobs, advantages)


def _read(
    rollout: str,
    ids: tuple[int, ...],
    weights: Sequence[float],
    logprobs: Sequence[float],
    advantages: Sequence[float],
) -> Datum:
    first = weights.index(1.0)
    mask = tuple(weight == 1.0 for weight in weights[first:])
    pairs = zip(mask, logprobs[first:], strict=True)
    row = TokenRow(
        rollout=rollout,
        turns=(),
        prompt_ids=ids[: first + 1],
        response_ids=ids[first + 1 :],
        mask=mask,
        logprobs=tuple(logprob if written else None for written, logprob in pairs),
    )
    return Datum(row=row, advantages=tuple(advantages[first:]))


def _tokens(chunk: Any) -> tuple[int, ...]:
    fields = Fields(chunk, "chunk of a datum")
    if fields.text("type") != ENCODED:
        raise BadTrace(f"a chunk of a datum is of type {ENCODED}: others hold no tokens")
    return fields.ids("tokens")


def _tensor(loss: Fields, tensor: Tensor) -> Fields:
    fields = Fields(loss.any(tensor.name), f"{tensor.name} of a datum")
    data = fields.rest.get("data")
    if fields.text("dtype") != tensor.dtype:
        raise BadTrace(f"dtype of {fields.kind} is {tensor.dtype}")
    if isinstance(data, list) and fields.list("shape") != [len(data)]:
        raise MisalignedTokens(f"shape of {fields.kind} is not that of its data")
    return fields
