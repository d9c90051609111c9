"""Open weights of a model package, imported into Bedrock, where Converse asks them.

    CreateModelImportJob  →  imported model     billed for storage, and for the minutes it is asked

An imported model has a name of its own, and its import jobs are numbered from `NAME-1`: a repeated
call finds the model or the import in progress, and a job's name is its token. After a failed
import, or where the model was deleted, the next number is used. What Bedrock imports are whole
weights in Hugging Face's files; an adapter alone it does not take.

Source: botocore's model of Bedrock; "Import a customized model into Amazon Bedrock" in its guide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import moment, text, within
from reward_functions.jobs.failures import UNREADABLE, answer, pages
from reward_functions.jobs.hosting import PAGE, PATIENCE, InRegion, NotHosted, present, waited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime


NAME: Final = re.compile(r"[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*")
"""What both an imported model and its job may be called."""

MAX_NAME: Final = 56
"""Characters: an import job's name has 63, of which the end is a number."""

ATTEMPTS: Final = 20
"""Imports of one name."""

PROGRESS: Final = "InProgress"
DONE: Final = "Completed"
FAILED: Final = "Failed"


@dataclass(frozen=True, slots=True)
class ImportedModel:
    """A model that is imported, or being imported.

    Args:
        name: its own.
        status: "InProgress", "Completed" or "Failed".
        source: where its files lie, `s3://…/`.
        created: when, or when its import began.
        arn: the `modelId` of Converse; "" until it is imported.
        job: the ARN of its import job.
        failure: the service's own message; "" where it did not fail.
    """

    name: str
    status: str
    source: str
    created: datetime
    arn: str = ""
    job: str = ""
    failure: str = ""


class Imports(InRegion):
    """Imported models of one account and region.

    Every method raises `AwsFailed` where Bedrock refuses or cannot be asked.
    The arguments are those of `InRegion`.
    """

    def start(
        self, name: str, source: str, role: str, *, tags: Mapping[str, str] | None = None
    ) -> ImportedModel:
        """Import a model, unless it is there or on its way.

        Args:
            name: of the model, 1 to 56 letters, digits and single hyphens.
            source: the folder with its whole weights.
            role: what Bedrock reads the folder as.
            tags: of the model and of its job.

        Raises:
            BadJob: the name is none, or another model has it.
        """
        if len(name) > MAX_NAME or not NAME.fullmatch(name):
            raise BadJob(
                f"--name {name[:80]!r}: an imported model's is 1 to {MAX_NAME} letters, digits and "
                "single hyphens"
            )
        there = self.named(name)
        if there is None:
            every = [{"key": key, "value": value} for key, value in (tags or {}).items()]
            _, job = self._attempt(name)
            created = answer(
                f"importing {name}",
                self._bedrock.create_model_import_job,
                jobName=job,
                importedModelName=name,
                roleArn=role,
                modelDataSource={"s3DataSource": {"s3Uri": source}},
                jobTags=every,
                importedModelTags=every,
                clientRequestToken=job,
            )
            return self._job(text(created.get("jobArn")))
        if there.source.rstrip("/") != source.rstrip("/"):
            raise BadJob(
                f"another model has the name {name}, imported from {there.source}: choose one with "
                "--name"
            )
        return there

    def named(self, name: str) -> ImportedModel | None:
        """The model of a name, imported or on its way; None where there is none."""
        get = self._bedrock.get_imported_model
        found = present(f"reading the imported model {name}", get, modelIdentifier=name)
        if found is not None:
            return _model(found)
        return self._attempt(name)[0]

    def _attempt(self, name: str) -> tuple[ImportedModel | None, str]:
        """The import in progress of a name, or None, and the name of the job to begin it by."""
        get = self._bedrock.get_model_import_job
        for number in range(1, ATTEMPTS + 1):
            job = f"{name}-{number}"
            found = present(f"reading the import {job}", get, jobIdentifier=job)
            if found is None:
                return None, job
            if found.get("status") == PROGRESS:
                return _of_job(found, job), job
        raise BadJob(f"{name} was imported {ATTEMPTS} times: choose another name with --name")

    def imported_from(self, location: str, since: datetime) -> Iterator[ImportedModel]:
        """The models that were imported from below an address, whatever their names.

        Args:
            location: `s3://…/`.
            since: when its files were made: no model is older.
        """
        begin = f"{location.rstrip('/')}/"
        for summary in pages(
            f"listing the imported models of {self.region}",
            self._bedrock.list_imported_models,
            "modelSummaries",
            creationTimeAfter=since,
            maxResults=PAGE,
        ):
            arn = text(summary.get("modelArn"))
            found = present(
                f"reading the imported model {arn}",
                self._bedrock.get_imported_model,
                modelIdentifier=arn,
            )
            if found is not None and (model := _model(found)).source.startswith(begin):
                yield model

    def wait(
        self,
        model: ImportedModel,
        *,
        patience: float = PATIENCE,
        progress: Callable[[ImportedModel], object] | None = None,
    ) -> ImportedModel:
        """A model, once it is imported.

        Args:
            model: as `start` returned it.
            patience: seconds to wait at most.
            progress: is called with what each look found.

        Raises:
            NotHosted: it failed, or is not imported in time.
        """
        if model.status == DONE:
            return model
        found = waited(
            lambda: self._job(model.job),
            lambda at: at.status != PROGRESS,
            patience=patience,
            pause=self._pause,
            clock=self._clock,
            progress=progress,
        )
        if found.status == PROGRESS:
            raise NotHosted(
                f"the import of {found.name} is in progress after {patience / 60:.0f} minutes; it "
                "goes on: ask again later"
            )
        if found.status == FAILED or not found.arn:
            raise NotHosted(f"the import of {found.name} failed: {found.failure or 'no reason'}")
        return found

    def delete(self, arn: str) -> None:
        """Delete an imported model; nothing where it is gone. Its files in S3 stay."""
        delete = self._bedrock.delete_imported_model
        present(f"deleting the imported model {arn}", delete, modelIdentifier=arn)

    def _job(self, arn: str) -> ImportedModel:
        get = self._bedrock.get_model_import_job
        return _of_job(answer(f"reading the import {arn}", get, jobIdentifier=arn), arn)


def _of_job(found: Mapping[str, Any], job: str) -> ImportedModel:
    created = moment(found.get("creationTime"))
    if created is None:
        raise AwsFailed(f"reading the import {job}: {UNREADABLE}")
    return ImportedModel(
        name=text(found.get("importedModelName")),
        status=text(found.get("status")),
        source=text(within(dict(found), "modelDataSource", "s3DataSource", "s3Uri")),
        created=created,
        arn=text(found.get("importedModelArn")),
        job=text(found.get("jobArn")) or job,
        failure=text(found.get("failureMessage")),
    )


def _model(found: Mapping[str, Any]) -> ImportedModel:
    arn, created = text(found.get("modelArn")), moment(found.get("creationTime"))
    if not arn or created is None:
        raise AwsFailed(f"reading an imported model: {UNREADABLE}")
    return ImportedModel(
        name=text(found.get("modelName")),
        status=DONE,
        source=text(within(dict(found), "modelDataSource", "s3DataSource", "s3Uri")),
        created=created,
        arn=arn,
        job=text(found.get("jobArn")),
    )
