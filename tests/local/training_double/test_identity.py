"""Who asks: the emulator checks the signatures, and the double believes it and nobody else."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError

from reward_functions.local.loopback_service.server import Refused, Request
from reward_functions.local.training_double.identity import Callers
from tests.local.training_double.conftest import ACCOUNT, REGION, allow, document

LISTS = allow("bedrock:ListModelCustomizationJobs", "*")


def api_key(session, expires=3600, **changes):
    """A short-term key, as AWS's published generator makes it: a presigned URL in base64."""
    from botocore.auth import SigV4QueryAuth
    from botocore.awsrequest import AWSRequest

    url = changes.get("url", "https://bedrock.amazonaws.com/")
    action = {"Action": changes.get("action", "CallWithBearerToken")}
    request = AWSRequest("POST", url, {"host": urlsplit(url).hostname}, params=action)
    credentials = session.get_credentials().get_frozen_credentials()
    service = changes.get("service", "bedrock")
    SigV4QueryAuth(credentials, service, REGION, expires=expires).add_auth(request)
    signed = request.url.removeprefix("https://") + "&Version=1"
    signed = signed.replace(*changes.get("replace", ("", "")))
    return changes.get("prefix", "bedrock-api-key-") + base64.b64encode(signed.encode()).decode()


def bearing(key):
    return Request("GET", "/v1/files", "", {"authorization": f"Bearer {key}"}, b"")


@pytest.fixture
def session_of_role(world):
    """The session of a role with these rights."""

    def made(name, *statements):
        trusts = document(
            {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": ACCOUNT}}
        )
        arn = world.role(name, document(*statements), trusts)
        given = world.aws.client("sts").assume_role(RoleArn=arn, RoleSessionName="me")
        found = given["Credentials"]
        return world.keys(found["AccessKeyId"], found["SecretAccessKey"], found["SessionToken"])

    return made


def refusal(call, **arguments):
    """The code and the message of a refusal."""
    with pytest.raises(ClientError) as refused:
        call(**arguments)
    error = refused.value.response["Error"]
    return error["Code"], error["Message"]


def listed(world, session):
    return world.client(session).list_model_customization_jobs(nameContains="nothing-has-it")


def test_root_a_person_and_a_role_are_known_and_may_what_their_policies_say(world, session_of_role):
    for session in (world.root, world.user(LISTS), session_of_role("lists", LISTS)):
        assert listed(world, session)["modelCustomizationJobSummaries"] == []


@pytest.mark.parametrize("who", ["user", "role"])
def test_whoever_may_not_is_refused_by_name(world, session_of_role, who):
    session = world.user() if who == "user" else session_of_role("may-nothing")
    code, message = refusal(lambda: listed(world, session))
    assert code == "AccessDeniedException"
    assert "is not authorized to perform: bedrock:ListModelCustomizationJobs" in message
    assert (
        ":user/training-double-" if who == "user" else ":assumed-role/training-double-"
    ) in message


def test_a_permissions_boundary_limits(world):
    boundary = world.iam.create_policy(
        PolicyName="training-double-boundary", PolicyDocument=document(allow("s3:*", "*"))
    )["Policy"]["Arn"]
    for limited in (False, True):
        name = f"training-double-limited-{limited}"
        options = {"PermissionsBoundary": boundary} if limited else {}
        world.iam.create_user(UserName=name, **options)
        attached = world.iam.create_policy(PolicyName=name, PolicyDocument=document(LISTS))
        world.iam.create_group(GroupName=name)
        world.iam.add_user_to_group(GroupName=name, UserName=name)
        world.iam.attach_group_policy(GroupName=name, PolicyArn=attached["Policy"]["Arn"])
        key = world.iam.create_access_key(UserName=name)["AccessKey"]
        session = world.keys(key["AccessKeyId"], key["SecretAccessKey"])
        if limited:
            assert refusal(listed, world=world, session=session)[0] == "AccessDeniedException"
        else:
            assert listed(world, session)["modelCustomizationJobSummaries"] == []


def forged(world, how):
    """A session whose requests the emulator cannot take."""
    key = world.person.get_credentials()
    match how:
        case "a wrong secret":
            return world.keys(key.access_key, "x" * 40)
        case "an unknown key":
            return world.keys("AKIA" + "X" * 16, key.secret_key)
        case "a token that nobody gave":
            return world.keys(key.access_key, key.secret_key, "token")


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("a wrong secret", "InvalidSignatureException"),
        ("an unknown key", "UnrecognizedClientException"),
        ("a token that nobody gave", "UnrecognizedClientException"),
    ],
)
def test_a_forged_request_is_refused_in_the_words_of_aws(world, how, code):
    found, message = refusal(lambda: listed(world, forged(world, how)))
    assert (found, bool(message)) == (code, True)


@pytest.mark.parametrize("what", ["body", "query", "target"])
def test_a_request_that_was_changed_on_its_way_is_refused(world, what):
    client = world.client(world.person)

    def change(request, **_):
        match what:
            case "body":
                request.body = request.body.replace(b'"mine"', b'"your"')
            case "query":
                request.url = request.url.replace("mine", "your")
            case "target":
                request.headers["X-Amz-Target"] = "AWSSecurityTokenServiceV20110615.Anything"

    client.meta.events.register("before-send", change)
    if what == "query":
        call, arguments = client.list_model_customization_jobs, {"nameContains": "mine"}
    else:
        arn = f"arn:aws:bedrock:{REGION}:{ACCOUNT}:custom-model/amazon.nova/abcdefghijkl"
        call, arguments = (
            client.create_custom_model_deployment,
            {"modelDeploymentName": "mine", "modelArn": arn},
        )
    code, _ = refusal(call, **arguments)
    # A target of the caller's own is not shown to the emulator, and was not signed.
    expected = "ResourceNotFoundException" if what == "target" else "InvalidSignatureException"
    assert code == expected


def test_a_request_without_a_signature_is_refused(world):
    from botocore import UNSIGNED

    client = world.client(world.person, signature_version=UNSIGNED)
    assert refusal(client.list_custom_models)[0] == "MissingAuthenticationTokenException"


@pytest.mark.parametrize("who", ["person", "root"])
def test_a_short_term_key_is_whoevers_made_it(world, who):
    callers = Callers(world.aws)
    caller = callers.of(bearing(api_key(getattr(world, who))))
    assert caller.bearer
    assert caller.unrestricted == (who == "root")
    assert caller.region == REGION


def test_a_key_serves_for_bedrock_itself_where_its_maker_may_use_one(world):
    # boto3 sends keys over TLS alone; the double speaks none.
    def listing(session):
        authorization = {"authorization": f"Bearer {api_key(session)}"}
        request = Request("GET", "/model-customization-jobs", "", authorization, b"")
        try:
            return world.double.answer(request)
        except Refused as refused:
            return world.double.denial(request, refused)

    assert listing(world.person)[0] == 200
    status, _, body = listing(world.user(LISTS))
    assert (status, b"bedrock:CallWithBearerToken" in body) == (403, True)


def test_a_key_is_remembered_until_it_expires_and_no_longer(world):
    times = [datetime.now(UTC)]
    key = api_key(world.person, expires=43_200)
    callers = Callers(world.aws, lambda: times[-1])
    caller = callers.of(bearing(key))
    # The emulator would take it for five minutes only.
    times.append(times[0] + timedelta(hours=11, minutes=59))
    assert callers.of(bearing(key)) == caller
    times.append(times[0] + timedelta(hours=12, minutes=1))
    with pytest.raises(Refused, match="has expired"):
        callers.of(bearing(key))
    assert key not in repr(vars(callers))


KEYS = [
    # what was done to a key, and the code
    ({"replace": ("Expires=3600", "Expires=3601")}, "InvalidSignatureException"),
    ({"replace": ("bedrock.amazonaws.com", "bedrock.example.com")}, "UnrecognizedClientException"),
    ({"url": "https://sts.amazonaws.com/"}, "UnrecognizedClientException"),
    ({"prefix": "sagemaker-api-key-"}, "UnrecognizedClientException"),
    ({"prefix": "bedrock-api-key-#"}, "UnrecognizedClientException"),
    ({"replace": ("X-Amz-Date", "X-Amz-Data")}, "UnrecognizedClientException"),
    ({"expires": 0}, "ExpiredTokenException"),
    ({"replace": ("Expires=3600", "Expires=never")}, "UnrecognizedClientException"),
    ({"replace": ("X-Amz-Date=2", "X-Amz-Date=9999&X-Amz-Date=2")}, "UnrecognizedClientException"),
    ({"action": "Whatever"}, "UnrecognizedClientException"),
    ({"service": "sqs"}, "InvalidSignatureException"),
]


@pytest.mark.parametrize(("changes", "code"), KEYS)
def test_a_forged_key_is_refused(world, changes, code):
    key = api_key(world.person, **{"expires": 3600} | changes)
    callers = Callers(world.aws)
    with pytest.raises(Refused) as refused:
        callers.of(bearing(key))
    assert refused.value.code == code
    assert key[-40:] not in str(refused.value)


@pytest.mark.parametrize("secret", ["test", "guessed"])
def test_a_key_of_root_is_made_with_the_secret_of_root(world, secret):
    key = bearing(api_key(world.keys(ACCOUNT, secret)))
    callers = Callers(world.aws)
    if secret == "test":
        assert callers.of(key).unrestricted
    else:
        with pytest.raises(Refused, match="signature"):
            callers.of(key)


def everything_but(*actions):
    return {"Effect": "Allow", "NotAction": [*actions], "Resource": "*"}


EVERYTHING = allow("*", "*")
NARROW = [
    # what somebody may do, each of which covers whatever action the emulator is asked about
    [allow("organizations:*", "*")],
    [everything_but("bedrock:*")],
    [everything_but("iam:*", "bedrock:*")],
    [EVERYTHING, {"Effect": "Deny", "Action": "bedrock:*", "Resource": "*"}],
]


@pytest.mark.parametrize("statements", NARROW)
@pytest.mark.parametrize("who", ["user", "role"])
def test_nobody_may_more_than_the_policies_say(world, session_of_role, who, statements):
    if who == "user":
        session = world.user(*statements)
    else:
        session = session_of_role(f"narrow-{NARROW.index(statements)}", *statements)
    code, message = refusal(listed, world=world, session=session)
    assert code == "AccessDeniedException"
    assert f":{who}/" in message or ":assumed-role/" in message


def test_whoever_may_do_everything_is_known_by_name_whatever_is_sent(world, session_of_role):
    arn = f"arn:aws:bedrock:{REGION}:{ACCOUNT}:custom-model/amazon.nova/abcdefghijkl"
    for session in (world.user(EVERYTHING), session_of_role("everything", EVERYTHING)):
        client = world.client(session)
        assert listed(world, session)["modelCustomizationJobSummaries"] == []
        deployment = {"modelDeploymentName": "a", "modelArn": arn}
        code, _ = refusal(client.create_custom_model_deployment, **deployment)
        assert code == "ResourceNotFoundException"
        callers = Callers(world.aws)
        assert not callers.of(bearing(api_key(session))).unrestricted


def test_a_patch_of_somebody_unknown_who_may_do_everything_is_refused(world):
    arn = f"arn:aws:bedrock:{REGION}:{ACCOUNT}:custom-model/amazon.nova/abcdefghijkl"
    client = world.client(world.user(EVERYTHING))
    code, message = refusal(
        client.update_custom_model_deployment,
        customModelDeploymentIdentifier="absent",
        modelArn=arn,
    )
    assert (code, "ask for anything else first" in message) == ("AccessDeniedException", True)


def signed(session, service="bedrock", path="/custom-models", body=b"", moved=0, **headers):
    """A request of the AWS APIs, signed as if it were some seconds later."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    request = AWSRequest("GET", f"http://127.0.0.1{path}", headers, body)
    request.headers["Host"] = "127.0.0.1"
    request.context["timestamp"] = moment = (
        f"{datetime.now(UTC) + timedelta(seconds=moved):%Y%m%dT%H%M%SZ}"
    )
    request.headers["X-Amz-Date"] = moment
    credentials = session.get_credentials().get_frozen_credentials()
    signer = SigV4Auth(credentials, service, REGION)
    canonical = signer.canonical_request(request)
    signature = signer.signature(signer.string_to_sign(request, canonical), request)
    request.headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={signer.scope(request)}, "
        f"SignedHeaders={signer.signed_headers(signer.headers_to_sign(request))}, "
        f"Signature={signature}"
    )
    bare, _, query = path.partition("?")
    headers = {name.lower(): text for name, text in request.headers.items()}
    return Request("GET", bare, query, headers, body)


def header(request, name, change):
    """The request with one of its headers changed."""
    changed = {name.lower(): change(request.header(name))}
    return request._replace(headers={**request.headers, **changed})


def test_roots_signature_covers_what_others_cover(world):
    callers = Callers(world.aws)
    right = signed(world.root, path="/custom-models?b=2&a=1%20x", body=b"{}", A="1  2")
    assert callers.of(right).unrestricted
    for wrong in (
        right._replace(method="POST"),
        right._replace(path="/other"),
        right._replace(query="b=2&a=1%20y"),
        right._replace(body=b"{} "),
        header(right, "A", lambda _: "2"),
        header(right, "Authorization", lambda text: f"{text[:-64]}{'0' * 64}"),
        header(right, "Authorization", lambda text: text.replace("/us-east-1/", "/eu-west-1/")),
        header(right, "X-Amz-Date", lambda text: f"{int(text[0]) + 1}{text[1:]}"),
    ):
        with pytest.raises(Refused, match="signature") as refused:
            callers.of(wrong)
        assert refused.value.code == "InvalidSignatureException"


MALFORMED = [
    # how it is signed, what is changed of its Authorization, the code
    ({"service": "s3"}, None, "InvalidSignatureException"),
    ({"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"}, None, "InvalidSignatureException"),
    ({"moved": -400}, None, "InvalidSignatureException"),
    ({"moved": 400}, None, "InvalidSignatureException"),
    ({}, ("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"), "IncompleteSignatureException"),
    ({}, ("/aws4_request", ""), "IncompleteSignatureException"),
    ({}, ("Signature=", "Signature=0"), "IncompleteSignatureException"),
    (
        {"path": f"/custom-models?X-Amz-Credential={ACCOUNT}/x"},
        None,
        "IncompleteSignatureException",
    ),
]


@pytest.mark.parametrize(("how", "change", "code"), MALFORMED)
@pytest.mark.parametrize("who", ["person", "root"])
def test_a_signature_of_another_kind_is_refused(world, who, how, change, code):
    request = signed(getattr(world, who), **how)
    if change:
        request = header(request, "Authorization", lambda text: text.replace(*change))
    callers = Callers(world.aws)
    with pytest.raises(Refused) as refused:
        callers.of(request)
    assert refused.value.code in {code, "RequestTimeTooSkewedException"}


def test_a_header_that_cannot_be_passed_on_is_refused(world):
    request = signed(world.person)
    odd = request._replace(headers={**request.headers, "x-\xff": "a"})
    callers = Callers(world.aws)
    with pytest.raises(Refused, match="cannot be read"):
        callers.of(odd)


def test_a_digest_beside_the_signature_does_not_stand_for_another_body(world):
    # The emulator would believe it, whether it was signed or not.
    request = signed(world.person, body=b"{}")
    digest = {"x-amz-content-sha256": sha256(b"{}").hexdigest()}
    changed = request._replace(body=b"[]", headers={**request.headers, **digest})
    callers = Callers(world.aws)
    with pytest.raises(Refused, match="digest"):
        callers.of(changed)


def test_without_enforced_permissions_everybody_is_root(local_aws):
    callers = Callers(local_aws)
    unsigned = Request("GET", "/custom-models", "", {}, b"")
    assert callers.of(unsigned).arn == f"arn:aws:iam::{ACCOUNT}:root"
    signed = "AWS4-HMAC-SHA256 Credential=123456789012/20261122/eu-west-1/bedrock/aws4_request"
    caller = callers.of(unsigned._replace(headers={"authorization": signed}))
    assert (caller.account, caller.region) == ("123456789012", "eu-west-1")
