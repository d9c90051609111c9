"""The artifacts of a stage: what each of its deployments runs from.

| a reward | our files | sympy and mpmath | the stage's packages |
| --- | --- | --- | --- |
| of ours | what it reaches | where it reaches them | no |
| of a package | the whole runtime rooms, which its code may import | where it needs them (`Needs.symbolic`), its code or a parameter reaches them, or the lock names them | all |

A function that is no reward runs from what its handler reaches, and from the pins of that alone.
Nothing is read, built or resolved before a digest is asked for: `cdk list` and `cdk destroy` never
ask.
"""  # noqa: E501

from __future__ import annotations

import shutil
import tomllib
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

from reward_functions.cdk.artifact import closure
from reward_functions.cdk.artifact.artifact import Artifact, Budget, Contents
from reward_functions.cdk.artifact.interpreter import NoInterpreter
from reward_functions.cdk.artifact.lock import BadLock, Lock
from reward_functions.cdk.artifact.packages import (
    BadPackage,
    Package,
    insist_on_distinct,
    normalised,
    required,
)
from reward_functions.cdk.artifact.parts import Packages, Requirements
from reward_functions.cdk.artifact.pins import (
    PROJECT,
    our_pins,
    pins_for,
    pins_of_every_reward,
    pins_on_reach,
)
from reward_functions.cdk.artifact.pruning import AWS_SERVICES
from reward_functions.cdk.artifact.target import Target
from reward_functions.cdk.model.rollouts import MAIN as MAIN_MODULE
from reward_functions.cdk.policies.own_rights import services
from reward_functions.core import registry
from reward_functions.core.files import files_named
from reward_functions.core.mentions import mentions
from reward_functions.core.spec import Needs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from reward_functions.cdk.artifact.packages import Wheel
    from reward_functions.cdk.artifact.parts import Part
    from reward_functions.cdk.artifact.pins import Pin
    from reward_functions.cdk.model.rollouts import Agent
    from reward_functions.cdk.model.stages import Stage

COST: Final = (
    "no interpreter of Python {python} answers here, so the artifacts carry no bytecode: "
    "a cold start takes more than half as long again, and hard algebra five times as long to load. "
    "Install Python {python} (`uv python install {python}`), or name one with -c interpreter=PATH"
)
"""Processor time of the unpacked zip, Python 3.11: `gsm8k` to its first response 89 and 143 ms,
the algebra's imports 0.25 and 1.24 s."""

COMPILED: Final = (
    "{package} is compiled where it is built ({wheel}), so that two machines make two artifacts: "
    "build the wheel once with `uv build --wheel`, and name its path in `packages`"
)

WROTE: Final = "wrote {lock}, which says what the packages require: commit it"


@dataclass
class Artifacts:
    """The artifacts of a stage.

    Args:
        stage: checked.
        folder: where relative paths of packages begin and the lock lies: that of `cdk.json`.
        interpreter: of the stage's Python, to compile with; without one there is no bytecode.
        beside: whose lock it is beside that of the rewards' packages; "" for that one.

    Attributes:
        notices: sentences for the reader of a synth, complete once the digests are known.
    """

    stage: Stage
    folder: Path
    interpreter: Path | None
    beside: str = ""
    notices: list[str] = field(default_factory=list)

    def artifact(self, reward: str) -> Artifact:
        """The artifact that a reward runs from; equal digests are one zip.

        Its digest raises:
            NoInterpreter: the stage is strict, and there would be no bytecode.
            BadPackage: a package cannot be built; or the stage is strict, and two machines would
                build it differently.
            BadLock: the lock is stale; or it is missing, and the stage is strict.

        Args:
            reward: its name, as a deployment has it.
        """
        if reward not in self._made:
            self._made[reward] = Artifact(
                reader=partial(self._contents, reward),
                target=self.target,
                entry_points=partial(self._entry_points, reward),
                environment=self._environment,
            )
        return self._made[reward]

    def of_handler(self, module: str) -> Artifact:
        """The artifact of a function that is no reward: its handler and all that this reaches.

        It has the pins that are imported there, and neither the algebra nor the stage's packages.

        Its digest raises:
            NoInterpreter: the stage is strict, and there would be no bytecode.

        Args:
            module: ours, of `closure.BESIDE_REWARDS` or of the runtime rooms.
        """
        if module not in self._handlers:
            words = f"stage {self.stage.name!r}, {module.rpartition('.')[2]}"
            self._handlers[module] = Artifact(
                reader=partial(self._contents_of_handler, module),
                target=self.target,
                entry_points=partial(dict, [(module, words)]),
                environment=self._environment,
            )
        return self._handlers[module]

    @cached_property
    def target(self) -> Target:
        """The target of the artifacts."""
        return Target(
            architecture=self.stage.architecture,
            python=self.stage.python,
            interpreter=self.interpreter,
            installed=self.stage.emulated,
        )

    @cached_property
    def lock(self) -> Lock:
        """The stage's lock; its packages are built for it.

        Raises:
            BadPackage: a package cannot be built, is named twice, or takes from a source what the
                stage does not name.
        """
        packages = [Package.of(text, self.folder) for text in self.stage.packages]
        insist_on_distinct(packages, self.stage.name)
        wheels = {
            package.name: wheel for package in packages if (wheel := package.wheel(self._scratch))
        }
        insist_on_named(packages, wheels)
        return Lock(
            stage=self.stage.name,
            folder=self.folder,
            packages=packages,
            wheels=wheels,
            target=self.target,
            beside=self.beside,
        )

    @cached_property
    def _made(self) -> dict[str, Artifact]:
        return {}

    @cached_property
    def _handlers(self) -> dict[str, Artifact]:
        return {}

    @cached_property
    def _scratch(self) -> Path:
        """Where the stage's projects are built; it goes with this object."""
        folder = mkdtemp()
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    @property
    def _environment(self) -> Mapping[str, str]:
        """What of Lambda's variables a package may read while it is imported."""
        region = dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), self.stage.region)
        return region | {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/tmp"}  # noqa: S108 - Lambda's

    def _contents(self, reward: str) -> Contents:
        self._insist_on_bytecode()
        spec = self.stage.spec(reward)
        names = closure.rewards_in(spec, reward)
        if all(registry.distribution(name) is None for name in names):
            modules = [closure.module_of(name) for name in names]
            reached = closure.reached([closure.HANDLER, *modules], spec.needs)
            files = closure.files(reached) | self._named_files(reward)
            imported = closure.imported_packages(reached)
            return Contents(tuple(self._pinned(imported, services=frozenset())), files)
        wheels = tuple(self.lock.wheels.values())
        sources = [source for wheel in wheels for source in wheel.sources()]
        reached = closure.reached_by_theirs(
            sources, spec.needs, [*names, *self._parameters(reward)]
        )
        imported = closure.imported_packages(reached) | {
            top for source in sources for top in mentions(source).tops
        }
        locked = {pin.name for pin in self._locked}
        algebra = {"sympy"} if spec.needs.symbolic else set()
        pinned = self._pinned(imported | locked | algebra, services=self.services(reward))
        return Contents((*pinned, self._packages), closure.all_files() | self._named_files(reward))

    def _named_files(self, reward: str) -> dict[str, Path]:
        """The files that parameters of its deployments name, by their place in the zip."""
        named = [
            self.folder / name
            for each in self.stage.deployments
            if each.reward == reward
            for name in files_named(each.spec(), each.parameters)
        ]
        inside = (path for each in named for path in (sorted(each.rglob("*")) or [each]))
        return {path.relative_to(self.folder).as_posix(): path for path in inside if path.is_file()}

    def services(self, reward: str) -> frozenset[str]:
        """Clients beyond `AWS_SERVICES` that ship with a reward of a package, by botocore's names.

        They are those that the stage names, and those that the rights of its deployments are for.
        """
        given = (each for each in self.stage.deployments if each.reward == reward)
        return frozenset(self.stage.aws_services).union(*map(services, given)) - AWS_SERVICES

    def _contents_of_handler(self, module: str) -> Contents:
        self._insist_on_bytecode()
        of_shards = closure.row(module) in closure.OF_SHARDS
        beside = closure.OF_SHARDS if of_shards else closure.BESIDE_REWARDS
        reached = closure.reached([module], Needs(), beside=beside)
        pinned = pins_for(closure.imported_packages(reached))
        return Contents((Requirements(pins=pinned, target=self.target),), closure.files(reached))

    def _parameters(self, reward: str) -> Iterator[str]:
        """The strings among the parameters of its deployments."""
        waiting: list[JsonValue] = [
            each.parameters for each in self.stage.deployments if each.reward == reward
        ]
        while waiting:
            found = waiting.pop()
            if isinstance(found, str):
                yield found
            elif isinstance(found, (dict, list)):
                waiting += found.values() if isinstance(found, dict) else found

    def _pinned(self, names: Collection[str], *, services: frozenset[str]) -> Iterator[Part]:
        every = pins_of_every_reward()
        yield Requirements(pins=every, target=self.target, services=services)
        for pins in pins_on_reach(names):
            yield Requirements(pins=pins, target=self.target)

    @cached_property
    def _packages(self) -> Packages:
        lock, ours = self.lock, {pin.name for pin in our_pins()}
        self._insist_on_portable(lock.wheels.values())
        return Packages(
            wheels=tuple(wheel for _, wheel in sorted(lock.wheels.items())),
            pins=tuple(pin for pin in self._locked if pin.name not in ours),
            target=self.target,
            lock=(lock.path.name, f"reward lock --stage {lock.stage}"),
        )

    @cached_property
    def _locked(self) -> tuple[Pin, ...]:
        """What the lock names; written where it is missing."""
        lock = self.lock
        if not lock.needed:
            return ()
        if lock.state() == "missing":
            if self.stage.strict:
                raise BadLock(
                    f"stage {lock.stage!r} is strict, and {lock.path.name} is missing: "
                    f"run {lock.remedy} and commit it"
                )
            lock.write()
            self.notices.append(WROTE.format(lock=lock.path.name))
        return lock.read()

    def _insist_on_bytecode(self) -> None:
        if self.stage.strict and self.interpreter is None:
            cost = COST.format(python=self.stage.python)
            raise NoInterpreter(f"stage {self.stage.name!r} is strict: {cost}")

    def _insist_on_portable(self, wheels: Iterable[Wheel]) -> None:
        for wheel in wheels:
            if wheel.built and not wheel.portable:
                sentence = COMPILED.format(package=wheel.name, wheel=wheel.path.name)
                if self.stage.strict:
                    raise BadPackage(f"stage {self.stage.name!r} is strict: {sentence}")
                self.notices.append(sentence)

    def _entry_points(self, reward: str) -> Mapping[str, str]:
        """The modules of all deployments that run from the same zip."""
        digest = self.artifact(reward).digest
        handler = {closure.HANDLER: f"stage {self.stage.name!r}, the handler"}
        return handler | {
            closure.module_of(name): f"stage {self.stage.name!r}, deployment {each.name!r}"
            for each in self.stage.deployments
            if self.artifact(each.reward).digest == digest
            for name in closure.rewards_in(self.stage.spec(each.reward), each.reward)
        }


ELSEWHERE: Final = frozenset({"git", "path", "url", "workspace"})
"""Kinds of sources that are no index."""


def insist_on_named(packages: Sequence[Package], wheels: Mapping[str, Wheel]) -> None:
    """Refuse a package that takes something from a source which is no package of the stage.

    Args:
        packages: the stage's.
        wheels: of those that no index is asked for, by name.

    Raises:
        BadPackage: one is not.
    """
    named = {PROJECT, *(package.name for package in packages)}
    for package in packages:
        if isinstance(package.source, Path) and package.source.is_dir():
            requires = {required(each) for each in wheels[package.name].requires()}
            if missing := sorted(requires.intersection(_elsewhere(package.source)) - named):
                raise BadPackage(
                    f"{package} takes {missing[0]} from [tool.uv.sources], which the lock would "
                    "take from an index: name its folder or wheel in `packages`"
                )


def _elsewhere(folder: Path) -> Iterator[str]:
    """What a project takes from no index: by its own word, or by that of its workspace."""
    own = _uv_of(folder)
    yield from _named_by(own)
    for parent in folder.parents:
        above = _uv_of(parent)
        if "workspace" in above:
            yield from _named_by(above)
            return


def _named_by(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, source in settings.get("sources", {}).items():
        several = source if isinstance(source, list) else [source]
        if any(ELSEWHERE.intersection(each) for each in several):
            yield normalised(name)


def _uv_of(folder: Path) -> Mapping[str, Any]:
    """`[tool.uv]` of a folder; nothing, where it has none that can be read."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}
    found = project.get("tool", {}).get("uv", {})
    return found if isinstance(found, dict) else {}


MEGABYTE: Final = 1024 * 1024

BUDGET: Final = Budget("AgentCore", unzipped=750 * MEGABYTE, zipped=250 * MEGABYTE)
""""Quotas for Amazon Bedrock AgentCore", direct code deployment."""

ROLLOUTS: Final = f"{closure.PACKAGE.name}.rollouts"

SERVER: Final = f"{ROLLOUTS}.servers.app"
"""What runs on AgentCore; nothing here imports it."""

MAIN: Final = f"{MAIN_MODULE}.py"

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
        """The artifact that an agent runs from.

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
        # An agent may score in its own process, by any reward that its sources name.
        sources = [each for wheel in self.lock.wheels.values() for each in wheel.sources()]
        reached = closure.reached_by_theirs(sources, Needs(symbolic=True))
        imported = {*closure.imported_packages(reached), "sympy"}
        pinned = self._pinned(imported, services=frozenset(self.stage.aws_services))
        ours = closure.all_files(frozenset({ROLLOUTS}))
        return Contents((*pinned, self._packages), {**ours, MAIN: main})

    def _modules_of(self, agent: Agent) -> dict[str, str]:
        where = f"stage {self.stage.name!r}, agent {agent.name!r}"
        return {SERVER: where, agent.module: where}
