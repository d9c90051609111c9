"""Prune a stage: what Lambda stores of its deployments, what is in use, and the removal.

    plan = planned("dev", keep=3)         # decided, nothing removed
    removed(plan)                         # each version that goes, until one cannot be removed

What goes is decided in `retention.py`. A function is listed only where the catalogue names its
deployment, or where its name is that of an immutable deployment's function of this stage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import GENERATION_NAME, FunctionArn
from reward_functions.aws.deployed.catalogue import (
    NotDeployed,
    deployments,
    names_in,
    nothing_deployed,
    other_stages,
    stage_record,
)
from reward_functions.aws.deployed.jobs import jobs_in_progress
from reward_functions.aws.deployed.retention import InUse, Key, StoredVersion, decide
from reward_functions.aws.deployed.versions import (
    aliases_of,
    generations,
    lambda_of,
    published,
)
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.names import Names
from reward_functions.core.suggest import did_you_mean
from reward_functions.serving.descriptions import described

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.aws.deployed.retention import PruneDecision

CONFLICT: Final = "ResourceConflictException"
"""Lambda's answer where an alias points to the version."""


@dataclass(frozen=True, slots=True)
class CodeStorage:
    """What an account's functions and layers store, in bytes, and the most that they may."""

    used: int
    limit: int


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What a prune would do.

    Args:
        here: any function of the stage.
        decisions: one for every stored version.
        storage: the account's; None where it may not be read.
    """

    here: FunctionArn
    decisions: tuple[PruneDecision, ...]
    storage: CodeStorage | None

    @property
    def going(self) -> list[StoredVersion]:
        """What is removed."""
        return [decision.stored for decision in self.decisions if decision.goes]

    @property
    def bytes_going(self) -> int:
        """What their zips take."""
        return sum(each.size for each in self.going)

    def still(self, later: PrunePlan) -> PrunePlan:
        """This plan without what a later one keeps: somebody may have taken a version meanwhile."""
        going = {each.key for each in later.going}
        kept = tuple(each for each in self.decisions if not each.goes or each.stored.key in going)
        return replace(self, decisions=kept)


@dataclass(frozen=True, slots=True)
class Removal:
    """What became of one version that was to go.

    Args:
        stored: the version.
        problem: why it is still there, in a sentence; None where it is gone, whoever removed it.
    """

    stored: StoredVersion
    problem: str | None = None


def planned(
    stage: str,
    names: Sequence[str] = (),
    *,
    keep: int | None = None,
    without_jobs: Collection[str] = (),
    session: Session | None = None,
) -> PrunePlan:
    """Decide what goes; nothing is removed.

    Args:
        stage: as `cdk.json` names it.
        names: deployments, or generations' deployments that are gone; all where empty.
        keep: the newest versions of each that stay, at least 1; the stage's own number where None.
        without_jobs: services of `jobs.SERVICES` in which no job runs, as the caller knows.
        session: boto3's; the caller's own where not given.

    Raises:
        NotDeployed: the stage has nothing deployed, or none of a name.
        JobsUnknown: which jobs run cannot be known.
        AwsFailed: the catalogue or the functions cannot be read.
    """
    record = stage_record(stage, session)
    kept = record.keep_versions if keep is None else keep
    called = Names(stage, record.name_prefix)
    catalogue = deployments(stage, session)
    if not catalogue:
        raise nothing_deployed(stage)
    here = FunctionArn.parse(catalogue[0].function_arn)
    client = lambda_of(here, session)
    whole = list(generations(client, called.function("")))
    # Whose a whole function is can be in doubt; a version belongs to a function of the catalogue.
    others = other_stages(stage, session) if whole else {}
    stored = [*_versions(catalogue, client), *_generations(called, catalogue, others, whole)]
    deployed = {each.name for each in catalogue} | {each.deployment for each in stored}
    for name in names:
        if name not in deployed:
            raise NotDeployed(
                f"stage {stage!r} has no deployment {name!r}{did_you_mean(name, deployed)}"
            )
    stored = [each for each in stored if not names or each.deployment in names]
    in_use = InUse(
        here,
        catalogue=frozenset({each.version_arn for each in catalogue} | _texts(others)),
        aliases=_aliases(stored, client),
        jobs=jobs_in_progress(here.region, without_jobs, session),
    )
    return PrunePlan(here, tuple(decide(stored, in_use, kept)), _storage(client))


def removed(plan: PrunePlan, session: Session | None = None) -> Iterator[Removal]:
    """Remove what goes; stop at the first that cannot be removed for a reason of the caller's.

    A version that an alias took meanwhile stays; one that is gone already counts as removed.
    """
    client = lambda_of(plan.here, session)
    for each in plan.going:
        try:
            _remove(each.key, client)
        except AwsFailed as error:
            if error.missing:
                yield Removal(each)
                continue
            yield Removal(each, str(error))
            if error.code != CONFLICT:
                return
        else:
            yield Removal(each)


def _remove(key: Key, client: Any) -> None:
    if key.version is not None:
        with in_words(f"removing version {key.version} of {key.function}"):
            client.delete_function(FunctionName=key.function, Qualifier=key.version)
        return
    if GENERATION_NAME.fullmatch(key.function) is None:  # without a version, all of it goes
        raise ValueError(key.function)
    with in_words(f"removing {key.function}"):
        client.delete_function(FunctionName=key.function)


def _versions(catalogue: Iterable[DeployedReward], client: Any) -> Iterator[StoredVersion]:
    """The published versions of the catalogue's functions."""
    for deployed in catalogue:
        if not deployed.immutable:
            name = FunctionArn.parse(deployed.function_arn).name
            try:
                settings = published(client, name)
            except AwsFailed as error:
                if not error.missing:  # it was deleted since the catalogue was written
                    raise
                continue
            for each in settings:
                yield _stored(deployed.name, Key(name, each["Version"]), each)


def _generations(
    names: Names,
    catalogue: Iterable[DeployedReward],
    others: Mapping[str, Sequence[str]],
    whole: Iterable[Mapping[str, Any]],
) -> Iterator[StoredVersion]:
    """The functions of immutable deployments, those of deployments that are gone among them."""
    mine, present = names.function(""), {each.name for each in catalogue}
    begin = {other: names_in(other, texts).function("") for other, texts in others.items()}
    for each in whole:
        name = each["FunctionName"]
        found = GENERATION_NAME.fullmatch(name)
        deployment = found["deployment"].removeprefix(mine) if found else ""
        yield replace(
            _stored(deployment, Key(name, None), each),
            gone=deployment not in present,
            # `dev` has a deployment `eu-math`, or `dev-eu` a deployment `math`: nobody knows.
            others=tuple(other for other, own in begin.items() if name.startswith(own)),
        )


def _stored(deployment: str, key: Key, settings: Mapping[str, Any]) -> StoredVersion:
    serves = described(settings.get("Description") or "")
    return StoredVersion(
        deployment,
        key,
        published=str(settings.get("LastModified", "")),
        size=int(settings.get("CodeSize", 0)),
        serves="" if serves is None else f"{serves[0]} {serves[1]} {serves[2][:8]}",
    )


def _aliases(stored: Iterable[StoredVersion], client: Any) -> dict[tuple[str, str], frozenset[str]]:
    functions = {each.key.function for each in stored if each.key.version is not None}
    return {
        (function, alias.name): alias.versions
        for function in sorted(functions)
        for alias in aliases_of(client, function)
    }


def _texts(others: Mapping[str, Sequence[str]]) -> set[str]:
    return {text for texts in others.values() for text in texts}


def _storage(client: Any) -> CodeStorage | None:
    try:
        with in_words("reading the account's storage"):
            settings = client.get_account_settings()
    except AwsFailed as error:
        if error.denied:
            return None
        raise
    return CodeStorage(
        settings["AccountUsage"]["TotalCodeSize"], settings["AccountLimit"]["TotalCodeSize"]
    )
