"""What the doctor finds, with its remedy, and never a secret."""

import json
from threading import Event
from time import time
from urllib.parse import parse_qs

import pytest

from reward_functions.aws.deployed.findings import CheckFinding, findings_of
from reward_functions.rollouts.drive import doctor
from reward_functions.rollouts.drive import doctor as doctor_aws
from reward_functions.rollouts.request.contract import RolloutMetadata
from tests.loopback import Service, served

JOB = "arn:aws:sagemaker:us-west-2:000000000000:job/AgentRFT/j"
ROLE = "arn:aws:sts::000000000000:assumed-role/agent/session"
SECRET = "aVerySecretKeyThatNobodyMaySee"
NAMESPACE = 'xmlns="https://{}.amazonaws.com/doc/"'


class Aws(Service):
    """STS and IAM, a runtime and an agent, as far as the doctor asks them."""

    decision = "allowed"

    def operation(self, asked):
        text = asked.body.decode()
        if asked.method == "GET":
            found = 200 if asked.path != ("ping",) else 404
            return "get", lambda: (found, {}, b"{}")
        if "GetCallerIdentity" in text:
            found = f"<GetCallerIdentityResult><Arn>{ROLE}</Arn></GetCallerIdentityResult>"
            return "who", lambda: self.xml("GetCallerIdentity", found)
        self.simulated = parse_qs(text)
        actions = [
            each for name, (each,) in self.simulated.items() if name.startswith("ActionNames")
        ]
        members = "".join(
            f"<member><EvalActionName>{each}</EvalActionName>"
            f"<EvalDecision>{self.decision}</EvalDecision></member>"
            for each in actions
        )
        found = f"<EvaluationResults>{members}</EvaluationResults>"
        return "simulate", lambda: self.xml(
            "SimulatePrincipalPolicy",
            f"<SimulatePrincipalPolicyResult>{found}</SimulatePrincipalPolicyResult>",
        )

    @staticmethod
    def xml(operation, content):
        body = f"<{operation}Response {NAMESPACE.format('x')}>{content}</{operation}Response>"
        return 200, {"Content-Type": "text/xml"}, body.encode()


DENIED = (
    403,
    {"Content-Type": "text/xml"},
    b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>",
)


@pytest.fixture
def aws(monkeypatch, tmp_path):
    for name in ("AWS_PROFILE", "AWS_CA_BUNDLE", "HTTP_PROXY", "http_proxy", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIALOCAL")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv("REWARD_ROLLOUTS_OUTBOX", f"sqlite://{tmp_path}/outbox.sqlite3")
    with served(Aws()) as service:
        for name in ("AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_IAM", "RFT_RUNTIME_ENDPOINT"):
            monkeypatch.setenv(name, service.address)
        yield service


def found(payload=None, agent=""):
    findings = findings_of(doctor.checks(doctor.Subject(payload, agent)))
    return {each.question: each for each in findings}


def test_a_machine_that_can_report_passes(aws):
    payload = {"prompt": "x", "metadata": {"jobArn": JOB, "rolloutId": "r"}}
    findings = found(json.dumps(payload).encode(), aws.address)
    assert {each.verdict for each in findings.values()} == {"ok"}, findings
    assert aws.simulated["PolicySourceArn"] == ["arn:aws:iam::000000000000:role/agent"]
    assert SECRET not in repr(findings)
    assert "AKIALOCAL" not in repr(findings)


BROKEN = [
    ({"REWARD_ROLLOUTS_WINDOW": "soon"}, "settings", "REWARD_ROLLOUTS_WINDOW"),
    ({"REWARD_ROLLOUTS_OUTBOX": "floppy:"}, "outbox", "dynamodb"),
    ({"REWARD_ROLLOUTS_OUTBOX": "sqlite:///proc/none/x"}, "outbox", "/proc/none"),
    ({"RFT_RUNTIME_ENDPOINT": "http://127.0.0.1:1"}, "endpoint", "does not answer"),
    (
        {"RFT_RUNTIME_ENDPOINT": "http://nowhere.invalid"},
        "endpoint",
        "is not found: check",
    ),
]


@pytest.mark.parametrize(
    ("variables", "question", "sentence"), BROKEN, ids=[each[2] for each in BROKEN]
)
def test_what_is_broken_fails_with_its_remedy(aws, monkeypatch, variables, question, sentence):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    finding = found()[question]
    assert finding.verdict == "failure"
    assert sentence in finding.message


RESULTS, SCORER = "REWARD_ROLLOUTS_RESULTS", "REWARD_ROLLOUTS_SCORER"
VERSION = "arn:aws:lambda:us-west-2:000000000000:function:SageMaker-reward-dev-math"
DEFERS = [
    ({RESULTS: "s3://bucket/rollouts", SCORER: f"{VERSION}:7"}, "ok", "redrive --dry-run"),
    ({RESULTS: "s3://bucket/rollouts"}, "failure", "set both of"),
    ({SCORER: f"{VERSION}:7"}, "failure", "set both of"),
    ({RESULTS: "s3://bucket", SCORER: f"{VERSION}:7"}, "failure", "s3://BUCKET/FOLDER"),
    ({RESULTS: "s3://bucket/rollouts", SCORER: f"{VERSION}:live"}, "failure", "published version"),
]


@pytest.mark.parametrize(("variables", "verdict", "sentence"), DEFERS)
def test_where_rewards_are_deferred_to_is_looked_at(monkeypatch, variables, verdict, sentence):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (check,) = [each for each in doctor.checks(doctor.Subject()) if each.question == "deferred"]
    (finding,) = findings_of([check])
    assert (finding.verdict, sentence in finding.message) == (verdict, True), finding


def test_without_the_variables_nothing_is_said_of_deferred_rewards():
    assert "deferred" not in {each.question for each in doctor.checks(doctor.Subject())}


def test_an_endpoint_of_the_payload_that_is_not_trusted_fails(aws, monkeypatch):
    ids = {"jobArn": JOB, "rolloutId": "r", "endpoint": "https://evil.example"}
    payload = {"prompt": "x", "metadata": ids}
    finding = found(json.dumps(payload).encode())["endpoint"]
    assert finding.verdict == "failure"
    assert "RFT_RUNTIME_ENDPOINT" in finding.message


PAYLOADS = [
    (b"{", "is not JSON"),
    (b"[]", "not an object"),
    (b"{}", "metadata.jobArn, metadata.rolloutId, prompt missing"),
    (b'{"prompt": "x", "metadata": {"jobArn": "a"}}', "metadata.rolloutId missing"),
    (b'{"prompt": 1}', "prompt is a number"),
]


@pytest.mark.parametrize(("payload", "sentence"), PAYLOADS, ids=[each[1] for each in PAYLOADS])
def test_a_payload_that_cannot_be_reported_fails(payload, sentence):
    finding = doctor.payload(payload)
    assert finding.verdict == "failure"
    assert sentence in finding.message


DECISIONS = [("implicitDeny", "failure"), ("explicitDeny", "failure"), ("allowed", "ok")]


@pytest.mark.parametrize(("decision", "verdict"), DECISIONS)
def test_permissions_are_simulated_as_the_role(aws, decision, verdict):
    aws.decision = decision
    finding = doctor_aws.permissions(RolloutMetadata(job_arn=JOB))
    assert finding.verdict == verdict
    assert verdict == "ok" or "AmazonSageMakerJobRuntimeAccess" in finding.message


@pytest.mark.parametrize("operation", ["who", "simulate"])
def test_what_may_not_be_simulated_is_unknown(aws, operation):
    aws.fail(operation, DENIED)
    assert doctor_aws.permissions(RolloutMetadata()).verdict == "unknown"


# Seconds that AWS allows: 300. A header holds whole seconds, and a machine may be slow.
CLOCKS = [(0, "ok"), (30, "ok"), (-120, "warning"), (120, "warning"), (310, "failure")]


@pytest.mark.parametrize(("ahead", "verdict"), CLOCKS)
def test_the_clock_is_the_runtimes(aws, ahead, verdict):
    assert doctor_aws.clock(RolloutMetadata(), time() + ahead).verdict == verdict


def test_a_runtime_that_gives_no_time_leaves_the_clock_unknown(aws, monkeypatch):
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", "http://127.0.0.1:1")
    assert doctor_aws.clock(RolloutMetadata()).verdict == "unknown"


def test_without_credentials_the_rest_is_unknown(aws, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    findings = found()
    assert findings["credentials"].verdict == "failure"
    assert findings["token"].verdict == findings["permissions"].verdict == "unknown"


AGENTS = [("http://127.0.0.1:1", "failure"), ("arn:aws:bedrock-agentcore:x:y:runtime/z", "unknown")]


@pytest.mark.parametrize(("name", "verdict"), AGENTS)
def test_an_agent_that_is_not_there_fails_and_one_that_costs_is_not_asked(name, verdict):
    assert doctor.agent(name).verdict == verdict


def test_a_check_that_does_not_end_is_unknown():
    never = doctor.Check("never", lambda: Event().wait(60) and CheckFinding("ok", "", ""))
    assert findings_of([never], seconds=0.05)[0].verdict == "unknown"
