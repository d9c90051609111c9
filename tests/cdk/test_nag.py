"""cdk-nag's AwsSolutions rules: a finding without a reason ends the synth."""

from __future__ import annotations

import pytest

from reward_functions.cdk.constructs import runtime


@pytest.mark.parametrize("accepted", [False, True])
def test_a_finding_is_accepted_for_a_reason_or_ends_the_synth(tmp_path, accepted):
    import aws_cdk as cdk
    from aws_cdk import aws_sqs as sqs

    app = cdk.App(outdir=str(tmp_path), builtin_cloud_formation_validation=False)
    stack = cdk.Stack(app, "Stack")
    queue = sqs.Queue(stack, "Queue", enforce_ssl=True)
    runtime.check(app)
    if accepted:
        runtime.acknowledge(queue, "SQS3", "It is itself a dead-letter queue.")
        assert app.synth()
    else:
        with pytest.raises(RuntimeError, match=r"[Vv]alidation"):
            app.synth()


@pytest.mark.parametrize(
    "name", ["dev", "prod", "everything", "judged", "company", "agents", "deferred"]
)
def test_every_stage_passes(synthesised, name):
    """Synthesising it ran the rules, and would have raised."""
    assert synthesised(name).template["Resources"]
