"""Our own runtime requirements: which versions, with which hashes, and where the list lies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions.cdk.artifact.packages import normalised

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

PROJECT: Final = "reward-functions"

_ALGEBRA: Final = frozenset({"mpmath", "sympy"})

ON_REACH: Final = {
    "mpmath": _ALGEBRA,
    "sympy": _ALGEBRA,
    "jsonschema_rs": frozenset({"jsonschema-rs"}),
    "rapidfuzz": frozenset({"rapidfuzz"}),
}
"""Packages that a reward's artifact carries only where the reward reaches an import of them, and
the pins that each takes, a part of the zip: the algebra is half of its bytes."""

_BOTOCORE: Final = frozenset({"botocore", "jmespath", "python-dateutil", "six", "urllib3"})
_PYDANTIC: Final = frozenset(
    {"annotated-types", "pydantic", "pydantic-core", "typing-extensions", "typing-inspection"}
)

BRINGS: Final = {
    "aws_lambda_powertools": frozenset({"aws-lambda-powertools", "jmespath", "typing-extensions"}),
    "boto3": _BOTOCORE | {"boto3", "s3transfer"},
    "botocore": _BOTOCORE,
    "pydantic": _PYDANTIC,
    "urllib3": frozenset({"urllib3"}),
}
"""What other functions import, and the pins that it takes."""

ENTRY: Final = re.compile(
    r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)([^\n\\]*)((?:\\\n\s+--hash=\S+[ \t]*)*)",
    re.MULTILINE,
)

HASH: Final = re.compile(r"--hash=(\S+)")


@dataclass(frozen=True, slots=True)
class Pin:
    """A line of a requirements file: a name, normalised, a version, hashes of its files."""

    name: str
    version: str
    hashes: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join([f"{self.name}=={self.version}", *(f"--hash={one}" for one in self.hashes)])


def pins() -> Path:
    """The file: in the installed wheel, or in the checkout."""
    here = Path(__file__)
    carried = here.with_name("runtime.txt")
    return carried if carried.is_file() else here.parents[3] / "requirements" / "runtime.txt"


def our_pins() -> tuple[Pin, ...]:
    """The runtime requirements of this project, by name."""
    return parsed(pins().read_text(encoding="utf-8"))


def pins_for(packages: Iterable[str]) -> tuple[Pin, ...]:
    """The pins that some imported packages take, by name, without those of `ON_REACH`.

    Args:
        packages: as code imports them; what `BRINGS` does not name is passed over.
    """
    wanted = frozenset().union(*(BRINGS.get(each, frozenset()) for each in packages))
    return tuple(pin for pin in our_pins() if pin.name in wanted)


def pins_on_reach(names: Collection[str]) -> Iterator[tuple[Pin, ...]]:
    """The pins of `ON_REACH` that an artifact carries, a part each.

    Args:
        names: packages as code imports them, and distributions as a lock names them.
    """
    parts = dict.fromkeys(ON_REACH.values())
    for part in parts:
        imports = {name for name, pins in ON_REACH.items() if pins is part}
        if not (imports | part).isdisjoint(names):
            yield tuple(pin for pin in our_pins() if pin.name in part)


def pins_of_every_reward() -> tuple[Pin, ...]:
    """The pins that the artifact of every reward carries, by name."""
    left = frozenset().union(*ON_REACH.values())
    return tuple(pin for pin in our_pins() if pin.name not in left)


def parsed(text: str) -> tuple[Pin, ...]:
    """The distributions of a requirements file, by name."""
    return tuple(
        Pin(normalised(name), version, tuple(sorted(HASH.findall(f"{rest} {hashes}"))))
        for name, version, rest, hashes in sorted(ENTRY.findall(text))
    )


def stray(text: str) -> str | None:
    """The first line that `parsed` would pass over, comments aside; None without one."""
    lines = map(str.strip, ENTRY.sub("", text).splitlines())
    return next((line for line in lines if line and not line.startswith("#")), None)
