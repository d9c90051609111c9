"""A verifier that does not start is an error: it would count as one that refuses everything."""

import pytest

from tests.oracle import rival
from tests.oracle.rival import Rival


def test_an_environment_without_the_verifier_is_an_error(monkeypatch, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o700)
    monkeypatch.setitem(rival.RIVALS, "math_dapo", (rival.math_dapo, broken))
    with Rival(name="math_dapo") as asked, pytest.raises(RuntimeError, match="does not start"):
        asked.judge("5", "$5$")


def test_math_verify_answers_in_a_process_of_its_own_whatever_package_is_called_tests(
    monkeypatch, tmp_path
):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Rival() as asked:
        assert asked.judge("5", "$5$").right
        assert not asked.judge("5", "$6$").right
