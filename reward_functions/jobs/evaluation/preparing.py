"""Find out what `reward job evaluate` compares, before anything is asked or paid for.

    a job     its base, what hosts its model, its grader's version, its limits, its files
    a file    the base, the deployment and the files that it names; `ask_tuned` names the other

Options are stronger than both. The files that a job was trained on are

    a file that is named              that one, of as many rows as the job's tags say
    a job of Bedrock or SageMaker     its files in S3, read with the caller's own rights
    any other                         none: the service gives no file back

The split that models are compared on holds rows that no training has seen, each prompt once:

    a prompt of the training or validation file, to the letter     refused
    the same but for punctuation and capitals                      refused
    another question about a page of the training file             a warning
    a prompt that stands twice in the split                        asked once

Paraphrases are not found. `data.splitting` compares; a prompt is its last user turn.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.deployed.scorer import scorer_named
from reward_functions.aws.failures import AwsFailed
from reward_functions.aws.s3 import read_object
from reward_functions.aws.shell import default_stage
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.function_calls import turn_of
from reward_functions.core.types import Sample
from reward_functions.data.atomic import named
from reward_functions.data.json_rows import Row
from reward_functions.data.rows.formats import scan_file
from reward_functions.data.rows.reading import AS_FOUND, scan_rows
from reward_functions.data.rows.shapes import RowOptions, UnknownShape
from reward_functions.data.splitting import Overlaps, normal
from reward_functions.jobs.asking import Sampling, alike, chosen, drawn_as, endpoint_of
from reward_functions.jobs.clients import client
from reward_functions.jobs.evaluation.by_service import ServiceEvaluation
from reward_functions.jobs.evaluation.evaluation import (
    Asked,
    Askings,
    ModelComparison,
    Settings,
    Split,
    group_names,
)
from reward_functions.jobs.hosting import ACTIVE, Hosting
from reward_functions.jobs.lookup import place
from reward_functions.jobs.models import find
from reward_functions.jobs.services import SERVICES
from reward_functions.jobs.tags import tag
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boto3.session import Session

    from reward_functions.aws.deployed.scorer import VersionScorer
    from reward_functions.data.json_rows import BadInput
    from reward_functions.data.splitting import Leak
    from reward_functions.jobs.asking import Sampling
    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.evaluation.evaluation import Price
    from reward_functions.jobs.evaluation.evaluation_record import Mode, Side
    from reward_functions.jobs.job import DriverName, HyperparameterValue, Job
    from reward_functions.jobs.lookup import Place
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
class Options(ModelComparison):
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
        max_tokens: of an answer; None for the job's own limit.
        allow_leak: why a split that shares prompts is taken all the same; "" refuses it.
        price: dollars per million tokens, read and written, of both; None for the table's.
        concurrency: calls at once.
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
    max_tokens: int | None = None
    allow_leak: str = ""
    price: Price | None = None
    concurrency: int = 8
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
        """The questions, with their kept answers."""
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
    how = {each.name: getattr(options, each.name) for each in fields(ModelComparison)}
    settings = Settings(
        **how | {"answers": 0 if options.on else options.answers},
        job=subject.name,
        split=options.data.name,
        split_sha256=hashlib.sha256(options.data.read_bytes()).hexdigest(),
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
    if job is None or not job.service.recipes:
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
    if not job.service.hosted:
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
    hosting = Hosting(region, session)
    package = hosting.package(job.tuned_model)
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


SPLIT: Final = "the split"

REFUSED: Final = ("prompt", "near-duplicate")
"""Kinds of leaks that a split is refused for."""


class SharedPrompts(ConfigurationError):
    """A split of which a model has seen prompts."""


def untouched(
    file: Path,
    seen: Mapping[str, Path],
    *,
    most: int | None = None,
    seed: int = 0,
    allow: str = "",
    rows: RowOptions = AS_FOUND,
) -> Split:
    """The prompts of a split that shares none with what a job has seen.

    Args:
        file: of any format and shape.
        seen: the job's files, by what they are, such as "the training file".
        most: prompts that are asked at most; None for all.
        seed: of the draw.
        allow: why a split that shares prompts is taken all the same; "" refuses it.
        rows: how the file's rows are read, and those of a job's file of no known shape.

    Raises:
        SharedPrompts: it shares prompts, or a file of the job has no prompt to compare with.
        BadJob: no row has a prompt.
        OSError: a file cannot be read.
    """
    overlaps = Overlaps()
    for what, path in seen.items():
        _remember(overlaps, what, path, rows)
    samples: dict[str, Sample] = {}
    unread = 0
    for where, row, sample in _read(scan_rows(str(file), rows, responses=False, whole=True), file):
        if sample is None:
            unread += 1
            continue
        overlaps.add(SPLIT, where, row)
        samples[where] = sample
    leaks = [leak for leak in overlaps.leaks() if leak.files[1] == SPLIT]
    refused = [leak for leak in leaks if leak.shared in REFUSED]
    if refused and not allow:
        raise SharedPrompts(_refusal(refused[0], file))
    first = {_question(sample): where for where, sample in reversed(samples.items())}
    asked = set(first.values())
    kept = {where: sample for where, sample in samples.items() if where in asked}
    prompts = chosen(list(kept.values()), list(kept), most or len(samples), seed)
    shared = [f"{_shared(leak)}: taken because {allow}" for leak in refused]
    shared += [_shared(leak) for leak in leaks if leak.shared not in REFUSED]
    repeated = len(samples) - len(kept)
    return Split(tuple(prompts), repeated, unread, tuple(shared), tuple(seen))


def _remember(overlaps: Overlaps, what: str, path: Path, rows: RowOptions) -> None:
    found = 0
    for where, row, _ in _read(_trained_on(path, rows), path):
        # A file of S3 lies in a folder of the moment, whose name tells nobody anything.
        overlaps.add(what, where.replace(str(path), what, 1), row)
        found += bool(row.get("messages"))
    if not found:
        raise SharedPrompts(
            f"{path} is {what}, and no row of it has a prompt to compare the split with: give the "
            "file that the job was trained on with --train"
        )


def _trained_on(path: Path, rows: RowOptions) -> Iterator[Row | BadInput]:
    """The rows of a job's file: of a known shape, else read as the split is, else as they are.

    Without references a file is of no known shape, and has prompts all the same.
    """
    for options in (AS_FOUND, rows):
        try:
            yield from scan_rows(str(path), options, responses=False, whole=True)
        except UnknownShape:  # before the first row
            continue
        return
    yield from scan_file(str(path))


def _read(
    rows: Iterator[Row | BadInput], path: Path
) -> Iterator[tuple[str, dict[str, Any], Sample | None]]:
    """(place, the row with its prompt as turns, the sample where it is one)."""
    for at, row in enumerate(rows):
        if not isinstance(row, Row):
            yield f"{path.name}, row {at + 1}", {}, None
            continue
        sample = decode_row(row.content, at)
        if isinstance(sample, Sample):
            turns = [turn_of(turn) for turn in sample.context]
            yield row.where, {"messages": turns, "metadata": dict(sample.metadata)}, sample
        else:
            yield row.where, {"messages": _prompt(row.content)}, None


def _prompt(row: Mapping[str, Any]) -> list[Any]:
    """The turns of a row in the shape of serverless customization: `prompt`, turns or a string."""
    given = row.get("prompt", row.get("messages"))
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else []


def _question(sample: Sample) -> str:
    """What two rows share that ask the same; rows that name their prompt may differ in more."""
    named = sample.metadata.get("prompt")
    whole = "\n".join(f"{turn.role} {normal(turn.content)}" for turn in sample.context)
    return f"{whole}\n{named}" if isinstance(named, str) else whole


def _shared(leak: Leak) -> str:
    one, other = leak.example
    rows = "1 row" if leak.rows == 1 else f"{leak.rows:,} rows"
    return (
        f"{rows} of the split and {leak.files[0]} share a {leak.shared}, such as {other} and {one}"
    )


def _refusal(leak: Leak, file: Path) -> str:
    return (
        f"{file} is no untouched split, for {_shared(leak)}: leave such rows out (`reward data "
        "split` makes files that share none), or say why it is taken with --allow-leak REASON"
    )


TRAINING: Final = "the training file"
VALIDATION: Final = "the validation file"


class NoTrainingFile(ConfigurationError):
    """Nothing says what the job was trained on."""


@contextmanager
def files_seen(
    job: Job | None,
    region: str,
    session: Session | None = None,
    *,
    training: Path | None = None,
    validation: Path | None = None,
) -> Iterator[Mapping[str, Path]]:
    """The job's files by what they are; those of S3 are removed at the end.

    Args:
        job: None where models are named by hand.
        region: of the bucket.
        session: boto3's; the caller's own where not given.
        training: a file in the job's place.
        validation: the same.

    Raises:
        NoTrainingFile: none is named, and the job's cannot be read; the one that is named has too
            few rows.
    """
    named = {TRAINING: training, VALIDATION: validation}
    found = {what: path for what, path in named.items() if path is not None}
    if job and training:
        _require_whole(job, training)
    with TemporaryDirectory(prefix="reward-evaluate-") as folder:
        if TRAINING not in found:
            addresses = [each for each in job.files if each.startswith("s3://")] if job else []
            if not addresses:
                raise NoTrainingFile(
                    "nothing says which prompts the tuned model has seen: give the file that it "
                    "was trained on with --train FILE"
                )
            s3 = client("s3", region, session)
            for at, address in enumerate(addresses):
                what = VALIDATION if at else TRAINING
                if what not in found:
                    found[what] = _downloaded(s3, address, Path(folder, f"{at}.jsonl"))
        yield found


def _require_whole(job: Job, training: Path) -> None:
    trained = tag(job.tags, "rows")
    if not trained.isdecimal():
        return
    rows = sum(1 for _ in scan_file(str(training)))
    if rows < int(trained):
        counted = f"{rows:,} row{'' if rows == 1 else 's'}"
        raise NoTrainingFile(
            f"{training} has {counted}, and {job.name or job.id} was trained on {int(trained):,}: "
            "give all that it was trained on with --train, or leave --train out where the job's "
            "own file is in S3"
        )


def _downloaded(s3: Any, address: str, path: Path) -> Path:
    bucket, _, key = address.removeprefix("s3://").partition("/")
    try:
        content = read_object(s3, bucket, key, f"reading {address}")
    except AwsFailed as error:
        raise NoTrainingFile(
            f"{error}; give the file that the job was trained on with --train FILE"
        ) from None
    with named(path):
        path.write_bytes(content)
    return path
