"""What a job's data come to: rows, tokens of prompts, bytes of samples, and suggested limits.

A file that the service would refuse, or train on in vain, is refused here: fewer or more rows than
it takes, anything but text, references that the reward cannot read, a prompt that the validation
file shares. `reward data lint` lists every finding; the error names the first.

Sources: Bedrock's guide, "Prepare data for reinforcement fine-tuning", by way of
`data.linting`; the lengths are estimates, as `data.lengths` makes them.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from reward_functions.data.json_rows import BadInput, read_rows, scan_rows, shown
from reward_functions.data.lengths import (
    Lengths,
    solution_tokens,
    suggested_inference_tokens,
    suggested_prompt_length,
)
from reward_functions.data.linting import MAX_ROWS, MIN_ROWS, UNREADABLE, lint
from reward_functions.data.rows.formats import scan_file
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import require_two_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reward_functions.core.spec import RewardSpec
    from reward_functions.data.json_rows import Row
    from reward_functions.data.linting import LintFinding

THINKING_TOKENS: Final = 8_192
"""Of an answer with high reasoning effort: what AWS's guide sets beside it (`rft-submit-job`)."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the data come to.

    Args:
        rows: prompts of the training file, or of the logs in its place.
        prompts: tokens of each prompt, estimated; None where the data are logs.
        solutions: tokens of the worked solutions that the rows hold; None where they hold none.
        largest_row: bytes of the longest row as JSON: a sample is the row and an answer.
        validation_rows: prompts of the validation file; 0 without one.
    """

    rows: int
    prompts: Lengths | None = None
    solutions: Lengths | None = None
    largest_row: int = 0
    validation_rows: int = 0

    @property
    def prompt_tokens(self) -> int | None:
        """Tokens of all prompts, estimated; None where the data are logs."""
        return None if self.prompts is None else sum(self.prompts.values)

    @property
    def max_prompt_length(self) -> int | None:
        """A `maxPromptLength` with room for the estimate's error; None where the data are logs."""
        return None if self.prompts is None else suggested_prompt_length(self.prompts)

    def inference_max_tokens(self, reasoning_effort: object = None) -> int:
        """A generous `inferenceMaxTokens`: what people wrote may raise it, and never lower it."""
        least = THINKING_TOKENS if reasoning_effort == "high" else 0
        return max(least, suggested_inference_tokens(self.solutions))


def measure(
    training: Path,
    validation: Path | None = None,
    *,
    reward: RewardSpec | None = None,
    rows: tuple[int, int] = (MIN_ROWS, MAX_ROWS),
    watched: Callable[[Iterable[Row | BadInput]], Iterable[Row | BadInput]] = iter,
) -> Sizes:
    """Read a job's files, and refuse those that the service would refuse.

    Args:
        training: JSONL, or one JSON array.
        validation: the same; its rows may be few.
        reward: must be able to read every reference; None where it is not one of this machine's,
            and then nobody asks whether the references can be read.
        rows: the fewest and the most that the service takes of a training file.
        watched: passes the rows on, and shows that it goes on.

    Raises:
        BadJob: a file breaks a limit of the service, or holds what spoils a training.
        OSError: a file cannot be read.
    """
    if validation is not None:
        require_two_files(training, validation)
    files = [str(file) for file in (training, validation) if file is not None]
    for file in files:
        _require_bedrock(file)
    fewest, most = rows
    linted = lint(files, reward=reward, rows=(1, most), watched=watched)
    errors = [each for each in linted.errors if reward is not None or each.what != UNREADABLE]
    if errors:
        raise BadJob(_first(errors))
    there = len(linted.prompts[str(training)])
    if there < fewest:
        raise BadJob(
            f"data: {shown(str(training))} has {there:,} rows, and Bedrock takes {fewest:,} to "
            f"{most:,}"
        )
    solutions, largest = _second_reading(str(training))
    return Sizes(
        rows=there,
        prompts=Lengths(linted.prompts[str(training)]),
        solutions=Lengths(solutions) if solutions else None,
        largest_row=largest,
        validation_rows=len(linted.prompts[str(validation)]) if validation else 0,
    )


def _require_bedrock(file: str) -> None:
    """Refuse a file of another format or shape, which the service does not read.

    Raises:
        BadJob: its first row is not of Bedrock's shape, or the file is not JSON at all.
    """
    try:
        first = next(scan_rows(file), None)
        known = next(scan_file(file), None)
    except BadInput:
        return  # lint says what is wrong with it
    if isinstance(known, BadInput) or known is None:
        return
    if not isinstance(first, BadInput) and any(
        key in known.content for key in ("messages", "reference_answer")
    ):
        return
    name = Path(file).name.split(".", 1)[0]
    raise BadJob(
        f"data: {shown(file)}: Bedrock takes JSONL of messages and reference_answer; write it "
        f"with: reward data convert {quote(file)} --to bedrock -o {quote(name)}-bedrock.jsonl"
    )


def _second_reading(file: str) -> tuple[list[int], int]:
    """Tokens of the worked solutions, and bytes of the longest row."""
    solutions: list[int] = []
    largest = 0
    for row in read_rows(file):
        largest = max(largest, _size(row))
        solution = solution_tokens(row.content)
        if solution is not None:
            solutions.append(solution)
    return solutions, largest


def _size(row: Row) -> int:
    """Bytes of a row.

    Raises:
        BadJob: it holds a number that JSON has not, which Python reads and the service does not.
    """
    try:
        text = json.dumps(row.content, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise BadJob(f"data: {row.where}: NaN and Infinity are no numbers of JSON") from None
    return len(text.encode("utf-8", "surrogatepass"))


def _first(errors: list[LintFinding]) -> str:
    first = errors[0]
    again = Counter(each.what for each in errors)[first.what]
    times = f" ({again:,} times)" if again > 1 else ""
    others = len({each.what for each in errors}) - 1
    more = f" {others} other kinds of error follow." if others > 1 else ""
    more = " Another kind of error follows." if others == 1 else more
    detail = f": {first.detail}" if first.detail else ""
    return (
        f"data: {first.where}: {first.what}{detail}{times}.{more} "
        "`reward data lint` lists every finding"
    )
