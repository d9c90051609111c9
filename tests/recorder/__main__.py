"""What every reward says of every row there is: a change that only moves code must not change it.

    python -m tests.recorder record OUT.jsonl [--mutations 20000] [--seed 1]
    python -m tests.recorder compare OLD.jsonl NEW.jsonl [--allow-missing] [--ignore FIELD]

Record the checkout before the change and the one after it, then compare. Status 1 means that
something differs. What the change renames on purpose stands in `names.toml`.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from time import monotonic

from tests.recorder import comparing, names, recording


def main(arguments):
    """Run one of the two commands; the exit status."""
    parser = ArgumentParser(prog="python -m tests.recorder", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    record = commands.add_parser("record", help="score everything, and write a record of it")
    record.add_argument("out", type=Path)
    record.add_argument("--mutations", type=int, default=20_000)
    record.add_argument("--seed", type=int, default=1)
    record.set_defaults(run=_record)
    compare = commands.add_parser("compare", help="say what differs between two records")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    compare.add_argument("--allow-missing", action="store_true", help="rows of one record only")
    compare.add_argument(
        "--ignore", action="append", default=[], metavar="FIELD", help=", ".join(comparing.FIELDS)
    )
    compare.set_defaults(run=_compare)
    options = parser.parse_args(arguments)
    return options.run(options)


def _record(options):
    began = monotonic()
    summary = recording.record(options.out, mutations=options.mutations, seed=options.seed)
    for file, count in sorted(summary.files.items()):
        print(f"{count:>8,}  {file}")
    errors = ", ".join(f"{count:,} {error}" for error, count in summary.errors.most_common())
    versions = ", ".join(f"{name} {version}" for name, version in sorted(summary.versions.items()))
    print(
        f"{summary.files.total():,} rows in {monotonic() - began:.0f} s ({summary.repeated:,} that "
        f"come twice are left out, {summary.engine:,} rest on the machine)\n"
        f"rewards by version: {versions}\n"
        f"without a score: {errors}"
    )
    return 0


def _compare(options):
    old, new = comparing.read(options.old), comparing.read(options.new)
    found = comparing.compare(old, new, names.read(), ignored=options.ignore)
    for line in comparing.report(found):
        print(line)
    return int(found.fails(allow_missing=options.allow_missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
