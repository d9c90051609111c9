"""`reward view`: the results of a folder in one list, on this machine; or as files."""

from __future__ import annotations

import sys
from errno import EADDRINUSE
from pathlib import Path  # noqa: TC003 - typer reads annotations
from threading import Thread
from typing import Annotated, Final

import typer

from reward_functions.cli._console import plain
from reward_functions.cli._echo import say, several
from reward_functions.core.errors import ConfigurationError

PORT: Final = 8766


def view(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where results are, in it and below it.")
    ],
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where it listens; 0 for a free one.")
    ] = PORT,
    open_: Annotated[
        bool | None,
        typer.Option(
            "--open/--no-open",
            help="Open a browser.",
            show_default="on a terminal",
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="JSON lines that were scored: show their texts beside the scores."
        ),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write index.html and the pages there instead, and serve nothing."
        ),
    ] = None,
    rows: Annotated[
        int, typer.Option(min=1, metavar="N", help="Of a bundle: rows of each result, at most.")
    ] = 1_000,
) -> None:
    """Show the results of a folder in one list, each with its page, on this machine.

    Results are scores, runs, audits, comparisons, calibrations, evaluations, baselines, rollouts,
    trajectories, what `reward job show` and `metrics` write with --json, and pages.

    The list has the reward, the rows, the mean, the unscored rows and the worst finding of each. It
    can be sorted, filtered and searched, and each result has its page. A file that grows is
    shown as far as it is. It listens on this machine alone, until Ctrl-C, and writes nothing.

    With --bundle, the same is written as files for a bucket, and nothing is served. The files quote
    responses, and prompts with --samples.

    Exit status: 0, or 2 where the folder cannot be listed.
    """
    from reward_functions.view.library import Library
    from reward_functions.view.samples import ScoredSamples

    scored = ScoredSamples.of(samples) if samples else None
    library = Library(folder, samples=scored)
    if bundle is not None:
        from reward_functions.view.bundle import write_bundle

        count = write_bundle(folder, bundle, rows, scored)
        say(f"{several(count, 'result')} in {plain(str(bundle))}/index.html")
        return
    from reward_functions.view.app import serving_of

    try:
        serving = serving_of(library, port)
    except OSError as error:
        if error.errno != EADDRINUSE:
            raise
        raise ConfigurationError(f"port {port} is taken: give another with --port, or 0") from None
    say(f"{plain(str(folder))}: {serving.url} until Ctrl-C")
    if sys.stdout.isatty() if open_ is None else open_:
        import webbrowser

        Thread(target=webbrowser.open, args=(serving.url,), daemon=True).start()
    serving.run()
