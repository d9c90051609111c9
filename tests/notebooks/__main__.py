"""`make notebooks`: run each notebook in a kernel, from its first cell to its last, and keep it.

    python -m tests.notebooks               all of them
    python -m tests.notebooks 00 01         those whose names begin so

The emulator, the stage on it and the training double are started for the run, and end with it.
"""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from reward_functions.local.emulator.emulator import merged
from tests.notebooks import files, in_kernel
from tests.notebooks.files import ALONE
from tests.notebooks.stage import deployed, point_at


def main(wanted):
    """Run them; returns how many failed."""
    chosen = [
        path
        for path in files.notebooks()
        if not wanted or any(path.name.startswith(each) for each in wanted)
    ]
    if not chosen:
        raise SystemExit(f"no notebook begins with {', '.join(wanted)}")
    with ExitStack() as ended:
        _leave_every_account()
        if any(not path.name.startswith(ALONE) for path in chosen):
            point_at(ended.enter_context(deployed(_say)))
        return sum(not _ran(path) for path in chosen)


def _leave_every_account():
    """No kernel reaches an account, or another emulator, by mistake."""
    os.environ["PYTHONPATH"] = str(files.ROOT)
    kept = merged(os.environ, {})
    for name in set(os.environ) - set(kept):
        del os.environ[name]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ.pop(name, None)


def _ran(path):
    from nbclient.exceptions import CellExecutionError

    begun = perf_counter()
    notebook = files.read(path)
    with TemporaryDirectory() as folder:
        try:
            made = in_kernel.ran(notebook, Path(folder))
        except CellExecutionError as error:
            _say(f"{path.name}: failed\n{error}")
            return False
    changed = files.write(path, notebook, made)
    kept = "written" if changed else "as it was"
    size = path.stat().st_size / 1_000
    _say(f"{path.name}: {len(made)} cells, {perf_counter() - begun:.1f} s, {size:.0f} KB, {kept}")
    return True


def _say(text):
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
