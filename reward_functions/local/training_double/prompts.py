"""Find the row of a prompt: a simulated policy writes right answers from the row's reference.

The rows are those of `*.jsonl` under `rft-data/` in the emulator's buckets, of files uploaded to
the OpenAI-compatible API, and of files named at the start. A prompt that is none of theirs has no
reference, and no answer.

Where each response falls among the strategies: few prompts show the shares that draw them.

Drawn one by one, the greedy answers to ten prompts are right in 30 points more or fewer than the
sampled ones, by chance alone. So the points of a file's prompts lie evenly: those of any first ones
in the order in which `reward job` draws them are as far apart as they can be. Of 10 or more prompts
the base is right in 34 % of its greedy answers, give or take 4 points, and never 10 points from the
sampled ones, four to a prompt.

    point of the nth response to a prompt = place of the prompt × an irrational number, + a shift

Each n has a shift of its own, and of eight numbers the next: whether a prompt's first response is
right says nothing of its second. Source: Kuipers and Niederreiter, Uniform Distribution of
Sequences, 1974, chapter 2, section 3.

Training files are read as a service reads them: JSONL of prompts, 100 to 20,000 of them, text only.
A fault is the job's failure, with the line it stands on and never the text of a prompt. Source:
"Prepare data for reinforcement fine-tuning" in the Bedrock user guide.
"""

from __future__ import annotations

from hashlib import sha256
from math import sqrt
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.catalogue import DATA_PREFIX
from reward_functions.aws.emulator_record import DEFAULT
from reward_functions.data.linting import MAX_ROWS, MIN_ROWS, ROLES
from reward_functions.data.records import text_of
from reward_functions.local.loopback_service.server import invalid, utf8_json
from reward_functions.local.training_double.training import JobFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.local.training_double.rights import Clients


Row = dict[str, Any]

LONGEST: Final = 512 * 1024 * 1024
"""Bytes of a file, the most that OpenAI's Files API takes; Bedrock documents no limit."""


def training_rows(content: bytes, name: str) -> list[Row]:
    """The rows of a training file.

    Raises:
        JobFailed: a line is not a prompt, or there are too few or too many.
    """
    rows = prompts(content, name)
    if not MIN_ROWS <= len(rows) <= MAX_ROWS:
        raise JobFailed(
            f"The training data {name} has {len(rows)} records; reinforcement fine-tuning takes "
            f"{MIN_ROWS} to {MAX_ROWS}."
        )
    return rows


def prompts(content: bytes, name: str) -> list[Row]:
    """The rows of a file, however many.

    Raises:
        JobFailed: a line is not a prompt.
    """
    rows: list[Row] = []
    for number, row in json_lines(content, name):
        if problem := _problem(row):
            raise JobFailed(f"{name}, line {number}: {problem}.")
        rows.append(row)
        if len(rows) > MAX_ROWS:
            break
    return rows


def json_lines(content: bytes, name: str) -> Iterator[tuple[int, Any]]:
    """The values of a file of JSON lines, each with the number of its line.

    Raises:
        JobFailed: a line is something else.
    """
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = utf8_json(line)
        except (ValueError, RecursionError):
            raise JobFailed(
                f"{name} is not JSONL: line {number} is not a JSON value in UTF-8."
            ) from None
        yield number, value


def _problem(row: Any) -> str:
    """What keeps a row from being a prompt; "" where nothing does."""
    if not isinstance(row, dict):
        return "it is not a JSON object"
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        return "`messages` is not a list of turns"
    for turn in messages:
        if not isinstance(turn, dict) or turn.get("role") not in ROLES:
            return "a turn has no role that the service knows"
        if not isinstance(turn.get("content"), str):
            return "the content of a turn is not text"
    if not any(turn["role"] == "user" for turn in messages):
        return "no turn is the user's"
    return ""


GOLDEN: Final = (sqrt(5) - 1) / 2
"""Of all numbers the one whose multiples lie most evenly."""

SLOPES: Final = (
    GOLDEN,
    sqrt(2) - 1,
    sqrt(3) - 1,
    (sqrt(13) - 3) / 2,
    (sqrt(21) - 3) / 2,
    sqrt(7) - 2,
    (sqrt(29) - 5) / 2,
    sqrt(6) - 2,
)
"""Others of that kind."""

SHIFT: Final = 0.025
"""Of greedy answers: with it the shares of the base are met best."""


def places(count: int) -> list[int]:
    """The places of so many prompts, in the order in which `reward job` draws them."""
    drawn = list(range(count))
    Random(0).shuffle(drawn)  # noqa: S311 - the default of its --seed
    found = [0] * count
    for place, at in enumerate(drawn):
        found[at] = place
    return found


def point(place: int, number: int, *, greedy: bool) -> float:
    """Where a response falls, from 0 to 1.

    Args:
        place: of the prompt.
        number: of the response, from 1.
        greedy: whether it is the prompt's only one.
    """
    if greedy:
        return (place * GOLDEN + SHIFT) % 1
    shift = Random(f"response {number}").random()  # noqa: S311 - the same in every run
    return (place * SLOPES[number % len(SLOPES)] + shift) % 1


LARGEST: Final = 64 * 1024 * 1024
"""Bytes of an object that is looked into."""


class Known(NamedTuple):
    """A row, and its place among the prompts of its file."""

    row: Row
    place: int


class Prompts:
    """Rows by their prompts.

    Args:
        clients: of the emulator whose buckets are looked through.
    """

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._rows: dict[bytes, Known] = {}
        self._read: dict[tuple[str, str], str] = {}
        self._lock, self._looking = Lock(), Lock()

    def add(self, rows: Iterable[Row]) -> None:
        """Know these rows of one file from now on."""
        found = {_key(row["messages"]): row for row in rows}
        known = map(Known, found.values(), places(len(found)))
        with self._lock:
            self._rows.update(zip(found, known, strict=True))

    def forget(self) -> None:
        """Know no row."""
        with self._lock:
            self._rows.clear()
            self._read.clear()

    def row_of(self, messages: Sequence[Mapping[str, Any]]) -> Known:
        """The row whose prompt these messages are.

        Args:
            messages: turns with `role` and `content`, a system prompt among them.

        Raises:
            Refused: no row fits; the message says what to do.
        """
        key = _key(messages)
        if key not in self._rows:
            # Many ask at once: nobody is refused while another reads the file.
            with self._looking:
                if key not in self._rows:
                    self._look()
        row = self._rows.get(key)
        if row is None:
            raise invalid(
                "simulation: no row has this prompt: name the file of your rows, "
                f"`{self._naming()}`. The training double also answers *.jsonl files under "
                f"s3://BUCKET/{DATA_PREFIX} on the local AWS, and uploaded files"
            )
        return row

    def _naming(self) -> str:
        """The command by which this double is given a file."""
        aws = self._clients.aws
        name = "" if aws.name == DEFAULT else f" --name {aws.name}"
        return f"reward local up{name}{' --enforce' * aws.enforcing} --training --data FILE"

    def _look(self) -> None:
        """Read what is new in the buckets."""
        s3 = self._clients.root("s3")
        for bucket, key, etag in _objects(s3):
            if self._read.get((bucket, key)) == etag:
                continue
            content = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
            self._read[bucket, key] = etag
            try:
                self.add(prompts(content, key))
            except JobFailed:
                continue  # not a file of prompts, and no concern of whoever asks


def _objects(s3: Any) -> Iterator[tuple[str, str, str]]:
    """The bucket, the key and the ETag of each file of prompts."""
    for bucket in s3.list_buckets()["Buckets"]:
        name = bucket["Name"]
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=name, Prefix=DATA_PREFIX)
        for page in pages:
            for found in page.get("Contents", []):
                if found["Key"].endswith(".jsonl") and found["Size"] <= LARGEST:
                    yield name, found["Key"], found["ETag"]


def _key(messages: Sequence[Mapping[str, Any]]) -> bytes:
    digest = sha256()
    for turn in messages:
        role = "system" if turn.get("role") == "developer" else str(turn.get("role"))
        text = text_of(turn.get("content")).strip()
        digest.update(f"{role}\0{len(text)}\0{text}\0".encode())
    return digest.digest()
