"""The double as a process beside an emulator: `reward local up --training` starts it.

    python -m reward_functions.local.training_double NAME SOCKET [--step-seconds S] [--data FILE]…

NAME is the emulator's, SOCKET the number of an inherited socket that listens. It ends when the
emulator does.
"""

from __future__ import annotations

import signal
import socket
import sys
from argparse import ArgumentParser
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.local.emulator import find
from reward_functions.local.training_double.prompts import prompts
from reward_functions.local.training_double.server import Double

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCUMENTS: Final = 1_000
"""Texts of policies that are read once. A call reads all of the account's, most of its work."""

GLANCE: Final = 0.5
"""Seconds between two looks at whether the emulator is there."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the emulator or a signal ends it.

    Args:
        arguments: of the command line; the process's own where not given.
    """
    parser = ArgumentParser(prog="training_double")
    parser.add_argument("name")
    parser.add_argument("socket", type=int)
    parser.add_argument("--step-seconds", type=float, default=0.0)
    parser.add_argument("--data", type=Path, action="append", default=[])
    given = parser.parse_args(arguments)
    aws = find(given.name)
    if aws is None:
        raise ConfigurationError(f"no local AWS {given.name!r} runs")
    ended = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    double = Double(aws, socket.socket(fileno=given.socket))
    double.service.state.seconds_per_step = given.step_seconds
    for file in given.data:
        double.service.prompts.add(prompts(file.read_bytes(), file.name))
    Thread(target=double.serve_forever, daemon=True).start()
    while aws.alive and not ended.wait(GLANCE):
        pass
    double.shutdown()
    if aws.alive:
        double.close()


if __name__ == "__main__":
    handlers = vars(import_module("botocore.handlers"))
    read = handlers["decode_quoted_jsondoc"]
    handlers["decode_quoted_jsondoc"] = lru_cache(DOCUMENTS)(read)
    try:
        main()
    except (ConfigurationError, OSError) as error:
        sys.exit(str(error))
