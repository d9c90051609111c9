"""SageMaker's training sessions: the datum that a row of tokens and its advantage become.

    sequence   t0  t1  t2  t3        inputs    t0  t1  t2
    written             x   x        targets   t1  t2  t3
                                     weights    0   1   1

Inputs and targets are the sequence without its last and without its first token. `weights`,
`logprobs` and `advantages` belong to the targets, and are 0.0 where the policy did not write the
target. Advantages are too, because a loss that ignores the weights would train on a log-probability
that nobody measured. Form and shift: agentcore_rl_toolkit 0.2.0,
`backends/experimental/sagemaker/datum.py`; AWS documents none of it. Nothing here ran on AWS.

A datum cannot say that a log-probability is missing: such a row is refused. So is one without a
prompt, whose first token would be nobody's target.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.rollouts.request.errors import InvalidReward, MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.rollouts.record.exchange.token_rows import TokenRow

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
