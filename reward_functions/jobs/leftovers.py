"""Find what a job left that costs something or is in the way, and what of it may be removed.

    kind         of a job of                 goes                  stays where
    deployment   all but the OpenAI API      always                -
    model        all but the OpenAI API      where it is asked     another job trains from it
    data         all                         where it is asked     a job in progress reads it
    output       all but the OpenAI API      where it is asked     a model package needs it
    job          multi-turn jobs             where it is asked     its model or its files stay

A deployment is billed while it is there, a model while it is stored. Of a job of SageMaker the
model is its model package. Models that Bedrock was given of it (imported models, custom models,
their deployments) go as a deployment does: they can be made again. Its evaluator stays: other jobs
name it. Of a job in progress nothing goes, and no file that lies outside of the folder of uploads.
Source: "Deploy a custom model" in the Bedrock user guide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.aws.calls import answer
from reward_functions.aws.catalogue import JOB_DATA_PREFIX, OUTPUT_PREFIX, DeployedStage
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.objects import objects_below
from reward_functions.jobs.hosting import Hosting, ModelPackage
from reward_functions.jobs.job import Driver, Forgets, Job

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from boto3.session import Session


Kind = Literal["deployment", "model", "data", "output", "job"]

DELETED_AT_ONCE: Final = 1_000
"""Objects of one `DeleteObjects`, at most (botocore's model of S3)."""

UNSEEN: Final = "not seen: it takes the policy of `evaluate`"

WEIGHTS: Final = "the model package's weights lie in it: goes with --model --output"


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that a job left.

    Args:
        kind: what it is.
        id: an ARN, `s3://…`, or the id of a file.
        note: what it costs, or how much of it there is.
        stays: why it is not removed; "" where it goes.
    """

    kind: Kind
    id: str
    note: str
    stays: str = ""


class Leftovers:
    """What one job left.

    Args:
        job: over, or in progress.
        driver: of its service.
        stage: whose bucket holds its files.
        session: boto3's; the caller's own where not given.
    """

    def __init__(
        self, job: Job, driver: Driver, stage: DeployedStage, session: Session | None = None
    ) -> None:
        self.job, self.driver, self.stage, self.session = job, driver, stage, session
        self.hosting = Hosting(driver.region, session)

    def found(self, wanted: Collection[Kind]) -> list[Leftover]:
        """Everything there is, each with the reason where it stays.

        Args:
            wanted: the kinds that are to go, beside deployments.

        Raises:
            AwsFailed: a service cannot be asked.
        """
        package = self._package()
        made = self._hosted() if package is None else self._made_from(package)
        everything = [*made, *self._files(), *self._output(package, wanted)]
        decided = [self._decided(each, wanted) for each in everything]
        stays = any(each.stays for each in decided if each.kind != "deployment")
        return [*decided, *(self._decided(each, wanted) for each in self._record(stays=stays))]

    def removed(self, leftovers: Sequence[Leftover]) -> Iterator[tuple[Leftover, str]]:
        """Remove what goes, deployments before their model.

        Yields:
            each, and why it could not be removed; "" where it is gone.
        """
        for each in leftovers:
            if not each.stays:
                try:
                    self._remove(each)
                except (AwsFailed, BadJob) as error:
                    yield each, str(error)
                else:
                    yield each, ""

    def _decided(self, one: Leftover, wanted: Collection[Kind]) -> Leftover:
        if one.stays:
            return one
        if not self.job.over:
            return replace(one, stays="the job is in progress: stop it first")
        if one.kind != "deployment" and one.kind not in wanted:
            return replace(one, stays=f"goes with --{one.kind}")
        return one

    def _hosted(self) -> Iterator[Leftover]:
        """The deployments of the tuned model, and the model."""
        model = self.job.tuned_model
        service = self.job.service
        if service.packages or not (service.bucket and model):
            return
        for each in self.hosting.deployments(model):
            yield Leftover("deployment", each.arn, f"{each.name}, {each.status}: billed for use")
        if self.hosting.model(model) is not None:
            yield Leftover("model", model, "billed for storage", self._needed(model))

    def _needed(self, model: str) -> str:
        """Why a model stays; "" where no job in progress trains from it."""
        base_of = [job.name for job in self._others() if job.model == model]
        return f"{base_of[0]} trains from it" if base_of else ""

    def _package(self) -> ModelPackage | None:
        """What a job of SageMaker made; None of other services, and where it is gone."""
        if not self.job.service.packages or not self.job.tuned_model:
            return None
        return self.hosting.package(self.job.tuned_model)

    def _made_from(self, package: ModelPackage) -> Iterator[Leftover]:
        """What Bedrock has of a model package, and the package."""
        try:
            for each in self.hosting.made_from(package):
                note = f"{each.kind} {each.name}, {each.status}: billed, and can be made again"
                yield Leftover("deployment", each.arn, note)
        except AwsFailed as error:
            if not error.denied:
                raise
            note = "what Bedrock was given of the model package"
            yield Leftover("deployment", package.arn, note, UNSEEN)
        note = "the model package; it cannot be made again"
        yield Leftover("model", package.arn, note, self._needed(package.arn))

    def _files(self) -> Iterator[Leftover]:
        """The files that were uploaded for the job, and none that lie elsewhere."""
        used = {file for job in self._others() for file in job.files}
        for file in self.job.files:
            stays = "a job in progress reads it" if file in used else ""
            if not self.job.service.bucket:
                forgotten = f"the name {self.job.name} goes with it" if self.job.name else ""
                yield Leftover("data", file, forgotten or "kept by the service", stays)
            elif file.startswith(self._address(JOB_DATA_PREFIX)):
                for key, size in self._objects(file.removeprefix(self._address(""))):
                    if self._address(key) == file:
                        yield Leftover("data", file, _size(size), stays)

    def _output(self, package: ModelPackage | None, wanted: Collection[Kind]) -> Iterator[Leftover]:
        """What the job wrote, below a prefix of its own."""
        if not self.job.service.bucket or not self.job.name:
            return
        prefix = f"{OUTPUT_PREFIX}{self.job.name}/"
        sizes = [size for _, size in self._objects(prefix)]
        if sizes:
            objects = "1 object" if len(sizes) == 1 else f"{len(sizes):,} objects"
            note = f"{objects}, {_size(sum(sizes))}"
            weights = package is not None and package.location.startswith(self._address(prefix))
            stays = WEIGHTS if weights and not {"model", "output"} <= set(wanted) else ""
            yield Leftover("output", self._address(prefix), note, stays)

    def _record(self, *, stays: bool) -> Iterator[Leftover]:
        """The job itself, where its service forgets one: it is last, and what it made is first."""
        if isinstance(self.driver, Forgets):
            note = f"the service's record of it; the name {self.job.name} is free then"
            kept = "what it left is found by it: goes with --model --data --output" if stays else ""
            yield Leftover("job", self.job.id, note, kept)

    def _others(self) -> Iterator[Job]:
        """The other jobs of the service that are in progress."""
        for job in self.driver.jobs():
            if not job.over and job.id != self.job.id:
                yield self.driver.get(job.id)

    def _address(self, key: str) -> str:
        return f"s3://{self.stage.bucket}/{key}"

    @cached_property
    def _s3(self) -> Any:
        return client("s3", self.driver.region, self.session)

    def _objects(self, prefix: str) -> Iterator[tuple[str, int]]:
        """(key, bytes) of all that lies under a prefix."""
        what = f"listing {self._address(prefix)}"
        for each in objects_below(self._s3, self.stage.bucket, prefix, what):
            yield each["Key"], each.get("Size", 0)

    def _remove(self, one: Leftover) -> None:
        if one.kind == "model" and self.job.service.packages:
            self.hosting.delete_package(one.id)
        elif one.kind in {"deployment", "model"}:
            self.hosting.remove(one.id)
        elif one.kind == "data":
            self.driver.discard(one.id)
        elif one.kind == "job" and isinstance(self.driver, Forgets):
            self.driver.delete(self.job)
        else:
            self._empty(one.id.removeprefix(self._address("")))

    def _empty(self, prefix: str) -> None:
        keys = [{"Key": key} for key, _ in self._objects(prefix)]
        for start in range(0, len(keys), DELETED_AT_ONCE):
            done = answer(
                f"removing {self._address(prefix)}",
                self._s3.delete_objects,
                Bucket=self.stage.bucket,
                Delete={"Objects": keys[start : start + DELETED_AT_ONCE], "Quiet": True},
            )
            for error in done.get("Errors") or ():
                raise AwsFailed(f"removing {error['Key']}: {error['Message']}", error["Code"])


def _size(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"
