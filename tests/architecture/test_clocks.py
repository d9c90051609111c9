"""No clock decides a verdict: the files below a judge that read one, and what for.

How busy a machine is may leave a sample unscored, and may not score it otherwise. So the rooms that
decide count their work; a file that wants a clock, a signal, a limit of the system or chance is to
say here why no score depends on it.
"""

from tests.architecture.test_shape import OURS, PACKAGE, tops

READ = {"time", "datetime", "signal", "resource", "random", "secrets", "sched", "timeit"}

DECIDING = (
    *("core", "quantities", "extraction", "symbolic", "finqa", "verifiers", "shapers", "judges"),
)

WHY = {
    "core/batch.py": "the deadline of a batch: what is left is unscored",
    "core/threads.py": "the same, for what threads have not returned",
    "core/looking.py": "looks of the command line at something slow",
    "core/http_server/server.py": "connections of local servers",
    "finqa/equality.py": "points drawn from a seed that is the formula itself",
    "symbolic/cas/client.py": "the deadline of a batch, and a worker that hangs: unscored",
    "symbolic/cas/seeding.py": "takes chance away from sympy",
    "verifiers/json_fields.py": "no clock: dates of an object in one spelling",
    "symbolic/cas/worker.py": "the fuse for what no weight foresees, the memory of one request",
}


def test_no_room_that_decides_reads_a_clock():
    paths = [path for path in OURS if path.relative_to(PACKAGE).parts[0] in DECIDING]
    reading = {str(path.relative_to(PACKAGE)) for path in paths if tops(path) & READ}
    assert reading == WHY.keys()
