"""How `math` compares: the rule behind each verdict, and what answer and reference were read as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from helpers.shown import Shown
from reward_functions import Scored, get, score_batch
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions import RewardResult

HEADS: Final = ("response", "reference", "score", "rule", "answer read as", "reference read as")


def verdicts(
    reward: str,
    cases: Sequence[tuple[str, Any]],
    *,
    parameters: Mapping[str, object] | None = None,
) -> Shown:
    """Score responses, and show which rule decided; of a response without an answer, why.

    Args:
        reward: its name.
        cases: (response, reference) each.
        parameters: of the reward; they stand above the table.

    Raises:
        UnknownReward: no reward has this name.
        BadParameter: it has no such parameter, or not of this type.
    """
    given = parameters or {}
    samples = [
        decode_row(
            {
                "id": str(at),
                "messages": [
                    {"role": "user", "content": "?"},
                    {"role": "assistant", "content": response},
                ],
                "reference_answer": reference,
            },
            at,
        )
        for at, (response, reference) in enumerate(cases)
    ]
    results = score_batch(get(reward).bind(given), samples)
    rows = [
        [response, str(reference), *_verdict(result)]
        for (response, reference), result in zip(cases, results, strict=True)
    ]
    title = ", ".join([reward, *(f"{name} = {value}" for name, value in given.items())])
    words = tuple(head for head in HEADS if head != "score")
    return Shown([Sheet(title, HEADS, rows, words=words)])


def _verdict(result: RewardResult) -> tuple[str, str, str, str]:
    """The score, the rule, and the normal forms of both."""
    if not isinstance(result, Scored):
        return "unscored", f"{type(result.error).__name__}: {result.error}", "", ""
    score, evidence = result.score, result.score.evidence
    if evidence is None:
        return f"{score.value:g}", score.reason, score.answer or "", ""
    return (
        f"{score.value:g}",
        evidence.rule,
        _form(evidence.answer),
        _form(evidence.reference),
    )


def _form(read: object) -> str:
    return "" if read is None else str(read)
