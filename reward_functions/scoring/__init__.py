"""A file of responses scored: resumable, in several processes, memory that does not grow with it.

    from reward_functions import scoring

    done = scoring.score_file("gsm8k", "responses.jsonl", "scores.jsonl", workers=4)
    print(done.scored, "of", done.rows, done.summary.figures())

    file.py           `score_file`: the steps, and where results and page go
    run.py            the file read twice, who scores its rows, which are written, and what an
                      interrupt keeps
    interpreters.py   processes that score side by side
    journal.py        results while a run goes on, which a later one goes on with
    rewards.py        the reward that a name means, ready to score
    rows.py           the rows of a file as samples
    results.py        what comes of a row, as it is written and counted, and where it failed

`reward score` is the command line over this.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from reward_functions.scoring.file import ScoredFile, ScoringInterrupted, score_file

__all__ = ["Only", "ScoredFile", "ScoringInterrupted", "Sort", "score_file"]

Only = Literal["minimum", "maximum", "partial", "unscored", "truncated", "disagree"]
"""Which rows are written."""

Sort = Literal["value", "-value", "id", "-id", "length", "-length"]
"""By what they are sorted; "-" for the largest first."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.file"), name)
