"""What stays of earlier synths in `cdk.out`, and what goes."""

from __future__ import annotations

import json

import pytest

from reward_functions.cdk.constructs.codes import clear, note, zips
from tests.cdk.conftest import CDK_JSON, FakeArtifact

OLD, NEW, OTHER = ("artifact." + digit * 64 + ".zip" for digit in "abc")


def assets(folder, stack, *names):
    files = {name: {"source": {"path": name, "packaging": "file"}} for name in names}
    files["template"] = {"source": {"executable": ["x"]}}
    (folder / f"{stack}.assets.json").write_text(json.dumps({"version": "1", "files": files}))


@pytest.fixture
def out(tmp_path):
    """After three synths: two of the stage dev, one of the stage prod."""
    kept = ("asset.0a.zip", "asset.0b.zip", "asset.0c.zip", "manifest.json", "artifact.mine.zip")
    for name in (OLD, NEW, OTHER, *kept):
        (tmp_path / name).touch()
    (tmp_path / "asset.0d").mkdir()
    assets(tmp_path, "RewardFunctions-dev", "asset.0b.zip", "asset.0d")
    assets(tmp_path, "RewardFunctions-prod", "asset.0c.zip")
    note(tmp_path, "dev", [tmp_path / OLD])
    note(tmp_path, "dev", [tmp_path / NEW])
    note(tmp_path, "prod", [tmp_path / OTHER])
    return tmp_path


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_the_zips_of_earlier_synths_go_and_those_of_other_stages_stay(out):
    before = names(out)
    clear(out)
    assert before - names(out) == {OLD, "asset.0a.zip"}


@pytest.mark.parametrize("broken", ["artifacts.prod.json", "RewardFunctions-prod.assets.json"])
@pytest.mark.parametrize("content", ["{", "7", '{"files": []}', "null"])
def test_where_something_cannot_be_read_nothing_goes(out, broken, content):
    (out / broken).write_text(content)
    before = names(out)
    clear(out)
    assert names(out) == before


def test_whatever_a_stack_runs_from_is_noted_and_its_former_zips_go(tmp_path):
    import aws_cdk as cdk

    def synthesised(**digests):
        app = cdk.App(outdir=str(tmp_path))
        stack = cdk.Stack(app, "RewardAgents-dev")
        made = {name: lambda each=each: FakeArtifact(each * 64) for name, each in digests.items()}
        return {each.path.name for each in zips(stack, made).values()}

    before = synthesised(solver="a", tutor="b")
    after = synthesised(solver="c", tutor="b")
    assert names(tmp_path) > before | after
    clear(tmp_path)
    assert {name for name in names(tmp_path) if name.endswith(".zip")} == after


def test_the_flags_are_those_of_this_repository():
    from reward_functions.cdk.app.app import FLAGS

    context = CDK_JSON["context"]
    assert {name: on for name, on in context.items() if name.startswith("@aws-cdk")} == FLAGS
