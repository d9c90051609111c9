"""Which stored versions go, and why each of the others stays: the decision, without AWS.

A published version and a function of an immutable deployment (a *generation*) are one thing here:
code under an ARN that answers the same for as long as it is stored. One goes only where no rule of
`_stays` holds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from reward_functions.aws.arn import FUNCTION, GENERATION_NAME, FunctionArn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence


class Key(NamedTuple):
    """What a stored version is found by.

    Args:
        function: the function's name.
        version: its number as Lambda writes it; None of a generation, which is a whole function.
    """

    function: str
    version: str | None


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """Code that Lambda keeps under an ARN that does not move.

    Args:
        deployment: whose it is.
        key: where it is.
        published: when, as Lambda writes times; generations of a deployment are ordered by it.
        size: bytes of its zip.
        serves: the reward, its version and the digest; empty where its description names none.
        gone: whether the stage has no such deployment any more.
        others: further stages whose names the function's name may carry.
    """

    deployment: str
    key: Key
    published: str
    size: int
    serves: str = ""
    gone: bool = False
    others: tuple[str, ...] = ()

    @property
    def age(self) -> tuple[int, str]:
        """What orders the versions of a function, and the generations of a deployment."""
        return int(self.key.version or 0), self.published


@dataclass(frozen=True, slots=True)
class JobInProgress:
    """A training job that may invoke functions.

    Args:
        name: as its service names it.
        texts: all that it says of functions: an ARN alone, a hyperparameter, a variable.
    """

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InUse:
    """Who names what.

    Args:
        here: any function of the stage: its account and region are those of the rest.
        catalogue: what gives ARNs to jobs: the ARNs themselves, or records that hold them.
        aliases: the versions behind each alias, by function and alias.
        jobs: those in progress.
    """

    here: FunctionArn
    catalogue: frozenset[str] = frozenset()
    aliases: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    jobs: tuple[JobInProgress, ...] = ()


@dataclass(frozen=True, slots=True)
class PruneDecision:
    """What becomes of one version, in words.

    Args:
        stored: the version.
        goes: whether it is removed.
        reason: why, or why not.
    """

    stored: StoredVersion
    goes: bool
    reason: str


def decide(stored: Sequence[StoredVersion], in_use: InUse, keep: int) -> list[PruneDecision]:
    """What becomes of every version, the newest of each deployment first.

    Args:
        stored: of one account and region.
        in_use: what must stay.
        keep: the newest versions of a deployment that stay whoever names them, at least 1; of a
            deployment that is gone none do.
    """
    holders = _holders(in_use, {each.key.function for each in stored})
    decided = []
    for row in _by_kind(stored):
        for place, each in enumerate(row):
            why = next(_stays(each, place, holders, keep), None)
            decided.append(PruneDecision(each, why is None, why or _goes(each, keep)))
    return decided


def _holders(in_use: InUse, names: Collection[str]) -> dict[Key, str]:
    """Why each key stays that anybody names; of several reasons the strongest, which comes last."""
    held: dict[Key, str] = {}
    for job in in_use.jobs:
        for text in job.texts:
            held |= dict.fromkeys(_named(text, in_use, names), f"the job {job.name} may invoke it")
    for (function, alias), versions in in_use.aliases.items():
        for version in versions:
            held[Key(function, version)] = f"the alias {alias} points to it"
    for text in in_use.catalogue:
        held |= dict.fromkeys(_named(text, in_use, names), "the catalogue gives it to jobs")
    return held


def _stays(each: StoredVersion, place: int, holders: Mapping[Key, str], keep: int) -> Iterator[str]:
    """Every reason to keep a version, the strongest first."""
    if reason := holders.get(each.key):
        yield reason
    # A job may name a function in words that are no ARN: then all of it is held.
    if reason := holders.get(Key(each.key.function, None)):
        yield reason
    if each.others:
        yield f"it may belong to stage {' or '.join(each.others)}"
    if place < keep and not each.gone:
        yield "the newest" if keep == 1 else f"one of the newest {keep}"


def _goes(each: StoredVersion, keep: int) -> str:
    if each.gone:
        return "its deployment is gone, and nothing names it"
    return f"older than the newest{f' {keep}' if keep > 1 else ''}, and nothing names it"


def _by_kind(stored: Iterable[StoredVersion]) -> Iterator[list[StoredVersion]]:
    """The versions of each function and the generations of each deployment, newest first."""

    def kind(each: StoredVersion) -> tuple[str, bool]:
        return each.deployment, each.key.version is None

    for _, row in groupby(sorted(stored, key=kind), kind):
        yield sorted(row, key=lambda each: each.age, reverse=True)


def _named(text: str, in_use: InUse, names: Collection[str]) -> Iterator[Key]:
    """What a text names: by the ARNs in it, and beside them by a function's bare name."""
    for found in FUNCTION.finditer(text):
        yield from _behind(FunctionArn(**found.groupdict()), in_use)
    # No ARN as we read them: all versions of whatever the rest seems to name stay.
    rest = FUNCTION.sub(" ", text)
    yield from (Key(name, None) for name in names if name in rest)


def _behind(arn: FunctionArn, in_use: InUse) -> Iterator[Key]:
    """What an ARN leads to for good.

    What a job reaches by an alias stays as the alias's own, whoever names it; and the code behind a
    plain ARN or `$LATEST` is no stored version.
    """
    here = in_use.here
    if (arn.partition, arn.account, arn.region) != (here.partition, here.account, here.region):
        return
    name = arn.name.rstrip(".")  # a sentence may end behind it
    if GENERATION_NAME.fullmatch(name):
        yield Key(name, None)
    elif (arn.qualifier or "").isdecimal():
        yield Key(name, arn.qualifier)
