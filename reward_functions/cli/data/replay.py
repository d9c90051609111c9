"""`reward data replay`: whether a reward pays the right answers of a file, and no others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from reward_functions.audit.replayed_answers import CONSTANT
from reward_functions.audit.replaying import ReplayReport
from reward_functions.audit.replaying import replay as replayed
from reward_functions.cli._console import (
    cell,
    leave,
    output,
    plain,
    print_json,
    remark,
    say_measured,
    table,
)
from reward_functions.cli._options import Map, Models, Parameters, RewardOption, Shape  # noqa: TC001 - typer reads annotations
from reward_functions.cli._progress import scored
from reward_functions.cli._results import number
from reward_functions.cli.data._output import DataFile, Format  # noqa: TC001
from reward_functions.core.errors import ConfigurationError
from reward_functions.judge_runtime.backends.replay import Replay
from reward_functions.scoring.rewards import parameter_values, ready, reward_named
from reward_functions.scoring.rows import read_samples, row_options
from reward_functions.serving.as_scored import complaint

if TYPE_CHECKING:
    from reward_functions import RewardSpec
    from reward_functions.core.asking import Ask

SURPRISES: Final = 3
"""Rows shown of a kind that did not fare as it should."""


def replay(
    file: DataFile,
    *,
    reward: RewardOption,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Threads.", show_default="what the reward needs"),
    ] = None,
    judge_answers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="For a judge: recorded answers in place of its model, JSONL by the rows' ids.",
        ),
    ] = None,
    parameter: Parameters = None,
    judge: Models = None,
    mapped: Map = None,
    shape: Shape = None,
    format: Format = "table",  # noqa: A002 - the option's name
) -> None:
    """Score the right answer to every row, a wrong one, an empty one, and gaming ones.

    The right answer is written by the reward's `gold_response` from the row's reference; a wrong
    one is the right one of another row. Gaming ones hedge, list, come near, reason at length, hide
    the right answer in a thought, or talk to the judge. A judge gets recorded answers, such as
    {"id": "pandalm-12", "verdict": {"specific": "yes"}}: this command asks no model, unless --judge
    names one.

    Exit status: 0 the right answers earn 0.99 or more of the scale on average, every other kind
    0.02 or less, nothing is unscored, and not all scores are the same; 1 otherwise; 2 nothing was
    scored, or only what a judge decides without a model, or nothing was done.
    """
    spec = reward_named(reward)
    bound = ready(spec, parameter or [], judge, answers=_recorded(spec, judge_answers, judge))
    samples, places = read_samples(file, row_options(mapped, shape), answered=False)
    score = partial(scored, bound, workers=workers or spec.needs.workers)
    done = replayed(spec, samples, places, score, parameter_values(spec, parameter or []))
    say_measured(done.measured)
    if format == "json":
        print_json(_as_json(done))
    else:
        output().print(_table(done))
        for line in _surprises(done):
            output().print(line, soft_wrap=True)
    for failure in done.failures:
        remark(f"not fit to train on: {failure}", "bold red")
    leave(done.measured, failed=bool(done.failures))


def _recorded(spec: RewardSpec, path: str | None, judge: str | None) -> Ask | None:
    """The recorded answers in place of a judge's model; None without a recording.

    Raises:
        ConfigurationError: a judge has neither answers nor a model, a verifier has answers, or
            the file holds none.
    """
    if spec.needs.judge and path is None and judge is None:
        raise ConfigurationError(
            f"{spec.name} asks a judge model: name the file of its recorded answers with "
            "--judge-answers, or the judge with --judge"
        )
    if path is None:
        return None
    if not spec.needs.judge:
        raise ConfigurationError(f"{spec.name} asks no judge model: leave --judge-answers out")
    return Replay(path)


def _table(done: ReplayReport) -> Any:
    shown = table(
        "response", "rows", "mean", "unscored", "verdict", numbers=("rows", "mean", "unscored")
    )
    for one in done.played:
        failed = one.failed or ("unscored rows" if one.unscored else "")
        good = cell("shown only", "dim") if one.kind == CONSTANT else cell("ok", "green")
        shown.add_row(
            one.kind,
            f"{one.scored + one.unscored:,}",
            None if one.score is None else f"{one.score:.4f}",
            cell(f"{one.unscored:,}" if one.unscored else None, "yellow"),
            cell(failed, "red") if failed else good,
        )
    return shown


def _surprises(done: ReplayReport) -> Any:
    """The first rows of each kind that were unscored, or paid otherwise than they should."""
    for one in done.played:
        for place, response, value in one.surprises[:SURPRISES]:
            yield Text(f"{one.kind}, {place}: {number(value)} for {plain(response)}")
        for place, error in one.errors[:SURPRISES]:
            yield Text(plain(f"{one.kind}, {place}: {type(error).__name__}: {complaint(error)}"))


def _as_json(done: ReplayReport) -> dict[str, Any]:
    return {
        "responses": {
            one.kind: {
                "rows": one.scored + one.unscored,
                "mean": one.score,
                "unscored": one.unscored,
                "surprises": one.surprising,
            }
            for one in done.played
        },
        "failures": list(done.failures),
    }
