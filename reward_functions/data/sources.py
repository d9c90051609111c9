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
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import named
from reward_functions.data.json_rows import BadInput
from reward_functions.data.records import BadRecord, Record
from reward_functions.data.rows.formats import scan_file, splits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from http.client import HTTPResponse

TIMEOUT: Final = 30.0
"""Seconds a server may be silent."""

CHUNK: Final = 1 << 16
"""Bytes read at a time."""

MAX_BYTES: Final = 1 << 28
"""Bytes a file may have: three times the largest, FinQA's training split of 78 MB."""

NAMES: Final = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "valid": "dev",
    "val": "dev",
    "validation": "dev",
    "eval": "dev",
    "test": "test",
    "testing": "test",
}
"""What the splits are called, by what their files are called."""

LISTED: Final = 64
"""Files whose checksums are listed one by one."""

SHOWN: Final = 8
"""Names that a message lists."""

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
    if kept.is_file() and file.sha256 in (None, checksum(kept)):
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    arriving = kept.with_name(f".{kept.name}.{os.getpid()}.unfinished")
    try:
        base = f"{mirror.rstrip('/')}/" if mirror else file.base
        _download(base + file.path, arriving, progress)
        arrived = checksum(arriving)
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


def checksums(paths: Sequence[Path]) -> dict[str, str | None]:
    """The SHA-256 of every file that is read, by path; a pipe, which is read once, has none.

    Of more than `LISTED` files it is one, by the folder they have in common: of what `sha256sum`
    prints of them, in the order of their paths.
    """
    if len(paths) <= LISTED:
        return {str(path): checksum(path) if path.is_file() else None for path in paths}
    folder = Path(os.path.commonpath(paths))
    lines = sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in paths):
        lines.update(f"{checksum(path)}  ./{name}\n".encode())
    return {str(folder): lines.hexdigest()}


def records_of(path: Path, split: str | None = None) -> Iterator[Record | BadInput]:
    """The records of a file of any format; their own `split` field goes before the file's.

    Where neither the file nor a record names a split, no record may have one: a record that lost
    its split would otherwise become a data set of its own.
    """
    first: str | None = None
    for row in scan_file(str(path)):
        if isinstance(row, BadInput):
            yield row
            continue
        own = row.content.get("split") or split
        first = first or own
        if own is None and first is not None:
            yield BadRecord(f"{row.where}: split is missing, and other records have one")
            continue
        if own is not None and (not isinstance(own, str) or own not in NAMES):
            yield BadRecord(f"{row.where}: split is not one of train, dev, test")
            continue
        yield Record(row.content, row.where, NAMES[own] if own else None)


def split_files(source: Path, *, merged: bool = False) -> list[tuple[Path, str | None]]:
    """The files of a source, and the split that each one's name holds.

    Args:
        source: a folder with a file for each split, such as `train.jsonl`, or as the Hugging Face
            hub and `save_to_disk` lay it out. One file will do, if its name has one of the words
            for the split, as `gsm8k-test.jsonl` has.
        merged: whether the configurations of a folder are parts of one data set.

    Raises:
        ConfigurationError: a folder without any such file, or with several data sets.
    """
    if not source.is_dir():
        named = {NAMES[word] for word in _WORDS.split(source.stem.lower()) if word in NAMES}
        return [(source, named.pop() if len(named) == 1 else None)]
    found = splits_of(source)
    if len(found) == 1 and not found.keys() & NAMES.keys():
        (files,) = found.values()
        return [(path, split_files(path)[0][1]) for path in files]
    known = {name: name for name in found if name in NAMES} or {
        name: name.rpartition("-")[2] for name in found if name.rpartition("-")[2] in NAMES
    }
    if not known:
        there = f"; it holds {', '.join(sorted(found)[:SHOWN])}" if found else ""
        raise ConfigurationError(
            f"{source}: holds no file of a split, train, dev (or validation) or test{there}"
        )
    sets = {name.removesuffix(split).rstrip("-") for name, split in known.items()}
    if len(sets) > 1 and not merged:
        names = ", ".join(str(source / each) for each in sorted(sets)[:SHOWN])
        raise ConfigurationError(f"{source}: holds several data sets: name one, {names}")
    return [(path, NAMES[split]) for name, split in sorted(known.items()) for path in found[name]]


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
                with named(to):
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


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
