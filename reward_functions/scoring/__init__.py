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

A file of any size is a run of shards, on an engine:

    plan = scoring.Plan.of("s3://bucket/in/", "s3://bucket/out/run-7/", "math", stage="dev")
    run = plan.start(engine)

    plan.py           what would be scored, by whom, and where its results go
    cuts.py           the shards that objects are cut into
    going.py          a run while an engine does it
    asked.py          what a run was asked
    folder.py         a run: a folder that holds all of its state
    places.py         folders on disk and in S3
    ranges.py         the lines that begin in a range of bytes
    shards.py         a part of an object that is scored as one
    shard.py          one of them counted or scored, wherever that happens
    shard_rows.py     its rows, read and counted
    part.py           its results until they are written, and what is gone on with
    scorers.py        who scores: a reward in this process, or in an interpreter
    invoked.py        or a version of a function, batch by batch
    facts.py          figures that add up across shards
    engines/          what does the shards side by side
    aws/              what a stage's Lambda and its state machine do
    prices.py         what a run costs on AWS
    concurrency.py    what training jobs leave of an account's concurrency

`reward score` is the command line over both.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from reward_functions.scoring.concurrency import require_room, shares
    from reward_functions.scoring.engines import Engine, engine_of, engine_row
    from reward_functions.scoring.engines.aws import cancel
    from reward_functions.scoring.file import ScoredFile, ScoringInterrupted, score_file
    from reward_functions.scoring.folder import Run, RunIncomplete, RunNotUsable, runs_below
    from reward_functions.scoring.going import Event, go_on, require_affordable
    from reward_functions.scoring.places import place_of
    from reward_functions.scoring.plan import Plan
    from reward_functions.scoring.results import result_line
    from reward_functions.scoring.run import ends_are_interrupts, write_lines

_HOMES = {
    "concurrency": ("require_room", "shares"),
    "engines": ("Engine", "engine_of", "engine_row"),
    "engines.aws": ("cancel",),
    "file": ("ScoredFile", "ScoringInterrupted", "score_file"),
    "folder": ("Run", "RunIncomplete", "RunNotUsable", "runs_below"),
    "places": ("place_of",),
    "going": ("Event", "go_on", "require_affordable"),
    "plan": ("Plan",),
    "results": ("result_line",),
    "run": ("ends_are_interrupts", "write_lines"),
}

__all__ = [
    "Engine",
    "Event",
    "Only",
    "Plan",
    "Run",
    "RunIncomplete",
    "RunNotUsable",
    "ScoredFile",
    "ScoringInterrupted",
    "Sort",
    "cancel",
    "ends_are_interrupts",
    "engine_of",
    "engine_row",
    "go_on",
    "place_of",
    "require_affordable",
    "require_room",
    "result_line",
    "runs_below",
    "score_file",
    "shares",
    "write_lines",
]

Only = Literal["minimum", "maximum", "partial", "unscored", "truncated", "disagree"]
"""Which rows are written."""

Sort = Literal["value", "-value", "id", "-id", "length", "-length"]
"""By what they are sorted; "-" for the largest first."""


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
