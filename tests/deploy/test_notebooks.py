"""The job notebooks, cell by cell in this process: on the stage, with a submitter's rights.

One that needs further policies begins as the emulator's root, and becomes a user who has them.
"""

import pytest

from tests.notebooks import files
from tests.notebooks.alike import assert_alike
from tests.notebooks.files import ALONE

JOBS = [path for path in files.notebooks() if not path.name.startswith(ALONE)]

FURTHER = ("09_",)
"""How the names of those begin that need more than a submitter's three policies."""


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_outputs_are_the_committed_ones(path, me, account, monkeypatch):
    monkeypatch.delenv("COLUMNS")
    if path.name.startswith(FURTHER):
        # No evaluator is registered before the notebook does it.
        account.control("reset")
        account.control("speed", seconds_to_host=0.0)
        for name, value in account.aws.environment.items():
            monkeypatch.setenv(name, value)
    assert_alike(path)
