"""`make bench`: every benchmark in one run, each figure beside a yardstick from the same run.

    python -m tests.benchmarks              all of them
    python -m tests.benchmarks gsm8k cli    those
    python -m tests.benchmarks busy --times 20    one that is repeated

Ratios travel between machines, absolute figures do not.
"""

import sys
from argparse import ArgumentParser
from importlib import import_module
from pkgutil import iter_modules

from rich.console import Console

from tests import benchmarks


def main(arguments):
    """Print the report of every benchmark, or of the chosen ones."""
    parser = ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("names", nargs="*", help="all where none is given")
    parser.add_argument("--times", type=int, help="of `busy`: how often each batch is asked")
    options = parser.parse_args(arguments)
    chosen, repeated = options.names, {"times": options.times} if options.times else {}
    console = Console()
    names = [found.name for found in iter_modules(benchmarks.__path__) if found.name[0] != "_"]
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        sys.exit(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(names)}")
    for name in chosen or names:
        import_module(f"tests.benchmarks.{name}").report(
            console, **(repeated if name == "busy" else {})
        )


if __name__ == "__main__":
    main(sys.argv[1:])
