"""Locks on files: one writer or many readers, until they are let go."""

import os

import pytest

from reward_functions.rollouts.collect.rate_limit import RateLimiter
from reward_functions.rollouts.record.sink import append
from reward_functions.rollouts.request.file_locks import locked, try_lock


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "file"
    made.touch()
    return made


def is_free(path, *, shared=False):
    with path.open("rb") as stream:
        return try_lock(stream.fileno(), shared=shared)


@pytest.mark.parametrize(
    ("held", "asked", "had"),
    [(False, False, False), (False, True, False), (True, False, False), (True, True, True)],
)
def test_one_writes_or_many_read(path, held, asked, had):
    with path.open("rb") as stream:
        assert try_lock(stream.fileno(), shared=held)
        assert is_free(path, shared=asked) is had
    assert is_free(path), "it ends with its file"


def test_a_block_keeps_others_out_and_a_descriptor_that_was_inherited_holds_nothing(path):
    with path.open("rb") as stream:
        inherited = os.dup(stream.fileno())
        with locked(stream.fileno()) as alone:
            assert alone
            assert not is_free(path)
        assert is_free(path)
        os.close(inherited)


def test_a_limiter_holds_the_file_of_its_budget_while_it_takes_a_moment(path):
    held = []

    def clock():
        held.append(not is_free(path))
        return 1e9

    RateLimiter(1, shared=path, clock=clock).reserve()
    assert held == [True]
    assert is_free(path)


def test_a_sink_writes_its_line_while_it_holds_the_file(path, monkeypatch):
    held, write = [], os.write

    def seen(file, data):
        held.append(not is_free(path))
        return write(file, data)

    monkeypatch.setattr(os, "write", seen)
    append(path, "{}")
    assert (held, path.read_bytes()) == ([True], b"{}\n")
    assert is_free(path)
