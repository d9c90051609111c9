"""What is written of a job: which folder its paths begin at, which stage, and what is wrong."""

from pathlib import Path

import pytest

from reward_functions.jobs.configuration import BadJob, digest, load
from tests.generated import job_fields

NEEDED = 'model = "m"\ndeployment = "d"\n'
CONDITION = '[invocation_logs]\nsource = "s3://b/l"\n[[invocation_logs.filters.conditions]]\n'


@pytest.fixture
def written(tmp_path):
    """Load a job of these lines, in a folder that is not the working directory."""

    def loaded(lines, **typed):
        file = tmp_path / "job.toml"
        file.write_text(lines)
        return load(file, typed)

    return loaded


def test_paths_in_a_file_begin_at_its_folder_and_typed_ones_here(written, tmp_path):
    lines = f'{NEEDED}data = "data/train.jsonl"\nvalidation = "/elsewhere/dev.jsonl"\n'
    asked = written(lines)
    assert (asked.data, asked.validation) == (
        tmp_path / "data" / "train.jsonl",
        Path("/elsewhere/dev.jsonl"),
    )
    assert written(lines, data=Path("mine.jsonl")).data == Path("mine.jsonl")


def test_a_stage_that_is_typed_is_stronger_than_the_files_and_names_no_other_job(written):
    assert written(NEEDED).stage == "dev"
    asked = written(f'stage = "local"\n{NEEDED}')
    typed = written(f'stage = "local"\n{NEEDED}', stage="prod")
    assert (asked.stage, typed.stage) == ("local", "prod")
    assert digest(grader="g", contents={}, asked=asked) == digest(
        grader="g", contents={}, asked=typed
    )


WRONG = [
    ('deployment = "d"', "model is missing: --model, or model = … in FILE"),
    ('modle = "m"\ndeployment = "d"', "FILE has no field 'modle'. Did you mean 'model'?"),
    ('model = 3\ndeployment = "d"', "model is 3: write a text, in quotes"),
    (f"{NEEDED}data = 3", "data is 3: write the path of a file, in quotes"),
    (f'{NEEDED}data = ""', "data is '': write the path of a file in FILE"),
    (
        f'{NEEDED}validation = "x\\u0000"',
        "validation is 'x\\x00': write the path of a file in FILE",
    ),
    (f"{NEEDED}[sagemaker]\naccept_eula = 1", "sagemaker.accept_eula is 1: write true or false"),
    (
        f'{NEEDED}[sagemaker]\naccept_eula = "yes"',
        "sagemaker.accept_eula is 'yes': write true or false",
    ),
    (
        f'{NEEDED}name = "my_job"',
        "name is 'my_job': write letters and digits, with single hyphens between them",
    ),
    (f'{NEEDED}name = "{"a" * 41}"', "name has more than 40 characters"),
    (
        f'{NEEDED}driver = "hyperpod"',
        "driver is 'hyperpod': write 'bedrock', 'openai', 'sagemaker' or 'agent-rft'",
    ),
    (
        f"{NEEDED}batchSize = 64",
        (
            "batchSize is a hyperparameter: write it below [hyperparameters], or as --set "
            "batchSize=VALUE"
        ),
    ),
    (f"{NEEDED}hyperparameters = 3", "hyperparameters is 3: write a table, [hyperparameters]"),
    (f"{NEEDED}vpc = 3", "vpc is 3: write a table, [vpc]"),
    (
        f'{NEEDED}[vpc]\nsubnets = []\nsecurity_groups = ["a"]',
        "vpc.subnets needs 1 or more entries",
    ),
    (
        f'{NEEDED}[vpc]\nsubnets = ["a"]',
        "vpc.security_groups is missing: security_groups = … below [vpc] in FILE",
    ),
    (
        f'{NEEDED}[vpc]\nsubnets = "a"\nsecurity_groups = ["a"]',
        "vpc.subnets is 'a': write a list, in square brackets",
    ),
    (
        f'{NEEDED}[vpc]\nsubnet = ["a"]',
        "FILE has no field 'vpc.subnet'. Did you mean 'subnets'?",
    ),
    (f"{NEEDED}[tags]\nteam = 3", "tags.team is 3: write a text, in quotes"),
    (
        f'{NEEDED}{CONDITION}equal = {{a = "b"}}',
        "FILE has no field 'invocation_logs.filters.conditions.0.equal'. Did you mean 'equals'?",
    ),
    (
        f"{NEEDED}{CONDITION}",
        "invocation_logs.filters.conditions.0: give one of equals and not_equals",
    ),
]


@pytest.mark.parametrize(("lines", "sentence"), WRONG, ids=[each[1] for each in WRONG])
def test_what_is_wrong_is_one_sentence_with_the_remedy(written, tmp_path, lines, sentence):
    with pytest.raises(BadJob) as refused:
        written(lines)
    assert str(refused.value) == sentence.replace("FILE", str(tmp_path / "job.toml"))


def test_without_a_file_the_remedy_names_the_option():
    with pytest.raises(BadJob, match=r"^deployment is missing: --deployment, or deployment = … in"):
        load(None, {"model": "m"})


EXAMPLES = [row for row in job_fields() if row[3] != "-"]


@pytest.mark.parametrize(("field", "example"), [(row[0], row[3]) for row in EXAMPLES])
def test_every_example_of_the_documentation_can_be_written(written, field, example):
    """Beside what is needed, and within its table."""
    *tables, name = field.strip("`").split(".")
    needs = {
        "sagemaker": {},
        "vpc": {"subnets": '["a"]', "security_groups": '["b"]'},
        "invocation_logs": {"source": '"s3://b/l"'},
        "filters": {"conditions": '[{equals = {a = "b"}}]'},
    }
    if tables[-1:] == ["conditions[]"]:
        written(f"{NEEDED}{CONDITION}{example.strip('`')}")
        return
    lines = {"model": '"m"', "deployment": '"d"'} if not tables else needs[tables[-1]]
    inner = "\n".join(f"{key} = {value}" for key, value in lines.items() if key != name)
    above = NEEDED if tables else ""
    above += CONDITION.partition("[[")[0] if "filters" in tables else ""
    head = f"[{'.'.join(tables)}]\n" if tables else ""
    asked = written(f"{above}{head}{inner}\n{example.strip('`')}\n")
    for table in tables:
        asked = getattr(asked, table)
    assert getattr(asked, name)
