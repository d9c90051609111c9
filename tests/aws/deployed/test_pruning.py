"""A prune of a stage on the local AWS emulator, beside jobs on doubles of their services."""

from __future__ import annotations

import pytest

from reward_functions.aws.catalogue import function_name
from reward_functions.aws.deployed import pruning
from reward_functions.aws.deployed.catalogue import NotDeployed
from reward_functions.aws.deployed.pruning import (
    Key,
    PruneDecision,
    Removal,
    StoredVersion,
    planned,
    removed,
)
from tests.deployed_stage import SOURCE, StageOnEmulator


def plan_of(stage, *names, **options):
    return planned(stage.stage, names, session=stage.session, **options)


def prune(stage, *names, **options):
    """Prune; what could not be removed, in words, and why what stays does."""
    plan = plan_of(stage, *names, **options)
    problems = [each.problem for each in removed(plan, stage.session) if each.problem]
    return problems, {each.reason for each in plan.decisions}


@pytest.mark.parametrize(
    ("keep", "left"),
    [(None, ["3", "4", "5"]), (1, ["3", "5"]), (4, ["2", "3", "4", "5"])],
)
def test_the_newest_stay_and_so_does_what_is_live(stage, planes, keep, left):
    function = stage.deployment()
    assert prune(stage, keep=keep)[0] == []
    assert stage.stored(function) == left
    assert plan_of(stage, keep=keep).going == []


def test_a_version_that_a_job_names_stays(stage, planes):
    function = stage.deployment(versions=6, live="6")
    planes.graded("running", f"{function}:1")
    planes.graded("over", f"{function}:2", status="Completed")
    planes.evaluated("rlvr", f"{function}:3")
    planes.graded("theirs", f"{function}:4".replace("000000000000", "999999999999"))
    _, reasons = prune(stage, keep=1)
    assert {"the job running may invoke it", "the job rlvr may invoke it"} < reasons
    assert stage.stored(function) == ["1", "3", "6"]


def test_whoever_knows_that_no_job_runs_needs_no_list_of_them(stage):
    function = stage.deployment()
    prune(stage, without_jobs=["bedrock", "sagemaker"])
    assert stage.stored(function) == ["3", "4", "5"]


def test_generations_are_functions_and_go_whole(stage, planes):
    names = {digest: stage.generation("math", digest * 8) for digest in "abcd"}
    stage.record("math", names["a"])
    planes.evaluated("rlvr", names["b"])
    stage.deployment("math-strict", versions=1, live="1")
    prune(stage, keep=1)
    assert stage.functions() == [
        "math--aaaaaaaa",
        "math--bbbbbbbb",
        "math--dddddddd",
        "math-strict",
    ]


def test_generations_of_a_deployment_that_is_gone_go_unless_a_job_names_them(stage, planes):
    stage.deployment(versions=1, live="1")
    stage.generation("old", "a" * 8)
    planes.graded("running", stage.generation("old", "b" * 8))
    stage.generation("older", "c" * 8)
    # Alike, and none: a digest of seven digits, and another stage's.
    stage.deployed_function(SOURCE, name=f"{function_name(stage.stage, 'old')}--1234567")
    stage.deployed_function(SOURCE, name=f"SageMaker-reward-{stage.stage}x-old--12345678")
    _, reasons = prune(stage, "old")
    assert "its deployment is gone, and nothing names it" in reasons
    left = ["gsm8k", "old--1234567", "old--bbbbbbbb"]
    assert stage.functions() == sorted([*left, "older--cccccccc"])
    prune(stage)
    assert stage.functions() == left


def test_a_function_that_another_stage_may_own_stays(stage, planes, deployed_function):
    stage.deployment(versions=1, live="1")
    other = StageOnEmulator(stage.session, deployed_function, f"{stage.stage}-eu")
    other.generation("math", "a" * 8)
    assert f"it may belong to stage {other.stage}" in prune(stage)[1]
    assert other.functions() == ["math--aaaaaaaa"]


def test_a_stage_of_a_prefix_prunes_its_own_functions_and_no_other_prefix_s(
    stage, planes, deployed_function
):
    ours = StageOnEmulator(stage.session, deployed_function, f"{stage.stage}-a", "acme")
    theirs = StageOnEmulator(stage.session, deployed_function, f"{stage.stage}-a-x", "acme-two")
    for each in (ours, theirs):
        each.deployment(versions=4, live="4")
        each.generation("old", "a" * 8)
    # The same name without the prefix is no stage's, and with it both of two stages'.
    deployed_function(SOURCE, name=f"SageMaker-reward-{ours.stage}-old--{'b' * 8}")
    prune(ours)
    assert ours.functions() == ["gsm8k"]
    assert ours.stored(ours.names.function("gsm8k")) == ["3", "4"]
    assert theirs.functions() == ["gsm8k", "old--aaaaaaaa"]
    assert StageOnEmulator(stage.session, deployed_function, ours.stage).functions() == [
        "old--bbbbbbbb"
    ]


def test_stages_of_one_prefix_may_own_each_other_s_functions(stage, planes, deployed_function):
    ours = StageOnEmulator(stage.session, deployed_function, f"{stage.stage}-b", "acme")
    other = StageOnEmulator(stage.session, deployed_function, f"{ours.stage}-eu", "acme")
    ours.deployment(versions=1, live="1")
    other.generation("math", "a" * 8)
    assert f"it may belong to stage {other.stage}" in prune(ours)[1]
    assert other.functions() == ["math--aaaaaaaa"]


def test_versions_on_further_pages_are_read_to_the_last(stage, planes):
    function = stage.deployment(versions=60, live="1")  # Lambda's pages hold 50
    assert len(plan_of(stage).going) == 57
    prune(stage)
    assert stage.stored(function) == ["1", "59", "60"]


def test_a_version_that_an_alias_took_meanwhile_stays_and_so_does_a_new_one(stage, planes):
    function = stage.deployment()
    plan = plan_of(stage)
    stage.lambda_.update_alias(FunctionName=function, Name="live", FunctionVersion="1")
    stage.publish(function)
    first, second = removed(plan, stage.session)
    assert (first.stored.key.version, first.problem) == ("2", None)
    assert second.problem.startswith(f"removing version 1 of {function.rpartition(':')[2]}: ")
    assert "referenced by an alias. (ResourceConflictException)" in second.problem
    assert stage.stored(function) == ["1", "3", "4", "5", "6"]


def test_what_somebody_else_removed_meanwhile_is_gone_all_the_same(stage, planes):
    function = stage.deployment()
    plan = plan_of(stage)
    stage.lambda_.delete_function(FunctionName=function)
    assert [each.problem for each in removed(plan, stage.session)] == [None, None]
    # The catalogue that is left names a function that has no versions.
    assert plan_of(stage).decisions == ()


def test_whoever_may_not_remove_stops_at_the_first(stage, planes, monkeypatch):
    from reward_functions.aws.failures import AwsFailed

    stage.deployment()
    plan = plan_of(stage, keep=1)
    assert len(plan.going) == 3

    def refused(key, client):
        raise AwsFailed("not allowed: x", "AccessDeniedException")

    monkeypatch.setattr(pruning, "_remove", refused)
    assert list(removed(plan)) == [Removal(plan.going[0], "not allowed: x")]


def test_a_later_plan_takes_back_and_adds_nothing(stage, planes):
    function = stage.deployment()
    before = plan_of(stage)
    planes.graded("begun", f"{function}:1")
    stage.publish(function)
    later = plan_of(stage)
    assert [each.key.version for each in later.going] == ["4", "2"]
    assert [each.key.version for each in before.still(later).going] == ["2"]


def test_no_whole_function_goes_but_a_generation(stage):
    whole = StoredVersion("gsm8k", Key(stage.deployment(), None), "", 0)
    plan = pruning.PrunePlan(
        pruning.FunctionArn.parse(whole.key.function), (PruneDecision(whole, True, ""),), None
    )
    with pytest.raises(ValueError, match="gsm8k"):
        list(removed(plan, stage.session))
    assert stage.functions() == ["gsm8k"]


def test_a_name_that_is_not_deployed_is_reported(stage, planes):
    stage.deployment(versions=1, live="1")
    with pytest.raises(NotDeployed, match=r"no deployment 'gsm9k'. Did you mean 'gsm8k'\?"):
        plan_of(stage, "gsm9k")
