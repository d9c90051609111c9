"""What the agents of a stage run from: a zip for AgentCore, by the same bundler as for rewards.

In it are the runtime rooms and `rollouts`, all of our pins, the agents' packages with what their
lock names, and `main.py`, which AgentCore starts:

    python main.py   →   rollouts.servers.app, on port 8080 of all addresses

AgentCore runs on arm64 alone, whatever the stage's functions run on.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from reward_functions.cdk.artifact import closure
from reward_functions.cdk.artifact.artifact import Artifact, Budget, Contents
from reward_functions.cdk.constructs.artifacts import Artifacts
from reward_functions.cdk.model import agents

if TYPE_CHECKING:
    from pathlib import Path

    from reward_functions.cdk.model.agents import Agent
    from reward_functions.cdk.model.stages import Stage

MEGABYTE: Final = 1024 * 1024

BUDGET: Final = Budget("AgentCore", unzipped=750 * MEGABYTE, zipped=250 * MEGABYTE)
""""Quotas for Amazon Bedrock AgentCore", direct code deployment."""

ROLLOUTS: Final = f"{closure.PACKAGE.name}.rollouts"

SERVER: Final = f"{ROLLOUTS}.servers.app"
"""What runs on AgentCore; nothing here imports it."""

MAIN: Final = f"{agents.MAIN}.py"

SOURCE: Final = f'''\
"""Serves an agent on AgentCore. Written by the deployment."""

from {SERVER} import main

if __name__ == "__main__":
    main([{{entry!r}}, "--host", "0.0.0.0"])
'''


class AgentArtifacts(Artifacts):
    """The artifacts of a stage's agents; the arguments are those of `Artifacts`."""

    def __init__(self, stage: Stage, folder: Path, interpreter: Path | None) -> None:
        named = dict.fromkeys(text for each in stage.agents for text in each.packages)
        own = {"packages": tuple(named), "architecture": "arm64", "emulated": False}
        super().__init__(stage.model_copy(update=own), folder, interpreter, beside="agents")

    def of_agent(self, agent: Agent) -> Artifact:
        """What an agent runs from.

        Its digest raises what that of a reward of a package does.
        """
        return Artifact(
            reader=partial(self._contents_of_agent, agent),
            target=self.target,
            entry_points=partial(self._modules_of, agent),
            environment=self._environment,
            budget=BUDGET,
        )

    def _contents_of_agent(self, agent: Agent) -> Contents:
        self._insist_on_bytecode()
        main = self._scratch / f"{agent.name}.{MAIN}"
        main.write_text(SOURCE.format(entry=agent.entry), encoding="utf-8")
        pinned = self._pinned(algebra=True, services=frozenset(self.stage.aws_services))
        ours = closure.all_files(frozenset({ROLLOUTS}))
        return Contents((*pinned, self._packages), {**ours, MAIN: main})

    def _modules_of(self, agent: Agent) -> dict[str, str]:
        where = f"stage {self.stage.name!r}, agent {agent.name!r}"
        return {SERVER: where, agent.module: where}
