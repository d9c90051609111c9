"""A place: a folder on disk or below an address of S3, that holds objects by name.

    place = place_of("s3://bucket/scores/run-7")          or place_of("build/run-7")
    place.write("run.json", b"{}")                        whole or not at all
    with place.opened("rows.jsonl", etag) as stream: …    seekable; read a piece at a time

Names have `/` between their parts on either. An object is known by its size and its ETag; one that
has another ETag by the time it is read is refused, so that no run is of two states of its input.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final, NamedTuple, Protocol

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from io import BufferedReader

    from boto3.session import Session

PIECE: Final = 8 << 20
"""Bytes that are asked of S3 at a time: a connection that breaks off costs no more."""

SCHEME: Final = "s3://"


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
        """The object of this name; None where there is none.

        Raises:
            AwsFailed, OSError: nobody can tell.
        """

    def opened(self, name: str, etag: str = "") -> AbstractContextManager[BufferedReader]:
        """The content of an object as a stream of bytes that can be sought in.

        Args:
            name: of the object.
            etag: that it has; "" for any.

        Raises:
            NoSuchObject: there is none.
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
    raise NotImplementedError
