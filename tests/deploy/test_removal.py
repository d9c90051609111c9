"""`cdk destroy` of the local stage: nothing is left. Behind the other tests by its name."""

from __future__ import annotations


def test_destroying_the_local_stage_leaves_nothing(stage):
    assert "RewardFunctions-local: destroyed" in stage.project.cdk.destroy()
    clients = {name: stage.session.client(name) for name in ("lambda", "ssm", "s3", "logs", "iam")}
    assert clients["lambda"].list_functions()["Functions"] == []
    names = [each["Name"] for each in clients["ssm"].describe_parameters()["Parameters"]]
    assert [name for name in names if not name.startswith("/cdk-bootstrap/")] == []
    buckets = [each["Name"] for each in clients["s3"].list_buckets()["Buckets"]]
    assert [name for name in buckets if not name.startswith("cdk-")] == []
    assert clients["logs"].describe_log_groups()["logGroups"] == []
    roles = [each["RoleName"] for each in clients["iam"].list_roles()["Roles"]]
    assert [name for name in roles if not name.startswith("cdk-")] == []
    topics = stage.session.client("sns").list_topics()["Topics"]
    alarms = stage.session.client("cloudwatch").describe_alarms()["MetricAlarms"]
    assert (topics, alarms) == ([], [])
