"""What pays for a SageMaker job's responses: the Lambda below an evaluator, or nobody.

The response mode is the model's, as contracts have it: what trains open weights unwraps an envelope
whose `statusCode` is 200; what trains Nova reads a bare list. A preset and a judge are AWS's own
and are not here: the simulation pays a response that ends with the reference, and says so.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.references import reference_text
from reward_functions.data.records import text_of
from reward_functions.local.training_double.batches import GraderFailed
from reward_functions.local.training_double.grading import Grader

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.local.training_double.datafiles import Row

OK: Final = 200

END: Final = 200
"""Characters at the end of a response in which the reference pays."""

OWN_PAY: Final = "simulation: paid by the double itself, not by AWS's preset or judge"


class Enveloped:
    """A deployed reward function that answers in an envelope.

    Args:
        session: whose rights it is invoked with.
        arn: of the function.
    """

    def __init__(self, session: Session, arn: str) -> None:
        self._bare = Grader(session, arn)

    def __call__(self, rows: list[Row]) -> Any:
        """The results in the envelope.

        Raises:
            JobFailed: the function did not run.
            GraderFailed: it failed, or answered otherwise.
        """
        return unwrapped(self._bare(rows))


def unwrapped(answer: Any) -> Any:
    """What an envelope holds.

    Raises:
        GraderFailed: it is none, or its status is not 200.
    """
    if not isinstance(answer, dict) or "statusCode" not in answer:
        raise GraderFailed(
            "the reward function returned no envelope with `statusCode` and `body`, which training "
            "of open weights reads: it was deployed with the response mode `list`"
        )
    if answer["statusCode"] != OK:
        raise GraderFailed(f"the reward function answered with status {answer['statusCode']!s:.20}")
    body = answer.get("body")
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise GraderFailed("the body of the envelope is not JSON") from None


def own_pay(rows: list[Row]) -> list[dict[str, Any]]:
    """The double's own scores, in the place of a preset or of a judge."""
    return [{"id": row["id"], "aggregate_reward_score": _paid(row)} for row in rows]


def _paid(row: Row) -> float:
    content = row["messages"][-1]["content"]
    text = text_of([content] if isinstance(content, dict) else content)
    reference = row.get("reference_answer", row["metadata"].get("reference_answer"))
    return float(reference_text(reference) in text[-END:])
