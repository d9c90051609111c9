"""`reward data generate`: synthetic rows, to rehearse with."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from reward_functions.cli._console import output, remark, table
from reward_functions.cli._options import Folder  # noqa: TC001 - typer reads annotations
from reward_functions.cli._progress import watched
from reward_functions.data.generated.writing import generate as generated
from reward_functions.data.preparing import REPORT


def generate(
    dataset: Annotated[
        Literal["finqa", "gsm8k", "invoices", "math", "spider"],
        typer.Argument(help="The data set whose shape to take."),
    ],
    *,
    out: Folder,
    rows: Annotated[
        int, typer.Option(min=1, max=20_000, help="Rows of train.jsonl; Bedrock takes 100 or more.")
    ] = 200,
    test_rows: Annotated[
        int, typer.Option(min=0, max=20_000, help="Rows of test.jsonl, to hold out; 0 for none.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Equal seeds write equal files.")] = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files whose rows are not synthetic.")
    ] = False,
) -> None:
    """Write synthetic rows in the shape of a data set: to rehearse with, not to train on.

    For where nothing can be downloaded. Problems come from a dozen templates with drawn numbers,
    and answers are computed; system prompt, answer form, reference, ids and metadata are those that
    `reward data prepare` writes. Every row says `"synthetic": true` in its metadata. A model that
    is trained on them learns the templates. A file of other rows is not replaced without --force.

    Exit status: 0 the files are written, 2 nothing was written.
    """
    report = generated(
        dataset,
        out,
        rows=rows,
        test_rows=test_rows,
        seed=seed,
        force=force,
        watched=lambda outcomes: watched(outcomes, "generating"),
    )
    title = f"{dataset}, synthetic"
    shown = table("split", "rows", "file", numbers=("rows",), title=title)
    for split, count in sorted(report.splits.items(), reverse=True):
        shown.add_row(split, f"{count:,}", str(out / f"{split}.jsonl"))
    output().print(shown)
    output().print(f"the report is {out / REPORT}", soft_wrap=True)
    remark("synthetic rows: rehearse with them, do not train on them", "yellow")
