"""What a user names of an account by its ARN: a job takes it in its own place alone.

| field | ARN of | of the job's |
|---|---|---|
| `sagemaker.mlflow` | an MLflow app | partition, region, account |
| `sagemaker.model_packages` | a group of model packages, or its name | partition, region, account |
| `model_key` | a KMS key | partition, region: another account can share its key |

botocore's models let the ARN of any place pass; AWS refuses it once the data is uploaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.aws.arn import Arn
from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.configuration import JobConfiguration

SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Resource:
    """What a field names.

    Args:
        called: in a sentence.
        service: whose its ARN is.
        form: of the ARN's resource.
        example: its ARN.
        bare: whether a name may stand for it.
        shared: whether it may be another account's.
    """

    called: str
    service: str
    form: str
    example: str
    bare: bool = False
    shared: bool = False


RESOURCES: Final = {
    "sagemaker.mlflow": Resource(
        "an MLflow app",
        "sagemaker",
        r"mlflow-app/[\w-]{1,64}",
        "arn:aws:sagemaker:REGION:ACCOUNT:mlflow-app/APP",
    ),
    "sagemaker.model_packages": Resource(
        "a group of model packages",
        "sagemaker",
        "model-package-group/[a-zA-Z0-9-]{1,63}",
        "a name, or arn:aws:sagemaker:REGION:ACCOUNT:model-package-group/NAME",
        bare=True,
    ),
    "model_key": Resource(
        "a KMS key",
        "kms",
        "(?:key|alias)/[a-zA-Z0-9/_-]{1,256}",
        "arn:aws:kms:REGION:ACCOUNT:key/KEY",
        shared=True,
    ),
}

NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")
"""Of a resource of SageMaker (botocore's `EntityName`, in linear form)."""


def check_resources(asked: JobConfiguration, stage: DeployedStage, region: str) -> None:
    """Refuse what lies in another place than the job.

    Args:
        asked: the configuration.
        stage: whose account the job runs in.
        region: of the job.

    Raises:
        BadJob: the message names the field, and says what to write.
    """
    roles = (stage.sagemaker_role_arn, stage.training_role_arn)
    role = next(filter(None, (Arn.read(each, "iam") for each in roles)), None)
    for field, given in _named(asked):
        resource = RESOURCES[field]
        if resource.bare and NAME.fullmatch(given):
            continue
        found = Arn.read(given, resource.service, resource.form)
        if found is None or not found.account.isdigit():
            raise BadJob(f"{field}: {given[:SHOWN]!r} is not {resource.called}: {resource.example}")
        if found.region != region or (role and found.partition != role.partition):
            raise BadJob(
                f"{field}: {given} is in {found.region}, and the job runs in {region}: name "
                f"{resource.called} of that region"
            )
        if role and found.account != role.account and not resource.shared:
            raise BadJob(
                f"{field}: {given} belongs to account {found.account}, and the job runs in "
                f"{role.account}: name {resource.called} of that account"
            )


def _named(asked: JobConfiguration) -> Iterator[tuple[str, str]]:
    """The fields that name one, each with what stands there."""
    for field in RESOURCES:
        table, _, name = field.rpartition(".")
        given = getattr(getattr(asked, table) if table else asked, name, None)
        if given is not None:
            yield field, given
