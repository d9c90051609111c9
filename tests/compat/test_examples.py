"""The examples of the diffs, before and after their imports change: the same answers.

Before runs for the packages that `make compat` installs; amzn-nova-forge needs Python 3.12 and a
gigabyte, rLLM is not on PyPI, and aws-rft-sdk was never published.
"""

import asyncio
import re
from pathlib import Path

import pytest

from tests.compat.conftest import ABSENT, METADATA, THEIRS

pytest.importorskip("sagemaker.train", reason=ABSENT)

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "one-import-line.md").read_text()


def after(name):
    """An example as it is."""
    return (DOCS / "examples" / "compat" / f"{name}.py").read_text()


def before(name):
    """An example as it was."""
    diff = re.search(rf"{name}\.py\).*?```diff\n(.*?)```", PAGE, re.DOTALL)[1]
    code = after(name)
    removed, added = ([line[1:] for line in diff.splitlines() if line[0] == sign] for sign in "-+")
    for old, new in zip(removed, added, strict=True):
        assert new in code
        code = code.replace(new, old)
    assert "reward_functions" not in code
    return code


def run(code):
    namespace = {"__name__": "example"}
    exec(compile(code, "example", "exec"), namespace)
    return namespace


def test_the_example_runs_before_and_after(either, service):
    namespace = run((before if either.name == THEIRS else after)("sagemaker_rft"))
    result = asyncio.run(namespace["solve"]({"prompt": "2 + 2?", "metadata": METADATA}))
    assert result == {"reward": 1.0}
    assert [post.path for post in service.posts] == ["/complete-rollout", "/update-reward"]
    assert service.posts[1].body["Rewards"] == [1.0]
    assert len(service.calls) == 1


@pytest.mark.parametrize("example", [before, after])
def test_an_app_answers_at_once_before_and_after(example, monkeypatch):
    client = pytest.importorskip("starlette.testclient")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    namespace = run(example("agentcore_rl"))
    with client.TestClient(namespace["app"]) as asked:
        answer = asked.post("/invocations", json={"answer": "4", "_rollout": {}})
        assert (answer.status_code, answer.json()) == (200, {"status": "processing"})
        assert asked.get("/ping").status_code == 200
    assert namespace["reward"](response="2 + 2 = 4", answer="4") == 1.0
