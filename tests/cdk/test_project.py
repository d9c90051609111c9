"""The `cdk.json` of a folder: its stages, which one is meant, and what is wrong with it."""

import json

import pytest

from reward_functions.cdk.model.project import Project, project_in, stage_in
from reward_functions.cdk.model.stages import BadStage

GOOD = {"region": "us-east-1", "deployments": [{"reward": "gsm8k", "name": "a"}]}


def written(folder, text):
    (folder / "cdk.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no cdk.json here: run this in the folder"),
        (b"\xff\xff{", "is not a JSON object with a context"),
        ("[1]", "is not a JSON object with a context"),
        ("{}", "is not a JSON object with a context"),
        ("7", "is not a JSON object with a context"),
        ("[" * 100_000, "is not a JSON object with a context"),
        ('{\n "context": {,}}', "cdk.json, line 2, column 14: not JSON: "),
        ('{"context": {"a": 1, "b": 2, "b": 3, "a": 4}}', "'a' stands twice in one object"),
        ('{"context": {"b": 2, "a": 1, "a": 4}}', "'a' stands twice in one object"),
    ],
)
def test_what_is_no_project_is_one_sentence(text, words, tmp_path):
    if text is not None:
        written(tmp_path, text)
    with pytest.raises(BadStage, match=words) as raised:
        project_in(tmp_path)
    assert "\n" not in str(raised.value)


def test_a_folder_in_its_place_is_no_project(tmp_path):
    (tmp_path / "cdk.json").mkdir()
    with pytest.raises(BadStage, match="is not a JSON object with a context"):
        project_in(tmp_path)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_project_is_its_context_and_its_folder(mark, tmp_path):
    context = {"stage": "dev", "stages": {"dev": {}}}
    written(tmp_path, mark + json.dumps({"app": "x", "context": context}).encode())
    assert project_in(tmp_path) == Project(tmp_path, context)
    written(tmp_path, '{"context": []}')
    assert project_in(tmp_path) == Project(tmp_path, {})


@pytest.mark.parametrize("stages", [None, [], {}, "dev"])
def test_a_project_without_stages_says_what_it_needs(stages, tmp_path):
    with pytest.raises(BadStage, match=r"cdk\.json names no stages"):
        _ = Project(tmp_path, {"stages": stages}).stages


@pytest.mark.parametrize(
    ("stages", "context", "typed", "chosen"),
    [
        (["dev"], None, None, "dev"),
        (["dev"], None, "other", "other"),
        (["dev", "prod"], None, "prod", "prod"),
        (["dev", "prod"], "prod", None, "prod"),
        (["dev", "prod"], "prod", "dev", "dev"),
        (["dev"], "prod", None, "prod"),
        (["dev", "prod"], None, None, None),
        (["dev", "prod"], 7, None, None),
        (["dev"], 7, None, None),
    ],
)
def test_the_stage_that_is_meant(stages, context, typed, chosen, tmp_path):
    project = Project(tmp_path, {"stages": dict.fromkeys(stages), "stage": context})
    if chosen is None:
        with pytest.raises(BadStage, match=f"--stage NAME; there are {', '.join(stages)}$"):
            project.chosen(typed)
    else:
        assert project.chosen(typed) == chosen


def test_a_stage_that_is_not_there_is_answered_with_the_nearest(tmp_path):
    project = Project(tmp_path, {"stages": {"dev": {}, "prod": {}}})
    assert project.existing("prod") == "prod"
    with pytest.raises(BadStage, match=r"no stage 'prd' in cdk\.json\. Did you mean 'prod'"):
        project.existing("prd")


def test_a_stage_of_a_folder_is_checked(tmp_path):
    context = {"stages": {"dev": GOOD, "bad": GOOD | {"x": 1}}}
    written(tmp_path, json.dumps({"context": context}))
    stage = stage_in(tmp_path, "dev")
    assert (stage.name, [each.name for each in stage.deployments]) == ("dev", ["a"])
    with pytest.raises(BadStage, match="bad"):
        stage_in(tmp_path, "bad")
