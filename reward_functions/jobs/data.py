"""The files of a job, by their bytes: what names the job, and what is uploaded unchanged."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from reward_functions.data.atomic import named
from reward_functions.data.linting import MAX_ROWS, MIN_ROWS
from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.job import DriverName

CHUNK: Final = 1 << 20

ANY: Final = (1, 2**31 - 1)

ROWS: Final[Mapping[DriverName, tuple[int, int]]] = {
    "bedrock": (MIN_ROWS, MAX_ROWS),
    "openai": (MIN_ROWS, MAX_ROWS),
    "sagemaker": ANY,
    "agent-rft": ANY,
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
                if _copied(path, copies[name]) != self.hashes[name]:
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
    """Refuse a validation file of the training file's own bytes, by whatever name.

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


def _copied(path: Path, to: Path) -> str:
    """The SHA-256 of what was copied."""
    digest = hashlib.sha256()
    with path.open("rb") as source, named(to), to.open("xb") as copy:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            copy.write(chunk)
    return digest.hexdigest()
