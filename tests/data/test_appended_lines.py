"""A file of lines: whole ones are kept, a torn one gives way, and nothing else is a file."""

import os
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import AppendedLines

CONTENTS = [
    # what stands there, its whole lines, what is torn
    (b"", [], b""),
    (b"{", [], b"{"),
    (b"{}\n", [b"{}\n"], b""),
    (b"{}\n{", [b"{}\n"], b"{"),
    (b"{}\n\n", [b"{}\n", b"\n"], b""),
    (b"a\rb\n", [b"a\rb\n"], b""),
    (b"\xff\n\0", [b"\xff\n"], b"\0"),
    (b"a\n" * 1000 + b"b" * 100_000, [b"a\n"] * 1000, b"b" * 100_000),
]


@pytest.mark.parametrize(("content", "whole", "torn"), CONTENTS, ids=range(len(CONTENTS)))
def test_whole_lines_stay_and_a_torn_one_gives_way(tmp_path, content, whole, torn):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(content)
    with AppendedLines(path) as lines:
        assert ([*lines.whole()], lines.torn) == (whole, torn)
        assert path.read_bytes() == content
        lines.append({"a": 1})
        lines.append({"b": 2})
        assert [*lines.whole()] == [*whole, b'{"a": 1}\n', b'{"b": 2}\n']
    assert path.read_bytes() == b"".join(whole) + b'{"a": 1}\n{"b": 2}\n'


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/null"])
def test_what_is_no_file_is_refused_before_it_is_read(device):
    with pytest.raises(ConfigurationError, match="is no regular file"):
        AppendedLines(Path(device))


def test_what_json_cannot_hold_changes_nothing(tmp_path):
    with AppendedLines(tmp_path / "lines.jsonl") as lines:
        with pytest.raises(ValueError, match="not JSON compliant"):
            lines.append({"a": float("nan")})
        assert lines.length == 0


@contextmanager
def small_files():
    """No file of this process grows over a page: a disk that is full.

    Nor does any that pytest writes, so that it lasts for what is tested alone.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


def test_a_full_disk_is_an_error_that_names_the_file_and_whole_lines_stay(tmp_path):
    path = tmp_path / "lines.jsonl"
    with small_files(), AppendedLines(path) as lines:
        lines.append({"a": 1})
        for _ in range(2):
            with pytest.raises(OSError, match=os.strerror(27)) as full:
                lines.append({"a": "x" * 10_000})
            assert full.value.filename == str(path)
        lines.append({"b": 2})
    assert path.read_bytes() == b'{"a": 1}\n{"b": 2}\n'
