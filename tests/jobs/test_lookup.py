"""A job by its name, whichever service runs it, and the services that a stage has."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import lookup
from reward_functions.jobs.job import NoSuchJob
from reward_functions.jobs.lookup import Place, job_of, place

DENIED = AwsFailed("may not", kind="denied")
BROKEN = AwsFailed("is away", kind="network")


class Driver:
    """A service that has some jobs, or refuses."""

    def __init__(self, *jobs, error=None, region="us-east-1"):
        self.found, self.error, self.region = jobs, error, region

    def get(self, identifier):
        if self.error:
            raise self.error
        if identifier not in self.found:
            raise NoSuchJob("here it is not")
        return identifier


@pytest.mark.parametrize(
    ("drivers", "found"),
    [
        ([Driver("a"), Driver("a")], 0),
        ([Driver("b"), Driver("a")], 1),
        ([Driver(error=DENIED), Driver("a")], 1),
        ([Driver(error=BROKEN), Driver("a")], 1),
        ([Driver("b"), Driver("c")],
         "there is no job 'a' in us-east-1 of this account: `reward job list` shows"),
        ([Driver("b"), Driver("c", region="eu-west-1")], "in eu-west-1 and us-east-1 of this acc"),
        ([Driver(error=DENIED), Driver("b")], "of this account that you may read: `reward job"),
        ([Driver(error=DENIED), Driver(error=DENIED)], DENIED),
        ([Driver(error=BROKEN), Driver("b")], BROKEN),
        ([Driver(error=DENIED), Driver(error=BROKEN), Driver("b")], BROKEN),
    ],
)  # fmt: skip
def test_a_job_is_the_first_services_that_has_it(drivers, found):
    if isinstance(found, int):
        assert job_of("a", drivers) == (drivers[found], "a")
    elif isinstance(found, str):
        with pytest.raises(NoSuchJob, match=found):
            job_of("a", drivers)
    else:
        with pytest.raises(AwsFailed) as raised:
            job_of("a", drivers)
        assert raised.value is found


@pytest.fixture
def drivers(monkeypatch):
    monkeypatch.setattr(
        lookup, "driver_for", lambda name, region, *_: SimpleNamespace(name=name, region=region)
    )


ROLES = ("training_role_arn", "sagemaker_role_arn", "agent_role_arn")


def stage(**roles):
    given = dict.fromkeys(ROLES, None) | {"training_role_arn": "r"} | roles
    return SimpleNamespace(stage="dev", region="us-east-1", **given)


@pytest.mark.parametrize(
    ("roles", "only", "names"),
    [
        ({}, None, {"bedrock", "openai"}),
        ({"sagemaker_role_arn": "r"}, None, {"bedrock", "openai", "sagemaker"}),
        ({"agent_role_arn": "r"}, None, {"bedrock", "openai", "agent-rft"}),
        ({}, "sagemaker", {"sagemaker"}),
    ],
)
def test_the_services_of_a_stage_are_those_it_has_roles_for(roles, only, names, drivers):
    found = Place(stage(**roles), None, "").drivers(only)
    assert {each.name for each in found} == names
    assert {each.region for each in found} == {"us-east-1"}


@pytest.mark.parametrize(
    ("double", "page"),
    [("", ""), ("http://127.0.0.1:1/", "http://127.0.0.1:1/_training/jobs/sums-1")],
)
def test_a_simulation_has_a_page_of_a_job(double, page):
    made = Place(stage(), None, double)
    job = SimpleNamespace(id="arn:aws:x:job/sums-1", created=datetime(2026, 1, 1, tzinfo=UTC))
    assert (made.simulated, made.simulation_page(job)) == (bool(double), page)


def test_a_job_is_looked_for_where_its_arn_says(drivers, monkeypatch):
    asked = []
    monkeypatch.setattr(lookup, "job_of", lambda *given: asked.append(given))
    made = Place(stage(sagemaker_role_arn="r"), None, "")
    made.job("sums-1")
    made.job("sums-1", "bedrock")
    made.job("arn:aws:sagemaker:us-east-1:123456789012:training-job/sums-1")
    assert [{each.name for each in drivers} for _, drivers in asked] == [
        {"bedrock", "openai", "sagemaker"}, {"bedrock"}, {"sagemaker"},
    ]  # fmt: skip


@pytest.mark.parametrize(("local", "double"), [(True, "http://127.0.0.1:2"), (False, "")])
def test_a_stage_is_read_once_no_call_can_reach_another_aws(local, double, monkeypatch):
    steps = []
    ways = SimpleNamespace(
        local=local,
        services={"bedrock": "http://127.0.0.1:2"},
        check=lambda: steps.append("checked"),
    )
    monkeypatch.setattr(lookup, "endpoints", lambda _: ways)
    monkeypatch.setattr(lookup, "stage_record", lambda *_: steps.append("read") or stage())
    assert place("dev", None).double == double
    assert steps == ["checked", "read"]
