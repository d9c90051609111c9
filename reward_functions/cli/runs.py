"""`reward runs`, and `reward score … --on`: runs over shards, each a folder that is all its state.

Credentials and region are AWS's own: AWS_PROFILE, AWS_REGION and their like.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from functools import partial
from tempfile import TemporaryFile
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from reward_functions import scoring
from reward_functions.aws.calls import wait
from reward_functions.aws.shell import aws_session, default_stage
from reward_functions.cli import _console as console
from reward_functions.cli import _engine_options as engines
from reward_functions.cli._console import leave, output, print_json, remark, say_measured
from reward_functions.cli._echo import say, several
from reward_functions.cli._invocations import results_to
from reward_functions.cli._options import Output  # noqa: TC001
from reward_functions.cli._progress import Bars
from reward_functions.cli._summary import summary
from reward_functions.cli._verdicts import opened_store
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boto3.session import Session

    from reward_functions.data.rows.shapes import RowOptions
    from reward_functions.scoring import Engine, Event, Plan, Run

app = typer.Typer(no_args_is_help=True)

RunName = Annotated[str, typer.Argument(metavar="RUN", help="A folder, or s3://BUCKET/PREFIX.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]

Form = Literal["jsonl", "json"]

PLANNED: Final = ("shard_mb", "judge", "adjacent_groups", "allow_empty", "max_unscored")
"""Parameters of `reward score` that a plan takes as they are."""


@app.command("list")
def list_runs(
    place: Annotated[str, typer.Argument(help="A folder, or s3://BUCKET/PREFIX.")] = ".",
    *,
    as_json: AsJson = False,
) -> None:
    """The runs below a folder or a prefix, and how far each is.

    Exit status: 0, or 2 where the place cannot be listed.
    """
    found = [_facts(run) for run in scoring.runs_below(place, _session(place))]
    if as_json:
        print_json(found)
        return
    shown = console.table("run", "reward", "state", "parts", numbers=("parts",))
    for each in found:
        shown.add_row(*(each[title] for title in ("run", "reward", "state", "parts")))
    output().print(shown if found else f"no run stands below {place}")


@app.command()
def show(name: RunName, *, as_json: AsJson = False) -> None:
    """A run: what was asked, how far it is, its figures by now, and why parts failed.

    Exit status: 0, or 2 where there is no run or its input is not usable.
    """
    run = _opened(name)
    shown, failures = _facts(run), run.failures()
    if as_json:
        print_json(shown | {"figures": run.figures(), "failed": failures})
    else:
        _print(shown)
        summary(run.facts(), 0.0, 0)
        for why, count in Counter(failures.values()).most_common():
            remark(f"{several(count, 'part')} failed: {why}")
    run.require_usable()


@app.command()
def watch(
    name: RunName,
    *,
    interval: Annotated[
        float, typer.Option(min=0.05, metavar="SECONDS", help="Between two looks.")
    ] = 5.0,
) -> None:
    """Follow a run until all its parts are done, and print its figures.

    Exit status: 0 all rows are scored; 1 some rows, or parts, are not; 2 none is, or the input is
    not usable; 130 the watch was interrupted, and the run goes on.
    """
    run = _opened(name)
    with Bars() as bars:
        state = wait(
            run.state,
            lambda found: found.done == found.parts or bool(found.unusable or found.stopped),
            pause=interval,
            progress=lambda found: bars("scoring parts", found.done, found.parts),
        )
    run.require_usable()
    if state.stopped and not state.finished:
        remark(f"{state.stopped}: {_facts(run)['parts']} parts done")
        raise _incomplete(run)
    found = run.facts()
    try:
        run.require_scored(len(found), found.unscored)
    except scoring.RunIncomplete as error:
        remark(f"error: {error}; to go on: reward runs resume {run.place.address}")
        raise _incomplete(run) from None
    _ended(run)


@app.command()
def resume(
    name: RunName,
    *,
    on: engines.On = None,
    stage: engines.Stage = None,
    concurrency: engines.Concurrency = None,
    max_unscored: engines.MaxUnscored = None,
    max_usd: engines.MaxUsd = None,
    detach: engines.Detach = False,
) -> None:
    """Score what is missing of a run, on any engine.

    Rows that our failure left without a score, such as a throttled model's, are asked again; rows
    that are scored, or whose own data is at fault, are not.

    Without --on, a version that is pinned is called from here, and a reward of this machine runs in
    processes. Inputs that are others by now are refused, and so is another version of the reward.

    Exit status: 0 all rows are scored; 1 some rows, or parts, are not; 2 none is, or the input is
    not usable.
    """
    run = _opened(name)
    on = on or ("direct" if run.asked.function else "processes")
    of_stage = _stage_of({"on": on, "stage": stage, "detach": detach})
    run.require_portable()
    run = run.allowing(max_unscored)
    with opened_store(run.asked.spec, None) as store:
        more = {"stage": of_stage, "session": run.session, "store": store}
        engine = scoring.engine_of(on, concurrency=concurrency, **more)
        _require_room(on, engine, run.session)
        go_on = partial(scoring.go_on, run, engine, max_usd=max_usd, detach=detach)
        _followed(run.place.address, go_on)


@app.command()
def cancel(name: RunName) -> None:
    """Let a run begin no further part, and stop the state machine that does it, if one does.

    Finished shards stay, and `resume` goes on.

    Exit status: 0, or 2 where there is no run.
    """
    run = _opened(name)
    scoring.cancel(run)
    say(f"cancelled: {_facts(run)['parts']} parts done")


@app.command()
def fetch(
    name: RunName,
    *,
    output: Output = None,
    format: Annotated[  # noqa: A002 - the option's name
        Form, typer.Option(help="Lines of results, or one array of all.")
    ] = "jsonl",
) -> None:
    """Write the results of a run, in the order of its input: the bytes of `reward score`.

    Exit status: 0 all are written; 2 parts are missing, or the input is not usable.
    """
    run = _opened(name)
    if output and os.path.abspath(output).startswith(f"{run.place.address}/"):  # noqa: PTH100
        raise ConfigurationError(f"{output} lies in the run's own folder: name another place")
    with results_to(output, "") as stream:
        if format == "jsonl":
            run.join(stream.buffer)
            return
        with TemporaryFile() as joined:
            run.join(joined)
            joined.seek(0)
            scoring.write_lines(format, stream, (line.decode().rstrip("\n") for line in joined))


def score_on(typed: Mapping[str, Any], rows: RowOptions) -> None:
    """Plan a run, and start it on an engine.

    Args:
        typed: the parameters of `reward score`.
        rows: how rows are read.

    Raises:
        typer.Exit: rows, or parts, are without scores.
    """
    file, out = typed["file"], typed["output"]
    engines.refuse(typed, ("format",), "is of `reward runs fetch`, which writes the results")
    engines.refuse(typed, engines.HERE, "is of a run without --on: leave it out")
    stage = _stage_of(typed)
    if out in (None, "-"):
        raise ConfigurationError("--on writes a run into a folder: add -o, s3://… or a path")
    session = aws_session(stage) if stage else _session(file) or _session(out)
    given: Any = {name: typed[name] for name in PLANNED} | {"parameters": typed["parameter"] or ()}
    where: Any = {"stage": stage, "session": session}
    plan = scoring.Plan.of(file, out, typed["name"], rows=rows, **where, **given)
    asked, max_usd = plan.asked, typed["max_usd"]
    with opened_store(plan.spec, typed["verdicts"], none=typed["no_verdicts"]) as store:
        more = {"concurrency": typed["concurrency"], "store": store}
        engine = scoring.engine_of(typed["on"], **where, **more)
        if typed["plan"]:
            _print(_planned(plan, engine))
            run = scoring.Run(plan.place, asked)
            engine.require(run, plan.shards)
            scoring.require_affordable(run, plan.shards, max_usd, engine)
            return
        _require_room(typed["on"], engine, session)
        if asked.usd:
            remark(f"about {asked.about:,} rows, whose judge takes about ${asked.usd:,.2f}")
        start = partial(plan.start, engine, resume=typed["resume"], max_usd=max_usd)
        _followed(plan.place.address, partial(start, detach=typed["detach"]))


def _stage_of(typed: Mapping[str, Any]) -> str | None:
    """The stage whose deployment scores; None where the engine's own processes score.

    Raises:
        ConfigurationError: there is no such engine, or it does not have what was typed.
    """
    name, row, _ = scoring.engine_row(typed["on"])
    lacks = {"stage", "detach"} - {*row.has}
    engines.refuse(typed, lacks, f"is nothing that {name} has: leave it out, or name another")
    return (typed["stage"] or default_stage().name) if "stage" in row.has else None


def _followed(address: str, start: Callable[..., Run]) -> None:
    """Show a run while it goes on, and what came of it.

    Args:
        address: of its folder.
        start: starts it, with what hears its events.

    Raises:
        typer.Exit: rows, or parts, are without scores.
    """
    began = perf_counter()
    rows, parts = 0, "no part"
    again = f"to go on: reward runs resume {address}"

    def show_event(event: Event) -> None:
        nonlocal rows, parts
        rows, parts = event.rows, f"{event.finished:,} of {event.shards:,} parts"
        bars(f"{event.task.removesuffix('e')}ing parts", event.finished, event.shards)
        if event.kind == "again":
            remark(f"{event.rows:,} rows that our failure left without a score are asked again")
            return
        if event.kind == "failed" and event.done:
            remark(f"part {event.done.part} failed: {event.done.error}")

    try:
        with Bars() as bars, scoring.ends_are_interrupts():
            run = start(hear=show_event)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {parts} done; {again}") from None
    except scoring.RunIncomplete as error:
        remark(f"error: {error}; {again}")
        raise _incomplete(_opened(address)) from None
    if not run.state().finished:
        remark(f"it goes on by itself: reward runs watch {address}")
        return
    _ended(run, perf_counter() - began, rows)


def _incomplete(run: Run) -> typer.Exit:
    """The end of a command whose run is not finished."""
    return typer.Exit(run.facts().measured.status(failed=True))


def _ended(run: Run, seconds: float = 0.0, rows: int = 0) -> None:
    """Print the figures of a finished run, and leave with its status."""
    found = run.facts()
    if len(found) and not found.measured.measured:
        say_measured(found.measured)
    summary(found, seconds, rows)
    remark(f"its results: reward runs fetch {run.place.address} -o FILE")
    if len(found):
        leave(found.measured)


def _planned(plan: Plan, engine: Engine) -> dict[str, str]:
    """What a plan would take, how long, and beside what."""
    asked, at_once = plan.asked, engine.concurrency
    sizes = {shard.name: shard.size for shard in plan.shards}
    made = plan.estimate(machine=engine.name == "aws")
    usd = "unknown" if asked.usd is None else f"about ${asked.usd:,.2f}"
    shown = {
        "source": f"{asked.source}: {several(len(sizes), 'object')}, {sum(sizes.values()):,} bytes",
        "reward": f"{asked.reward_name} {asked.version}",
        "version": asked.function,
        "shards": f"{len(plan.shards):,}",
        "rows": f"about {asked.about:,}",
        "invocations": f"about {made.calls:,}" if made.calls else "",
        "judge": usd if asked.judged else "",
        "at once": f"{at_once:,} on {engine.name}" if at_once else "",
        "not priced": made.unpriced,
    }
    if not (calls := scoring.engine_row(engine.name)[1].calls):
        return shown
    seen = scoring.shares(session=plan.session)
    jobs = f"; {several(seen.jobs, 'running job')} may need {seen.needed:,}" if seen.jobs else ""
    account = "unknown" if seen.unreserved is None else f"{seen.unreserved:,} calls at once{jobs}"
    return shown | {
        "cost": f"about ${made.dollars:,.2f} by list prices, and ${made.a_month:,.2f} a month",
        "minutes": f"about {made.seconds / at_once / 60:,.1f}",
        "calls": f"{calls * at_once:,} at once",
        "account": account,
        "not seen": "; ".join(seen.unmeasured),
    }


def _require_room(on: str, engine: Engine, session: Session | None) -> None:
    if calls := scoring.engine_row(on)[1].calls:
        scoring.require_room(calls * engine.concurrency, session)


def _print(rows: Mapping[str, str]) -> None:
    shown = {title: console.cell(text) for title, text in rows.items() if text}
    output().print(console.facts(shown))


def _opened(name: str) -> Run:
    session = _session(name)
    run = scoring.Run.opened(scoring.place_of(name, session), session)
    return replace(run, session=session or _session(run.asked.source))


def _session(place: str) -> Session | None:
    return aws_session() if place.startswith("s3://") else None


def _facts(run: Run) -> dict[str, str]:
    """A run in a few words."""
    asked, state = run.asked, run.state()
    return {
        "run": run.place.address,
        "source": asked.source,
        "reward": f"{asked.reward_name} {asked.version}",
        "version": asked.function,
        "state": state.word,
        "parts": f"{state.done:,} of {state.parts:,}",
    }
