"""Model packages: read, hosted once by name, and what was made of them found and removed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import hosting, leftovers
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.hosting import PACKAGE_TAG, Hosting, NotHosted
from reward_functions.jobs.job import Job
from reward_functions.jobs.leftovers import WEIGHTS, Leftovers
from tests.jobs.packaged import BEGIN, PACKAGE, PLACE, ROLE, Aws, refused

MERGED = "checkpoints/hf_merged/model.safetensors"
NAME = "math-0a1b2c3d-1"
TAGS = {"reward-functions:reward": "gsm8k"}


@pytest.fixture
def aws(monkeypatch):
    aws = Aws()
    for module in (hosting, leftovers):
        monkeypatch.setattr(module, "client", aws.client)
    return aws


@pytest.fixture
def service(aws):
    now = [0.0]
    return Hosting(
        "us-east-1",
        pause=lambda seconds: now.__setitem__(0, now[0] + seconds),
        clock=lambda: now[0],
    )


def hosted(service, name=NAME, **more):
    return service.host(PACKAGE, name, ROLE, tags=TAGS, **more)


def test_a_package_names_its_files_its_base_and_its_recipe(aws):
    aws.package(IsCheckpoint=True)
    found = Hosting("us-east-1").package(PACKAGE)
    assert (found.location, found.base, found.recipe) == (PLACE, "qwen3-8b 1.2.0", "rlvr-lora")
    assert (found.group, found.checkpoint, found.restricted) == ("math-models", True, False)
    assert Hosting("us-east-1").package(PACKAGE[:-1] + "9") is None


def test_novas_package_names_no_files(aws):
    aws.package(place="", restricted=True)
    found = Hosting("us-east-1").package(PACKAGE)
    assert (found.location, found.restricted) == ("", True)


def test_a_group_is_listed_page_after_page_and_a_missing_one_is_empty(aws):
    for version in range(1, 6):
        aws.package(f"{PACKAGE[:-1]}{version}")
    found = [each.arn[-1] for each in Hosting("us-east-1").of_group("math-models")]
    assert found == ["5", "4", "3", "2", "1"]
    aws.faults["list_model_packages"] = [refused("ValidationException", "x does not exist")]
    assert list(Hosting("us-east-1").of_group("math-models")) == []


def test_what_is_no_package_is_not_read(aws):
    aws.packages[PACKAGE] = {"CreationTime": BEGIN}
    with pytest.raises(AwsFailed, match="not one of this API"):
        Hosting("us-east-1").package(PACKAGE)


WHOLE = {
    "merged": ([MERGED], "checkpoints/hf_merged/"),
    "merged beside the adapter": (
        ["checkpoints/hf/adapter_config.json", MERGED],
        "checkpoints/hf_merged/",
    ),
    "every weight was trained": (["checkpoints/hf/config.json"], "checkpoints/hf/"),
    "an adapter alone": (["checkpoints/hf/adapter_config.json"], None),
    "a folder of a longer name": (["checkpoints/hf_merged_old/x"], None),
    "nothing": ([], None),
}


@pytest.mark.parametrize(("files", "folder"), WHOLE.values(), ids=WHOLE)
def test_bedrock_is_given_whole_weights_alone(aws, service, files, folder):
    aws.package()
    aws.holds(*files)
    if folder is None:
        with pytest.raises(NotHosted, match="merge_weights"):
            hosted(service)
        assert not aws.sent
    else:
        hosted(service)
        (sent,) = aws.sent
        assert sent["modelDataSource"]["s3DataSource"]["s3Uri"] == PLACE + folder
        assert (sent["roleArn"], sent["importedModelName"]) == (ROLE, NAME)


def test_open_weights_are_imported_once(aws, service):
    aws.package()
    aws.holds(MERGED)
    seen = []
    first = hosted(service, progress=seen.append)
    assert (first.kind, first.name, first.status) == ("imported model", NAME, "Active")
    assert ":imported-model/" in first.arn
    assert seen[0] == "InProgress"
    assert hosted(service) == first
    assert len(aws.sent) == 1


def test_an_import_in_progress_is_found_again(aws, service):
    aws.package()
    aws.holds(MERGED)
    aws.looks = 9
    first = hosted(service, wait=False)
    assert (first.arn, first.status) == ("", "InProgress")
    assert hosted(service).status == "Active"
    assert len(aws.sent) == 1


def test_after_a_failed_import_the_next_is_another_job(aws, service):
    aws.package()
    aws.holds(MERGED)
    hosted(service, wait=False)
    (job,) = aws.imports.values()
    job |= {"status": "Failed", "failureMessage": "bad weights"}
    aws.looks = -1
    assert hosted(service).status == "Active"
    assert [each["jobName"] for each in aws.sent] == [f"{NAME}-1", f"{NAME}-2"]


def test_a_model_that_was_deleted_is_imported_again_until_the_name_is_used_up(aws, service):
    aws.package()
    aws.holds(MERGED)
    for _ in range(hosting.ATTEMPTS):
        service.remove(hosted(service).arn)
    with pytest.raises(BadJob, match="choose another name"):
        hosted(service)


def test_an_import_that_fails_says_why(aws, service):
    aws.package()
    aws.holds(MERGED)
    aws.looks = 99
    get = aws.get_model_import_job

    def failing(sent):
        return get(sent) | {"status": "Failed", "failureMessage": "unsupported architecture"}

    aws.get_model_import_job = failing
    with pytest.raises(NotHosted, match="unsupported architecture"):
        hosted(service)


def test_an_import_that_takes_too_long_goes_on(aws, service):
    aws.package()
    aws.holds(MERGED)
    aws.looks = 10_000
    with pytest.raises(NotHosted, match="it goes on"):
        hosted(service)


def test_a_name_of_another_import_is_refused(aws, service):
    aws.package()
    aws.holds(MERGED)
    hosted(service)
    other = "s3://bucket/other/"
    aws.package(place=other)
    aws.holds(MERGED, place=other)
    with pytest.raises(BadJob, match="another model has the name"):
        hosted(service)


@pytest.mark.parametrize("name", ["", "a_b", "a--b", "-a", "a-", "a b", "é", "a" * 57, "a\n"])
def test_a_name_that_bedrock_would_refuse_is_refused_here(aws, service, name):
    aws.package()
    aws.holds(MERGED)
    with pytest.raises(BadJob, match="--name"):
        hosted(service, name)
    assert not aws.sent


def test_nova_is_made_a_custom_model_and_deployed_once(aws, service):
    aws.package(place="", restricted=True)
    first = hosted(service)
    assert (first.kind, first.status) == ("deployment", "Active")
    (sent,) = aws.sent
    source = sent["customModelDataSource"]["modelPackageArnDataSource"]
    assert source == {"modelPackageArn": PACKAGE}
    assert {"key": PACKAGE_TAG, "value": PACKAGE} in sent["modelTags"]
    assert hosted(service) == first
    assert len(aws.sent) == 1


def test_without_waiting_nova_says_what_is_being_made(aws, service):
    aws.package(place="", restricted=True)
    aws.looks = 9
    assert hosted(service, wait=False).status == "Creating"
    assert hosted(service).kind == "deployment"


def test_a_custom_model_of_something_else_is_not_deployed(aws, service):
    aws.package(place="", restricted=True)
    hosted(service)
    aws.package(PACKAGE[:-1] + "3", place="", restricted=True)
    with pytest.raises(BadJob, match="another custom model"):
        service.host(PACKAGE[:-1] + "3", NAME, ROLE, tags=TAGS)


NOT_HOSTED = {
    "gone": ({}, "there is no model package"),
    "in the making": ({"status": "InProgress"}, "is InProgress"),
    "failed": ({"status": "Failed"}, "is Failed"),
    "without files, and not restricted": ({"place": ""}, "names no files"),
}


@pytest.mark.parametrize(("package", "words"), NOT_HOSTED.values(), ids=NOT_HOSTED)
def test_a_package_that_cannot_be_hosted_says_why(aws, service, package, words):
    if package:
        aws.package(**package)
    with pytest.raises(NotHosted, match=words):
        hosted(service)
    assert not aws.sent


JOB = Job(
    driver="sagemaker", id="arn:job", name=NAME, status="succeeded", model="qwen", created=BEGIN,
    tuned_model=PACKAGE, output=f"s3://bucket/rft-output/{NAME}/",
)  # fmt: skip


def left(aws, *wanted, job=JOB, **more):
    others = more.get("others", ())
    driver = SimpleNamespace(
        region="us-east-1",
        jobs=lambda: iter(others),
        get=lambda identifier: next(each for each in others if each.id == identifier),
    )
    every = Leftovers(job, driver, SimpleNamespace(bucket="bucket"))
    return every, every.found(set(wanted))


@pytest.mark.parametrize("nova", [False, True])
def test_what_was_made_of_a_package_goes_whatever_its_name(aws, service, nova):
    place = "" if nova else f"s3://bucket/rft-output/{NAME}/model/"
    aws.package(place=place, restricted=nova)
    aws.holds(MERGED, place=place or "s3://none/")
    hosted(service)
    hosted(service, "second")
    every, found = left(aws)
    going = [each for each in found if not each.stays]
    assert {each.kind for each in going} == {"deployment"}
    assert len(going) == (4 if nova else 2)
    assert not [problem for _, problem in every.removed(found) if problem]
    assert not aws.imported
    assert not aws.models
    assert not aws.hosts
    assert PACKAGE in aws.packages


def test_output_with_the_weights_goes_with_the_package_alone(aws):
    place = f"s3://bucket/rft-output/{NAME}/model/"
    aws.package(place=place)
    aws.holds(MERGED, place=place)
    for wanted in ((), ("output",), ("model",)):
        _, found = left(aws, *wanted)
        assert {each.kind: each.stays for each in found}["output"] == WEIGHTS
    every, found = left(aws, "model", "output")
    assert not any(each.stays for each in found)
    assert not [problem for _, problem in every.removed(found) if problem]
    assert not aws.packages
    assert not aws.objects


def test_a_package_that_another_job_trains_from_stays(aws):
    aws.package()
    other = replace(JOB, id="other", name="next", status="running", model=PACKAGE)
    _, found = left(aws, "model", others=(other,))
    assert [each.stays for each in found if each.kind == "model"] == ["next trains from it"]


def test_of_a_job_whose_package_is_gone_output_goes(aws):
    aws.holds("x", place=f"s3://bucket/rft-output/{NAME}/")
    _, found = left(aws, "output")
    assert [(each.kind, each.stays) for each in found] == [("output", "")]
