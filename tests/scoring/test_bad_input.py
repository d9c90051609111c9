"""What goes wrong around a run over shards is a sentence, and leaves no part that counts as done.

An object that changes, a prefix without objects and a folder of another run: `test_runs.py`.
"""

import json

import pytest
from botocore.exceptions import ClientError

from reward_functions import sample
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.engines.direct import Direct
from reward_functions.scoring.folder import Run, RunIncomplete, RunNotUsable
from reward_functions.scoring.going import go_on
from reward_functions.scoring.invoked import WAITS, Invoked
from reward_functions.scoring.places import Bucket
from reward_functions.scoring.plan import Plan
from reward_functions.scoring.sources import source_of
from reward_functions.testing import wire_row
from tests.lambda_api import Function, lambda_api, scored
from tests.scoring.test_scorers import SPEC, Version

ARN = "arn:aws:lambda:us-east-1:123456789012:function:gsm8k:3"


@pytest.fixture
def plan(tmp_path):
    rows = [wire_row(sample("so\n#### 42", f"{at}", id=f"r{at}")) for at in range(40)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    size = 2_000 / (1 << 20)
    return Plan.of(str(path), str(tmp_path / "run"), "gsm8k", shard_mb=size, function=ARN)


@pytest.fixture
def functions(monkeypatch):
    """What is deployed, by ARN."""
    found = {}
    with lambda_api(found) as address:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "x")
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", address)
        yield found


def test_a_version_that_is_gone_leaves_parts_that_are_missing(plan, functions):
    heard = []
    with pytest.raises(RunIncomplete, match="there is no such function, alias or version here"):
        plan.start(Direct(1), hear=heard.append)
    run = Run.opened(plan.place)
    assert len(run.facts()) == 0
    assert len(run.shards()) > 2
    assert set(run.failures()) == {0}, "no shard after it"
    assert [each.kind for each in heard].count("failed") == 0
    assert run.state().word == "stopped"
    functions[ARN] = Function([scored])
    assert go_on(run, Direct(2)).state().finished
    assert run.failures() == {}
    assert len(run.facts()) == 40


def test_an_account_that_throttles_for_too_long_leaves_what_is_done(plan):
    waits = []
    version, answered = Version(), 0

    def invoke(event):
        nonlocal answered
        if answered == 2:
            raise AwsFailed("throttled: the concurrency is used up", "TooManyRequestsException")
        answered += 1
        return version(event)

    with pytest.raises(RunIncomplete, match="throttled"):
        plan.start(Direct(1, scorer=lambda _: Invoked(SPEC, invoke, sleep=waits.append)))
    run = Run.opened(plan.place)
    assert 0 < len(run.facts()) < 40
    assert len(run.missing()) == 1
    assert tuple(waits[: len(WAITS)]) == WAITS
    engine = Direct(1, scorer=lambda _: Invoked(SPEC, version))
    assert go_on(run, engine).state().finished


@pytest.mark.parametrize("code", ["PermanentRedirect", "301", "AuthorizationHeaderMalformed"])
def test_a_bucket_in_another_region_says_so(code, monkeypatch):
    class Elsewhere:
        def refuse(self, **_):
            raise ClientError({"Error": {"Code": code, "Message": "elsewhere"}}, "any")

        list_objects_v2 = head_object = put_object = refuse

    monkeypatch.setattr(Bucket, "client", Elsewhere())
    said = r"the bucket is in another region: set AWS_REGION to it \(elsewhere\)"
    for act in (
        lambda: source_of("s3://bucket/in/"),
        lambda: source_of("s3://bucket/in/rows.jsonl"),
        lambda: Bucket("bucket", "run").write("run.json", b""),
    ):
        with pytest.raises(ConfigurationError, match=said):
            act()


@pytest.mark.parametrize(("several", "usable"), [(None, False), (True, True)])
def test_several_responses_that_none_of_the_first_rows_has_are_found_and_said(
    tmp_path, several, usable
):
    rows = [{"prompt": f"p{at}", "response": "#### 1", "answer": "1"} for at in range(2_000)]
    rows.append({**rows[0], "response": ["#### 1", "#### 2"]})
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    options = {} if several is None else {"several": several}
    options |= {"shard_mb": 0.05, "function": ARN}
    plan = Plan.of(str(path), str(tmp_path / "run"), "gsm8k", **options)
    engine = Direct(1, scorer=lambda _: Invoked(SPEC, Version()))
    if usable:
        assert len(plan.start(engine).facts()) == 2_002
    else:
        with pytest.raises(RunNotUsable, match=r"several rows.*a larger --shard-mb"):
            plan.start(engine)
