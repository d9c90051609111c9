"""The few calls of Ray 2.60.0 and Dask 2026.8.0 that our engines make, done in this thread.

`tests/hosts` makes the same calls of the real ones. An order goes through JSON, as it does across
a wire; the parts in `dies` end their worker as often as they say.
"""

import json
from itertools import count
from types import ModuleType, SimpleNamespace


class Died(Exception):
    """What either says of a worker that ended."""


class Cluster:
    """What is under way, and what ends its worker."""

    def __init__(self, dies=()):
        self.dies, self.open, self.cancelled, self.orders = dict(dies), 0, [], []

    def outcome(self, function, order, *more):
        """(what came of an order, None), or (None, why nothing did)."""
        order = json.loads(json.dumps(order))
        self.orders.append(order)
        part = order["shard"]["part"]
        if order["task"] == "score" and self.dies.get(part, 0):
            self.dies[part] -= 1
            return None, Died("the worker died\nand much more")
        try:
            return function(order, *more), None
        except Exception as error:  # noqa: BLE001 - as a worker does
            return None, error


def ray(cluster):
    """`ray`: init, remote, wait, get, cancel, shutdown; the last task is ready first."""
    found = ModuleType("ray")

    class RayError(Exception):
        cause = None

    class RayTaskError(RayError):
        def __init__(self, cause):
            super().__init__(str(cause))
            self.cause = cause

    def init(address, *, log_to_driver, logging_level, include_dashboard=True):
        if address == "ray://nowhere:10001":
            raise ConnectionError("ray client connection timeout")
        cluster.open += 1

    def get(task):
        done, error = cluster.outcome(*task.called)
        if isinstance(error, Died):
            raise RayError(str(error))
        if error:
            raise RayTaskError(error)
        return done

    class Called:
        """A task; it is known by itself."""

        def __init__(self, *called):
            self.called = called

    def remote(**options):
        assert options == {"num_cpus": 1, "max_retries": 0}
        return lambda function: SimpleNamespace(remote=lambda order: Called(function, order))

    def shutdown():
        cluster.open -= 1

    found.exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
    found.init, found.get, found.remote, found.shutdown = init, get, remote, shutdown
    found.is_initialized = lambda: bool(cluster.open)
    found.wait = lambda tasks, num_returns: (tasks[-num_returns:], tasks[:-num_returns])
    found.cancel = lambda task, force: cluster.cancelled.append((task, force))
    return found


class Future:
    """Done when somebody asks what came of it."""

    def __init__(self, key, outcome):
        self.key, self._outcome, self._found = key, outcome, None

    def _done(self):
        self._found = self._found or self._outcome()
        return self._found

    def exception(self):
        return self._done()[1]

    def result(self):
        return self._done()[0]


class Completed:
    """Futures, the last one first."""

    def __init__(self, futures):
        self._left = list(futures)

    def add(self, future):
        self._left.append(future)

    def __iter__(self):
        while self._left:
            yield self._left.pop()


def dask(cluster):
    """`distributed`: Client, Event, as_completed; the last future is ready first."""
    found = ModuleType("distributed")
    names, raised = count(), set()

    class Event:
        def __init__(self, name=None, client=None):
            self.name = name or f"event-{next(names)}"

        def set(self):
            raised.add(self.name)

        def is_set(self):
            return self.name in raised

    class Client:
        def __init__(self, address=None, **own):
            if address == "tcp://nowhere:8786":
                raise OSError("Timed out trying to connect")
            assert set(own) <= {"n_workers", "threads_per_worker", "dashboard_address"}
            cluster.open += 1

        def submit(self, function, order, name, *, pure):
            assert pure is False
            return Future(f"key-{next(names)}", lambda: cluster.outcome(function, order, name))

        def close(self):
            cluster.open -= 1

    found.Client, found.Event, found.as_completed = Client, Event, Completed
    found.KilledWorker = Died
    return found
