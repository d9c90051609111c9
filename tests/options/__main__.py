"""`make options`: every option of a stage alone, all together, and stages as large as they may be.

    python -m tests.options                  all of them
    python -m tests.options feedback agents  those whose name begins so

Each is synthesised twice, in processes that hash otherwise: a template is the same, or a finding.
No function's zip is built. It exits with 1 where there is a finding.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.options.synth import digest_of, synthesised
from tests.options.table import ROWS, together
from tests.options.utmost import utmost

FIRST = "nothing else"
"""The stage that every row of an option adds to."""


def named():
    """What is synthesised: its name, that of its stage, and what the stage says."""
    yield FIRST, "dev", {}
    yield from ((row.name, "dev", row.given) for row in ROWS)
    yield from ((f"together {n}", "dev", each) for n, each in enumerate(together(), 1))
    yield from ((f"utmost: {name}", *each) for name, each in utmost().items())


def main():
    """Print a row for each; 1 where there is a finding."""
    begins = (FIRST, *(sys.argv[1:] or [""]))
    chosen = [each for each in named() if each[0].startswith(begins)]
    os.environ.pop("PYTHONHASHSEED", None)  # each process has a seed of its own
    workers = max(1, (os.cpu_count() or 2) // 2)
    fresh = get_context("spawn")
    with (
        ProcessPoolExecutor(workers, mp_context=fresh) as one,
        ProcessPoolExecutor(workers, mp_context=fresh) as other,
    ):
        inspected = {name: one.submit(synthesised, *rest) for name, *rest in chosen}
        again = {name: other.submit(digest_of, *rest) for name, *rest in chosen}
        found, plain = 0, None
        print("option | resources | added | seconds | findings")
        print("--- | --: | --: | --: | ---")
        for name, making in inspected.items():
            made = making.result()
            said = list(made.findings)
            if again[name].result() != made.digest:
                said.append("a second synth makes another template")
            plain = made.resources if plain is None else plain
            figures = f"{made.resources} | {made.resources - plain:+} | {made.seconds:.1f}"
            print(f"{name} | {figures} | {'; '.join(said) or 'none'}", flush=True)
            found += bool(said)
    print(f"\n{len(inspected)} stages, {found} with findings")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
