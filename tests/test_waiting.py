"""A wait: what it returns, and what it says of what never comes."""

import pytest

from tests import waiting


def test_it_returns_what_it_found():
    found = iter([0, [], "there"])
    assert waiting.until(lambda: next(found)) == "there"


def test_what_never_comes_is_a_failure_that_names_it(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    with pytest.raises(AssertionError, match="no dead letter, in 0 seconds"):
        waiting.until(lambda: 0, "no dead letter")
