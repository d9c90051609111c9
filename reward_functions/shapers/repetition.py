"""A penalty for saying the same again: the share of word sequences that were there before."""

from __future__ import annotations

from reward_functions.core.errors import BadParameter
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Metric, Sample, Score

MAX_WORDS = 200_000
"""Words that are looked at, from the end: a loop that a policy falls into does not end."""
MAX_NGRAM = 100


def _check(*, ngram: int, full_at: float) -> None:
    if not 1 <= ngram <= MAX_NGRAM:
        raise BadParameter(f"parameter 'ngram' is from 1 to {MAX_NGRAM}, not {ngram}")
    if not 0.0 < full_at <= 1.0:
        raise BadParameter(f"parameter 'full_at' is a share above 0 and up to 1, not {full_at}")


@reward_function(
    version=1,
    scale=(-1.0, 0.0),
    partial_credit=0.0,
    metrics=("repeated",),
    check=_check,
    examples=[
        Example("positive", response="6 × 7 is 42, and so the answer is 42.", score=0.0),
        Example("positive", response="", score=0.0, why="too short to repeat anything"),
        Example(
            "partial",
            response="a b a b a c",
            score=-0.4,
            parameters={"ngram": 2, "full_at": 1.0},
            why="two of five pairs are there again",
        ),
        Example("negative", response="wait, no " * 20, score=-1.0, why="a loop"),
        Example("attack", response="42 " * 500, score=-1.0, why="the answer for ever"),
    ],
)
def repetition(sample: Sample, *, ngram: int = 5, full_at: float = 0.5) -> Score:
    """The share of the response's word sequences that repeat an earlier one, as a penalty.

    Reference: none. Scale: -1.0 to 0.0. Metric `repeated` is the share of all sequences of `ngram`
        words that occur a second time or more. The value falls in a straight line from 0 without
        repetition to -1 where `full_at` of them repeat. Words are told apart by white space and
        compared as written; the last 200,000 count. Scripts without spaces have few words, and so
        little to repeat.
    Source: the n-gram penalty of Yeo et al. 2025, "Demystifying Long Chain-of-Thought Reasoning"
    (arXiv 2502.03373), for which `full_at` is 1; its size there is the weight of a composite here.

    Args:
        sample: the response; a reference is ignored.
        ngram: words in a sequence.
        full_at: the share of repeated sequences that earns the whole penalty.
    """
    words = sample.response.split()[-MAX_WORDS:]
    total = len(words) - ngram + 1
    if total < 1:
        return Score(0.0, (Metric("repeated", 0.0),), reason=f"fewer than {ngram} words")
    new = len(set(zip(*(words[start:] for start in range(ngram)), strict=False)))
    repeated = (total - new) / total
    return Score(
        -min(repeated / full_at, 1.0) or 0.0,
        (Metric("repeated", repeated),),
        reason=f"{new:,} of {total:,} sequences of {ngram} words are new",
    )
