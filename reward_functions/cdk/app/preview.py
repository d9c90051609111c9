"""Preview a stage without Node, without the CDK and without building anything.

| seen here | seen by a synth alone |
| --- | --- |
| `cdk.json` and each of its fields; rewards, parameters, judges; limits of names and policies | whether packages build, install, and can be imported from their artifacts |
| packages: paths, pins, no name twice | what a package takes from `[tool.uv.sources]` |
| the lock: that it is there, is a lock, and is as it was written; whether it is current, where no package has to be built | whether it is current, where one has |
| whether an interpreter of the stage's Python answers | what stands in the account; cdk-nag |

Each refusal is the sentence that the synth has for it.

The cost of a stage while nobody calls it: list prices of us-east-1, one row a thing.

Alarms and dashboards as published price guides gave them in June 2026; the key as it has long been.
Zips, data and logs cost by their size, and are not here.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.cdk.artifact.interpreter import NoInterpreter, interpreter
from reward_functions.cdk.artifact.lock import BadLock, Lock
from reward_functions.cdk.artifact.packages import (
    Package,
    Wheel,
    declared,
    insist_on_distinct,
    required,
)
from reward_functions.cdk.artifact.pins import PROJECT
from reward_functions.cdk.constructs.artifacts import COST, Artifacts
from reward_functions.cdk.limits.starts import costs_of_memory, costs_of_starts
from reward_functions.cdk.model.exposed import exposed
from reward_functions.cdk.model.operating import (
    ALARMS,
    FEEDBACK,
    FORWARDER,
    FUNCTION,
    JOB_EVENTS,
    QUEUE,
    SCALE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reward_functions.cdk.model.deployment import Deployment
    from reward_functions.cdk.model.project import Project
    from reward_functions.cdk.model.stages import Stage


class Price(NamedTuple):
    """A thing that costs by the month.

    Args:
        thing: in the plural.
        dollars: a month, for one.
        count: how many a stage has.
    """

    thing: str
    dollars: float
    count: Callable[[Stage], int]


def alarms(stage: Stage) -> int:
    """How many alarms a stage has."""
    things = {
        JOB_EVENTS: 1,
        FUNCTION: len(stage.deployments),
        FEEDBACK: int(stage.feedback is not None),
        SCALE: int(stage.scale is not None),
        FORWARDER: len(stage.forwarders),
        QUEUE: sum(each.owns_queue for each in stage.forwarders),
    }
    return sum(len(ALARMS[kind]) * count for kind, count in things.items())


AT_REST: Final = (
    Price("alarms", 0.10, alarms),
    Price("dashboards", 3.00, lambda _: 1),
    Price("keys", 1.00, lambda stage: int(stage.customer_key)),
)


def at_rest(stage: Stage) -> float:
    """Dollars a month, the free dashboards of an account not counted; an emulator costs nothing."""
    if stage.emulated:
        return 0.0
    return sum(price.dollars * price.count(stage) for price in AT_REST)


MISSING: Final = (
    "{lock} is missing: a synth resolves the packages and writes it; run {remedy} and commit it"
)

BUILT: Final = (
    "{package} is a folder: whether {lock} is current is seen once it is built, by {remedy} --check"
)

UNDECIDED: Final = (
    "{package} leaves its requirements to its build: whether {lock} is needed is seen there, by "
    "{remedy} --check"
)

SHOWN_ABOVE: Final = {"name", "region", "account", "deployments"}
"""Fields of a stage that are no options: where it is, and what stands in it."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that would stand.

    Args:
        name: of the deployment.
        function: its name at Lambda; of an immutable deployment, a digest follows.
        reward: as `reward list` names it.
        version: the reward's.
        parameters: those that are set.
        response_mode: what it answers with.
        immutable: whether it is a function of its own for every state.
        models: of its judge.
    """

    name: str
    function: str
    reward: str
    version: int
    parameters: dict[str, Any]
    response_mode: str
    immutable: bool
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """A stage that can be synthesised, as far as it is seen here.

    Args:
        stage: checked.
        functions: in the order of the stage.
        options: what differs from the defaults, deployments aside.
        dollars: a month, at rest.
        lock: "not needed", "missing", "current", "there" where only a build can say more, or
            "undecided" where none is there and only a build can say whether one has to be.
        notices: sentences for the reader.
    """

    stage: Stage
    functions: tuple[Function, ...]
    options: dict[str, Any]
    dollars: float
    lock: str
    notices: tuple[str, ...]


def previewed(project: Project, name: str) -> Preview:
    """The preview of a stage.

    Raises:
        ConfigurationError: a synth would refuse it. The message is the synth's.
    """
    stage = project.stage(name)
    lock, notices = _locked(stage, project.folder)
    return Preview(
        stage=stage,
        functions=tuple(_function(stage, each) for each in stage.deployments),
        options=options_of(stage),
        dollars=at_rest(stage),
        lock=lock,
        notices=(
            *notices,
            *exposed(stage),
            *costs_of_memory(stage),
            *costs_of_starts(stage),
            *_compiled(stage, project.context.get("interpreter")),
        ),
    )


def options_of(stage: Stage) -> dict[str, Any]:
    """Every field of a stage whose value is not the default, as JSON has it."""
    plain = stage.model_dump(mode="json", exclude=SHOWN_ABOVE, exclude_defaults=True)
    return {name: value for name, value in plain.items() if value is not None}


def _function(stage: Stage, each: Deployment) -> Function:
    judge = each.lambda_settings(stage.names).judge
    return Function(
        name=each.name,
        function=stage.names.function(each.name),
        reward=each.reward,
        version=stage.spec(each.reward).version,
        parameters=dict(each.parameters),
        response_mode=each.response_mode,
        immutable=each.immutable,
        models=tuple(model.model for model in judge.models) if judge else (),
    )


def _locked(stage: Stage, folder: Path) -> tuple[str, tuple[str, ...]]:
    """The state of the lock and what is to be said of it.

    Raises:
        ConfigurationError: it is not a lock, was edited, or is due in a strict stage.
    """
    packages = [Package.of(text, folder) for text in stage.packages]
    insist_on_distinct(packages, stage.name)
    folders = [each for each in packages if isinstance(each.source, Path) and each.source.is_dir()]
    lock = Lock(
        stage=stage.name,
        folder=folder,
        packages=packages,
        wheels={each.name: wheel for each in packages if (wheel := _wheel(each))},
        target=Artifacts(stage, folder, None).target,
    )
    needed = [_needs_lock(each) for each in packages]
    if not any(each is not False for each in needed):
        return "not needed", ()
    names = {"lock": lock.path.name, "remedy": lock.remedy}
    if lock.path.exists():
        if not folders:
            lock.read()
            return "current", ()
        lock.insist_on_unedited()
        return "there", (BUILT.format(package=folders[0], **names),)
    if True not in needed:
        return "undecided", (UNDECIDED.format(package=packages[needed.index(None)], **names),)
    if stage.strict:
        raise BadLock(
            f"stage {lock.stage!r} is strict, and {lock.path.name} is missing: "
            f"run {lock.remedy} and commit it"
        )
    return "missing", (MISSING.format(**names),)


def _needs_lock(package: Package) -> bool | None:
    """Whether a package requires anything but this project; None where only its build knows."""
    if isinstance(package.source, str):
        return True
    wheel = _wheel(package)
    requirements = wheel.requires() if wheel else declared(package.source)
    if requirements is None:
        return None
    return any(required(each) != PROJECT for each in requirements)


def _wheel(package: Package) -> Wheel | None:
    """The wheel that is a file already."""
    if isinstance(package.source, Path) and package.source.is_file():
        return Wheel(package.name, package.source, built=False)
    return None


def _compiled(stage: Stage, given: object) -> Iterator[str]:
    """What is to be said of the interpreter.

    Raises:
        NoInterpreter: the stage is strict, and none answers; or the one named does not.
    """
    if interpreter(stage.python, given if isinstance(given, str) else None) is not None:
        return
    cost = COST.format(python=stage.python)
    if stage.strict:
        raise NoInterpreter(f"stage {stage.name!r} is strict: {cost}")
    yield cost
