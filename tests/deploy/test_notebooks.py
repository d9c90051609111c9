"""The job notebooks, cell by cell in this process: on the stage, with a submitter's rights."""

import pytest

from tests.notebooks import files
from tests.notebooks.alike import assert_alike
from tests.notebooks.files import ALONE

JOBS = [path for path in files.notebooks() if not path.name.startswith(ALONE)]


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_outputs_are_the_committed_ones(path, me, account, monkeypatch):
    monkeypatch.delenv("COLUMNS")
    assert_alike(path)
