"""What a run of the tests started ends with the run, however it ended, SIGKILL included.

Everything that a run starts has the run's own folder in its environment: the variable that says
where emulators are recorded leads there, and an emulator's home lies in it. The reaper, a process
beside the run, waits until a pipe that the run alone holds closes. Then it kills what names the
folder (where there is a `/proc`), and removes the folder.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import sleep

from tests.processes import processes_of

ROOT = Path(__file__).parents[1]

VARIABLE = "XDG_STATE_HOME"


def begin_run():
    """Make this process a run of the tests; returns what it has to hold on to until it ends."""
    folder = Path(tempfile.mkdtemp(prefix="reward-tests-"))
    os.environ[VARIABLE] = str(folder / "main")
    reaper = subprocess.Popen(
        [sys.executable, "-S", "-m", "tests.reaper", str(folder)],
        stdin=subprocess.PIPE,
        cwd=ROOT,
        env={},
        start_new_session=True,  # Ctrl-C is not meant for it
    )
    reaper.returncode = 0  # it outlives this process, of which Popen would complain
    return reaper.stdin


def choose_state(worker):
    """Record the emulators of this worker of the run apart from those of the others."""
    os.environ[VARIABLE] = str(Path(os.environ[VARIABLE]).with_name(worker))


def main(folder):
    """Wait for the end of the run, and end what is left of it."""
    sys.stdin.read()
    while left := processes_of(folder):
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
