"""A place: a folder on disk or below an address of S3, that holds objects by name.

    place = place_of("s3://bucket/scores/run-7")          or place_of("build/run-7")
    place.write("run.json", b"{}")                        whole or not at all
    with place.opened("rows.jsonl", etag) as stream: …    seekable; read a piece at a time

Names have `/` between their parts on either. An object is known by its size and its ETag; one that
has another ETag by the time it is read is refused, so that no run is of two states of its input.
A name that begins with a full stop is no object of a folder: files have such names until they are
whole.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from functools import cached_property, lru_cache
from io import SEEK_CUR, SEEK_END, BufferedReader, RawIOBase
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast
from uuid import uuid4

from reward_functions.aws.calls import answer, client
from reward_functions.aws.failures import AwsFailed
from reward_functions.aws.s3 import Destination, read_object, upload
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from boto3.session import Session

PIECE: Final = 8 << 20
"""Bytes that are asked of S3 at a time: a connection that breaks off costs no more."""

SCHEME: Final = "s3://"

ATTEMPTS: Final = 4
"""How often a piece is asked for whose connection breaks off."""

_ADDRESS: Final = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")

_CHANGED: Final = ("PreconditionFailed", "412")

_REGION: Final = "the bucket is in another region: set AWS_REGION to it ({message})"
_REMEDIES: Final = dict.fromkeys(
    ("PermanentRedirect", "301", "AuthorizationHeaderMalformed"), _REGION
)


class NoSuchObject(ConfigurationError):
    """A place has no object of this name."""


class ChangedObject(ConfigurationError):
    """An object is another one than the run was planned with."""


class Object(NamedTuple):
    """One object of a place.

    Args:
        name: below the place, with `/` between its parts.
        size: in bytes.
        etag: differs whenever the content does: S3's own, or of a file its size and time.
    """

    name: str
    size: int
    etag: str


class Place(Protocol):
    """Where objects are. Safe to use from many threads."""

    @property
    def address(self) -> str:
        """As `place_of` takes it: `s3://bucket/prefix`, or an absolute path."""

    def objects(self, below: str = "") -> Iterator[Object]:
        """The objects whose names begin so, sorted by name as Unicode.

        A place that is not there has none.

        Raises:
            AwsFailed, OSError: it cannot be listed.
        """

    def found(self, name: str) -> Object | None:
        """The object of this name; None without one.

        Raises:
            AwsFailed, OSError: nobody can tell.
        """

    def opened(self, name: str, etag: str = "") -> AbstractContextManager[BufferedReader]:
        """The content of an object as a stream of bytes that can be sought in.

        Args:
            name: of the object.
            etag: that it has; "" for any.

        Raises:
            NoSuchObject: the object does not exist.
            ChangedObject: it has another ETag.
            AwsFailed, OSError: it cannot be read.
        """

    def read(self, name: str) -> bytes:
        """The whole content of a small object.

        Raises:
            NoSuchObject, AwsFailed, OSError: as of `opened`.
        """

    def write(self, name: str, content: bytes) -> None:
        """Make or replace an object: it appears whole or not at all.

        Raises:
            AwsFailed, OSError: it cannot be written.
        """

    def create(self, name: str, content: bytes) -> bool:
        """Make a small object; False where there is one of this name already, which stays.

        Raises:
            AwsFailed, OSError: it cannot be written.
        """

    def writing(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A file for the content of an object, which appears when the context ends without error.

        Raises:
            AwsFailed, OSError: it cannot be written.
        """

    def delete(self, name: str) -> None:
        """Remove an object; one that is not there is no error.

        Raises:
            AwsFailed, OSError: it cannot be removed.
        """


def place_of(text: str, session: Session | None = None) -> Place:
    """The place of an address.

    Args:
        text: `s3://bucket/prefix`, or the path of a folder, which need not exist.
        session: boto3's, for the credentials; the caller's own where not given.

    Raises:
        ConfigurationError: no address of S3, or none of a folder.
    """
    if not text.startswith(SCHEME):
        if not text:
            raise ConfigurationError("a place is s3://BUCKET/PREFIX, or the path of a folder")
        return Folder(Path(os.path.abspath(text)))  # noqa: PTH100 - `resolve` follows links
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise ConfigurationError(f"{text}: an address in S3 is written s3://BUCKET/PREFIX")
    return Bucket(found[1], (found[2] or "").strip("/"), session)


class Folder:
    """A folder on disk.

    Args:
        path: absolute.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def address(self) -> str:
        """As `Place` says."""
        return str(self._path)

    def objects(self, below: str = "") -> Iterator[Object]:
        """As `Place` says."""
        names = []
        for place, folders, files in os.walk(self._path):
            folders[:] = [each for each in folders if not each.startswith(".")]
            inside = Path(place).relative_to(self._path)
            names += [(inside / each).as_posix() for each in files if not each.startswith(".")]
        for name in sorted(names):
            if name.startswith(below) and (found := self.found(name)):
                yield found

    def found(self, name: str) -> Object | None:
        """As `Place` says."""
        path = self._path / name
        if not path.is_file():
            return None
        state = path.stat()
        return Object(name, state.st_size, f"{state.st_size:x}-{state.st_mtime_ns:x}")

    @contextmanager
    def opened(self, name: str, etag: str = "") -> Iterator[BufferedReader]:
        """As `Place` says."""
        _require_same(self, self.found(name), name, etag)
        with (self._path / name).open("rb") as stream:
            yield stream
        _require_same(self, self.found(name), name, etag)

    def read(self, name: str) -> bytes:
        """As `Place` says."""
        with self.opened(name) as stream:
            return stream.read()

    def write(self, name: str, content: bytes) -> None:
        """As `Place` says."""
        with self.writing(name) as stream:
            stream.write(content)

    def create(self, name: str, content: bytes) -> bool:
        """As `Place` says."""
        self._path.mkdir(parents=True, exist_ok=True)
        try:
            with (self._path / name).open("xb") as stream:
                stream.write(content)
        except FileExistsError:
            return False
        return True

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """As `Place` says."""
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            with unfinished.open("xb") as stream:
                yield stream
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def delete(self, name: str) -> None:
        """As `Place` says."""
        (self._path / name).unlink(missing_ok=True)


def _require_same(place: Place, found: Object | None, name: str, etag: str) -> Object:
    if found is None:
        raise NoSuchObject(f"{place.address}: there is no {name}")
    if etag and found.etag != etag:
        raise _changed(place, name)
    return found


def _changed(place: Place, name: str) -> ChangedObject:
    return ChangedObject(
        f"{place.address}: {name} is another object than the one that was planned with: start a "
        "new run"
    )


@lru_cache(maxsize=8)
def _client_of(session: Session) -> Any:
    """One for all places of a session: each reads S3's endpoints again."""
    return client("s3", None, session)


class Bucket:
    """The objects below an address of S3.

    Args:
        bucket: its name.
        prefix: of all keys, without a slash at either end; "" for the whole bucket.
        session: boto3's; the caller's own where not given.
    """

    def __init__(self, bucket: str, prefix: str = "", session: Session | None = None) -> None:
        self._bucket, self._session = bucket, session
        self._before = f"{prefix}/" if prefix else ""

    @property
    def address(self) -> str:
        """As `Place` says."""
        return f"{SCHEME}{self._bucket}/{self._before}".removesuffix("/")

    @cached_property
    def client(self) -> Any:
        """S3's client, which finds the region of the bucket."""
        return client("s3", None) if self._session is None else _client_of(self._session)

    def objects(self, below: str = "") -> Iterator[Object]:
        """As `Place` says."""
        what, list_ = f"listing {self.address}", self.client.list_objects_v2
        asked: dict[str, Any] = {"Bucket": self._bucket, "Prefix": self._before + below}
        while True:
            page = answer(what, list_, remedies=_REMEDIES, **asked)
            for each in page.get("Contents", ()):
                if not each["Key"].endswith("/"):  # what the console calls a folder
                    yield self._object(each["Key"], each["Size"], each)
            if not page.get("NextContinuationToken"):
                return
            asked["ContinuationToken"] = page["NextContinuationToken"]

    def _answer(self, what: str, call: str, name: str, **more: Any) -> dict[str, Any]:
        call_ = getattr(self.client, call)
        named: dict[str, Any] = {"Bucket": self._bucket, "Key": self._before + name}
        tried = f"{what} {self.address}/{name}"
        return answer(tried, call_, remedies=_REMEDIES, **named, **more)

    def found(self, name: str) -> Object | None:
        """As `Place` says."""
        try:
            head = self._answer("looking for", "head_object", name)
        except AwsFailed as error:
            if error.code in ("404", "NoSuchKey"):
                return None
            raise
        return self._object(self._before + name, head["ContentLength"], head)

    def _object(self, key: str, size: int, answered: Any) -> Object:
        return Object(key.removeprefix(self._before), size, str(answered["ETag"]).strip('"'))

    @contextmanager
    def opened(self, name: str, etag: str = "") -> Iterator[BufferedReader]:
        """As `Place` says."""
        found = _require_same(self, self.found(name), name, etag)
        with BufferedReader(cast("Any", _Ranges(self, found)), PIECE) as stream:
            yield stream

    def piece(self, found: Object, start: int, size: int) -> bytes:
        """Bytes of an object.

        Raises:
            ChangedObject: it is another one by now.
            AwsFailed: it cannot be read.
        """
        asked = {"Range": f"bytes={start}-{start + size - 1}", "IfMatch": f'"{found.etag}"'}
        for left in reversed(range(ATTEMPTS)):
            try:
                return self._read(found.name, **asked)
            except AwsFailed as error:
                if error.code in _CHANGED:
                    raise _changed(self, found.name) from None
                if not (error.passes and left):
                    raise
        raise AssertionError

    def _read(self, name: str, **more: Any) -> bytes:
        key, what = self._before + name, f"reading {self.address}/{name}"
        return read_object(self.client, self._bucket, key, what, **more)

    def read(self, name: str) -> bytes:
        """As `Place` says."""
        try:
            return self._read(name)
        except AwsFailed as error:
            if error.code == "NoSuchKey":
                raise NoSuchObject(f"{self.address}: there is no {name}") from None
            raise

    def write(self, name: str, content: bytes) -> None:
        """As `Place` says."""
        self._answer("writing", "put_object", name, Body=content)

    def create(self, name: str, content: bytes) -> bool:
        """As `Place` says."""
        try:
            self._answer("writing", "put_object", name, Body=content, IfNoneMatch="*")
        except AwsFailed as error:
            if error.code in _CHANGED:
                return False
            raise
        return True

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """As `Place` says."""
        with NamedTemporaryFile() as stream:
            yield cast("IO[bytes]", stream)
            stream.flush()
            place = Destination(self._bucket, self._before + name)
            list(upload(self.client, {Path(stream.name): place}))

    def delete(self, name: str) -> None:
        """As `Place` says."""
        self._answer("removing", "delete_object", name)


class _Ranges(RawIOBase):
    """An object of S3 as a file, read in pieces of the ETag that it was opened with."""

    def __init__(self, bucket: Bucket, found: Object) -> None:
        self._bucket, self._found, self._at = bucket, found, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        base = {SEEK_CUR: self._at, SEEK_END: self._found.size}.get(whence, 0)
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        size = min(len(buffer), self._found.size - self._at)
        if size <= 0:
            return 0
        piece = self._bucket.piece(self._found, self._at, size)
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
