"""A real Dask on this machine."""

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.engines.dask import Dask
from tests.hosts.clusters import *  # noqa: F403 - its tests
from tests.hosts.clusters import lines, own_reward, planned, samples


@pytest.fixture
def engine():
    """The engine of this host."""
    return lambda: Dask(concurrency=2)


def test_a_file_of_a_reward_is_refused_where_others_score(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(samples(20)))
    with pytest.raises(ConfigurationError, match="install a package that registers"):
        planned(path, tmp_path, own_reward(tmp_path)).start(Dask("tcp://nowhere:8786"))
