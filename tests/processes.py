"""Which processes belong to something, as their environment tells: where there is a `/proc`."""

from contextlib import suppress
from pathlib import Path

from tests.waiting import until


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


def until_ended(folder):
    """Wait for the processes of a folder to end; one that was killed is there for a moment."""
    until(lambda: not processes_of(folder), f"processes of {folder} run on")
