"""Cases in files, and ratings of them."""

import json

import pytest

from reward_functions.calibration.cases import read_cases
from reward_functions.core.spec import UNIT_SCALE


@pytest.fixture
def read(tmp_path):
    """The cases of some rows."""

    def cases(*rows, scale=UNIT_SCALE, **options):
        path = tmp_path / "cases.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return read_cases(str(path), scale, **options)

    return cases
