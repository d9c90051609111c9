"""Files of a folder: opened only where they lie in it, and never a device or a pipe.

A file may vanish, shrink or grow while it is looked at. A line may have no end.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.core.jsons import is_too_deep, may_be_too_deep, no_constant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD: Final = 1 << 16
"""Bytes of a file's beginning that say what it is."""

LONGEST: Final = 16 << 20
"""Bytes of a line that is read; a longer one is passed over."""

LARGEST: Final = 64 << 20
"""Bytes of a record or a page that is read whole."""

PIECE: Final = 1 << 20

UNREADABLE: Final = (
    *(RewardError, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(RecursionError, AssertionError),
)
"""What reading a file of somebody else's may raise: it is no result then, and nothing is wrong
with this program."""


_DECODER: Final = json.JSONDecoder(parse_constant=no_constant)


BOM: Final = codecs.BOM_UTF8
"""Some editors begin a file with it."""


class Gone(ConfigurationError):
    """The file is not there any more, or may not be read. The message says which."""


MESSAGE: Final = 300
"""Characters of what is wrong with a file."""


def unreadable(error: BaseException) -> str:
    """The problem of a file, in a sentence."""
    words = str(error).partition("\n")[0][:MESSAGE] or type(error).__name__
    if listed := getattr(error, "errors", None):  # pydantic's, of which the first is shown
        first = listed(include_url=False, include_input=False)[0]
        words = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:MESSAGE]
    return words if isinstance(error, RewardError) else f"it cannot be read: {words}"


class Line(NamedTuple):
    """A line of a file.

    Args:
        offset: of its first byte.
        end: of the byte after its line break.
        text: without the line break; None where it is longer than `LONGEST`.
        ended: whether a line break ends it. The last line of a file may have none, and may be half.
    """

    offset: int
    end: int
    text: bytes | None
    ended: bool = True

    @property
    def required(self) -> bytes:
        """Its text.

        Raises:
            ValueError: it is longer than `LONGEST`.
        """
        if self.text is None:
            raise ValueError(f"it is longer than {LONGEST >> 20} MB")
        return self.text


def opened_in(folder: Path, name: str) -> IO[bytes]:
    """A regular file of a folder.

    Args:
        folder: resolved.
        name: relative to it.

    Raises:
        Gone: it vanished, may not be read, is no regular file, or a link leads out of the folder.
    """
    try:
        path = (folder / name).resolve(strict=True)
        if not path.is_relative_to(folder):
            raise Gone(f"{name} leads out of the folder: it is not read")
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Gone(f"{name} is not there any more") from None
    except PermissionError:
        raise Gone(f"{name} may not be read: you have no permission") from None
    except (OSError, RuntimeError, ValueError) as error:
        raise Gone(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Gone(f"{name} is no regular file")
    return os.fdopen(file, "rb")


def is_locked(stream: IO[bytes]) -> bool:
    """Whether a run of `reward score` writes to its partial file, which it locks.

    It is locked for an instant, to see. A file system without locks says no.
    """
    try:
        fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    fcntl.flock(stream, fcntl.LOCK_UN)
    return False


def whole(folder: Path, name: str) -> bytes:
    """The bytes of a file.

    Raises:
        Gone: it cannot be read, or is larger than `LARGEST`.
    """
    with opened_in(folder, name) as stream:
        found = stream.read(LARGEST + 1)
    if len(found) > LARGEST:
        raise Gone(f"{name} is larger than {LARGEST >> 20} MB: it is not read")
    return found.removeprefix(BOM)


def lines(stream: IO[bytes], start: int) -> Iterator[Line]:
    """The lines of a stream from a byte on; what stands after the last line break is one, too."""
    at = stream.seek(start)
    while text := stream.readline(LONGEST):
        end = at + len(text)
        if text.endswith(b"\n"):
            yield Line(at, end, _without_mark(at, text.rstrip(b"\r\n")))
        elif len(text) < LONGEST:
            yield Line(at, end, _without_mark(at, text), ended=False)
        else:
            end += _passed_over(stream)
            if end < 0:
                return
            yield Line(at, end, None)
        at = end


def _without_mark(at: int, text: bytes) -> bytes:
    return text if at else text.removeprefix(BOM)


def _passed_over(stream: IO[bytes]) -> int:
    """The bytes up to the next line break, which is read; a large negative number without one."""
    size = 0
    while piece := stream.readline(PIECE):
        size += len(piece)
        if piece.endswith(b"\n"):
            return size
    return -(1 << 62)


def decoded(text: bytes | str) -> Any:
    """A JSON value without NaN and infinity, and never deeper than `MAX_DEPTH`.

    Raises:
        ValueError: it is no such value.
    """
    try:
        found = _DECODER.decode(text if isinstance(text, str) else text.decode())
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if may_be_too_deep(text) and is_too_deep(found):
        raise ValueError("it is nested too deep")
    return found
