"""What `reward job evaluate` compares, found out before anything is asked or paid for.

    a job     its base, what hosts its model, its grader's version, its limits, its files
    a file    the base, the deployment and the files that it names; `ask_tuned` names the other

Options are stronger than both.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reward_functions.aws.shell import default_stage
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.jobs.asking import alike, drawn_as, endpoint_of
from reward_functions.jobs.evaluation.both import Asked, Askings
from reward_functions.jobs.evaluation.by_service import ServiceEvaluation
from reward_functions.jobs.evaluation.evaluation import CARE, Settings, group_names
from reward_functions.jobs.evaluation.split import untouched
from reward_functions.jobs.evaluation.training_files import files_seen
from reward_functions.jobs.grader import scorer_named
from reward_functions.jobs.hosting import ACTIVE, Hosting, PackageHosting
from reward_functions.jobs.lookup import place
from reward_functions.jobs.model_calls import Sampling
from reward_functions.jobs.models import find
from reward_functions.jobs.services import SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.evaluation.evaluation_record import Mode, Side
    from reward_functions.jobs.evaluation.sides import Price
    from reward_functions.jobs.evaluation.split import Split
    from reward_functions.jobs.grader import VersionScorer
    from reward_functions.jobs.job import DriverName, HyperparameterValue, Job
    from reward_functions.jobs.lookup import Place
    from reward_functions.jobs.model_calls import Sampling
    from reward_functions.jobs.models import Base

SAGEMAKER: Final = "sagemaker"

NOBODY: Final = (
    "Bedrock serves no {model} under a name of SageMaker's: name who answers for the base with "
    "--ask-base MODEL (the id of the same model on Bedrock, or an ARN), as ask in FILE.toml, or "
    "let SageMaker ask with --on sagemaker"
)


class NothingToCompare(ConfigurationError):
    """A model, a grader or a limit that nothing names. One sentence says how to name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked for.

    Args:
        job: a job's name, id or ARN; or the name of `file`.
        data: the split, JSONL.
        file: a configuration in the place of a job.
        stage: of the job; that of a file is in the file.
        driver: of the job, where two services have its name.
        train: what it was trained on; None for the job's own file.
        validation: what it was validated on; None as above.
        ask_base: who answers for the base; None for the base's own name.
        ask_tuned: what the tuned model is asked as; None for what hosts it.
        prompts: asked at most; None for all.
        answers: sampled answers to a prompt, from 0.
        temperature: of the sampled answers, 0 to 2.
        max_tokens: of an answer; None for the job's own limit.
        by: a key of the rows' metadata; "" for the kind of their answer.
        success: from which share of the scale an answer is right, above 0, at most 1.
        care: the difference one cares about, above 0, at most 1.
        allow_leak: why a split that shares prompts is taken all the same; "" refuses it.
        price: dollars per million tokens, read and written, of both; None for the table's.
        concurrency: calls at once.
        seed: of the prompts drawn, and of the intervals.
        rows: how the rows of the split are read, where they have another shape.
        on: `sagemaker`, where its own evaluation jobs ask; None where we ask.
    """

    job: str
    data: Path
    file: JobConfiguration | None = None
    stage: str | None = None
    driver: DriverName | None = None
    train: Path | None = None
    validation: Path | None = None
    ask_base: str | None = None
    ask_tuned: str | None = None
    prompts: int | None = None
    answers: int = 4
    temperature: float = 1.0
    max_tokens: int | None = None
    by: str = ""
    success: float = 1.0
    care: float = CARE
    allow_leak: str = ""
    price: Price | None = None
    concurrency: int = 8
    seed: int = 0
    rows: RowOptions = field(default_factory=RowOptions)
    on: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """An evaluation that can begin.

    Args:
        asked: both models, each way of drawing; the tuned model's greedy answers first. Nothing
            where the service asks.
        split: what they are asked.
        scorer: the pinned version.
        settings: for the record.
        service: where SageMaker asks; None where this machine does.
    """

    asked: tuple[Asked, ...]
    split: Split
    scorer: VersionScorer
    settings: Settings
    service: ServiceEvaluation | None = None

    def askings(self, folder: Path | None) -> Askings:
        """What is asked, with its kept answers."""
        return Askings(self.asked, self.split.prompts, folder)


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is compared, whether a job or a file names it."""

    name: str
    base: Base
    tuned: str
    grader: str
    hyperparameters: Mapping[str, HyperparameterValue]
    job: Job | None = None
    ask: str | None = None
    train: Path | None = None
    validation: Path | None = None


def prepared(options: Options, session: Session) -> Prepared:
    """Find the models and the grader, and compare the split with the job's files.

    Raises:
        ConfigurationError: something is missing or contradicts itself; nothing was asked.
        OSError: a file cannot be read.
    """
    file = options.file
    where = place(file.stage if file else options.stage or default_stage().name, session)
    if options.on:
        _require_service(options, file)
    subject = _of_file(options, file, where) if file else _of_job(options, where)
    known = subject.base.known
    price = options.price or (known.price.inference if known and known.price else None)
    region = where.stage.region
    with files_seen(
        subject.job, region, session, training=subject.train, validation=subject.validation
    ) as seen:
        split = untouched(
            options.data,
            seen,
            most=options.prompts,
            seed=options.seed,
            allow=options.allow_leak,
            rows=options.rows,
        )
    group_names(split.prompts, options.by)
    scorer = scorer_named(subject.grader, where.stage.stage, session)
    asked = () if options.on else tuple(_asked(options, subject, where, price))
    if asked and len({one.endpoint.model for one in asked}) == 1:
        raise NothingToCompare(
            f"both models are {asked[0].endpoint.model}: name the other with --ask-tuned or "
            "--ask-base"
        )
    # A version that is gone, or that nobody here may invoke, is found before a model is paid for.
    scorer.score([split.prompts[0].sample.answered("")])
    settings = Settings(
        job=subject.name,
        split=options.data.name,
        split_sha256=hashlib.sha256(options.data.read_bytes()).hexdigest(),
        answers=0 if options.on else options.answers,
        temperature=options.temperature,
        success=options.success,
        care=options.care,
        by=options.by,
        seed=options.seed,
        simulation=where.simulated,
    )
    service = _service(options, subject, split, scorer, where) if options.on else None
    return Prepared(asked, split, scorer, settings, service)


def _require_service(options: Options, file: JobConfiguration | None) -> None:
    """Refuse what SageMaker's own evaluation jobs have no place for."""
    if options.on != SAGEMAKER:
        raise NothingToCompare(f"--on {options.on!r}: there is sagemaker alone")
    if file:
        raise NothingToCompare("--on sagemaker evaluates a job: name it in the place of the file")
    if options.ask_base or options.ask_tuned:
        raise NothingToCompare(
            "--on sagemaker asks the job's own base and package: leave out --ask-base and "
            "--ask-tuned"
        )


def _service(
    options: Options, subject: _Subject, split: Split, scorer: VersionScorer, where: Place
) -> ServiceEvaluation:
    job = subject.job
    if job is None or job.driver != SAGEMAKER:
        raise NothingToCompare(
            f"{subject.name} is no job of SageMaker's serverless customization: leave out --on"
        )
    sampling = drawn_as(subject.hyperparameters, 0.0, options.max_tokens)
    made = ServiceEvaluation(job, split, scorer, sampling, where)
    made.rows()  # what a row has no place for is said before anything is agreed to
    return made


def _of_file(options: Options, file: JobConfiguration, where: Place) -> _Subject:
    if not options.ask_tuned:
        raise NothingToCompare(
            f"{options.job} names no tuned model: name it with --ask-tuned MODEL, or name its job "
            "in the place of the file"
        )
    if not file.deployment:
        raise NothingToCompare(f"{options.job} names no deployment to score with")
    return _Subject(
        "",
        find(file.model, where.stage.region, file.driver),
        options.ask_tuned,
        file.deployment,
        file.hyperparameters,
        ask=options.ask_base or file.ask,
        train=options.train or file.data,
        validation=options.validation or file.validation,
    )


def _of_job(options: Options, where: Place) -> _Subject:
    service, job = where.job(options.job, options.driver)
    if not job.grader:
        raise NothingToCompare(
            f"{job.name or job.id}: the service does not say which function graded it: give its "
            "file, FILE.toml, in the place of the job"
        )
    if options.on and job.tuned_model:
        tuned = job.tuned_model  # its package: nothing has to host it
    else:
        tuned = options.ask_tuned or _hosted(job, service.region, where)
    return _Subject(
        job.name or job.id,
        find(job.model, None, job.driver),
        tuned,
        job.grader,
        job.hyperparameters,
        job=job,
        ask=options.ask_base,
        train=options.train,
        validation=options.validation,
    )


def _hosted(job: Job, region: str, where: Place) -> str:
    """What the job's model is asked under."""
    name = job.name or job.id
    if not job.tuned_model:
        why = "`reward job diagnose` says why" if job.over else "wait for its end"
        raise NothingToCompare(f"{name} {job.state} and has made no model: {why}")
    if job.driver == "openai":
        return job.tuned_model
    hosted = _package_hosts if job.service.packages else _model_hosts
    found = next(hosted(job, region, where.session), None)
    if found:
        return found
    raise NothingToCompare(
        f"nothing hosts the model of {name}: `reward job deploy-model {name}` does, or name "
        "what does with --ask-tuned"
    )


def _model_hosts(job: Job, region: str, session: Session) -> Iterator[str]:
    """ARNs of the deployments of a custom model."""
    hosts = Hosting(region, session).deployments(job.tuned_model)
    yield from (each.arn for each in hosts if each.status == ACTIVE)


def _package_hosts(job: Job, region: str, session: Session) -> Iterator[str]:
    """ARNs that Converse asks what was made of a model package by."""
    hosting = PackageHosting(region, session)
    package = hosting.packages.package(job.tuned_model)
    if package is None:
        raise NothingToCompare(
            f"the model package {job.tuned_model} is gone: name what hosts its model with "
            "--ask-tuned"
        )
    for each in hosting.made_from(package):
        if each.kind != "custom model" and each.status == ACTIVE:
            yield each.arn


def _asked(options: Options, subject: _Subject, where: Place, price: Price | None) -> list[Asked]:
    if SERVICES[subject.base.driver].packages and not (subject.ask or subject.base.known):
        raise NothingToCompare(NOBODY.format(model=subject.base.identifier[:200]))
    given, most = subject.hyperparameters, options.max_tokens
    greedy = drawn_as(given, 0.0, most)
    base = endpoint_of(
        subject.base, greedy, where, ask=subject.ask, concurrency=options.concurrency
    )
    sides: list[tuple[Side, str, Price | None]] = [
        # The table's price is the base's: what a tuned model costs is not in it.
        ("tuned", subject.tuned, price if options.price else None),
        ("base", base.model, price),
    ]
    modes: list[tuple[Mode, Sampling, int]] = [
        ("greedy", greedy, 1),
        ("sampled", drawn_as(given, options.temperature, most), options.answers),
    ]
    return [
        Asked(side, mode, alike(base, name, sampling), sampling, each, paid)
        for mode, sampling, each in modes
        for side, name, paid in sides
        if each
    ]
