"""Where the labelled data lies, when it is at hand; the project's tests pass without it."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared():
    """The folder of labelled data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the labelled data in ../shared/data is not at hand")
    return SHARED
