"""`reward stage`: the stages of a `cdk.json`, looked at without Node, without an account.

stage check    what a synth would refuse, in its words, and what would stand
stage show     a stage as it is read, after `extends`, and who said what
stage schema   a JSON Schema, for editors
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from reward_functions.cli._console import print_json
from reward_functions.cli._echo import say
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._fitting import print_table
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.cdk.app.preview import Preview
    from reward_functions.cdk.model.project import Project

app = typer.Typer(no_args_is_help=True)

Named = Annotated[
    str | None,
    typer.Option(
        "--stage",
        "-s",
        metavar="NAME",
        help="A stage of this folder's cdk.json.",
        show_default="the one that its context names, or the only one",
    ),
]

COST_LINE: Final = "at rest about ${dollars:.2f} a month, at list prices of us-east-1"


@app.command()
def check(
    *,
    stage: Named = None,
    every: Annotated[bool, typer.Option("--all", help="Check every stage.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Check a stage as a synth does, in a second and without Node, and print what would stand.

    Nothing is built, resolved or asked of AWS: whether packages install and load, and whether a
    lock of folders is current, a synth knows alone.

    Exit status: 0 nothing is wrong, 1 a stage would be refused, 2 there is no such stage.
    """
    from reward_functions.cdk.model.project import project_in

    if every and stage is not None:
        raise ConfigurationError("--all and --stage exclude each other")
    project = project_in(Path.cwd())
    names = list(project.stages) if every else [project.existing(project.chosen(stage))]
    seen = [(name, *_previewed(project, name)) for name in names]
    if as_json:
        print_json([_described(*each) for each in seen])
    else:
        for name, preview, refusal in seen:
            _print(name, preview, refusal)
    if any(refusal for *_, refusal in seen):
        raise typer.Exit(INCOMPLETE)


@app.command()
def show(*, stage: Named = None) -> None:
    """A stage as JSON, as it is read: after `extends`, with its defaults.

    `from` has the stage that said a value, by the keys that lead to it; what nobody said is not
    there, and is a default or follows from another value.
    """
    from reward_functions.cdk.model.inheritance import inherited
    from reward_functions.cdk.model.project import project_in

    project = project_in(Path.cwd())
    name = project.chosen(stage)
    checked = project.stage(name)
    found = inherited(project.stages, name)
    shown = {
        "stage": name,
        "extends": list(found.chain[1:]),
        "settings": checked.model_dump(mode="json", exclude={"name"}),
        "from": {".".join(steps): by for steps, by in found.origins.items()},
    }
    print_json(shown)


@app.command()
def schema(
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write it there.", show_default="print it"),
    ] = None,
    of: Annotated[
        Literal["file", "stages"],
        typer.Option("--of", help="Of a whole cdk.json, or of its object `stages` alone."),
    ] = "file",
) -> None:
    """A JSON Schema of cdk.json: an editor completes the fields, explains them and marks mistakes.

    Name it in the file, as `"$schema": "./cdk.schema.json"`, or in the settings of the editor.
    """
    from reward_functions.cdk.app.schema import file_schema, stages_schema

    found = file_schema() if of == "file" else stages_schema()
    if out is None:
        print_json(found)
        return
    with replaced(out) as stream:
        stream.write(f"{json.dumps(found, indent=2)}\n")
    say(f"wrote {out}")


def _previewed(project: Project, name: str) -> tuple[Preview | None, str | None]:
    """What a stage would be, or why there would be none."""
    from reward_functions.cdk.app.preview import previewed

    try:
        return previewed(project, name), None
    except ConfigurationError as error:
        return None, str(error)


def _described(name: str, preview: Preview | None, refusal: str | None) -> dict[str, Any]:
    if preview is None:
        return {"stage": name, "ok": False, "error": refusal}
    return {
        "stage": name,
        "ok": True,
        "region": preview.stage.region,
        "account": preview.stage.account,
        "options": preview.options,
        "deployments": [asdict(each) for each in preview.functions],
        "dollars_a_month": round(preview.dollars, 2),
        "lock": preview.lock,
        "notices": list(preview.notices),
    }


def _print(name: str, preview: Preview | None, refusal: str | None) -> None:
    if preview is None:
        say(f"{name}: would be refused\n  {refusal}\n")
        return
    account = preview.stage.account or "the account that deploys"
    say(f"{name}: {preview.stage.region}, {account}")
    rows = [
        [
            each.name,
            each.reward,
            str(each.version),
            each.response_mode + (", immutable" if each.immutable else ""),
            _given(each.parameters, each.models),
        ]
        for each in preview.functions
    ]
    print_table(
        ("deployment", "reward", "version", "response", "parameters"),
        rows,
        words=("parameters",),
    )
    for line in _lines(preview):
        say(f"  {line}")
    say("")


def _given(parameters: dict[str, Any], models: Sequence[str]) -> str | None:
    shown = [f"{name}={json.dumps(value)}" for name, value in parameters.items()]
    return ", ".join([*shown, *(f"asks {model}" for model in models)]) or None


def _lines(preview: Preview) -> Iterator[str]:
    for name, value in preview.options.items():
        yield f"{name}: {json.dumps(value)}"
    yield f"lock: {preview.lock}"
    if preview.dollars:
        yield COST_LINE.format(dollars=preview.dollars)
    yield from (f"notice: {notice}" for notice in preview.notices)
