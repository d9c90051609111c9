"""Where the files of a data set come from: a local path, or its public home.

A download is held to what was pinned: the revision is part of the address, and the SHA-256 of what
arrived must be the one recorded here. It is kept in a cache, under its checksum, and not asked for
again. Files are never taken from a branch, whose content may change.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.tools.datasets.rows import BadRecord, Record
from reward_functions.tools.json_rows import BadInput, scan_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.client import HTTPResponse

TIMEOUT: Final = 30.0
"""Seconds a server may be silent."""

CHUNK: Final = 1 << 16
"""Bytes read at a time."""

MAX_BYTES: Final = 1 << 28
"""Bytes a file may have: three times the largest, FinQA's training split of 78 MB."""

NAMES: Final = {
    "train": "train",
    "dev": "dev",
    "valid": "dev",
    "val": "dev",
    "validation": "dev",
    "test": "test",
}
"""What the splits are called, by what their files are called."""

_WORDS: Final = re.compile(r"[^a-z]+")


class DownloadFailed(ConfigurationError):
    """The download failed, or the file is not the pinned one. The message says what to do."""


@dataclass(frozen=True, slots=True)
class PublicFile:
    """A file at the public home of a data set.

    Args:
        base: the address of the pinned revision, with a slash at the end.
        path: the file's, below it.
        sha256: of its content; None where nobody has published one, and then only the revision
            holds it.
    """

    base: str
    path: str
    sha256: str | None

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]


def fetched(
    file: PublicFile,
    cache: Path,
    mirror: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Path:
    """A public file, on this machine; downloaded where the cache does not hold it.

    Args:
        file: what is wanted.
        cache: the folder downloads are kept in.
        mirror: an address to take the place of the public home; the checksum stays.
        progress: called with the bytes that arrived since its last call.

    Raises:
        DownloadFailed: no network, no such file, or another content than was pinned.
        OSError: the cache cannot be written.
    """
    kept = cache / (file.sha256 or file.base.rstrip("/").rpartition("/")[2]) / file.name
    if kept.is_file() and file.sha256 in (None, _sha256(kept)):
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    arriving = kept.with_name(f".{kept.name}.{os.getpid()}.unfinished")
    try:
        base = f"{mirror.rstrip('/')}/" if mirror else file.base
        _download(base + file.path, arriving, progress)
        arrived = _sha256(arriving)
        if file.sha256 not in (None, arrived):
            raise DownloadFailed(
                f"{file.path}: its SHA-256 is {arrived}, and {file.sha256} was pinned: "
                "this is another file, and nothing of it is used"
            )
        arriving.replace(kept)
    finally:
        arriving.unlink(missing_ok=True)
    return kept


def cache_folder() -> Path:
    """Where downloads are kept: below XDG_CACHE_HOME, or ~/.cache."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "reward-functions" / "datasets"


def checksum(path: Path) -> str | None:
    """The SHA-256 of a file; None of a folder."""
    return _sha256(path) if path.is_file() else None


def records_of(path: Path, split: str | None = None) -> Iterator[Record | BadInput]:
    """The records of a JSONL file or JSON array; their own `split` field goes before the file's.

    Where neither the file nor a record names a split, no record may have one: a record that lost
    its split would otherwise become a data set of its own.
    """
    first: str | None = None
    for row in scan_rows(str(path)):
        if isinstance(row, BadInput):
            yield row
            continue
        own = row.content.get("split", split)
        first = first or own
        if own is None and first is not None:
            yield BadRecord(f"{row.where}: split is missing, and other records have one")
            continue
        if own is not None and (not isinstance(own, str) or own not in NAMES):
            yield BadRecord(f"{row.where}: split is not one of train, dev, test")
            continue
        yield Record(row.content, row.where, NAMES[own] if own else None)


def split_files(source: Path) -> list[tuple[Path, str | None]]:
    """The files of a source, and the split that each one's name holds.

    Args:
        source: a folder with a file for each split, such as `train.jsonl`; or one file, in whose
            name the split may be any of the words, as in `gsm8k-test.jsonl`.

    Raises:
        ConfigurationError: a folder without any such file.
    """
    if not source.is_dir():
        named = {NAMES[word] for word in _WORDS.split(source.stem.lower()) if word in NAMES}
        return [(source, named.pop() if len(named) == 1 else None)]
    found: list[tuple[Path, str | None]] = [
        (path, NAMES[path.stem])
        for path in sorted(source.iterdir())
        if path.suffix in {".json", ".jsonl"} and path.stem in NAMES
    ]
    if not found:
        raise ConfigurationError(
            f"{source}: holds no train, dev or test file that ends in .json or .jsonl"
        )
    return found


def _download(address: str, to: Path, progress: Callable[[int], object] | None) -> None:
    from http.client import HTTPException  # noqa: PLC0415 - a local path needs no network
    from urllib.error import HTTPError, URLError  # noqa: PLC0415

    otherwise = "give what you have with --source PATH"
    try:
        with _opened(address) as response, to.open("wb") as stream:
            length = response.headers.get("Content-Length")
            total, done = int(length) if length and length.isdigit() else None, 0
            while chunk := response.read(CHUNK):
                done += len(chunk)
                if done > MAX_BYTES:
                    raise DownloadFailed(f"{address}: more than {MAX_BYTES:,} bytes")
                stream.write(chunk)
                if progress:
                    progress(len(chunk))
            if total is not None and done < total:
                raise DownloadFailed(f"{address}: cut short after {done:,} of {total:,} bytes")
    except HTTPError as error:
        raise DownloadFailed(f"{address}: {error.code} {error.reason}; {otherwise}") from None
    except URLError as error:
        raise DownloadFailed(
            f"{address}: cannot be reached ({error.reason}); without a network, {otherwise}"
        ) from None
    except (TimeoutError, ConnectionError, HTTPException) as error:
        raise DownloadFailed(f"{address}: the connection broke off ({error})") from None


@contextmanager
def _opened(address: str) -> Iterator[HTTPResponse]:
    from urllib.request import Request, urlopen  # noqa: PLC0415

    if not address.startswith(("https://", "http://")):
        raise DownloadFailed(f"{address}: downloads are by https or http")
    request = Request(address, headers={"User-Agent": "reward-functions"})  # noqa: S310
    with urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310 - the scheme is checked above
        yield response


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
