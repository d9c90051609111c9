"""`reward data stats`: lengths, and the two limits of a training job that they suggest."""

from __future__ import annotations

from typing import Any

from reward_functions.cli._console import output, print_json
from reward_functions.cli._options import Map, Shape  # noqa: TC001 - typer reads annotations
from reward_functions.cli._progress import watched
from reward_functions.cli.data._output import Files, Format, histogram, lengths_json, lengths_table
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.lengths import (
    Lengths,
    prompt_tokens,
    solution_tokens,
    suggested_inference_tokens,
    suggested_prompt_length,
)
from reward_functions.data.rows.reading import read_rows
from reward_functions.scoring.rows import row_options


def stats(
    files: Files,
    *,
    mapped: Map = None,
    shape: Shape = None,
    format: Format = "table",  # noqa: A002 - the option's name
) -> None:
    """Show how long prompts and worked solutions are, and what limits they suggest.

    Tokens are estimated: the larger of characters over four and pieces of text (words of up to
    eight letters, digits by three, signs one by one). The models' own tokenizers are not here.

    `maxPromptLength`: twice the 99th percentile of the prompts, and never less than the longest.
    `inferenceMaxTokens`: three times the 99th percentile of the solutions in `metadata.solution`,
    and never less than 2,048, the default of AWS's SDK: people leave out what a model thinks.

    Exit status: 0 all is well, 2 a file cannot be read.
    """
    options = row_options(mapped, shape)
    prompts: list[int] = []
    solutions: list[int] = []
    for file in files:
        for row in watched(read_rows(file, options), "measuring"):
            messages = row.content.get("messages")
            if isinstance(messages, list):
                prompts.append(prompt_tokens([turn for turn in messages if isinstance(turn, dict)]))
            solution = solution_tokens(row.content)
            if solution is not None:
                solutions.append(solution)
    if not prompts:
        raise ConfigurationError(f"{', '.join(files)}: no row with messages")
    lengths = {"prompts": Lengths(prompts)}
    if solutions:
        lengths["solutions"] = Lengths(solutions)
    limits = _limits(lengths)
    if format == "json":
        print_json({"tokens_estimated": lengths_json(lengths), **limits})
        return
    console = output()
    console.print(lengths_table(lengths, "tokens, estimated"))
    console.print("prompts by tokens, estimated", style="bold")
    for line in histogram(lengths["prompts"]):
        console.print(line, soft_wrap=True)
    console.print()
    for name, value in limits.items():
        console.print(f"{name} {value:,}{_why(name, lengths)}", soft_wrap=True)


def _limits(lengths: dict[str, Lengths]) -> dict[str, Any]:
    return {
        "maxPromptLength": suggested_prompt_length(lengths["prompts"]),
        "inferenceMaxTokens": suggested_inference_tokens(lengths.get("solutions")),
    }


def _why(name: str, lengths: dict[str, Lengths]) -> str:
    if name == "maxPromptLength":
        return ": 2 × p99 of the prompts, and no less than the longest"
    if "solutions" in lengths:
        return ": 3 × p99 of the solutions, and no less than 2,048; more where the model reasons"
    return ": a default; there are no worked solutions to measure"
