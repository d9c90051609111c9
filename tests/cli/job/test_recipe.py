"""`reward job recipe`: lines for Nova's recipes, of a stage on the emulator."""

from __future__ import annotations

import pytest
import yaml

ARGUMENTS = ("--for", "training-job", "--deployment", "gsm8k")
NOVA = ("--model", "amazon.nova-2-lite-v1:0:256k")


def test_the_lines_name_the_deployed_reward(job, grader, tmp_path):
    shown = job("recipe", *ARGUMENTS, *NOVA, "--set", "max_steps=5")
    assert shown.exit_code == 0, shown.output
    found = yaml.safe_load(shown.stdout)
    assert found["run"]["reward_lambda_arn"].startswith(grader.rpartition(":")[0])
    assert found["training_config"]["trainer"] == {"max_steps": 5}
    file = tmp_path / "lines.yaml"
    assert job("recipe", *ARGUMENTS, *NOVA, "--set", "max_steps=5", "-o", file).exit_code == 0
    assert file.read_text() == shown.stdout


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--model", "openai.gpt-oss-20b"), "none of Nova's"),
        ((*NOVA, "--set", "reasoning_effort=medium"), "medium is Bedrock's"),
        ((*NOVA, "--set", "lambda_concurrency_limit=1000000"), "at a time"),
    ],
)
def test_lines_that_would_not_work_are_not_written(job, tmp_path, more, words):
    file = tmp_path / "lines.yaml"
    refused = job("recipe", *ARGUMENTS, *more, "-o", file)
    assert refused.exit_code == 2
    assert words in " ".join(refused.output.split())
    assert not file.exists()
