"""What was begun is known before an interrupt, and kept once."""

import pytest

from reward_functions.core.threads import Threads
from reward_functions.scoring.rows import Unread
from reward_functions.scoring.run import Pieces, Run


def run_of(rows):
    unread = [(at, Unread(f"input line {at}", at, {})) for at in range(rows)]
    return Run(Pieces(unread, 1), lambda piece: list(piece.positions), 2)


def positions(pieces):
    return [position for piece, _ in pieces for position in piece.positions]


def test_a_piece_whose_start_is_interrupted_is_waited_for(monkeypatch):
    begin = Threads.submit

    def interrupted(threads, *arguments):
        begin(threads, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Threads, "submit", interrupted)
    run = run_of(3)
    with pytest.raises(KeyboardInterrupt):
        next(iter(run))
    assert run._begun, "what runs is known"
    piece, future = run._begun[0]
    assert future.result(5) == list(piece.positions)
    assert positions(run.finished(5)) == [0]
    run.close()


def test_a_piece_that_was_handed_on_and_not_kept_is_handed_on_again():
    run = run_of(1)
    pieces = iter(run)
    assert positions([next(pieces)]) == [0]
    assert positions(run.finished(5)) == [0]
    run.close()


def test_a_piece_that_was_kept_is_under_way_no_more():
    run = run_of(1)
    assert positions(run) == [0]
    assert not positions(run.finished(5))
    run.close()
