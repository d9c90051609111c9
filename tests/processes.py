"""Which processes belong to something, as their environment tells: where there is a `/proc`."""

from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep


def processes_of(folder):
    """The ids of the processes whose environment names something in this folder.

    Of an emulator's folder: the emulator, its functions, a command line of the CDK.
    """
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if f"{folder}/".encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
    return found


def end_within(folder, seconds):
    """Whether the processes of a folder end in time; one that was killed is there for a moment."""
    late = monotonic() + seconds
    while processes_of(folder):
        if monotonic() > late:
            return False
        sleep(0.05)
    return True
