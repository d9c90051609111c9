"""A page a reward: what its declaration holds, and its first example on the wire.

The same facts as `reward show NAME` prints, which is where a terminal has them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from docs.site import docstrings
from docs.site.markdown import code, fenced, prose, table
from docs.site.navigation import REWARDS
from reward_functions import Scored, score_batch, specs
from reward_functions.serving.contract import result_object
from reward_functions.testing import wire_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions import Example, RewardSpec

_READ_ON: Final[Mapping[str, tuple[str, str]]] = {
    "math": ("How `math` decides", "math"),
    "finqa": ("How `finqa` decides", "finqa"),
}
"""Rewards of which a page explains the rules, by its title and name."""

_INTRODUCTION: Final = """\
# Rewards

One page for each, from its declaration. A name is what `REWARD_NAME`, `reward score` and `get`
take. A change that can move a score raises the version, and the [changelog](../CHANGELOG.md) says
why.
"""


def pages() -> dict[str, str]:
    """The pages by name: an index, and one a reward of this project."""
    ours = {name: spec for name, spec in specs().items() if "." not in name}
    rows = [
        [f"[`{name}`](rewards/{name}.md)", prose(spec.summary), str(spec.version)]
        for name, spec in ours.items()
    ]
    index = f"{_INTRODUCTION}\n{table(['name', 'what it verifies', 'version'], rows)}\n"
    return {REWARDS: index} | {f"{REWARDS}/{name}": page(spec) for name, spec in ours.items()}


def page(spec: RewardSpec) -> str:
    """All about one reward."""
    return "\n\n".join(_parts(spec)) + "\n"


def _parts(spec: RewardSpec) -> Iterator[str]:
    doc = docstrings.parsed(spec.doc)
    yield f"# `{spec.name}`"
    yield docstrings.body(doc.text)
    yield table(["property", "value"], _facts(spec))
    if spec.parameters:
        yield "## Parameters"
        yield table(["name", "type", "default", "what it sets"], _parameters(spec, doc))
    if errors := doc.items.get("Raises"):
        yield "## Errors"
        rows = [[code(name), prose(about)] for name, about in errors.items()]
        yield table(["error", "when"], rows)
    if spec.examples:
        yield "## Examples"
        yield "The tests and `reward audit` replay each; a function that starts, the first."
        for example in spec.examples:
            yield from _example(example)
        yield from _exchange(spec)


def _facts(spec: RewardSpec) -> Iterator[list[str]]:
    yield ["version", str(spec.version)]
    yield ["scale", f"{spec.scale.minimum:g} to {spec.scale.maximum:g}"]
    yield ["metrics", ", ".join(map(code, spec.metrics)) or "none"]
    yield ["asks a judge model", "yes" if spec.needs.judge else "no"]
    yield ["looks at its group", "yes" if spec.needs.group else "no"]
    yield ["threads a batch", str(spec.needs.workers)]
    writes = "the right response, from a reference" if spec.gold_response else "nothing"
    yield ["`gold_response` writes", writes]
    source = spec.function.__module__.replace(".", "/") + ".py"
    yield ["source", f"[{source}](../../{source})"]
    if spec.name in _READ_ON:
        title, name = _READ_ON[spec.name]
        yield ["read on", f"[{title}](../../docs/{name}.md)"]


def _parameters(spec: RewardSpec, doc: docstrings.Docstring) -> Iterator[list[str]]:
    for parameter in spec.parameters.values():
        default = code(repr(parameter.default)) if parameter.has_default else "required"
        about = prose(doc.items["Args"][parameter.name])
        yield [code(parameter.name), code(parameter.type_name), default, about]


def _example(example: Example) -> Iterator[str]:
    why = f": {prose(example.why)}" if example.why else ""
    yield f"**{example.kind}**, earns {example.score:g}{why}"
    if example.prompt:
        yield f"Prompt: {code(example.prompt)}"
    yield fenced(example.response) if example.response else "The response is empty."
    reference = example.reference
    shown = reference if isinstance(reference, str) else json.dumps(reference, ensure_ascii=False)
    yield "No reference." if reference is None else f"Reference: {code(shown)}"
    if example.parameters:
        settings = (code(f"{name}={value!r}") for name, value in example.parameters.items())
        yield f"Parameters: {', '.join(settings)}"


def _exchange(spec: RewardSpec) -> Iterator[str]:
    """The first example as it travels to the function and back."""
    example = spec.examples[0]
    sample = example.sample()
    (result,) = score_batch(spec.bound_to_example(example), [sample])
    yield "## On the wire"
    yield fenced(json.dumps([wire_row(sample)], indent=2, ensure_ascii=False), "json")
    if isinstance(result, Scored):
        yield fenced(json.dumps([result_object(result)], indent=2), "json")
