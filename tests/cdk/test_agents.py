"""Agents on AgentCore: what stands in `cdk.json`, what is synthesised, and what is in the zip."""

from __future__ import annotations

import json
import re
import runpy
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

import pytest
from botocore.session import get_session
from botocore.validate import validate_parameters

from reward_functions.aws.names import Names
from reward_functions.cdk.artifact import artifact as artifact_module
from reward_functions.cdk.artifact import pins
from reward_functions.cdk.artifact.artifact import NotLoaded, TooLarge
from reward_functions.cdk.constructs.artifacts import BUDGET, SERVER, AgentArtifacts
from reward_functions.cdk.model.rollouts import RESULT_BUCKETS
from reward_functions.cdk.model.stages import BadStage, stage_of
from reward_functions.rollouts.serve.agentcore import results
from tests.cdk.agent_stage import ACCOUNT, AGENTS, NETWORK
from tests.cdk.test_stack import flat, statements
from tests.cdk.wheels import wheel

HERE = Path(__file__).parent

ENTRY = "acme_agents.solver:agent"


def stage(*agents, folder=HERE, **given):
    given = {"region": "us-east-1", "deployments": ["gsm8k"], "agents": agents} | given
    return stage_of({"dev": given}, "dev", folder)


REFUSED = [
    ({"entry": "acme_agents.solver"}, "write module:attribute, such as acme_agents.solver:agent"),
    ({"entry": "acme-agents:agent"}, "write module:attribute"),
    ({"entry": "a:b; import os"}, "write module:attribute"),
    ({"entry": "main:agent"}, "main is the module that AgentCore starts"),
    ({"packages": []}, "packages"),
    ({"idle_seconds": 59}, "idle_seconds"),
    ({"lifetime_seconds": 1_209_601}, "lifetime_seconds"),
    ({"idle_seconds": 100, "lifetime_seconds": 99}, "would never be reached"),
    ({"environment": {"A B": "x"}}, "'A B' is no name of a variable"),
    ({"environment": {"A": "x" * 5001}}, "the value of A has 5001 characters; 5000 are the most"),
    ({"environment": {f"A{n}": "" for n in range(51)}}, "environment"),
    ({"environment": {RESULT_BUCKETS: "results"}}, "in result_buckets: it grants them"),
    ({"result_buckets": ["s3://results"]}, "a bucket's name, without s3://"),
    ({"result_buckets": ["*"]}, "a bucket's name, without s3://"),
    ({"result_buckets": [f"results-{n}" for n in range(21)]}, "result_buckets"),
    ({"vpc": NETWORK | {"security_groups": []}}, r"vpc\.security_groups"),
    ({"memory_mb": 512}, r"agents\.0\.memory_mb is not a setting"),
    ({"name": "Solver"}, "name"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=lambda each: str(each)[:60])
def test_what_cannot_be_an_agent_is_one_sentence(given, message):
    with pytest.raises(BadStage, match=message) as refused:
        stage({"name": "solver", "entry": ENTRY, "packages": ["x==1"]} | given)
    assert "\n" not in str(refused.value)


def test_an_agent_s_runtime_has_a_name_of_its_own():
    one = {"entry": ENTRY, "packages": ["x==1"]}
    with pytest.raises(BadStage, match="agents: a-b: two agents have this name"):
        stage({"name": "a-b"} | one, {"name": "a_b"} | one)
    with pytest.raises(BadStage, match="agents: a-1: two agents have this name"):
        stage({"name": "a-1"} | one, {"name": "a1"} | one)
    assert Names("a-b").runtime("c") != Names("a").runtime("b-c")


def test_the_emulator_has_no_agentcore():
    agent = {"name": "solver", "entry": ENTRY, "packages": ["x==1"]}
    with pytest.raises(BadStage, match="no AgentCore: serve the agent yourself"):
        stage(agent, emulated=True)


@pytest.fixture(scope="module")
def template(synthesised):
    assembly = synthesised("agents").stack.node.root.synth()
    return assembly.get_stack_by_name("RewardAgents-agents").template


def of_type(template, kind):
    return [each["Properties"] for each in template["Resources"].values() if each["Type"] == kind]


def lowered(value):
    """A template's value as the API has it: its fields begin in lower case."""
    match value:
        case dict() if value.keys() & {"Ref", "Fn::GetAtt", "Fn::Join", "Fn::Sub"}:
            return "arn:aws:iam::123456789012:role/agent" if "Fn::GetAtt" in value else "bucket"
        case dict():
            return {key[:1].lower() + key[1:]: lowered(each) for key, each in value.items()}
        case list():
            return [lowered(each) for each in value]
    return value


def test_a_runtime_is_one_that_the_service_s_model_takes(template):
    model = get_session().get_service_model("bedrock-agentcore-control")
    shape = model.operation_model("CreateAgentRuntime").input_shape
    made = of_type(template, "AWS::BedrockAgentCore::Runtime")
    assert len(made) == len(AGENTS["agents"])
    for each in made:
        given = lowered(each)
        given["environmentVariables"] = each.get("EnvironmentVariables", {})
        given["protocolConfiguration"] = {"serverProtocol": given["protocolConfiguration"]}
        validate_parameters(given, shape)
        code = each["AgentRuntimeArtifact"]["CodeConfiguration"]
        assert (
            code["Runtime"]
            in shape.members["agentRuntimeArtifact"]
            .members["codeConfiguration"]
            .members["runtime"]
            .enum
        )
        assert (code["EntryPoint"], code["Code"]["S3"]["Prefix"][-4:]) == (["main.py"], ".zip")


def test_a_runtime_is_what_the_stage_says(template):
    vpc, public = sorted(
        of_type(template, "AWS::BedrockAgentCore::Runtime"),
        key=lambda each: each["AgentRuntimeName"],
    )
    assert vpc["AgentRuntimeName"] == "reward_agents__in_vpc"
    assert vpc["NetworkConfiguration"] == {
        "NetworkMode": "VPC",
        "NetworkModeConfig": {
            "Subnets": NETWORK["subnets"],
            "SecurityGroups": NETWORK["security_groups"],
        },
    }
    assert vpc["LifecycleConfiguration"] == {
        "IdleRuntimeSessionTimeout": 1800,
        "MaxLifetime": 3600,
    }
    assert vpc["EnvironmentVariables"] == {
        "REWARD_ROLLOUTS_RERUN": "1",
        RESULT_BUCKETS: "rollout-results,more-results",
    }
    assert "EnvironmentVariables" not in public
    assert public["NetworkConfiguration"] == {"NetworkMode": "PUBLIC"}
    assert public["ProtocolConfiguration"] == "HTTP"


RUNTIME = f"arn:aws:bedrock-agentcore:us-east-1:{ACCOUNT}:runtime/reward_agents__solver-*"


def test_a_runtime_s_role_is_its_own(template):
    (role,) = [
        each
        for each in of_type(template, "AWS::IAM::Role")
        if each["Description"].endswith("reward_agents__solver runs as")
    ]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "bedrock-agentcore.amazonaws.com"}
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": ACCOUNT},
        "ArnLike": {"aws:SourceArn": RUNTIME},
    }
    allowed = {
        each["Sid"] for policy in role["Policies"] for each in policy["PolicyDocument"]["Statement"]
    }
    assert allowed == {
        *("AnswerJob", "BearToken", "ReadCode", "PutResults", "UseResultsKey"),
        *("KeepRuntimeLog", "WriteRuntimeLog", "FindLogGroups"),
    }


def test_a_runtime_keeps_results_in_the_buckets_that_its_app_trusts(template):
    kept = {
        role["Description"].split()[3]: statement
        for role in of_type(template, "AWS::IAM::Role")
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Sid"] == "KeepResults"
    }
    assert list(kept) == ["reward_agents__in_vpc"]
    assert RESULT_BUCKETS == results.RESULT_BUCKETS
    (found,) = kept.values()
    assert found["Action"] == ["s3:PutObject", "s3:GetObject"]
    assert [flat(each).split(":", 2)[2] for each in found["Resource"]] == [
        "s3:::rollout-results/*",
        "s3:::more-results/*",
    ]


def test_a_runtime_defers_a_reward_with_the_key_that_the_stage_makes(template, synthesised):
    """The stack of agents names the key of the other one, which is deployed before it."""
    (document,) = [
        policy["PolicyDocument"]
        for role in of_type(template, "AWS::IAM::Role")
        if role["Description"].endswith("reward_agents__solver runs as")
        for policy in role["Policies"]
        if policy["PolicyName"] == "run-agent"
    ]
    found = {each["Sid"]: each for each in document["Statement"]}
    assert found["PutResults"]["Action"] == ["s3:PutObject"]
    (results,) = found["PutResults"]["Resource"]
    assert flat(results).endswith(f"sagemaker-rollouts-agents-{ACCOUNT}-us-east-1/rollouts/*")
    (key,) = found["UseResultsKey"]["Resource"]
    named = key["Fn::GetStackOutput"]
    assert named["StackName"] == synthesised("agents").stack.stack_name
    given = synthesised("agents").template["Outputs"][named["OutputName"]]["Value"]
    (made,) = synthesised("agents").resources("AWS::KMS::Key")
    assert given == {"Fn::GetAtt": [made, "Arn"]}
    via = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}}
    assert found["UseResultsKey"]["Condition"] == via


def test_the_stage_s_multi_turn_jobs_may_ask_it(synthesised):
    asking = [each for _, each in statements(synthesised("agents")) if each["Sid"] == "AskRuntimes"]
    assert len(asking) == 2  # the role of the jobs, and the policy `agents`
    for each in asking:
        assert RUNTIME in map(flat, each["Resource"])


def test_the_catalogue_knows_its_runtimes(synthesised):
    (parameter,) = [
        flat(each["Value"])
        for each in synthesised("agents").properties("AWS::SSM::Parameter")
        if each["Name"].endswith("/stage")
    ]
    assert '"agent_runtimes":["reward_agents__in_vpc","reward_agents__solver"]' in parameter


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where the parts of zips are kept between these tests."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def bundler(monkeypatch, tmp_path, kept):
    """The artifacts of a stage whose agent comes from a wheel; our pins are none, for speed."""
    pinned = tmp_path / "runtime.txt"
    pinned.write_text("")
    monkeypatch.setattr(pins, "pins", lambda: pinned)
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    files = {"acme_agents/__init__.py": "", "acme_agents/solver.py": "def agent(payload): ...\n"}
    path = wheel(tmp_path / "wheels", "acme_agents", files=files)

    def make(entry=ENTRY):
        agent = {"name": "solver", "entry": entry, "packages": [str(path)]}
        made = stage(agent, folder=tmp_path, architecture="x86_64", python="3.13")
        return AgentArtifacts(made, tmp_path, None), made.agents[0]

    return make


def test_the_zip_is_for_arm64_and_starts_our_server_with_the_entry(bundler, tmp_path, monkeypatch):
    artifacts, agent = bundler()
    assert (artifacts.target.architecture, artifacts.target.python) == ("arm64", "3.13")
    made = artifacts.of_agent(agent)
    made.build(tmp_path / "zip")
    with ZipFile(tmp_path / "zip") as archive:
        names = archive.namelist()
        archive.extract("main.py", tmp_path)
        # AgentCore keeps POSIX permissions, and runs it as whoever it likes.
        assert {each.external_attr >> 16 & 0o444 for each in archive.infolist()} == {0o444}
    assert {"acme_agents/solver.py", "reward_functions/rollouts/serve/app.py"} <= {*names}
    assert {"reward_functions/verifiers/math.py", "main.py"} <= {*names}
    assert not [each for each in names if each.startswith("reward_functions/cdk")]
    given = []
    monkeypatch.setattr(import_module(SERVER), "main", given.append)
    runpy.run_path(str(tmp_path / "main.py"), run_name="__main__")
    assert given == [[ENTRY, "--host", "0.0.0.0"]]
    again, same = bundler()
    assert again.of_agent(same).digest == made.digest
    again.of_agent(same).build(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "zip").read_bytes()


def test_an_entry_that_is_in_no_package_is_found_before_it_is_deployed(bundler, tmp_path):
    artifacts, agent = bundler("acme_agents.nowhere:agent")
    with pytest.raises(NotLoaded, match=r"agent 'solver': acme_agents\.nowhere cannot be imported"):
        artifacts.of_agent(agent).build(tmp_path / "out" / "zip")
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("limit", ["zipped", "unzipped"])
def test_agentcore_s_limits_are_its_own(bundler, tmp_path, monkeypatch, limit):
    assert BUDGET.unzipped > artifact_module.MAX_UNZIPPED
    small = BUDGET._replace(**{limit: 1000})
    monkeypatch.setattr("reward_functions.cdk.constructs.artifacts.BUDGET", small)
    artifacts, agent = bundler()
    with pytest.raises(TooLarge, match=rf"MB {limit}, over AgentCore's limit of 0 MB"):
        artifacts.of_agent(agent).build(tmp_path / "zip")


def test_its_lock_lies_beside_the_one_of_the_rewards(bundler):
    artifacts, _ = bundler()
    assert artifacts.lock.path.name == "reward-functions.dev.agents.lock"
    assert not artifacts.lock.needed


DOCKERFILE = (HERE.parents[1] / "docs/examples/agentcore/Dockerfile").read_text()

INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "CMD"}


def faults(text):
    """What is wrong with a Dockerfile for AgentCore, by a word each.

    Source: "Get started without the AgentCore CLI" of the AgentCore developer guide (arm64, port
    8080); the rest is this project's own.
    """
    joined = text.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line.strip() and line[0] != "#"]
    said = [(line.split()[0], line.partition(" ")[2]) for line in lines]
    last = dict(said)
    image = last.get("FROM", "").split()[-1:] or [""]
    pinned = re.fullmatch(r"\S+(@sha256:[0-9a-f]{64}|:[0-9]\S*)", image[0])
    ran = " ".join(words for name, words in said if name == "RUN")
    wrong = {
        "instruction": not {name for name, _ in said} <= INSTRUCTIONS,
        "base": pinned is None,
        "platform": "--platform=linux/arm64" not in last.get("FROM", ""),
        "piped": re.search(r"(curl|wget)\b|\|\s*(ba|z)?sh\b", ran) is not None,
        "root": last.get("USER", "root").split(":")[0] in {"root", "0"}
        or any(name == "RUN" for name, _ in said[[name for name, _ in said].index("USER") :]),
        "port": last.get("EXPOSE") != "8080",
        "shell": not last.get("CMD", "").startswith("["),
    }
    return {word for word, is_so in wrong.items() if is_so}


def test_the_image_is_pinned_for_arm64_and_not_root():
    assert faults(DOCKERFILE) == set()
    command = json.loads(re.search(r"(?m)^CMD (\[.*\])$", DOCKERFILE)[1])
    assert command[:3] == ["python", "-m", SERVER]
    assert command[-2:] == ["--host", "0.0.0.0"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("python:3.13-slim", "python", "base"),
        ("python:3.13-slim", "python:latest", "base"),
        ("--platform=linux/arm64 ", "", "platform"),
        ("RUN pip", "RUN curl -s https://example.com/x | sh && pip", "piped"),
        ("USER agent", "USER root", "root"),
        ("USER agent", "USER 0:0", "root"),
        ("USER agent\n", "", "root"),
        ("USER agent\n", "USER agent\nRUN chmod 777 /app\n", "root"),
        ("EXPOSE 8080", "EXPOSE 80", "port"),
        ("CMD [", "CMD python -m x [", "shell"),
        ("COPY . .", "ADD https://example.com/x.tar /", "instruction"),
    ],
)
def test_a_fault_of_an_image_is_found(old, new, fault):
    assert old in DOCKERFILE
    assert fault in faults(DOCKERFILE.replace(old, new))
