"""Results on standard output as they come, in the order of the file.

A reader that has read enough ends the command; where a page is asked for, rows are scored on for
it, and the command ends when the page is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import TextIO

Format = Literal["table", "jsonl", "json"]


class Streamed:
    """Lines of results, written as they come.

    Args:
        stream: where to.
        format: jsonl, or json for one array.
        limit: lines at most; None for all.
        patient: whether an error of writing waits for `end`.
    """

    def __init__(
        self,
        stream: TextIO,
        format: Format,  # noqa: A002
        limit: int | None,
        *,
        patient: bool,
    ) -> None:
        self.written = 0
        self._stream = stream
        self._is_array = format == "json"
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
