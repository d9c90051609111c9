"""`reward data lint`: what a trainer would refuse, or train on in vain."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from reward_functions.cli._console import cell, output, print_json, remark, table
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import Map, Parameters, Shape  # noqa: TC001 - typer reads them
from reward_functions.cli._progress import watched
from reward_functions.cli.data._output import Files, Format, lengths_json, lengths_table
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.lengths import suggested_prompt_length
from reward_functions.data.linting import Linted, LintFinding
from reward_functions.data.linting import lint as linted_files
from reward_functions.scoring.rewards import parameter_values, reward_named
from reward_functions.scoring.rows import row_options


def lint(
    files: Files,
    *,
    reward: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The reward that must read every reference.",
            show_default="the data set's own, or any",
        ),
    ] = None,
    parameters: Parameters = None,
    min_rows: Annotated[int, typer.Option(min=0, help="Rows a file must have.")] = 100,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows a file may have.")] = 20_000,
    mapped: Map = None,
    shape: Shape = None,
    format: Format = "table",  # noqa: A002 - the option's name
) -> None:
    """Find what a trainer would refuse, and what would spoil a comparison.

    Errors: lines that are not JSON objects; messages that make no prompt of text; references that
        are missing, empty or unreadable; ids given twice, too few or too many rows, prompts that
        two files share. Warnings: rows without ids, further keys, prompts asked twice,
        near-duplicates between files, synthetic rows, lists as references: whether one is an answer
        or alternatives; decimal commas; what a reference leaves open, by the reward's own word.
        Tokens are estimated.

    Exit status: 0 no errors, 1 errors, 2 a file cannot be read.
    """
    spec = reward_named(reward) if reward else None
    if parameters and spec is None:
        raise ConfigurationError("--param sets a parameter of a reward: give --reward NAME")
    linted = linted_files(
        files,
        reward=spec,
        parameters=parameter_values(spec, parameters or ()) if spec else {},
        rows=(min_rows, max_rows),
        options=row_options(mapped, shape),
        watched=lambda rows: watched(rows, "linting"),
    )
    if format == "json":
        print_json(_as_json(linted))
    else:
        if linted.findings:
            output().print(_findings_table(linted))
        if linted.lengths():
            output().print(lengths_table(linted.lengths(), "tokens of the prompts, estimated"))
    wrong = len(linted.errors)
    remark(f"errors {wrong:,} · warnings {len(linted.findings) - wrong:,}")
    if wrong:
        raise typer.Exit(INCOMPLETE)


def _findings_table(linted: Linted) -> Any:
    """A line for each kind of finding: how often, and the first."""
    shown = table("level", "what", "times", "first", numbers=("times",))
    groups: dict[tuple[str, str], list[LintFinding]] = {}
    for finding in linted.findings:
        groups.setdefault((finding.level, finding.what), []).append(finding)
    for (level, what), found in sorted(groups.items(), key=lambda group: group[0][0]):
        first = ": ".join(filter(None, [found[0].where, found[0].detail]))
        style = "red" if level == "error" else "yellow"
        shown.add_row(cell(level, style), what, f"{len(found):,}", first)
    return shown


def _as_json(linted: Linted) -> dict[str, Any]:
    lengths = linted.lengths()
    return {
        "errors": len(linted.errors),
        "findings": [asdict(finding) for finding in linted.findings],
        "prompt_tokens_estimated": lengths_json(lengths),
        "maxPromptLength": max(map(suggested_prompt_length, lengths.values()), default=None),
    }
