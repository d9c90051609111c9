"""The page on judges does what it says."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.aws.names import Names
from reward_functions.calibration.settings import settings_for
from reward_functions.cdk.model.stages import stage_of
from reward_functions.cli import app
from reward_functions.judge_runtime.config import OUTPUT_MODES
from reward_functions.judge_runtime.config_reading import config_of
from reward_functions.judge_runtime.rubric_file import rubric_of
from reward_functions.judge_runtime.usage import COUNTERS
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from tests.judge_runtime.conftest import serve

__all__ = ["serve"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
FIRST_HOUR = (ROOT / "docs" / "how-to" / "judge.md").read_text(encoding="utf-8")


def blocks(language, page=PAGE):
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def deployed(block, folder):
    """The one deployment of a stage that is made of a block."""
    stages = {"dev": {"region": "us-east-1", "deployments": [json.loads(block)]}}
    (deployment,) = stage_of(stages, "dev", folder).deployments
    return deployment.lambda_settings(Names("dev"))


def test_the_code_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (prompt,) = blocks("markdown")
    (tmp_path / "kindness.md").write_text(prompt, encoding="utf-8")
    spaces = {"__name__": "page"}
    first, *rest = blocks("python")
    exec(first, spaces)
    assert capsys.readouterr().out == "1.0 1.0\n"
    judge, test = rest
    exec(judge, spaces)
    contract = "assert_contract(kindness)\n"
    assert test.endswith(contract)
    exec(test.removesuffix(contract), spaces)  # which pickles by module, and a page is none


def test_the_settings_are_settings(monkeypatch):
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "test")
    block, _ = blocks("json")
    settings = LambdaSettings.from_env({"REWARD_NAME": "reference", "REWARD_JUDGE": block})
    assert settings.judge.fallback.region == "us-west-2"
    assert bind(settings).judge_pool


def test_the_deployment_can_be_deployed(tmp_path):
    _, block = blocks("json")
    (model,) = deployed(block, tmp_path).judge.models
    assert model.called == "us.amazon.nova-pro-v1:0"


def test_the_deployment_of_the_first_hour_can_be_deployed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rubric, _ = blocks("toml", FIRST_HOUR)
    (tmp_path / "reply.toml").write_text(rubric, encoding="utf-8")
    (block,) = blocks("json", FIRST_HOUR)
    assert deployed(block, tmp_path).judge.max_usd == 2.0


def test_the_messages_of_the_first_hour_are_those_of_the_code():
    named = re.findall(r"^\| `([^`]+)` \| [A-Z`].* \| .* \|$", FIRST_HOUR, re.MULTILINE)
    sources = (ROOT / "reward_functions").glob("judge_runtime/**/*.py")
    held = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert len(named) == 4
    assert not [message for message in named if message not in held]


def test_the_rubric_is_a_rubric(tmp_path):
    *_, block = blocks("toml")
    path = tmp_path / "mine.toml"
    path.write_text(block, encoding="utf-8")
    assert [each.id for each in rubric_of(str(path)).criteria] == [
        "answers",
        "promises_nothing",
        "apologizes",
    ]


ROWS = [
    {
        "id": "a",
        "messages": [
            {"role": "user", "content": "Which city is the capital of Australia?"},
            {"role": "assistant", "content": "It is the city of Canberra."},
        ],
        "reference_answer": "Canberra",
    }
]


def test_the_quick_start_shows_what_init_writes():
    *starts, _ = blocks("toml")
    assert starts == [settings_for(kind) for kind in ("bedrock", "vllm", "ollama", "openai")]


@pytest.mark.parametrize("kind", ["bedrock", "vllm", "openai", "ollama"])
def test_each_file_of_the_quick_start_scores(serve, tmp_path, monkeypatch, kind):
    """As it is but for the server, which stands in for the one that it names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    server = serve()
    Path("rows.jsonl").write_text(f"{json.dumps(ROWS[0])}\n")
    run = CliRunner().invoke
    assert run(app, ["judge", "init", kind, "-o", "judge.toml"]).exit_code == 0
    typed = Path("judge.toml").read_text()
    assert config_of(tomllib.loads(typed)).models[0].temperature == 0.0
    served = re.sub(r'endpoint = "[^"]+"', f'endpoint = "{server.url}/v1"', typed)
    if "endpoint" not in typed:
        served = f'{typed}endpoint = "{server.url}"\n'
    Path("judge.toml").write_text(served)
    ran = run(app, ["score", "reference", "rows.jsonl", "--judge", "judge.toml"])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["aggregate_reward_score"] == 1.0
    keys = [each.get("authorization", "") for each in server.headers]
    assert ("Bearer sk-of-nobody" in keys) == (kind == "openai")
    refused = run(app, ["judge", "init", kind, "-o", "judge.toml"])
    assert refused.exit_code == 2
    assert "judge.toml exists" in refused.stderr


def test_every_counter_form_and_rubric_is_named():
    rubrics = Path(__file__).parents[2] / "reward_functions/judges/rubrics"
    names = [*COUNTERS, *OUTPUT_MODES, *(path.stem for path in rubrics.iterdir())]
    assert not [name for name in names if f"`{name}`" not in PAGE]


def test_the_settings_shown_are_one_line_of_json_in_the_environment():
    block, _ = blocks("json")
    settings = LambdaSettings(name="reference", judge=json.loads(block))
    assert LambdaSettings.from_env(settings.to_env()) == settings
