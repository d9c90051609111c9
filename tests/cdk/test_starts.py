"""How functions start: what is refused, what CloudFormation gets, what it costs at rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_functions.cdk.limits import starts
from reward_functions.cdk.model.stages import BadStage, stage_of

READY = {"provisioned_concurrency": 4}
SNAPPED = {"snap_start": True}
IMMUTABLE = {"immutable": True}


def stage(deployment=None, **given):
    deployments = [{"name": "gsm8k"} | (deployment or {})]
    about = {"region": "us-east-1", "deployments": deployments} | given
    return stage_of({"dev": about}, "dev", Path())


@pytest.fixture(scope="module")
def everything(synthesised):
    return synthesised("everything")


TOGETHER = "Lambda takes snap_start and provisioned_concurrency not together"

REFUSED = [
    # what is asked; of which stage; the sentence. Sources: "Supported features and limitations"
    # and "Supported Regions" of the page on SnapStart, "Configuring provisioned concurrency".
    (SNAPPED | READY, {}, TOGETHER),
    (SNAPPED | READY | {"reserved_concurrency": 100}, {}, TOGETHER),
    (SNAPPED | {"ephemeral_storage_mb": 513}, {}, "with no more ephemeral storage than 512 MB"),
    (SNAPPED | {"ephemeral_storage_mb": 10_240}, {}, "leave ephemeral_storage_mb out"),
    (SNAPPED, {"region": "ap-east-2"}, r"has no SnapStart in ap-east-2 \(Taipei\)"),
    (SNAPPED, {"region": "us-gov-west-1"}, "commercial regions, and us-gov-west-1 is none"),
    (SNAPPED, {"region": "cn-north-1"}, "commercial regions, and cn-north-1 is none"),
    ({"tracing": True}, {"region": "cn-north-1"}, "no X-Ray in cn-north-1: leave tracing out"),
    (SNAPPED, {"region": "ap-southeast-6"}, r"in ap-southeast-6 \(New Zealand\)"),
    (SNAPPED | IMMUTABLE, {}, "snap_start is of published versions, and an immutable deployment"),
    (READY | IMMUTABLE, {}, "provisioned_concurrency is of published versions"),
    (READY | {"reserved_concurrency": 3}, {}, "reserved_concurrency 3 is too little"),
    (READY | {"reserved_concurrency": 7}, {}, "reserve 8, or nothing"),
    ({"provisioned_concurrency": 0}, {}, "greater than or equal to 1|1 or more"),
    ({"provisioned_concurrency": 1.5}, {}, "provisioned_concurrency"),
    ({"ephemeral_storage_mb": 511}, {}, "ephemeral_storage_mb"),
    ({"ephemeral_storage_mb": 10_241}, {}, "ephemeral_storage_mb"),
]


@pytest.mark.parametrize(("deployment", "given", "sentence"), REFUSED)
def test_what_lambda_refuses_is_one_sentence_before_anything_is_built(deployment, given, sentence):
    with pytest.raises(BadStage, match=sentence) as refusal:
        stage(deployment, **given)
    message = str(refusal.value)
    assert "deployment" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("deployment", "given"),
    [
        (SNAPPED, {"python": "3.12"}),
        (SNAPPED | {"ephemeral_storage_mb": 512, "reserved_concurrency": 1}, {}),
        (SNAPPED | {"tracing": True}, {"architecture": "x86_64"}),
        (READY | {"reserved_concurrency": 8, "ephemeral_storage_mb": 10_240}, {}),
        (IMMUTABLE | {"ephemeral_storage_mb": 10_240, "tracing": True}, {}),
    ],
)
def test_what_lambda_takes_is_a_stage(deployment, given):
    assert stage(deployment, **given).deployments


def test_a_snapshot_of_this_machine_s_python_needs_3_12(monkeypatch):
    monkeypatch.setattr("reward_functions.cdk.model.stages.here", lambda: ("x86_64", "3.11"))
    with pytest.raises(BadStage, match=r"from Python 3.12, and the stage's is 3.11"):
        stage(SNAPPED, emulated=True)


@pytest.mark.parametrize(
    ("deployment", "given", "sentences"),
    [
        ({}, {}, []),
        ({"ephemeral_storage_mb": 1024, "tracing": True}, {}, []),
        # 4 environments of 2 GB for 730 hours at 0.0000033334 dollars
        (
            READY | {"memory_mb": 2048},
            {},
            ["gsm8k keeps 4 environments of 2048 MB ready: about $70.08 a month (list price of"],
        ),
        (READY | {"memory_mb": 2048}, {"architecture": "x86_64"}, ["about $87.60 a month"]),
        (SNAPPED | {"memory_mb": 2048}, {}, ["snapshot of 2048 MB: about $7.91 a month"]),
        (SNAPPED | {"memory_mb": 2048}, {"keep_versions": 3}, ["$23.72 for the 3 it keeps"]),
    ],
)
def test_what_costs_at_rest_is_said_before_it_is_deployed(deployment, given, sentences):
    found = list(starts.costs_of_starts(stage(deployment, **given)))
    assert len(found) == len(sentences)
    assert all(wanted in sentence for wanted, sentence in zip(sentences, found, strict=True))


@pytest.mark.parametrize(
    ("megabytes", "sentences"),
    [
        (1769, []),
        (1768, ["has 1768 MB, and with it 100% of a processor: where `math` was measured at 1024"]),
        (
            1024,
            ["58% of a processor", "after 1.6 s instead of 0.83", "took 0.56 s instead of 0.36"],
        ),
        (1023, ["measured at 512 MB", "after 3.3 s"]),
        (512, ["29% of a processor", "256 samples took 1.5 s"]),
    ],
)
def test_what_a_part_of_a_processor_costs_is_said_in_seconds(megabytes, sentences):
    found = "".join(starts.costs_of_memory(stage({"memory_mb": megabytes})))
    assert bool(found) == bool(sentences)
    assert all(sentence in found for sentence in sentences)


def test_the_synthesis_says_what_costs_at_rest(everything):
    said = [str(each.data) for each in everything.stack.node.metadata]
    assert len([each for each in said if "list price" in each]) == 2


def test_a_function_starts_as_its_deployment_says(everything):
    found = everything.rewards()
    flexible, strict, plain = (found[f"gsm8k-{n}"] for n in ("flexible", "strict", "sagemaker"))
    assert flexible["EphemeralStorage"] == {"Size": 2048}
    assert flexible["TracingConfig"] == {"Mode": "Active"}
    assert strict["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    for usual in (plain, found["math"]):
        assert not {"EphemeralStorage", "TracingConfig", "SnapStart"} & usual.keys()
    assert not {"SnapStart"} & flexible.keys()


def test_debug_reaches_cloudwatch_and_nothing_filters_what_alarms_read(everything):
    levels = {
        name: each["LoggingConfig"].get("ApplicationLogLevel")
        for name, each in everything.rewards().items()
    }
    assert levels == dict.fromkeys(levels) | {"gsm8k-flexible": "DEBUG"}


def test_no_level_has_lambda_drop_the_lines_of_metrics(stack_of):
    named = [
        {"name": level.lower(), "reward": "gsm8k", "settings": {"log_level": level}}
        for level in ("INFO", "WARNING", "ERROR", "CRITICAL")
    ]
    for each in stack_of({"deployments": named}).rewards().values():
        assert each["LoggingConfig"].keys() == {"LogFormat", "LogGroup"}


def test_only_what_is_traced_may_send_traces(everything):
    roles = {
        role["Description"]: [each["PolicyName"] for each in role["Policies"]]
        for role in everything.properties("AWS::IAM::Role")
    }
    traced = [what for what, policies in roles.items() if "traces" in policies]
    assert traced == ["What SageMaker-reward-everything-gsm8k-flexible runs as"]


def readiness(stage):
    """What keeps environments ready: its logical name, and the resource."""
    return stage.resources("Custom::RewardReadiness").items()


def test_a_version_is_ready_behind_every_gate_and_before_anything_points_to_it(everything):
    ((name, ready),) = readiness(everything)
    gates = everything.resources("Custom::RewardGate")
    assert {*gates} <= {*ready["DependsOn"]}
    version = everything.template["Resources"][ready["Properties"]["Version"]["Ref"]]
    assert version["Type"] == "AWS::Lambda::Version"
    pointing = [
        *everything.resources("AWS::Lambda::Alias").values(),
        *everything.resources("AWS::SSM::Parameter").values(),
    ]
    assert all(name in each["DependsOn"] for each in pointing)


def test_the_catalogue_says_a_version_that_no_alias_and_no_template_provides_for(everything):
    for kind in ("AWS::Lambda::Alias", "AWS::Lambda::Version"):
        assert not any(
            "ProvisionedConcurrencyConfig" in each for each in everything.properties(kind)
        )


def test_another_version_is_made_ready_by_another_resource_and_another_number_by_the_same(stack_of):
    def of(ready, **more):
        named = [{"name": "gsm8k", "provisioned_concurrency": ready} | more]
        return stack_of({"deployments": named})

    ((one, few),) = readiness(of(2))
    ((same, many),) = readiness(of(3))
    ((other, _),) = readiness(of(2, timeout_seconds=60))
    assert one == same != other
    numbers = [each["Properties"]["Environments"] for each in (few, many)]
    assert numbers == ["2", "3"]
    assert few["Properties"]["Version"] == many["Properties"]["Version"]


def test_a_custodian_may_provide_for_what_asks_for_it_and_release_whatever_had_it(everything):
    (custodian,) = [
        role
        for role in everything.properties("AWS::IAM::Role")
        if role["Description"].startswith("What reward-custodian")
    ]
    statements = {
        each["Sid"]: each["Resource"]
        for policy in custodian["Policies"]
        for each in policy["PolicyDocument"]["Statement"]
    }
    functions = "arn:aws:lambda:eu-central-1:123456789012:function:SageMaker-reward-everything-"
    assert statements["ProvideVersion"] == [f"{functions}gsm8k-flexible:*"]
    assert statements["ReleaseVersion"] == [f"{functions}*:*"]
    assert not [sid for sid in statements if "Emulator" in sid]


def test_another_generation_is_made_for_other_storage_and_for_traces():
    usual, *others = (
        starts.state(stage(IMMUTABLE | more).deployments[0])
        for more in ({}, {"ephemeral_storage_mb": 1024}, {"tracing": True})
    )
    assert usual == {}  # so that the generations of before keep their names
    assert others == [{"ephemeral_storage_mb": 1024}, {"tracing": True}]
