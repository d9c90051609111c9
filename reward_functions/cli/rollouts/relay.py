"""`reward rollouts relay`: between agents and an inference engine, in the foreground."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated

import typer

from reward_functions.cli._echo import say, several
from reward_functions.rollouts.record.relay.__main__ import serve


def relay(
    *,
    engine: Annotated[
        str, typer.Option(metavar="URL", help="The engine, such as http://127.0.0.1:8000/v1.")
    ],
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="Of the engine: vllm, sglang, openai or plain.")
    ] = "vllm",
    model: Annotated[
        str, typer.Option(metavar="NAME", help="What the engine calls its model.")
    ] = "",
    api_key_env: Annotated[
        str, typer.Option(metavar="VARIABLE", help="Where the engine's key is.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Trajectories of sessions that ended, a JSON object a line."
        ),
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where it listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for a free one.")] = 8766,
    exposed: Annotated[
        bool,
        typer.Option("--exposed", help="Other machines may reach it: there is no TLS here."),
    ] = False,
) -> None:
    """Relay agents to an inference engine, and keep token ids and log-probabilities by session.

    Sessions are made with POST /sessions and the key of the variable REWARD_RELAY_ADMIN_KEY. It
    serves until Ctrl-C, which closes the sessions that are left.
    """

    def introduce(url: str) -> None:
        say(f"relaying agents to {engine} on {url}")
        say("  sessions:             POST /sessions, with REWARD_RELAY_ADMIN_KEY as a bearer")
        say(f"  their trajectories:   {out or 'GET /sessions/ID/trace; no --out'}")
        typer.echo("  end it:               Ctrl-C")

    ended = serve(
        engine,
        kind=kind,
        model=model,
        api_key_env=api_key_env,
        host=host,
        port=port,
        exposed=exposed,
        out=out,
        began=introduce,
    )
    say(f"relay ended: {several(ended, 'session')}")
