"""A job is started once: repeated, interrupted at every point, asked for twice at the same time."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from reward_functions.aws.deployed.findings import CheckFinding, CheckReport
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob, load
from reward_functions.jobs.starting import Interrupted, StartRefused, start
from tests.jobs.memory import Driver, lost, refused

MODEL = "amazon.nova-2-lite-v1:0:256k"
FAILS = CheckFinding("failure", "grader", "pays for the form alone")
OK = CheckFinding("ok", "grader", "is right")


@pytest.fixture
def begin(standing_stage, rows, service):
    """Start the job of these tests; every call is a command of its own."""
    standing, known = standing_stage

    def started(
        finding=OK, *, through=None, again=False, force="", preflight=None, stage=None, **changed
    ):
        asked = load(None, {"model": MODEL, "deployment": "gsm8k", "data": rows} | changed)
        return start(
            asked,
            stage or known,
            through or Driver(service),
            preflight=preflight or (lambda job: CheckReport(job.request.grader, (finding,))),
            session=standing.session,
            again=again,
            force=force,
        )

    return started


@pytest.fixture
def dev(rows, tmp_path):
    """A validation file."""
    path = tmp_path / "dev.jsonl"
    path.write_bytes(rows.read_bytes().replace(b"1 + 1?", b"8 + 8?"))
    return path


def request(service):
    (record,) = service.jobs.values()
    return record.request


def test_the_request_is_pinned_named_and_tagged(standing_stage, begin, service, dev):
    started = begin(validation=dev, hyperparameters={"batchSize": 32}, tags={"team": "maths"})
    made = request(service)
    assert started.fresh
    assert re.fullmatch(r"gsm8k-[0-9a-f]{8}-1", made.name)
    assert made.token == made.name == started.job.name
    assert made.model == MODEL
    assert made.grader.endswith("gsm8k:2")
    assert made.output == f"s3://bucket/rft-output/{made.name}/"
    assert made.role == "arn:aws:iam::000000000000:role/training"
    assert (made.training, made.validation) == (
        f"memory://{made.name}",
        f"memory://{made.name}.validation",
    )
    assert made.hyperparameters == {"batchSize": 32}
    assert made.tags["team"] == "maths"
    assert made.tags["reward-functions:rows"] == "3"
    assert made.tags["reward-functions:function-version"] == "2"
    assert made.tags["reward-functions:stage"] == standing_stage[0].stage
    assert made.tags["reward-functions:configuration"] == made.name.split("-")[1]
    assert "reward-functions:forced" not in made.tags


def test_a_repeat_shows_the_job_and_uploads_nothing(begin, service):
    first = begin()
    again = begin()
    assert (first.fresh, again.fresh) == (True, False)
    assert first.job == again.job
    assert (len(service.jobs), service.uploads) == (1, 1)


def test_what_makes_no_other_job_makes_no_other_name(begin, service, rows, tmp_path):
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(rows.read_bytes())
    begin(hyperparameters={"learningRate": 1e-4, "batchSize": 64})
    for same in (
        {"driver": "bedrock"},
        {"data": copy},
        {"tags": {"team": "maths"}},
        {"hyperparameters": {"batchSize": 64, "learningRate": 0.0001}},
    ):
        kept = {"hyperparameters": {"learningRate": 1e-4, "batchSize": 64}} | same
        assert not begin(**kept).fresh


def test_what_makes_another_job_makes_another_name(begin, rows, dev):
    first = begin().job
    names = [
        first.name,
        begin(hyperparameters={"batchSize": 64}).job.name,
        begin(validation=dev).job.name,
        begin(deployment=first.grader.replace(":2", ":1")).job.name,
    ]
    rows.write_text(rows.read_text() * 2)
    names.append(begin().job.name)
    assert len(set(names)) == len(names)


def test_again_takes_the_next_run_and_a_repeat_shows_the_newest(begin, service):
    first = begin().job.name
    second = begin(again=True).job.name
    assert (first[:-1], first[-1], second[-1]) == (second[:-1], "1", "2")
    assert begin().job.name == second
    assert begin(again=True).job.name.endswith("-3")


LEFT = {
    "find": r"^interrupted: nothing was uploaded or started$",
    "upload": r"^interrupted while uploading: gsm8k-\S+-1 was not started, and its data may be t",
    "start": r"^interrupted while creating: gsm8k-\S+-1 may have been started; the same command sh",
}
"""What an interrupted start says of what exists, by the call that it was in."""


@pytest.mark.parametrize("point", ["refusals", "losses"])
@pytest.mark.parametrize("method", ["find", "upload", "start"])
def test_an_interruption_at_any_point_ends_in_one_job(begin, service, method, point):
    getattr(service, point)[method].append(KeyboardInterrupt())
    with pytest.raises(Interrupted, match=LEFT[method]):
        begin()
    assert begin().job == begin().job
    assert (len(service.jobs), service.uploads) == (1, 1)


def test_an_interrupted_next_run_is_shown_without_again(begin, service):
    begin()
    service.losses["start"].append(KeyboardInterrupt())
    with pytest.raises(Interrupted, match="the same command without --again shows it"):
        begin(again=True)
    assert begin().job.name.endswith("-2")


def test_a_lost_answer_is_looked_for(begin, service):
    service.losses["start"].append(lost())
    assert begin().fresh
    assert len(service.jobs) == 1


def test_a_lost_answer_of_a_service_that_is_gone_says_what_to_do(begin, service):
    service.losses["start"].append(lost())
    service.refusals["find"] += [None, lost()]
    with pytest.raises(AwsFailed, match="its data are uploaded: the same command goes on from the"):
        begin()
    assert not begin().fresh
    assert (len(service.jobs), service.uploads) == (1, 1)


def test_a_throttled_service_keeps_the_data_and_starts_nothing_twice(begin, service):
    service.refusals["start"].append(refused("ThrottlingException", "throttled (Rate exceeded)"))
    with pytest.raises(AwsFailed, match=r"throttled.*; its data are uploaded: the same command go"):
        begin()
    assert service.files
    assert not service.jobs
    assert begin().fresh
    assert service.uploads == 1


def test_two_starts_at_once_are_one_job(begin, service):
    with ThreadPoolExecutor(2) as pool:
        names = {each.job.name for each in pool.map(lambda _: begin(), range(2))}
    assert len(names) == len(service.jobs) == 1


def test_a_refused_job_leaves_nothing(begin, service, rows, dev):
    service.refusals["start"].append(refused("ValidationException", "the model is not for you"))
    with pytest.raises(AwsFailed) as refusal:
        begin(validation=dev)
    assert str(refusal.value) == (
        "nothing was started: asking the service: the model is not for you"
    )
    assert not service.files
    assert not service.jobs


def test_a_name_that_something_else_has_leaves_nothing(begin, service):
    service.refusals["start"].append(BadJob("a custom model has this name: choose another"))
    with pytest.raises(BadJob, match="nothing was started: a custom model has this name: choose"):
        begin()
    assert not service.files


def test_the_files_of_a_job_that_was_started_meanwhile_stay(begin, service):
    service.losses["start"].append(BadJob("a job of this name differs"))
    with pytest.raises(BadJob, match=r"a job of this name differs$"):
        begin()
    assert service.files


def test_what_cannot_be_removed_is_named(begin, service):
    service.refusals["start"].append(refused("ValidationException"))
    service.refusals["discard"].append(refused("AccessDenied"))
    with pytest.raises(AwsFailed, match=r"; memory://gsm8k-\w{8}-1 cannot be removed and stays$"):
        begin()


def test_a_check_that_fails_refuses_before_anything_is_uploaded(begin, service):
    with pytest.raises(StartRefused) as refusal:
        begin(FAILS)
    assert str(refusal.value) == (
        "nothing was started: grader: pays for the form alone (--force REASON passes this over, "
        "and tags the job with the reason)"
    )
    assert not service.files
    assert not service.jobs


@pytest.mark.parametrize("what", ["too few rows: 99", "not a JSON object: line 3"])
def test_what_the_service_refuses_is_not_to_be_forced(begin, what):
    with pytest.raises(StartRefused, match=r"\(the service itself refuses this\)$"):
        begin(CheckFinding("failure", "data", what))


def test_force_passes_it_over_and_stands_in_the_tags(begin, service):
    started = begin(FAILS, force="a demo, <b>\n" + "x" * 300)
    assert started.findings == (FAILS,)
    assert request(service).tags["reward-functions:forced"] == f"a demo. .b. {'x' * 244}"


def test_a_repeat_asks_no_checks(begin):
    begin()
    assert not begin(FAILS).fresh


def test_a_version_that_was_deleted_under_its_job_still_shows_the_job(
    stage, begin, service, record
):
    function = stage.deployment(versions=2, live="2")
    known = record()
    gone = {"deployment": f"{function}:1", "stage": known}
    first = begin(**gone)
    stage.lambda_.delete_function(FunctionName=function, Qualifier="1")
    assert begin(**gone).job == first.job
    with pytest.raises(BadJob, match=f"Lambda has no {function}:1 any more: deploy the reward ag"):
        begin(again=True, **gone)
    assert len(service.jobs) == 1


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"data": None}, "data: name the training file with --data"),
        ({"invocation_logs": {"source": "s3://b/p"}}, "data: a file and invocation_logs exclude"),
        ({"model": "amazon.nova-9"}, "model: the table of"),
        ({"hyperparameters": {"batchSize": 9999}}, "batchSize is 9999: it must be a whole number"),
        ({"hyperparameters": {"n_epochs": 1}}, "n_epochs is called epochCount on Bedrock's contro"),
        ({"vpc": {"subnets": ["subnet-1"], "security_groups": ["sg-1"]}}, "set job_rights.vpc in"),
        ({"model_key": "arn:aws:kms:x"}, "set job_rights.model_key in cdk.json and deploy"),
        (
            {"data": None, "invocation_logs": {"source": "s3://b/p"}},
            "set job_rights.invocation_logs in cdk.json and deploy",
        ),
        ({"tags": {"aws:x": "1"}}, "tags: 'aws:x' begins with aws:"),
    ],
)
def test_what_cannot_run_is_refused_in_one_sentence_also_by_force(
    begin, service, changed, complaint
):
    with pytest.raises(BadJob) as refusal:
        begin(force="I want it", **changed)
    assert complaint in str(refusal.value)
    assert not service.files
    assert not service.jobs


@pytest.mark.parametrize(
    "field",
    [
        {"data": None, "invocation_logs": {"source": "s3://b/p"}},
        {"model_key": "arn:aws:kms:x"},
        {"vpc": {"subnets": ["subnet-1"], "security_groups": ["sg-1"]}},
    ],
)
def test_the_openai_compatible_api_has_no_words_for_some_fields(begin, service, field):
    with pytest.raises(BadJob, match="the OpenAI-compatible API has no such setting; leave it out"):
        begin(through=Driver(service, "openai"), model="openai.gpt-oss-20b", **field)


def test_a_file_that_changes_meanwhile_is_not_trained_on(begin, service, rows):
    def slow(job):
        rows.write_text("{}\n")
        return CheckReport(job.request.grader, ())

    with pytest.raises(BadJob, match=r"train.jsonl changed while the job was prepared"):
        begin(preflight=slow)
    assert not service.files


def test_what_is_uploaded_is_what_was_read(standing_stage, service, rows):
    """A file that changes at the last moment would be trained on under the name of the first."""
    standing, known = standing_stage

    def too_late(begins):
        if begins == "uploading the data":
            rows.write_text("{}\n")

    with pytest.raises(BadJob, match=r"train.jsonl changed while the job was prepared"):
        start(
            load(None, {"model": MODEL, "deployment": "gsm8k", "data": rows}),
            known,
            Driver(service),
            preflight=lambda job: CheckReport(job.request.grader, (OK,)),
            session=standing.session,
            progress=too_late,
        )
    assert not service.files


def test_nobody_reaches_the_bytes_that_are_uploaded(begin, service, rows):
    read = rows.read_bytes()

    class Slow(Driver):
        def upload(self, file, name, progress=None):
            assert file.name == rows.name
            assert file.parent.parent.stat().st_mode & 0o777 == 0o700
            rows.write_text("{}\n")
            uploads.append(file.read_bytes())
            return super().upload(file, name, progress)

    uploads = []
    begin(through=Slow(service))
    assert uploads == [read]


@pytest.mark.parametrize("again", ["the same path", "a link", "a copy"])
def test_a_validation_file_that_is_the_training_file_is_refused(begin, service, rows, again):
    other = rows.parent / "other.jsonl"
    if again == "a link":
        other.symlink_to(rows)
    elif again == "a copy":
        other.write_bytes(rows.read_bytes())
    with pytest.raises(BadJob, match="validation: two files share every prompt"):
        begin(validation=rows if again == "the same path" else other)
    assert not service.files
