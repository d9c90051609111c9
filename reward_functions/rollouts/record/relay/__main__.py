"""`python -m reward_functions.rollouts.relay --engine URL`: a relay in the foreground.

Sessions are made over HTTP with the admin key, which stands in a variable of the environment.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.record.relay.engine import ENGINES, SECONDS
from reward_functions.rollouts.record.relay.relay import LOOPBACK, Relay
from reward_functions.rollouts.record.sink import PRIVATE
from reward_functions.rollouts.request.errors import ResultNotKept

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


ADMIN_KEY: Final = "REWARD_RELAY_ADMIN_KEY"
"""The variable of the key that makes sessions."""

PORT: Final = 8766

GLANCE: Final = 0.2
"""Seconds between two looks for Ctrl-C."""


def serve(
    engine: str,
    *,
    kind: str = "vllm",
    model: str = "",
    api_key_env: str = "",
    host: str = LOOPBACK,
    port: int = PORT,
    exposed: bool = False,
    seconds: float = SECONDS,
    out: Path | None = None,
    began: Callable[[str], object],
) -> int:
    """Serve a relay until SIGINT or SIGTERM.

    Args:
        engine: as `Relay` takes it.
        kind: likewise.
        model: likewise.
        api_key_env: the variable of the engine's key; "" for an engine without one.
        host: as `Relay.serving` takes it.
        port: likewise.
        exposed: likewise.
        seconds: as `Relay` takes it.
        out: where trajectories of ended sessions are written.
        began: is given the relay's URL.

    Returns:
        How many sessions ended.

    Raises:
        ConfigurationError: a variable is not set, or what `Relay` raises.
        OSError: the file cannot be written.
        ResultNotKept: it could not be, once a session ended. The log says why.
    """
    admin = _variable(ADMIN_KEY)
    key = _variable(api_key_env) if api_key_env else ""
    with ExitStack() as held:
        if out is not None:  # it is refused now, and not when the first session ends
            os.close(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE))
        relay = Relay(
            engine,
            kind=kind,
            model=model,
            token=(lambda: key) if key else None,
            admin_key=admin,
            seconds=seconds,
            ended=out,
        )
        asked = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.signal(number, lambda *_: asked.set())
            held.callback(signal.signal, number, before)
        with relay.serving(host, port, exposed=exposed):
            began(relay.url)
            while not asked.wait(GLANCE):
                pass
    if relay.sessions.lost:
        raise ResultNotKept(f"trajectories that were not written to {out}: {relay.sessions.lost}")
    return relay.sessions.ended


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ConfigurationError(f"the variable {name}, for a key, is not set")
    return value


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve what the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m reward_functions.rollouts.relay",
        description="Relay agents to an inference engine, and keep their tokens by session.",
        epilog=f"Sessions are made with the key of the variable {ADMIN_KEY}.",
    )
    parser.add_argument("--engine", required=True, help="URL, such as http://127.0.0.1:8000/v1")
    parser.add_argument("--kind", default="vllm", choices=list(ENGINES), help="(%(default)s)")
    parser.add_argument("--model", default="", help="as the engine calls it")
    parser.add_argument("--api-key-env", default="", help="variable of the engine's key")
    parser.add_argument("--host", default=LOOPBACK, help="(%(default)s)")
    parser.add_argument("--port", type=int, default=PORT, help="0 for a free one (%(default)s)")
    parser.add_argument("--exposed", action="store_true", help="other machines may reach it")
    parser.add_argument("--out", type=Path, help="JSONL of the trajectories of ended sessions")
    given = vars(parser.parse_args(arguments))
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    log = logging.getLogger(__name__)
    try:
        serve(given.pop("engine"), began=lambda url: log.info("relaying on %s", url), **given)
    except (ConfigurationError, ResultNotKept) as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
