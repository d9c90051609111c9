"""`reward list`, `show`, `check` and `explain`: what rewards there are, and what each one does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import Models, Name, Parameters  # noqa: TC001 - typer reads annotations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.table import Table

    from reward_functions import RewardResult, RewardSpec


def list_rewards() -> None:
    """Every reward there is."""
    from reward_functions import specs
    from reward_functions.cli._console import NARROW, output

    console = output()
    console.print((_short_list if console.width < NARROW else _list)(specs().values()))


def show(name: Name) -> None:
    """All about one reward: documentation, parameters, examples, a request and its reply."""
    from rich.text import Text

    from reward_functions.cli._console import MESSAGE, output, plain
    from reward_functions.cli._rewards import reward_named

    spec = reward_named(name)
    console = output()
    title = f"{spec.name}, version {spec.version}, {_kind(spec)}"
    console.print(Text(title, "bold"), end="\n\n")
    for paragraph in _paragraphs(spec.doc):
        console.print(Text(plain(paragraph, MESSAGE)))
    console.print()
    console.print(_facts(spec))
    for shown in (_parameters(spec), _examples(spec)):
        if shown.row_count:
            console.print(shown)
    for heading, text in _exchange(spec):
        console.print(Text(heading, "bold"))
        console.print(Text(text), soft_wrap=True, end="\n\n")


def check(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One reward, or the path of a .py file.", show_default="all"
        ),
    ] = None,
) -> None:
    """Replay the worked examples of one reward, or of all."""
    from rich.text import Text

    from reward_functions import specs
    from reward_functions.cli._console import cell, output, table
    from reward_functions.cli._rewards import reward_named

    chosen = list(specs().values()) if name is None else [reward_named(name)]
    shown = table(
        "name", "examples", "verdict", "what differs", names=("name",), numbers=("examples",)
    )
    flaws = {spec.name: list(_flaws(spec)) for spec in chosen}
    for spec in chosen:
        wrong = flaws[spec.name]
        verdict = cell("failed", "bold red") if wrong else cell("ok", "green")
        count = cell(str(len(spec.examples)))
        shown.add_row(cell(spec.name), count, verdict, Text("\n").join(map(cell, wrong)))
    output().print(shown)
    if any(flaws.values()):
        raise typer.Exit(INCOMPLETE)


def explain(
    name: Name,
    *,
    response: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="What the policy wrote; @FILE reads a file, - standard input, @@… is a string "
            "that begins with @.",
        ),
    ],
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The ground truth, a string or a JSON object; @FILE reads a file, @@… is a string "
            "that begins with @.",
        ),
    ] = None,
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="The user turn before it.")] = "",
    parameter: Parameters = None,
    judge: Models = None,
) -> None:
    """Explain a score: the answer found, what was compared, the rule that decided."""
    from reward_functions import Scored, score_batch
    from reward_functions.cli._console import output
    from reward_functions.cli._rewards import ready, reward_named
    from reward_functions.testing import sample

    spec = reward_named(name)
    reward = ready(spec, parameter or [], judge)
    truth = None if reference is None else _typed(reference)
    (result,) = score_batch(reward, [sample(_typed(response), truth, prompt=prompt)])
    output().print(_explanation(spec, result))
    if not isinstance(result, Scored):
        raise typer.Exit(INCOMPLETE)


def _list(rewards: Iterable[RewardSpec]) -> Table:
    from reward_functions.cli._console import cell, table

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
            cell(str(spec.version)),
            cell(_kind(spec)),
            cell(spec.summary),
            cell(", ".join(spec.parameters) or None),
        )
    return shown


def _short_list(rewards: Iterable[RewardSpec]) -> Table:
    """The same in two columns, for a terminal that has no room for five."""
    from rich.text import Text

    from reward_functions.cli._console import cell, table

    shown = table("name", "what it does", names=("name",))
    for spec in rewards:
        more = [f"version {spec.version}", _kind(spec), *spec.parameters]
        description = Text("\n").join([cell(spec.summary), cell(", ".join(more), "dim")])
        shown.add_row(cell(spec.name, "bold"), description)
    return shown


def _kind(spec: RewardSpec) -> str:
    """What its folder says; a reward of another package or of a file stands in none of ours."""
    from reward_functions.core.registry import FOLDERS

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
    from reward_functions.cli._console import cell, facts

    return facts(
        {
            "scale": cell(f"{spec.scale.minimum:g} to {spec.scale.maximum:g}"),
            "metrics": cell(", ".join(spec.metrics) or None),
            "workers": cell(str(spec.needs.workers)),
            "gold_response": cell("writes the right response" if spec.gold_response else None),
        }
    )


def _parameters(spec: RewardSpec) -> Table:
    from reward_functions.cli._console import cell, table

    shown = table("parameter", "type", "default", names=("parameter",), title="Parameters")
    for parameter in spec.parameters.values():
        shown.add_row(
            cell(parameter.name), cell(parameter.type_name), cell(repr(parameter.default))
        )
    return shown


def _examples(spec: RewardSpec) -> Table:
    from reward_functions.cli._console import cell, table
    from reward_functions.cli._results import number

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
        parameters = ", ".join(f"{name}={value!r}" for name, value in example.parameters.items())
        shown.add_row(
            cell(example.kind),
            cell(example.response),
            cell(str(example.reference)),
            cell(number(example.score)),
            cell(parameters or None),
            cell(example.why or None),
        )
    return shown


def _exchange(spec: RewardSpec) -> Iterator[tuple[str, str]]:
    """The first example as it travels to the Lambda and back."""
    import json

    from reward_functions import Scored, score_batch
    from reward_functions.serving.contract import result_object
    from reward_functions.testing import wire_row

    for example in spec.examples[:1]:
        sample = example.sample()
        yield "Request", json.dumps([wire_row(sample)], indent=2)
        (result,) = score_batch(spec.bound_to_example(example), [sample])
        if isinstance(result, Scored):
            yield "Reply", json.dumps([result_object(result)], indent=2)


def _flaws(spec: RewardSpec) -> Iterator[str]:
    """What is wrong with a reward's examples."""
    from reward_functions import Scored, score_batch
    from reward_functions.cli._results import error_of
    from reward_functions.core.errors import BadParameter

    if not spec.examples:
        yield "it has no examples"
    for example in spec.examples:
        about = f"{example.kind} example {example.response!r}"
        try:
            reward = spec.bound_to_example(example)
        except BadParameter as error:
            yield f"{about}: {error}"
            continue
        (result,) = score_batch(reward, [example.sample()])
        if not isinstance(result, Scored):
            yield f"{about} raises {': '.join(filter(None, error_of(result).values()))}"
        elif result.score.value != example.score:
            earned = f"{about} earns {result.score.value:g}, not {example.score:g}"
            yield ": ".join(filter(None, (earned, result.score.reason)))


def _explanation(spec: RewardSpec, result: RewardResult) -> Table:
    from reward_functions.cli._console import cell, facts
    from reward_functions.cli._results import cells_of, explanation, metric_key
    from reward_functions.tools.rules.registry import rule_of

    known = cells_of(spec, result)
    explained = explanation(result) or {}
    rule = rule_of(spec.name, explained.get("rule") or "")
    compared = {
        name: None if explained.get(key) is None else cell(explained[key])
        for name, key in (
            ("normal form", "normal_answer"),
            ("reference", "normal_reference"),
            ("outcome", "outcome"),
            ("rule", "rule"),
        )
    }
    return facts(
        {
            "answer": known.get("answer"),
            **compared,
            "the rule": rule and cell(rule.statement),
            "score": known["score"],
            "reason": known.get("reason"),
            **{metric_key(name): known.get(metric_key(name)) for name in spec.metrics},
            "error": known.get("error"),
        }
    )


def _typed(text: str) -> str:
    """A text as typed, or the content of a file, or of standard input.

    Raises:
        ConfigurationError: the content is not UTF-8.
        OSError: the file cannot be read.
    """
    from reward_functions.core.errors import ConfigurationError

    if text == "-":
        content = sys.stdin.buffer.read()
    elif text.startswith("@@"):
        return text[1:]
    elif text.startswith("@"):
        content = Path(text[1:]).read_bytes()
    else:
        return text
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{text}: not UTF-8") from None
