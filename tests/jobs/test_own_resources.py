"""ARNs that a user names: those of the job's own place, and no others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reward_functions.jobs.configuration import BadJob, JobConfiguration, Serverless
from reward_functions.jobs.options import check_resources

ACCOUNT = "123456789012"
STAGE = SimpleNamespace(
    sagemaker_role_arn=None, training_role_arn=f"arn:aws:iam::{ACCOUNT}:role/path/jobs"
)
APP = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:mlflow-app/app-0A1B2C3D4E5F"
GROUP = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:model-package-group/maths"
KEY = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/0a1b2c3d"


def checked(stage=STAGE, model_key=None, **chosen):
    asked = JobConfiguration(
        model="m", deployment="d", model_key=model_key, sagemaker=Serverless(**chosen)
    )
    check_resources(asked, stage, "us-east-1")


ELSEWHERE = {
    "another region": (("us-east-1", "eu-west-1"), "is in eu-west-1, and the job runs in us-east"),
    "another account": ((ACCOUNT, "999999999999"), "belongs to account 999999999999"),
    "another partition": (("arn:aws:", "arn:aws-cn:"), "and the job runs in us-east-1"),
    "another service": ((":sagemaker:", ":s3:"), "is not"),
    "a line behind it": (("app-0A1B2C3D4E5F", "app-0A1B2C3D4E5F\n"), "is not"),
    "another kind": (("mlflow-app", "mlflow-tracking-server"), "is not an MLflow app"),
    "no account": ((ACCOUNT, ""), "is not"),
}


@pytest.mark.parametrize(("change", "words"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_an_app_of_another_place_is_refused(change, words):
    with pytest.raises(BadJob, match=r"\Asagemaker\.mlflow: ") as raised:
        checked(mlflow=APP.replace(*change))
    assert words in str(raised.value)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    "group",
    [
        *(GROUP.replace(*ELSEWHERE[each][0]) for each in list(ELSEWHERE)[:4]),
        *("a b", "a_b", "ab\n", "", "-a", "a" * 64, "../x", "é", GROUP + "/1", "maths/1"),
    ],
)
def test_a_group_of_another_place_is_refused(group):
    with pytest.raises(BadJob, match=r"\Asagemaker\.model_packages: "):
        checked(model_packages=group)


@pytest.mark.parametrize(
    "key",
    [
        KEY.replace("us-east-1", "eu-west-1"),
        KEY.replace("arn:aws:", "arn:aws-us-gov:"),
        *("alias/x", KEY.replace(":key/", ":grant/"), KEY + "\x00", "k" * 3_000),
    ],
)
def test_a_key_of_another_place_is_refused(key):
    with pytest.raises(BadJob, match=r"\Amodel_key: ") as raised:
        checked(model_key=key)
    assert len(str(raised.value)) < 500


def test_what_is_of_the_place_is_taken():
    checked(mlflow=APP, model_packages=GROUP, model_key=KEY)
    checked(model_packages="maths")
    checked(model_key=KEY.replace(ACCOUNT, "999999999999").replace("key/", "alias/"))
    checked()


def test_without_a_role_the_region_alone_is_known():
    nobody = SimpleNamespace(sagemaker_role_arn=None, training_role_arn=None)
    checked(nobody, mlflow=APP)
    with pytest.raises(BadJob, match="is in us-east-1"):
        check_resources(
            JobConfiguration(model="m", model_key=KEY, deployment="d"), nobody, "us-west-2"
        )
