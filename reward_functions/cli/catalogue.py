"""`reward list` and `reward show`: what rewards there are, and what each one does."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from rich.text import Text

from reward_functions import RewardSpec, Scored, score_batch
from reward_functions.cli._composites import parts_table
from reward_functions.cli._console import (
    MESSAGE,
    NARROW,
    cell,
    facts,
    output,
    plain,
    remark,
    table,
)
from reward_functions.cli._options import Name  # noqa: TC001 - typer reads annotations
from reward_functions.cli._results import number, written
from reward_functions.core.registry import FOLDERS, installed
from reward_functions.scoring.rewards import reward_named
from reward_functions.serving.contract import result_object
from reward_functions.testing import wire_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.table import Table

    from reward_functions.core.declaring import Parameter
    from reward_functions.core.errors import BrokenPlugin


def list_rewards() -> None:
    """Every reward there is.

    An entry point of another package that cannot be used is a warning on standard error, and the
    exit status stays 0.
    """
    found = installed()
    console = output()
    console.print((_short_list if console.width < NARROW else _list)(found.specs.values()))
    _warn(found.broken)


def show(name: Name) -> None:
    """All about one reward: documentation, parameters, examples, a request and its reply."""
    spec = reward_named(name)
    console = output()
    title = f"{spec.name}, version {spec.version}, {_kind(spec)}"
    console.print(Text(title, "bold"), end="\n\n")
    for paragraph in _paragraphs(spec.doc):
        console.print(Text(plain(paragraph, MESSAGE)))
    console.print()
    console.print(_facts(spec))
    for shown in (parts_table(spec), _parameters(spec), _examples(spec)):
        if shown.row_count:
            console.print(shown)
    for heading, text in _exchange(spec):
        console.print(Text(heading, "bold"))
        console.print(Text(text), soft_wrap=True, end="\n\n")


def _list(rewards: Iterable[RewardSpec]) -> Table:
    shown = table(
        "name",
        "version",
        "kind",
        "what it does",
        "parameters",
        names=("name",),
        numbers=("version",),
    )
    for spec in rewards:
        shown.add_row(
            cell(spec.name, "bold"),
            str(spec.version),
            _kind(spec),
            spec.summary,
            ", ".join(spec.parameters) or None,
        )
    return shown


def _short_list(rewards: Iterable[RewardSpec]) -> Table:
    """The same in two columns, for a terminal that has no room for five."""
    shown = table("name", "what it does", names=("name",))
    for spec in rewards:
        more = [f"version {spec.version}", _kind(spec), *spec.parameters]
        description = Text("\n").join([cell(spec.summary), cell(", ".join(more), "dim")])
        shown.add_row(cell(spec.name, "bold"), description)
    return shown


def _kind(spec: RewardSpec) -> str:
    """What its folder says; a reward of another package or of a file stands in none of ours."""
    for folder in FOLDERS:
        module = sys.modules.get(f"{folder}.{spec.name}")
        if getattr(module, spec.name, None) is spec:
            return folder.rpartition(".")[2].removesuffix("s")
    return "plugin" if "." in spec.name else "file"


def _paragraphs(doc: str) -> Iterator[str]:
    """The lines of a docstring, running text joined so that any terminal can wrap it again."""
    running: list[str] = []
    for line in doc.splitlines():
        if line and not line.startswith((" ", "|")):
            running.append(line)
            continue
        if running:
            yield " ".join(running)
        running = []
        yield line
    if running:
        yield " ".join(running)


def _facts(spec: RewardSpec) -> Table:
    return facts(
        {
            "scale": cell(f"{spec.scale.minimum:g} to {spec.scale.maximum:g}"),
            "a wrong response": cell(_most_of_wrong(spec)),
            "metrics": cell(", ".join(spec.metrics) or None),
            "workers": cell(str(spec.needs.workers)),
            "gold_response": cell("writes the right response" if spec.gold_response else None),
        }
    )


def _most_of_wrong(spec: RewardSpec) -> str:
    if callable(spec.partial_credit):
        return f"earns less than {spec.scale.maximum:g}, how much depends on the row"
    return f"earns {spec.most_undeserved:g} at most"


def _parameters(spec: RewardSpec) -> Table:
    shown = table("parameter", "type", "default", names=("parameter",), title="Parameters")
    for parameter in spec.parameters.values():
        shown.add_row(parameter.name, parameter.type_name, _default(parameter))
    return shown


def _default(parameter: Parameter) -> str | None:
    """A default as it is typed; None of a parameter that has to be given."""
    if not parameter.has_default:
        return None
    return written(parameter.default) or '""'


def _examples(spec: RewardSpec) -> Table:
    shown = table(
        "kind",
        "response",
        "reference",
        "score",
        "parameters",
        "why",
        title="Examples",
        names=("kind",),
        numbers=("score",),
    )
    for example in spec.examples:
        parameters = ", ".join(
            f"{name}={written(value)}" for name, value in example.parameters.items()
        )
        shown.add_row(
            example.kind,
            example.response,
            None if example.reference is None else written(example.reference),
            number(example.score),
            parameters or None,
            example.why or None,
        )
    return shown


def _exchange(spec: RewardSpec) -> Iterator[tuple[str, str]]:
    """The first example as it travels to the Lambda and back."""
    for example in spec.examples[:1]:
        sample = example.sample()
        yield "Request", json.dumps([wire_row(sample)], indent=2)
        (result,) = score_batch(spec.bound_to_example(example), [sample])
        if isinstance(result, Scored):
            yield "Reply", json.dumps([result_object(result)], indent=2)


def _warn(broken: Iterable[BrokenPlugin]) -> None:
    """One line for each entry point that cannot be used, and what to do about it."""
    for each in broken:
        whose = each.package or "its package"
        line = f"warning: {each}; repair, update or uninstall {whose}"
        remark(line, "yellow")
