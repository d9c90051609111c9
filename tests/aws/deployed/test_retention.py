"""Which versions a prune removes: what is in use stays, and so do the newest."""

from __future__ import annotations

import pytest

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed.pruning import (
    InUse,
    JobInProgress,
    Key,
    StoredVersion,
    decide,
)

PLACE = "arn:aws:lambda:us-east-1:123456789012:function:"
GSM8K = "SageMaker-reward-dev-gsm8k"
LIVE = {(GSM8K, "live"): frozenset({"5"})}


def version(number, **changed):
    return StoredVersion("gsm8k", Key(GSM8K, str(number)), f"2026-11-{number:02}", 10, **changed)


def generation(digest, day, deployment="math", **changed):
    key = Key(f"SageMaker-reward-dev-{deployment}--{digest}", None)
    return StoredVersion(deployment, key, f"2026-11-{day:02}", 10, **changed)


def in_use(*texts, catalogue=(f"{PLACE}{GSM8K}:5",), aliases=LIVE):
    jobs = tuple(JobInProgress(f"job-{at}", (text,)) for at, text in enumerate(texts))
    return InUse(FunctionArn.parse(PLACE + GSM8K), frozenset(catalogue), aliases, jobs)


def left(stored, used, keep=1):
    """The versions that stay, each with its reason."""
    decided = decide(stored, used, keep)
    assert sorted(each.stored.key for each in decided) == sorted(each.key for each in stored)
    assert all(each.reason for each in decided)
    return {
        each.stored.key.version or each.stored.key.function.rpartition("-")[2]: each.reason
        for each in decided
        if not each.goes
    }


FIVE = [version(number) for number in (10, 2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("keep", "numbers"),
    [(1, {"5", "10"}), (2, {"5", "10"}), (3, {"4", "5", "10"}), (5, {"2", "3", "4", "5", "10"})],
)
def test_the_newest_stay_by_number_and_not_by_letters(keep, numbers):
    assert left(FIVE, in_use(), keep).keys() == numbers


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (f"{PLACE}{GSM8K}:3", {"3"}),
        # What an alias leads to stays for the alias's sake; `$LATEST` is no stored version.
        (f"{PLACE}{GSM8K}:live", set()),
        (f"{PLACE}{GSM8K}:nobodys", set()),
        (f"{PLACE}{GSM8K}", set()),
        (f"{PLACE}{GSM8K}:$LATEST", set()),
        # Elsewhere: another account, another region, another partition, another function.
        (f"arn:aws:lambda:us-east-1:999999999999:function:{GSM8K}:3", set()),
        (f"arn:aws:lambda:eu-west-1:123456789012:function:{GSM8K}:3", set()),
        (f"arn:aws-cn:lambda:us-east-1:123456789012:function:{GSM8K}:3", set()),
        (f"{PLACE}{GSM8K}-flexible:3", set()),
        # In the middle of a hyperparameter, or at the end of a sentence.
        (f'{{"reward": "{PLACE}{GSM8K}:3"}}', {"3"}),
        (f"{PLACE}{GSM8K}:3 and {PLACE}{GSM8K}:4", {"3", "4"}),
        # Not an ARN as we read them: all of the function stays.
        (f"123456789012:function:{GSM8K}:3", {"2", "3", "4"}),
        (f"arn%3Aaws%3Alambda%3Aus-east-1%3A123456789012%3Afunction%3A{GSM8K}", {"2", "3", "4"}),
        (GSM8K, {"2", "3", "4"}),
        ("s3://bucket/reward.py", set()),
        ("", set()),
    ],
)
def test_what_a_job_names_stays(text, stays):
    reasons = left(FIVE, in_use(text))
    assert reasons.keys() == stays | {"5", "10"}
    assert all(reasons[each] == "the job job-0 may invoke it" for each in stays)


def test_every_version_behind_an_alias_stays():
    weighted = {(GSM8K, "live"): frozenset({"5", "3"}), (GSM8K, "people"): frozenset({"2"})}
    reasons = left(FIVE, in_use(aliases=weighted))
    assert reasons == {
        "5": "the catalogue gives it to jobs",
        "3": "the alias live points to it",
        "2": "the alias people points to it",
        "10": "the newest",
    }


def test_what_the_catalogue_names_stays_where_live_is_elsewhere():
    reasons = left(FIVE, in_use(catalogue=[f"{PLACE}{GSM8K}:2"]))
    assert reasons.keys() == {"2", "5", "10"}


GENERATIONS = [generation("aaaaaaaa", 1), generation("bbbbbbbb", 2), generation("cccccccc", 3)]


def test_generations_are_ordered_by_the_day_they_were_made():
    named = f"{PLACE}SageMaker-reward-dev-math--aaaaaaaa"
    assert left(GENERATIONS, in_use(catalogue=[named])) == {
        "aaaaaaaa": "the catalogue gives it to jobs",
        "cccccccc": "the newest",
    }


@pytest.mark.parametrize("qualifier", ["", ":$LATEST", ":live", ":1"])
def test_a_generation_stays_under_whatever_qualifier_a_job_names_it(qualifier):
    text = f"{PLACE}SageMaker-reward-dev-math--bbbbbbbb{qualifier}"
    assert left(GENERATIONS, in_use(text, catalogue=())).keys() == {"bbbbbbbb", "cccccccc"}


def test_of_a_deployment_that_is_gone_nothing_is_kept_but_what_a_job_names():
    gone = [generation(digest * 8, 1, "old", gone=True) for digest in "abc"]
    text = f"{PLACE}SageMaker-reward-dev-old--bbbbbbbb"
    assert left(gone, in_use(text), keep=10) == {"bbbbbbbb": "the job job-0 may invoke it"}


def test_a_function_that_two_stages_may_own_stays():
    ambiguous = generation("aaaaaaaa", 1, "eu-math", gone=True, others=("dev-eu",))
    assert left([ambiguous], in_use()) == {"aaaaaaaa": "it may belong to stage dev-eu"}


def test_another_stages_record_protects_what_it_names():
    record = f'{{"version_arn": "{PLACE}SageMaker-reward-dev-math--aaaaaaaa"}}'
    assert "aaaaaaaa" in left(GENERATIONS, in_use(catalogue=[record]))


def test_the_deployments_are_counted_apart():
    other = StoredVersion("math", Key("SageMaker-reward-dev-math", "1"), "2026-01-01", 10)
    assert left([*FIVE, other, *GENERATIONS], in_use(catalogue=()), keep=1).keys() == {
        *("10", "5"),
        "1",
        "cccccccc",
    }


def test_nothing_is_stored():
    assert decide([], in_use(), 1) == []


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (f'{{"reward": "{GSM8K}:2", "tool": "{PLACE}other"}}', {"2", "3", "4", "5", "10"}),
        (f"{PLACE}other {GSM8K}", {"2", "3", "4", "5", "10"}),
        (f"{PLACE}{GSM8K}:2 {PLACE}other", {"2", "5", "10"}),
        (f"{PLACE}{GSM8K}-strict:2", {"5", "10"}),
        (f"{PLACE.replace('123456789012', '999999999999')}{GSM8K}:2", {"5", "10"}),
    ],
)
def test_a_name_beside_an_arn_is_seen_and_a_part_of_one_is_not(text, stays):
    assert left(FIVE, in_use(text)).keys() == stays
