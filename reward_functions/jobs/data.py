"""The files of a job, by their bytes: what names the job, and what is uploaded unchanged.

Measure a job's data: rows, tokens of prompts, bytes of samples, and suggested limits.

A file that the service would refuse, or train on in vain, is refused here. It has fewer or more
rows than the service takes, anything but text, references that the reward cannot read, or a prompt
that the validation file shares. `reward data lint` lists every finding; the error names the first.

Sources: Bedrock's guide, "Prepare data for reinforcement fine-tuning", by way of
`data.linting`; the lengths are estimates, as `data.lengths` makes them.

The rows of a multi-turn job: the one column that is read, with the answer for the reward in it.

The trainer passes the cell `prompt` on to the agent as an opaque string, and nothing else of a row.
A reward that compares with a reference finds it there, where the cell is the JSON of the row.

| the row has | its cell is |
| --- | --- |
| a ground truth beside its prompt | the JSON of the whole row |
| none, and `prompt` is a string | that string |
| none, and `prompt` is anything else | its JSON |
| none, and no `prompt` but `messages` | the last user turn |

A ground truth stands where `rollouts.episode.samples` looks for one. An agent that hands such a
cell to its model as it is shows it the answer: it has to read the question out of it.

Source: "the `prompt` column is passed as an opaque string", AWS's notebook of multi-turn
reinforcement learning; a cell that is JSON is documented nowhere, and nothing forbids it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.data.atomic import named
from reward_functions.data.json_rows import BadInput, Row, read_rows, scan_rows, shown
from reward_functions.data.lengths import (
    Lengths,
    solution_tokens,
    suggested_inference_tokens,
    suggested_prompt_length,
)
from reward_functions.data.linting import MAX_ROWS, MIN_ROWS, UNREADABLE, LintFinding, lint
from reward_functions.data.records import text_of
from reward_functions.data.rows.formats import scan_file
from reward_functions.jobs.configuration import BadJob, JobConfiguration
from reward_functions.jobs.services import SERVICES
from reward_functions.rollouts.episode.samples import INSIDE, LARGEST_CELL, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from reward_functions.core.spec import RewardSpec

ANY: Final = (1, 2**31 - 1)

ROWS: Final = {
    name: ANY if each.packages else (MIN_ROWS, MAX_ROWS) for name, each in SERVICES.items()
}
"""The fewest and the most rows of a training file, by service; AWS states none for SageMaker's."""


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The files of a job, by the field of the configuration that names them.

    Args:
        paths: where they are; empty where invocation logs are the data.
        hashes: the SHA-256 of their bytes.
        prompts: lines of the training file that hold anything; None where logs are the data.
    """

    paths: Mapping[str, Path] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    prompts: int | None = None

    @contextmanager
    def copies(self) -> Iterator[Mapping[str, Path]]:
        """The bytes that were read, which name the job, out of anybody's reach: what is uploaded.

        The copies have the files' own names, lie in a folder of this user alone, and are removed.

        Raises:
            BadJob: a file has other bytes now.
            OSError: one of them cannot be read any more, or not be copied.
        """
        with TemporaryDirectory(prefix="reward-job-") as folder:
            copies: dict[str, Path] = {}
            for name, path in self.paths.items():
                copies[name] = Path(folder, name, path.name)
                copies[name].parent.mkdir()
                with named(copies[name]):
                    copyfile(path, copies[name])
                if _read(copies[name])[0] != self.hashes[name]:
                    raise BadJob(f"{path} changed while the job was prepared: start it again")
            yield copies


def files_of(asked: JobConfiguration) -> JobFiles:
    """The files that a job is asked for with, read once.

    Raises:
        BadJob: there is no training data, or two kinds of it, or it is the validation data too.
        OSError: a file cannot be read.
    """
    if asked.data is None and asked.invocation_logs is None:
        raise BadJob("data: name the training file with --data, or invocation_logs in a file")
    if asked.data is not None and asked.invocation_logs is not None:
        raise BadJob("data: a file and invocation_logs exclude each other")
    named = {"data": asked.data, "validation": asked.validation}
    paths = {name: path for name, path in named.items() if path is not None}
    read = {name: _read(path) for name, path in paths.items()}
    hashes = {name: digest for name, (digest, _) in read.items()}
    if "data" in hashes and "validation" in hashes:
        _require_two(hashes["data"], hashes["validation"])
    prompts = read["data"][1] if "data" in read else None
    return JobFiles(paths, hashes, prompts)


def require_two_files(training: Path, validation: Path) -> None:
    """Refuse a validation file of the training file's own bytes, under any name.

    Raises:
        BadJob: every prompt is in both.
        OSError: one of them cannot be read.
    """
    _require_two(_read(training)[0], _read(validation)[0])


def _require_two(training: str, validation: str) -> None:
    if training == validation:
        raise BadJob(
            "validation: two files share every prompt, for it is the training file again: name "
            "another, or leave it out"
        )


def _read(path: Path) -> tuple[str, int]:
    """The SHA-256 of a file, and its lines that hold anything."""
    digest, lines = hashlib.sha256(), 0
    with path.open("rb") as stream:
        for line in stream:
            digest.update(line)
            lines += not line.isspace()
    return digest.hexdigest(), lines


THINKING_TOKENS: Final = 8_192
"""Of an answer with high reasoning effort: what AWS's guide sets beside it (`rft-submit-job`)."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of the data.

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
    several = f" {others} other kinds of error follow."
    more = {0: "", 1: " Another kind of error follows."}.get(others, several)
    detail = f": {first.detail}" if first.detail else ""
    return (
        f"data: {first.where}: {first.what}{detail}{times}.{more} "
        "`reward data lint` lists every finding"
    )


COLUMN: Final = "prompt"


class Cells(NamedTuple):
    """The facts about the cells of a file.

    Args:
        number: of rows.
        with_reference: that carry a ground truth, and so hold JSON.
    """

    number: int
    with_reference: int


def cell_of(row: Mapping[str, Any], where: str) -> str:
    """The cell of a row.

    Args:
        row: of the training data.
        where: it stands, for errors.

    Raises:
        BadJob: it has no prompt, or a number that JSON has not, or is too long to be read again.
    """
    prompt = row.get(COLUMN)
    try:
        if has_reference(row):
            # Strict JSON: what the agent's side reads again.
            cell = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            asked = prompt or row.get("messages") or row.get("question") or row.get("problem")
        elif prompt is not None:
            cell = asked = (
                prompt if isinstance(prompt, str) else json.dumps(prompt, allow_nan=False)
            )
        else:
            cell = asked = _last_user_turn(row.get("messages"))
    except (ValueError, RecursionError):
        raise BadJob(f"data: {where}: a number that JSON has not, or brackets too deep") from None
    if not asked or (isinstance(asked, str) and not asked.strip()):
        raise BadJob(f"data: {where}: no prompt: write `prompt`, or `messages` with a user turn")
    if len(cell) > LARGEST_CELL:
        raise BadJob(
            f"data: {where}: its prompt has {len(cell):,} characters; agents read {LARGEST_CELL:,}"
        )
    return cell


def has_reference(row: Mapping[str, Any]) -> bool:
    """Whether a row carries a ground truth beside its prompt."""
    places = [row, *(row[name] for name in INSIDE if isinstance(row.get(name), dict))]
    return any(place.get(name) is not None for place in places for name in REFERENCE)


def cells(file: Path) -> Iterator[tuple[str, bool]]:
    """Each row's cell, and whether it carries a ground truth.

    Raises:
        BadJob: a row is no object, or has no prompt.
        OSError: the file cannot be read.
    """
    for each in scan_rows(str(file)):
        if not isinstance(each, Row):
            raise BadJob(f"data: {each}")
        yield cell_of(each.content, each.where), has_reference(each.content)


def counted(file: Path) -> Cells:
    """How many rows there are, and how many carry a ground truth.

    Raises:
        BadJob, OSError: as `cells`.
    """
    found = [known for _, known in cells(file)]
    return Cells(len(found), sum(found))


def write_cells(file: Path, to: Path) -> None:
    """Write a file of training data as the trainer reads it: `{"prompt": CELL}` on each line.

    Raises:
        BadJob, OSError: as `cells`.
    """
    with named(to), to.open("w", encoding="utf-8", newline="\n") as stream:
        for cell, _ in cells(file):
            stream.write(json.dumps({COLUMN: cell}) + "\n")


def _last_user_turn(messages: Any) -> str:
    turns = messages if isinstance(messages, list) else []
    users = [turn for turn in turns if isinstance(turn, dict) and turn.get("role") == "user"]
    return text_of(users[-1].get("content")) if users else ""
