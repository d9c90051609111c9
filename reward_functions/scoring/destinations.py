"""Where the results and the page go: files that take their names when complete, or devices."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import Together
from reward_functions.scoring.source import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO


def check_destinations(file: str, output: str | None, report: str | None) -> None:
    """Refuse files that would take the place of the samples, or of each other.

    Raises:
        ConfigurationError: one would.
    """
    for name in (output, report):
        if name is not None and _same_file(file, name):
            raise ConfigurationError(f"{name} holds the samples; write the results to another file")
    if report and output and os.path.realpath(report) == os.path.realpath(output):
        raise ConfigurationError(f"{report} is to hold the results and the page; name two files")


def _same_file(file: str, output: str) -> bool:
    """Whether the results would take the place of the samples. Devices and pipes hold neither."""
    source = 0 if file == STANDARD else file
    try:
        return Path(output).is_file() and os.path.samefile(source, output)  # noqa: PTH121 - takes 0
    except OSError:  # one of them cannot be looked at; whoever opens it says so
        return False


def is_file_to_be(output: str | None) -> Path | None:
    """The path of results that go to a file, which may exist; None of standard output, a device."""
    if output is None:
        return None
    path = Path(os.path.realpath(output))
    if not output or path.is_dir() or not path.exists() or path.is_file():
        return path
    return None


def path_of(output: str) -> Path:
    """Where a file of this name is written."""
    return Path(os.path.realpath(output))


@contextmanager
def destinations(
    output: str | None, report: str | None
) -> Iterator[tuple[Callable[[], TextIO] | None, TextIO | None]]:
    """What opens the file for the results, and the file for the page; None for either.

    Files take their names together, at the end.

    Raises:
        OSError: one cannot be written. The error names what was typed.
    """
    with naming(output), Together() as files:
        page = None
        if report is not None:
            with naming(report):
                page = _opened(report, files)
        yield None if output is None else partial(_opened, output, files), page


def _opened(name: str, files: Together) -> TextIO:
    return files.opened(Path(os.path.realpath(name)), name)


@contextmanager
def naming(name: str | None) -> Iterator[None]:
    """Let an error of writing name what was given; None is a stream, and standard output here."""
    try:
        yield
    except _Named:
        raise
    except BrokenPipeError:  # not our failure: the reader has read enough
        raise
    except OSError as error:
        if name is None and error.filename is not None:  # no failure of standard output
            raise
        typed = "standard output" if name is None else name
        raise _Named(error.errno, error.strerror, typed) from None


class _Named(OSError):
    """An error that names what was typed."""
