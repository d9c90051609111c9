"""Results on a stream as they come, in the order of the file.

A reader that has read enough ends the command; where a page is asked for, rows are scored on for
it, and the command ends when the page is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

Form = Literal["jsonl", "json"]
"""A line for each row, or one array of all."""


class Streamed:
    """Lines of results, written as they come.

    Args:
        stream: where to.
        form: of the results.
        limit: lines at most; None for all.
        patient: whether an error of writing waits for `end`.
    """

    def __init__(
        self,
        stream: TextIO,
        form: Form,
        limit: int | None,
        *,
        patient: bool,
    ) -> None:
        self.written = 0
        self._stream = stream
        self._is_array = form == "json"
        self._limit = limit
        self._patient = patient
        self._error: OSError | None = None

    def add(self, line: str) -> None:
        """Write a result, unless enough are written.

        Raises:
            OSError: it cannot be written.
        """
        if self._limit is not None and self.written >= self._limit:
            return
        between = "," if self.written else "["
        self._put(f"{between}\n{line}" if self._is_array else f"{line}\n")
        self.written += 1

    def flush(self) -> None:
        """Hand on what is written.

        Raises:
            OSError: nobody takes it.
        """
        self._put("", flush=True)

    def end(self) -> None:
        """Write what closes an array.

        Raises:
            OSError: it cannot be written, or something before it could not.
        """
        if self._is_array:
            self._put("\n]\n" if self.written else "[\n]\n")
        self.flush()
        if self._error:
            raise self._error

    def _put(self, text: str, *, flush: bool = False) -> None:
        if self._error:
            return
        try:
            self._stream.write(text)
            if flush:
                self._stream.flush()
        except OSError as error:
            if not self._patient:
                raise
            self._error = error


def write_lines(form: Form, stream: TextIO, lines: Iterator[str]) -> None:
    """Write results that are all there.

    Args:
        form: of the results.
        stream: where to.
        lines: an object each.

    Raises:
        OSError: they cannot be written.
    """
    if form == "jsonl":
        stream.writelines(f"{line}\n" for line in lines)
        return
    stream.write("[")
    stream.writelines(f"{',' if at else ''}\n{line}" for at, line in enumerate(lines))
    stream.write("\n]\n")
