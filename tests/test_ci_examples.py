"""The CI files of the documentation: what GitHub and GitLab would refuse, and what we would."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cdk.policies.test_decisions import decided
from tests.walkthrough import ROOT, blocks, unparsed

FOLDER = ROOT / "docs" / "examples" / "ci"
PAGE = ROOT / "docs" / "how-to" / "ci.md"
FILES = ("github.yml", "gitlab.yml")

SCHEMAS = {
    "github.yml": ("--builtin-schema", "vendor.github-workflows"),
    "gitlab.yml": ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
}

PINNED = re.compile(r"[\w-]+/[\w-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})")

CDK = {
    "diff": {"-c", "--no-color"},
    "deploy": {"-c", "--require-approval", "--no-color"},
}
"""Commands and options of the pinned command line (`npx cdk deploy --help`)."""

LEAKS = (
    re.compile(r"secrets\."),  # there are none: the token is the job's own
    re.compile(r"AWS_(SECRET_ACCESS_KEY|ACCESS_KEY_ID|SESSION_TOKEN)"),
    re.compile(r"echo\s[^|>]*TOKEN"),
    re.compile(r"(?m)^[^#]*printenv(?! AWS_TOKEN > )"),
    re.compile(r"set -x|--debug|pull_request_target"),
)
"""What would show a secret, or hand one to a stranger's code."""


def parsed(name):
    return yaml.safe_load((FOLDER / name).read_text())


def jobs(name):
    """The jobs by name, each with its shell commands; GitLab's with what it extends."""
    given = parsed(name)
    if name == "github.yml":
        return {
            job: [step["run"] for step in each["steps"] if "run" in step]
            for job, each in given["jobs"].items()
        }
    found = {}
    for job, each in given.items():
        if isinstance(each, dict) and "script" in each:
            base = given.get(each.get("extends", ""), {})
            before = each.get("before_script") or base.get("before_script", [])
            found[job] = [*given["default"]["before_script"], *before, *each["script"]]
    return found


def lines(name):
    for job, commands in jobs(name).items():
        for command in commands:
            for line in command.splitlines():
                yield job, line.strip()


@pytest.mark.parametrize("name", FILES)
def test_the_schema_of_the_ci_takes_it(name):
    ran = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *SCHEMAS[name], str(FOLDER / name)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("name", FILES)
def test_every_command_parses_as_shell(name):
    for job, commands in jobs(name).items():
        ran = subprocess.run(
            ["bash", "-n"],
            input="\n".join(commands), capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert ran.returncode == 0, (job, ran.stderr)


@pytest.mark.parametrize("name", FILES)
def test_every_command_of_ours_exists_with_its_options(name):
    typed = [line for _, line in lines(name) if line.startswith("reward ")]
    assert {"reward stage check --all", "reward lock --stage dev --check"} <= set(typed)
    assert list(unparsed("```sh\n" + "\n".join(typed) + "\n```\n")) == []


@pytest.mark.parametrize("name", FILES)
def test_every_command_of_the_cdk_exists_with_its_options(name):
    found = []
    for job, line in lines(name):
        if "cdk " not in line or not line.startswith("npx "):
            continue
        _, _, command, *words = line.partition(" 2>")[0].split()
        assert {word for word in words if word.startswith("-")} <= CDK[command], line
        assert re.search(r"-c stage=(dev|prod)\b", line)
        assert command != "deploy" or "--require-approval never" in line, "nobody is there to ask"
        found.append((job, command, re.search(r"stage=(\w+)", line)[1]))
    assert found == [("diff", "diff", "dev"), ("dev", "deploy", "dev"), ("prod", "deploy", "prod")]


@pytest.mark.parametrize("name", FILES)
def test_nothing_shows_or_stores_a_secret(name):
    text = (FOLDER / name).read_text()
    assert [each.pattern for each in LEAKS if each.search(text)] == []


def test_githubs_jobs_have_what_they_need_and_no_more():
    given = parsed("github.yml")
    assert given["permissions"] == {}
    for name, job in given["jobs"].items():
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(PINNED.fullmatch(each) for each in used), name
        signs = any(each.startswith("aws-actions/") for each in used)
        wanted = {"contents": "read"} | ({"id-token": "write"} if signs else {})
        assert job["permissions"] == wanted, name
        assert job["timeout-minutes"] <= 60
        assert re.search(r"-\d+\.\d+$", job["runs-on"]), "a runner that does not move"
    deploying = {name: given["jobs"][name] for name in ("dev", "prod")}
    assert {name: job["environment"] for name, job in deploying.items()} == {
        "dev": "dev",
        "prod": "prod",
    }
    assert (given["jobs"]["prod"]["needs"], given["jobs"]["dev"]["needs"]) == ("dev", "test")
    assert "head.repo.full_name == github.repository" in given["jobs"]["diff"]["if"]


def test_gitlabs_jobs_have_what_they_need_and_no_more():
    given = parsed("gitlab.yml")
    assert re.fullmatch(r"python:3\.13-\w+", given["default"]["image"])
    signing = {name for name, job in given.items() if name != ".aws" and "extends" in job}
    assert signing == {"diff", "dev", "prod"}
    assert all(given[name]["variables"]["AWS_ROLE_ARN"] for name in signing)
    assert given["prod"]["rules"] == [{"if": '$CI_COMMIT_BRANCH == "main"', "when": "manual"}]
    assert {given[name]["resource_group"] for name in ("dev", "prod")} == {
        "rewards-dev",
        "rewards-prod",
    }


def test_every_document_of_the_page_is_a_policy_that_names_who_and_what():
    documents = [
        json.loads(block.text) for block in blocks(PAGE.read_text()) if block.language == "json"
    ]
    statements = [statement for each in documents for statement in each["Statement"]]
    assert len(statements) == 4
    for statement in statements:
        assert statement["Sid"].isalnum()
        if statement["Action"] == "sts:AssumeRole":
            assert statement["Resource"].startswith("arn:aws:iam::123456789012:role/cdk-")
            continue
        provider = statement["Principal"]["Federated"].partition("oidc-provider/")[2]
        condition = statement["Condition"]["StringEquals"]
        assert set(condition) == {f"{provider}:aud", f"{provider}:sub"}
        assert "*" not in condition[f"{provider}:sub"]


HUB, LAB = "token.actions.githubusercontent.com", "gitlab.com"
REPOSITORY = "repo:acme@1234567/rewards@89012345"
PROJECT = "project_path:acme/rewards:ref_type:branch:ref"
MAY = {
    "diff-rewards": {f"{REPOSITORY}:pull_request", f"{PROJECT}:main", f"{PROJECT}:topic"},
    "deploy-rewards-dev": {f"{REPOSITORY}:environment:dev", f"{PROJECT}:main"},
    "deploy-rewards-prod": {f"{REPOSITORY}:environment:prod", f"{PROJECT}:main"},
}
SUBJECTS = {
    *(subject for subjects in MAY.values() for subject in subjects),
    f"{REPOSITORY}:ref:refs/heads/main",
    f"{REPOSITORY}:ref:refs/heads/environment:prod",
    f"{REPOSITORY}:environment:production",
    f"{REPOSITORY}:environment:Prod",
    "repo:acme/rewards:environment:prod",
    "repo:acme@7654321/rewards@89012345:environment:prod",  # a name that somebody took over
    "repo:acme@1234567/rewards@54321098:environment:prod",
    "repo:mallory@1/rewards@2:pull_request",
    "project_path:acme/rewards:ref_type:tag:ref:main",
    "project_path:acme/rewards-fork:ref_type:branch:ref:main",
    "project_path:mallory/acme/rewards:ref_type:branch:ref:main",
}
"""Of tokens; a trust takes those of its role in MAY and no other."""


def trusts():
    """The trusts of the page's table by role and provider, made of the page's own documents."""
    page = PAGE.read_text()
    shown = [json.loads(block.text) for block in blocks(page) if block.language == "json"]
    for role, *subjects in re.findall(r"(?m)^\| `([\w-]+)` \| `(\S+)` \| `(\S+)`", page):
        for provider, subject in zip((HUB, LAB), subjects, strict=True):
            (document,) = [each for each in shown if f"oidc-provider/{provider}" in str(each)]
            made = json.loads(json.dumps(document))
            (statement,) = made["Statement"]
            statement["Condition"]["StringEquals"].pop(f"{provider}:sub")
            operator = "StringLike" if "*" in subject else "StringEquals"
            statement["Condition"].setdefault(operator, {})[f"{provider}:sub"] = subject
            yield role, provider, made


def test_a_trust_takes_the_tokens_of_its_job_and_no_other():
    audiences = {HUB: "sts.amazonaws.com", LAB: "https://gitlab.com"}
    taken = {role: set() for role in MAY}
    for role, provider, document in trusts():
        (named,) = document["Statement"]
        assert named["Principal"]["Federated"].endswith(f":oidc-provider/{provider}")
        for subject in SUBJECTS:
            keys = {f"{provider}:sub": subject}
            asked = (document, "sts:AssumeRoleWithWebIdentity", "")
            if decided(*asked, keys | {f"{provider}:aud": audiences[provider]}):
                taken[role].add(subject)
            assert not decided(*asked, keys | {f"{provider}:aud": "https://github.com/mallory"})
            assert not decided(*asked, keys), "a token for nobody"
    assert taken == MAY


def test_a_pull_requests_role_changes_nothing():
    shown = [
        json.loads(block.text) for block in blocks(PAGE.read_text()) if block.language == "json"
    ]
    roles = [
        f"arn:aws:iam::123456789012:role/cdk-hnb659fds-{role}-role-123456789012-us-east-1"
        for role in ("lookup", "deploy", "file-publishing", "image-publishing", "cfn-exec")
    ]
    asked = [[decided(each, "sts:AssumeRole", role, {}) for role in roles] for each in shown[:2]]
    assert asked == [[True] * 5, [True, *[False] * 4]]
    for document in shown[:2]:
        assert not decided(document, "sts:AssumeRole", "arn:aws:iam::123456789012:role/Admin", {})


def test_the_roles_of_the_files_are_those_of_the_page():
    page = PAGE.read_text()
    for name in FILES:
        for role in re.findall(r"role/([\w-]+)", (FOLDER / name).read_text()):
            assert f"| `{role}` |" in page


def test_a_file_says_where_it_belongs():
    for name in FILES:
        first = (FOLDER / name).read_text().splitlines()[0]
        assert f"is `{first.removeprefix('# ')}`" in PAGE.read_text()
        assert Path(first.removeprefix("# ")).suffix == ".yml"
