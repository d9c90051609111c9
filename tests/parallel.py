"""How a parallel run is shared out: by folder where tests share something costly, else by file.

A fixture of a session is made once in each worker that needs it. A deployment takes half a minute
and is changed by its tests in their order; stacks are synthesised once for several files. What
takes longest begins first, so that no worker is left with it at the end.

Every worker collects everything. In a fresh checkout most of that is to rewrite assertions, and to
look for constants on behalf of Hypothesis, which both keep in files: each worker walks the folders
in an order of its own, and finds done what another came across before.
"""

from functools import cached_property
from random import Random

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/deploy/", "tests/cdk/")
"""Folders that one worker takes as a whole, the longest first."""


class Numbered(list):
    """The tests of a worker, each found without a look at those before it: there are thousands."""

    @cached_property
    def _numbers(self):
        return {nodeid: number for number, nodeid in enumerate(self)}

    def index(self, nodeid):
        """The number by which the worker knows a test."""
        return self._numbers[nodeid]


class Sharing(LoadScopeScheduling):
    """Hands out folders and files in the order of collection."""

    def __init__(self, config, log):
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def add_node_collection(self, node, collection):
        """Take note of what a worker has collected."""
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Numbered(collection)

    def mark_test_complete(self, node, item_index, duration=0):
        """Take note of a test's end; a share whose tests have all ended is not counted again."""
        scope = self._split_scope(self.registered_collections[node][item_index])
        if scope not in self.assigned_work[node]:
            return  # a test with subtests reports each of them
        super().mark_test_complete(node, item_index, duration)
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]

    def _split_scope(self, nodeid):
        return next(filter(nodeid.startswith, TOGETHER), nodeid.partition("::")[0])


class Shuffled(pytest.Dir):
    """A folder that each worker collects in an order of its own."""

    def collect(self):
        """What is in it."""
        found = [*super().collect()]
        Random(f"{self.config.workerinput['workerid']} {self.nodeid}").shuffle(found)
        return found


def by_path(items):
    """Undo what `Shuffled` does: all workers must have collected the same."""
    items.sort(key=lambda item: item.nodeid.partition("::")[0].split("/"))


def longest_first(items):
    """Put the costly folders before the rest."""

    def place(item):
        return next((at for at, each in enumerate(TOGETHER) if item.nodeid.startswith(each)), 99)

    items.sort(key=place)
