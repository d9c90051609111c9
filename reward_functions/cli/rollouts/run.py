"""`reward rollouts run`: a data set's rollouts, requested as a trainer requests them."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from reward_functions.cli._console import leave, plain, remark
from reward_functions.cli._options import Models, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli.rollouts._agents import (
    TEXT_BYTES,
    Via,
    callable_named,
    runtime_of,
    way_to,
)
from reward_functions.cli.rollouts._scorers import scorer_named
from reward_functions.cli.rollouts._watching import watching
from reward_functions.cli.runtime import CALCULATOR, PORT, policy_typed
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import ROLLOUTS, require
from reward_functions.core.loopback import is_loopback
from reward_functions.local.runtime_double import FaultPlan, RuntimeSettings
from reward_functions.reports.measured import Measured
from reward_functions.rollouts.drive import FIELD, Sent
from reward_functions.rollouts.drive.agents import (
    Agent,
    AgentCoreAgent,
    HttpAgent,
    LambdaAgent,
    PythonAgent,
    Runtime,
)
from reward_functions.rollouts.drive.driving import (
    RolloutDriver,
    attempts_for,
    drive,
    read_tasks,
    sampling_of,
)
from reward_functions.rollouts.drive.figures import figures_of
from reward_functions.rollouts.drive.records import Attempt, RecordFile, Setup

if TYPE_CHECKING:
    from reward_functions.rollouts.episode.scoring import Scorer

OUT: Final = Path("rollouts.jsonl")

RESUME: Final = "--resume"

SHOWN: Final = 3
"""Errors that a summary names: the most frequent ones."""

POINTED: Final = ": start the agent with RFT_RUNTIME_ENDPOINT, and read its log"

REMEDIES: Final = {
    ("lost", "completed without a reward"): ": return a reward, or give --reward NAME",
    ("lost", "never completed"): ": report it with rollout_handler, or give --reward NAME",
    ("lost", "never sampled the policy"): POINTED,
    ("failed", "HTTP 400"): POINTED,
    ("failed", "HTTP 401"): ": set AGENT_API_KEY to the agent's",
    ("failed", "HTTP 404"): ": name the agent's route, such as http://127.0.0.1:8080/invocations",
}
"""What to do about an error."""


def run(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="http://HOST:PORT, a Lambda, an AgentCore runtime, module:attribute or "
            "FILE.py:attribute.",
        ),
    ],
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="Rows: JSONL or one JSON array; - is standard input."),
    ],
    *,
    n: Annotated[int, typer.Option("-n", min=1, max=1024, help="Rollouts of a row: a group.")] = 8,
    reward: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Score responses by this reward, pinned; without it the agent rewards itself.",
        ),
    ] = None,
    parameter: Parameters = None,
    judge: Models = None,
    policy: Annotated[
        str,
        typer.Option(
            metavar="POLICY",
            help="What the double's policy is: calculator, the URL of an OpenAI-compatible "
            "endpoint, or the file of a script.",
        ),
    ] = CALCULATOR,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="The name of the model at a URL of --policy.")
    ] = "default",
    api_key_env: Annotated[
        str, typer.Option(metavar="VARIABLE", help="Holds the key of a URL of --policy.")
    ] = "",
    wrong: Annotated[
        float, typer.Option(min=0, max=1, help="The share of rollouts the calculator gets wrong.")
    ] = 0.0,
    faults: Annotated[
        str,
        typer.Option(
            metavar="PLAN",
            help="Accidents of the double, as of `reward local runtime`: error=0.1,slow=0.1.",
        ),
    ] = "",
    runtime: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A runtime double that runs already: `reward local runtime`.",
            show_default="one of this command",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help="Where the command's own double listens.",
            show_default=f"{PORT}; a free one for an agent of this process",
        ),
    ] = None,
    via: Annotated[
        Via | None,
        typer.Option(help="How AGENT is asked.", show_default="by its form"),
    ] = None,
    qualifier: Annotated[
        str, typer.Option(metavar="NAME", help="Of an AgentCore runtime's endpoint.")
    ] = "",
    concurrency: Annotated[
        int, typer.Option("--concurrency", "-c", min=1, max=512, help="Rollouts at once.")
    ] = 64,
    window: Annotated[
        float, typer.Option(min=1, help="Seconds from a request to the end of waiting.")
    ] = 600.0,
    grace: Annotated[
        float,
        typer.Option(
            min=0,
            help="Seconds an agent's own reward is waited for where none is likely to come, or "
            "--reward stands by.",
        ),
    ] = 5.0,
    temperature: Annotated[float | None, typer.Option(min=0, help="Of the policy.")] = None,
    top_p: Annotated[float | None, typer.Option(min=0, max=1, help="Of the policy.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Of one turn.")] = None,
    field: Annotated[
        str, typer.Option(metavar="NAME", help="The field of a row that is its prompt.")
    ] = FIELD,
    send: Annotated[
        Sent,
        typer.Option(
            help="What a request holds: the prompt as the managed trainer sends it, the row as "
            "`instance`, or both."
        ),
    ] = "both",
    limit: Annotated[
        int | None, typer.Option(min=1, help="The first so many rows.", show_default="all")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the double's policy and faults.")] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The records, a line each.")
    ] = OUT,
    trajectories: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep what an agent of this process does, prompts too, unless it has a place of "
            "its own for that.",
            show_default="REWARD_ROLLOUTS_TRAJECTORIES",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option(RESUME, help="Go on with FILE: what has ended is not run again.")
    ] = False,
    no_responses: Annotated[
        bool,
        typer.Option("--no-responses", help="Keep no texts; nothing can score them again then."),
    ] = False,
) -> None:
    """Run an agent on a data set as a trainer does: n rollouts of each row, one reward for each.

    By default a runtime double of this process plays the trainer's runtime: the agent samples its
    policy from it and reports to it. An agent elsewhere is started with
    `RFT_RUNTIME_ENDPOINT=http://127.0.0.1:8765`. A function of this process without
    `rollout_handler` is made one, with --reward as its reward. AGENT_API_KEY is sent to an HTTP
    agent as a bearer token.

    A record is on the disk as soon as its rollout ends. A reward that never arrives is `lost`, and
    never 0.0. Ctrl-C ends the run; what had ended stays, and --resume goes on.

    Exit status: 0 all rewarded, 1 some were not, 2 none was, or it cannot be run, or not go on.
    """
    require("boto3", by=__name__, extra=ROLLOUTS)
    way = via or way_to(agent)
    if trajectories is not None and way != "python":
        raise ConfigurationError(
            f"{agent} runs elsewhere: start it with REWARD_ROLLOUTS_TRAJECTORIES={trajectories}"
        )
    function = callable_named(agent) if way == "python" else None
    scorer = scorer_named(reward, parameter or [], judge) if reward else None
    found = read_tasks(data, field)
    tasks = found.tasks[:limit]
    settings = RuntimeSettings(
        policy_typed(policy, wrong=wrong, seed=seed, model=model, api_key_env=api_key_env),
        FaultPlan.parse(faults, seed=seed),
        trajectories=max(1, len(tasks) * n),
        text_bytes=TEXT_BYTES,
    )
    setup = Setup(
        data=found.digest,
        n=n,
        agent=agent,
        policy=f"{runtime or policy}{f', {wrong:g} wrong' if wrong else ''}",
        seed=seed,
        sampling=sampling_of(temperature, top_p, max_tokens),
        scorer=scorer.pin.json() if scorer else None,
    )
    with ExitStack() as stack:
        file = stack.enter_context(RecordFile(out, setup, resume=resume))
        wanted = attempts_for(tasks, n)
        missing = [each for each in wanted if each not in file.kept]
        listens = port or (0 if way == "python" else PORT)
        where = stack.enter_context(runtime_of(runtime, settings, listens, concurrency))
        asked = _agent(
            stack, agent, way, function, where, scorer, window, concurrency, qualifier, trajectories
        )
        driver = RolloutDriver(
            agent=asked,
            runtime=where,
            tasks={task.number: task for task in tasks},
            setup=setup,
            window=window,
            grace=grace,
            scorer=scorer,
            sent=send,
            texts=not no_responses,
        )
        _run(driver, missing, file, min(concurrency, max(1, len(missing))), out)
    ended = [file.kept[each] for each in wanted if each in file.kept]
    _summary(ended, len(wanted) - len(missing), out, trajectories)
    rewarded = sum(record.status == "rewarded" for record in ended)
    leave(Measured("rollouts", rewarded, len(wanted) - rewarded))


def _agent(  # noqa: PLR0917 - what the command line said, in its order
    stack: ExitStack,
    name: str,
    way: Via,
    function: Any,
    runtime: Runtime,
    scorer: Scorer | None,
    window: float,
    concurrency: int,
    qualifier: str,
    trajectories: str | None,
) -> Agent:
    """The agent, where it can reach the runtime.

    Raises:
        ConfigurationError: it cannot.
    """
    made: Agent
    match way:
        case "python":
            made = stack.enter_context(
                PythonAgent(
                    function,
                    name,
                    endpoint=runtime.endpoint,
                    reward=scorer,
                    window=window,
                    trajectories=trajectories or "",
                )
            )
        case "http":
            made = HttpAgent(name, concurrency=concurrency)
        case "forwarder":
            made = LambdaAgent(name, seconds=window, concurrency=concurrency)
        case "agentcore":
            made = AgentCoreAgent(
                name, seconds=window, qualifier=qualifier, concurrency=concurrency
            )
    if is_loopback(runtime.endpoint) and not made.local:
        raise ConfigurationError(
            f"{name} runs elsewhere, and cannot reach a runtime on this machine: give the address "
            "of one that it reaches with --runtime"
        )
    return made


def _run(
    driver: RolloutDriver, missing: list[Attempt], file: RecordFile, concurrency: int, out: Path
) -> None:
    """Run what is missing; Ctrl-C says what to type to go on."""
    with watching(len(missing)) as show:
        try:
            for record in drive(driver, missing, concurrency):
                file.add(record)
                show(record)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_to_go_on(file, out)) from None
        except OSError as error:
            raise ConfigurationError(
                f"{error.filename or out}: {error.strerror}: {_to_go_on(file, out)}"
            ) from None


def _to_go_on(file: RecordFile, out: Path) -> str:
    again = shlex.join(each for each in sys.argv[1:] if each != RESUME)
    return f"{len(file.kept):,} rollouts are in {out}; go on: reward {again} {RESUME}"


def _summary(records: list[Any], kept: int, out: Path, trajectories: str | None) -> None:
    """What the run came to, and what to do about what is wrong, on standard error."""
    figures = figures_of(records)
    parts = [f"rollouts {figures.rollouts:,}"]
    parts += [f"{status} {count:,}" for status, count in figures.statuses.items() if count]
    if figures.mean is not None:
        parts.append(f"mean reward {figures.mean.value:.4g}")
    if figures.duplicates:
        parts.append(f"reports that came again {figures.duplicates:,}, counted once")
    if kept:
        parts.append(f"of before {kept:,}")
    lines = [" · ".join(parts)]
    for (status, error), count in list(figures.errors.items())[:SHOWN]:
        lines.append(f"{status}: {plain(error)} ({count:,}){REMEDIES.get((status, error), '')}")
    if figures.idle:
        lines.append(f"never called the policy ({figures.idle:,}): no trainer learns from that")
    more = (
        f" --trajectories {plain(trajectories)}"
        if trajectories and "://" not in trajectories
        else ""
    )
    lines.append(f"see `reward rollouts report {plain(str(out))}{more}`")
    for line in lines:
        remark(line)
