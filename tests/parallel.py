"""How a parallel run is shared out: by folder where tests share something costly, else by file.

A fixture of a session is made once in each worker that needs it. A deployment takes half a minute
and is changed by its tests in their order; stacks are synthesised once for several files. What
takes longest begins first, so that no worker is left with it at the end.
"""

from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/deploy/", "tests/cdk/")
"""Folders that one worker takes as a whole, the longest first."""


class Sharing(LoadScopeScheduling):
    """Hands out folders and files in the order of collection."""

    def __init__(self, config, log):
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid):
        return next(filter(nodeid.startswith, TOGETHER), nodeid.partition("::")[0])


def longest_first(items):
    """Put the costly folders before the rest."""

    def place(item):
        return next((at for at, each in enumerate(TOGETHER) if item.nodeid.startswith(each)), 99)

    items.sort(key=place)
