"""The custodian clears up with exactly its rights, and not with one less: enforced by the emulator.

Its duties run here as a user with its policy, on a bucket, a role and a function of this test. What
keeps environments ready is left out: the emulator asks about other actions there.
"""

from __future__ import annotations

import json
from time import monotonic

import pytest

from reward_functions.aws.names import Names
from reward_functions.cdk.custodian import index
from reward_functions.cdk.model.rollouts import Feedback
from reward_functions.cdk.model.stages import Stage
from reward_functions.cdk.policies import custodian, permissions
from reward_functions.cdk.policies.iam import Place

HERE = Place("aws", "us-east-1", "000000000000")
NAMES = Names("cleared")
BUCKET = NAMES.results(HERE.account, HERE.region)
PATH = permissions.rights_roles(HERE, NAMES.stage)
ROLE = f"{NAMES.stack}-rights"  # the emulator asks about a role as if it had no path
FUNCTION = NAMES.immutable("held", "0" * 64)
STACK = "arn:aws:cloudformation:us-east-1:000000000000:stack/cleared/x"
USER, POLICY, RUNS_AS = "clears-up", "work", "runs-what-is-cleared"

EMPTIES = (index.empty_bucket, {"Bucket": BUCKET})
ROLES = (index.delete_roles, {"Path": PATH})
GENERATIONS = (index.delete_generations, {"Prefix": f"{NAMES.function('held')}--", "Stack": STACK})

NEEDED = [
    *((EMPTIES, f"s3:{name}") for name in ("ListBucketVersions", "DeleteObject")),
    *(
        (ROLES, f"iam:{name}")
        for name in ("ListRoles", "ListRolePolicies", "DeleteRolePolicy", "DeleteRole")
    ),
    *((GENERATIONS, f"lambda:{name}") for name in ("ListFunctions", "ListTags", "DeleteFunction")),
]
"""A duty, and a right without which it fails; `s3:DeleteObjectVersion`, which AWS asks for beside
`s3:DeleteObject`, the emulator does not know."""

STAGE = Stage.model_construct(
    name=NAMES.stage, region=HERE.region, emulated=True, bucket="another", feedback=Feedback()
)
WORK = custodian.keep_house(HERE, STAGE)


@pytest.fixture(scope="module")
def account(enforcing_aws):
    """Root's session, with what there is to clear, and a user in place of the custodian."""
    session = enforcing_aws.session()
    iam, s3 = session.client("iam"), session.client("s3")
    iam.create_user(UserName=USER)
    trust = json.dumps(permissions.trust_lambda())
    iam.create_role(RoleName=RUNS_AS, AssumeRolePolicyDocument=trust)
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    yield session
    iam.delete_user_policy(UserName=USER, PolicyName=POLICY)
    for key in iam.list_access_keys(UserName=USER)["AccessKeyMetadata"]:
        iam.delete_access_key(UserName=USER, AccessKeyId=key["AccessKeyId"])
    iam.delete_user(UserName=USER)
    iam.delete_role(RoleName=RUNS_AS)
    s3.delete_bucket(Bucket=BUCKET)


@pytest.fixture(scope="module")
def key(account):
    return account.client("iam").create_access_key(UserName=USER)["AccessKey"]


@pytest.fixture
def clear(account, enforcing_aws, key, monkeypatch):
    """Do a duty with all rights but one."""
    needed = enforcing_aws.environment | {
        "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
    }
    for name, value in needed.items():
        monkeypatch.setenv(name, value)
    index.session.cache_clear()  # another test's credentials

    def cleared(duty, but=""):
        statements = [
            each | {"Action": [action for action in each["Action"] if action != but]}
            for each in WORK["Statement"]
        ]
        document = WORK | {
            "Statement": [each for each in statements if each["Action"] and each["Resource"]]
        }
        account.client("iam").put_user_policy(
            UserName=USER, PolicyName=POLICY, PolicyDocument=json.dumps(document)
        )
        do, properties = duty
        do(properties, monotonic() + 60)

    yield cleared
    index.session.cache_clear()


@pytest.fixture
def left(account, function_zip):
    """What a stage has left behind: two versions of an object, a role, a function."""
    s3, iam, lambda_ = (account.client(name) for name in ("s3", "iam", "lambda"))
    for body in (b"1", b"2"):
        s3.put_object(Bucket=BUCKET, Key="rollouts/x", Body=body)
    trust = json.dumps(permissions.trust_lambda())
    nothing = json.dumps(permissions.send_traces())
    iam.create_role(RoleName=ROLE, Path=PATH, AssumeRolePolicyDocument=trust)
    iam.put_role_policy(RoleName=ROLE, PolicyName="stated", PolicyDocument=nothing)
    lambda_.create_function(
        FunctionName=FUNCTION,
        Runtime="python3.13",
        Role=f"arn:aws:iam::{HERE.account}:role/{RUNS_AS}",
        Handler="function.handler",
        Code={"ZipFile": function_zip("")},
        Tags={index.STACK: STACK},
    )

    def there():
        paths = [each["Path"] for each in iam.list_roles()["Roles"]]
        names = [each["FunctionName"] for each in lambda_.list_functions()["Functions"]]
        versions = s3.list_object_versions(Bucket=BUCKET).get("Versions", ())
        return {
            EMPTIES[0]: bool(versions),
            ROLES[0]: PATH in paths,
            GENERATIONS[0]: FUNCTION in names,
        }

    yield there
    for duty in (EMPTIES, ROLES, GENERATIONS):
        assert not there()[duty[0]]


def test_without_one_of_its_rights_it_says_so_and_with_all_it_clears_up(clear, left):
    for duty, right in NEEDED:
        with pytest.raises(Exception, match=r"AccessDenied|[Nn]ot authorized|Access Denied"):
            clear(duty, but=right)
        assert left()[duty[0]], right
    for duty in (EMPTIES, ROLES, GENERATIONS):
        clear(duty)
