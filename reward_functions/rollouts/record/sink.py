"""Where trajectories go when their episodes end: a file, S3, or a function.

| given | each trajectory is |
| --- | --- |
| a path | a line at the end of the file: see `jsonl` |
| `s3://BUCKET/FOLDER` | an object `FOLDER/ID-DIGEST.jsonl`, the digest that of job and id |
| a function | its argument |

A line is written while the file is locked, so that threads and processes append whole lines; half a
line that a killed process left gives way to the next one. Lines that `append` wrote are the
system's: a process that is killed loses nothing, a machine that loses its power may lose the last
lines. Where there are no locks, as on Windows, a line is one write at the end of the file.

A sink never harms an episode: a caller of `keep` gets no exception, and each cause of a failure is
logged once. **The file holds prompts and responses.** It is made for its owner alone.
"""

from __future__ import annotations

import logging
import os
import re
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.record.jsonl import written
from reward_functions.rollouts.request.file_locks import locked
from reward_functions.rollouts.request.s3 import s3_client

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.record.types import Trajectory

    Write = Callable[[Trajectory], object]

S3: Final = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/([A-Za-z0-9_.!'()/-]{1,800})")

PRIVATE: Final = 0o600
"""The mode of a new file."""

CHUNK: Final = 65_536
"""Bytes that are read at a time to find the last line break."""

_log = logging.getLogger("reward_functions.rollouts")


class TrajectorySink:
    """Keeps trajectories; safe to use from many threads and processes.

    Args:
        target: see above.
        client: boto3's for S3; one of the environment where None.

    Raises:
        ConfigurationError: a target of another form.
    """

    def __init__(self, target: str | Path | Write, *, client: Any = None) -> None:
        self._write = _opened(target, client)
        self._lock = Lock()
        self._logged: set[str] = set()

    def keep(self, trajectory: Trajectory) -> bool:
        """Keep a trajectory.

        Returns:
            Whether it is kept. A failure is logged, each cause once.
        """
        try:
            self._write(trajectory)
        except Exception as error:  # noqa: BLE001 - a function of the user's raises what it likes
            self._failed(type(error).__name__)
            return False
        return True

    def _failed(self, cause: str) -> None:
        with self._lock:
            known = cause in self._logged
            self._logged.add(cause)
        if not known:
            _log.error("trajectories are not kept: %s; it is logged once", cause)


def append(path: Path, line: str) -> None:
    """Append a line to a file, whole.

    Raises:
        OSError: it cannot be written, or is no regular file.
    """
    data = f"{line}\n".encode("utf-8", "surrogatepass")
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), PRIVATE)
    with closing(os.fdopen(file, "r+b", buffering=0)), locked(file) as alone:
        if not S_ISREG(os.fstat(file).st_mode):
            raise OSError("no regular file")
        if alone:
            _end_at_a_line(file)
        left = memoryview(data)
        while left:
            left = left[os.write(file, left) :]


def _opened(target: Any, client: Any) -> Write:
    if callable(target):
        return target  # type: ignore[no-any-return]
    text = os.fspath(target)
    if "://" not in text:
        return lambda trajectory: append(Path(text), written(trajectory))
    found = S3.fullmatch(text)
    if found is None:
        raise ConfigurationError(
            f"trajectories go to a file or to s3://BUCKET/FOLDER, not to {text[:256]!r}"
        )
    bucket, folder = found[1], found[2].rstrip("/")

    def put(trajectory: Trajectory) -> None:
        (client or s3_client()).put_object(
            Bucket=bucket,
            Key=f"{folder}/{_key(trajectory)}",
            Body=f"{written(trajectory)}\n".encode("utf-8", "surrogatepass"),
            ContentType="application/jsonl",
        )

    return put


def _key(trajectory: Trajectory) -> str:
    """A name that no id of a trainer can make into another folder."""
    whole = f"{trajectory.job}\n{trajectory.id}".encode("utf-8", "surrogatepass")
    harmless = re.sub(r"[^A-Za-z0-9_-]", "-", trajectory.id)[:100]
    return f"{harmless}-{sha256(whole).hexdigest()[:16]}.jsonl"


def _end_at_a_line(file: int) -> None:
    """Cut off the beginning of a line that a killed process left."""
    size = end = os.fstat(file).st_size
    while end:
        begin = max(0, end - CHUNK)
        os.lseek(file, begin, os.SEEK_SET)
        at = os.read(file, end - begin).rfind(b"\n")
        if at >= 0:
            end = begin + at + 1
            break
        end = begin
    if end < size:
        os.ftruncate(file, end)
