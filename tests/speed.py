"""Which tests are left out where time is short: marked here, by folder, file or fixture.

aws     an embedded AWS, or the CDK
slow    those, and what starts many processes or computes for seconds
"""

AWS_FIXTURES = {"local_aws", "enforcing_aws"}

AWS = ("tests/cdk/", "tests/deploy/", "tests/tools/test_local_aws.py")

SLOW = ()


def mark(items):
    """Mark them."""
    for item in items:
        aws = item.nodeid.startswith(AWS) or not AWS_FIXTURES.isdisjoint(item.fixturenames)
        if aws:
            item.add_marker("aws")
        if aws or item.nodeid.startswith(SLOW):
            item.add_marker("slow")
