"""Prune a stage: what Lambda stores of its deployments, what is in use, and the removal.

    plan = planned("dev", keep=3)         # decided, nothing removed
    removed(plan)                         # each version that goes, until one cannot be removed

A published version and a function of an immutable deployment (a *generation*) are one thing here:
code under an ARN that answers the same for as long as it is stored. One goes only where no rule of
`_stays` holds it. A function is listed only where the catalogue names its deployment, or where its
name is that of an immutable deployment's function of this stage.

The jobs in progress, and where each names functions:

    Bedrock     ListModelCustomizationJobs → GetModelCustomizationJob
                    customizationConfig.rftConfig.graderConfig.lambdaGrader.lambdaArn
    SageMaker   ListTrainingJobs → DescribeTrainingJob
                    ServerlessJobConfig.EvaluatorArn → DescribeHubContent → Reference
                    HyperParameters and Environment, which may hold the ARN of a reward
                ListJobs → DescribeJob, of multi-turn jobs
                    JobConfigDocument, with all ARNs in it: its agent's, as none names a reward

A removal needs all of them: an answer that does not say what it must is an error, and no empty
list. It does not ask the services of `UNSEEN`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.arn import FUNCTION, GENERATION_NAME, Arn, FunctionArn
from reward_functions.aws.calls import client
from reward_functions.aws.deployed.catalogue import (
    NotDeployed,
    deployments,
    names_in,
    nothing_deployed,
    other_stages,
    stage_record,
)
from reward_functions.aws.deployed.versions import aliases_of, generations, lambda_of, published
from reward_functions.aws.failures import OF_FUNCTIONS, AwsFailed, in_words
from reward_functions.aws.names import Names
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.serving.descriptions import described

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward


class Key(NamedTuple):
    """The key of a stored version.

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
        """The order of the versions of a function, and of the generations of a deployment."""
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
        aliases: the versions that each alias routes to, by function and alias.
        jobs: those in progress.
    """

    here: FunctionArn
    catalogue: frozenset[str] = frozenset()
    aliases: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    jobs: tuple[JobInProgress, ...] = ()


@dataclass(frozen=True, slots=True)
class PruneDecision:
    """The decision about one version, in words.

    Args:
        stored: the version.
        goes: whether it is removed.
        reason: why, or why not.
    """

    stored: StoredVersion
    goes: bool
    reason: str


def decide(stored: Sequence[StoredVersion], in_use: InUse, keep: int) -> list[PruneDecision]:
    """Decide about every version, the newest of each deployment first.

    Args:
        stored: of one account and region.
        in_use: what must stay.
        keep: the newest versions of a deployment that stay even if nothing names them, at least 1;
            a deployment that is gone keeps no version for it.
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


RUNNING: Final = ("InProgress", "Stopping")
"""States in which a job still asks for rewards; one that stops may finish its step."""

UNGRADED: Final = frozenset({"FINE_TUNING", "CONTINUED_PRE_TRAINING", "DISTILLATION", "IMPORTED"})
"""Bedrock's types of jobs that have no grader; every other must name one."""

UNSEEN: Final = (
    "Jobs of Bedrock's OpenAI-compatible path, of HyperPod, and of other regions are not seen, nor "
    "what agents of multi-turn jobs ask"
)

CATEGORIES: Final = ("AgentRFT", "AgentRFTEvaluation")
"""Multi-turn jobs, as `ListJobs` knows them."""

EVALUATOR: Final = (
    r"hub-content/(?P<HubName>[^/]+)/(?P<HubContentType>[^/]+)/(?P<HubContentName>[^/]+)"
    r"(?:/(?P<HubContentVersion>[^/]+))?"
)
"""The content of a hub, by which SageMaker knows a reward."""


class JobsUnknown(ConfigurationError):
    """The jobs that run cannot be known, and so nothing may be removed."""


def jobs_in_progress(
    region: str, without: Collection[str] = (), session: Session | None = None
) -> tuple[JobInProgress, ...]:
    """Every job that runs, with all that it says of functions.

    Args:
        region: of the functions, which is that of the jobs.
        without: names of services of `SERVICES` in which no job runs, as the caller knows.
        session: boto3's; the caller's own where not given.

    Raises:
        JobsUnknown: a service cannot be asked, or its answer cannot be read.
    """
    found: list[JobInProgress] = []
    for service, running in SERVICES.items():
        if service not in without:
            try:
                with in_words(f"listing the jobs of {service}"):
                    found += running(client(service, region, session))
            except AwsFailed as error:
                raise _unknown(service, error) from None
            except KeyError as error:
                raise _unknown(service, f"the answer holds no {error.args[0]}") from None
    return tuple(found)


def _unknown(service: str, problem: AwsFailed | str) -> JobsUnknown:
    return JobsUnknown(
        f"nothing was removed, for the jobs in progress are not known: {problem}; where you know "
        f"that none runs there, say so with --without-jobs {service}"
    )


def _bedrock(client: Any) -> Iterator[JobInProgress]:
    listed = client.get_paginator("list_model_customization_jobs")
    for status in RUNNING:
        for page in listed.paginate(statusEquals=status):
            for summary in page["modelCustomizationJobSummaries"]:
                job = client.get_model_customization_job(jobIdentifier=summary["jobArn"])
                yield JobInProgress(job["jobName"], tuple(_grader(job)))


def _grader(job: dict[str, Any]) -> Iterator[str]:
    """The ARN of a job's grader, where its type has one."""
    reinforced = job.get("customizationConfig", {}).get("rftConfig", {})
    found = reinforced.get("graderConfig", {}).get("lambdaGrader", {}).get("lambdaArn")
    if found is not None:
        yield found
    elif job.get("customizationType") not in UNGRADED:
        raise AwsFailed(f"Bedrock's job {job['jobName']} names no grader")


def _sagemaker(client: Any) -> Iterator[JobInProgress]:
    listed = client.get_paginator("list_training_jobs")
    for status in RUNNING:
        for page in listed.paginate(StatusEquals=status):
            for summary in page["TrainingJobSummaries"]:
                job = client.describe_training_job(TrainingJobName=summary["TrainingJobName"])
                yield JobInProgress(job["TrainingJobName"], tuple(_of_training_job(job, client)))
    yield from _multi_turn(client)


def _of_training_job(job: dict[str, Any], client: Any) -> Iterator[str]:
    yield from job.get("HyperParameters", {}).values()
    yield from job.get("Environment", {}).values()
    evaluator = job.get("ServerlessJobConfig", {}).get("EvaluatorArn")
    if evaluator and FUNCTION.fullmatch(evaluator):
        yield evaluator
    elif evaluator:
        yield _reference(evaluator, f"SageMaker's job {job['TrainingJobName']}", client)


def _reference(evaluator: str, whose: str, client: Any) -> str:
    """What an evaluator leads to: the ARN of a function, or the address of a prompt."""
    found = Arn.read(evaluator, "sagemaker", EVALUATOR)
    if found is None:
        raise AwsFailed(f"{whose} has an evaluator that is no content of a hub: {evaluator}")
    with in_words(f"reading the evaluator of {whose}"):
        named = {name: value for name, value in found.named.items() if value}
        document = client.describe_hub_content(**named)["HubContentDocument"]
    try:
        return str(json.loads(json.loads(document)["JsonContent"])["Reference"])
    except (ValueError, KeyError, TypeError):
        raise AwsFailed(f"the evaluator of {whose} names no function: {evaluator}") from None


def _multi_turn(client: Any) -> Iterator[JobInProgress]:
    listed = client.get_paginator("list_jobs")
    for category, status in product(CATEGORIES, RUNNING):
        for page in listed.paginate(JobCategory=category, StatusEquals=status):
            for summary in page["JobSummaries"]:
                job = client.describe_job(JobCategory=category, JobName=summary["JobName"])
                yield JobInProgress(job["JobName"], (job["JobConfigDocument"],))


SERVICES: Final[dict[str, Callable[[Any], Iterator[JobInProgress]]]] = {
    "bedrock": _bedrock,
    "sagemaker": _sagemaker,
}
"""Who runs jobs that can be listed."""


CONFLICT: Final = "ResourceConflictException"
"""Lambda's answer where an alias points to the version."""


@dataclass(frozen=True, slots=True)
class CodeStorage:
    """The bytes that an account's functions and layers store, and the most that they may."""

    used: int
    limit: int


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """The plan of a prune.

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
    """The outcome of one version that was to go.

    Args:
        stored: the version.
        problem: why it still exists, in a sentence; None where it is gone, even if somebody else
            removed it.
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
        catalogue=frozenset(chain((each.version_arn for each in catalogue), *others.values())),
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
        with in_words(f"removing version {key.version} of {key.function}", OF_FUNCTIONS):
            client.delete_function(FunctionName=key.function, Qualifier=key.version)
        return
    if GENERATION_NAME.fullmatch(key.function) is None:  # without a version, all of it goes
        raise ValueError(key.function)
    with in_words(f"removing {key.function}", OF_FUNCTIONS):
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


def _storage(client: Any) -> CodeStorage | None:
    try:
        with in_words("reading the account's storage", OF_FUNCTIONS):
            settings = client.get_account_settings()
    except AwsFailed as error:
        if error.denied:
            return None
        raise
    return CodeStorage(
        settings["AccountUsage"]["TotalCodeSize"], settings["AccountLimit"]["TotalCodeSize"]
    )
