"""Which tests are left out where time is short: marked here, by folder, file or fixture.

aws     a local AWS emulator, or the CDK
slow    those, and what starts many processes or computes for seconds
"""

AWS_FIXTURES = {"local_aws", "enforcing_aws"}

AWS = ("tests/cdk/", "tests/deploy/", "tests/local/emulator/test_local_aws.py")

SLOW = (
    "tests/architecture/test_base_install.py",
    "tests/architecture/test_wheel.py",
    "tests/cli/judge/",
    "tests/cli/test_deployed.py",
    "tests/cli/test_local.py",
    "tests/cli/test_new.py",
    "tests/cli/test_score.py",
    "tests/conformance/",
    "tests/judge_runtime/test_backends.py",
    "tests/judge_runtime/test_serving.py",
    "tests/oracle/",
    "tests/symbolic/cas/test_worker.py",
    "tests/symbolic/numeric/test_identity_properties.py",
    "tests/symbolic/test_properties.py",
    "tests/data/",
    "tests/jobs/test_preflight_reward.py",
    "tests/aws/deployed/test_deployed.py",
    "tests/data/test_json_rows.py",
    "tests/test_walkthrough.py",
    "tests/local/test_local_runtime.py",
    "tests/local/training_double/test_training.py",
)
"""Each took more than two seconds of a processor."""


def mark(items):
    """Mark them."""
    for item in items:
        aws = item.nodeid.startswith(AWS) or not AWS_FIXTURES.isdisjoint(item.fixturenames)
        if aws:
            item.add_marker("aws")
        if aws or item.nodeid.startswith(SLOW):
            item.add_marker("slow")
