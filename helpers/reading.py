"""What a reward says of responses, one line each: the answer found, the score, the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helpers.scripted import bound_by_script
from helpers.shown import Shown
from reward_functions import Scored, get, score_batch
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADS = ("response", "reference", "answer found", "score", "reason")


def read_by(
    reward: str,
    cases: Sequence[tuple[str, Any]],
    *,
    prompt: str = "",
    parameters: Mapping[str, object] | None = None,
) -> Shown:
    """Score responses, and show how each was read. A script answers what a judge asks.

    Args:
        reward: its name.
        cases: (response, reference) each.
        prompt: that all of them answer.
        parameters: of the reward.

    Raises:
        UnknownReward: no reward has this name.
        BadParameter: it has no such parameter, or not of this type.
    """
    rows = [
        {
            "id": str(at),
            "messages": [
                {"role": "user", "content": prompt or "?"},
                {"role": "assistant", "content": response},
            ],
            "reference_answer": reference,
        }
        for at, (response, reference) in enumerate(cases)
    ]
    samples = [decode_row(row, at) for at, row in enumerate(rows)]
    results = score_batch(bound_by_script(get(reward), parameters), samples)
    shown = []
    for (response, reference), result in zip(cases, results, strict=True):
        asked = [response, "" if reference is None else str(reference)]
        if isinstance(result, Scored):
            score = result.score
            shown.append([*asked, score.answer or "", f"{score.value:g}", score.reason])
        else:
            shown.append([*asked, "", "unscored", f"{type(result.error).__name__}: {result.error}"])
    words = tuple(head for head in HEADS if head != "score")
    return Shown([Sheet("", HEADS, shown, words=words)])
