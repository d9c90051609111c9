"""The generated parts of the documentation: `make docs` writes them, a test compares them.

A part stands between `<!-- make docs: NAME -->` and `<!-- end: NAME -->` in a Markdown file, and
`PARTS` says what makes it. What shows an output shows one that was produced just now, by the code
the page is about.

    python -m tests.generated
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import MISSING
from dataclasses import fields as dataclass_fields
from functools import partial
from inspect import getdoc, getsource
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.text import Text
from typer.main import get_command

from docs.site import docstrings, llms
from reward_functions import specs
from reward_functions.audit import comparing
from reward_functions.audit.corpus import CLASSES
from reward_functions.audit.trying import RIGHT
from reward_functions.aws.names import Names
from reward_functions.cdk.app.preview import AT_REST, at_rest
from reward_functions.cdk.model.brought import Callers, JobRights, ReadFolder
from reward_functions.cdk.model.deployment import Deployment
from reward_functions.cdk.model.operating import (
    ALARMS,
    FEEDBACK,
    FORWARDER,
    FUNCTION,
    JOB_EVENTS,
    QUERIES,
    QUEUE,
    SCALE,
    Alarm,
)
from reward_functions.cdk.model.rollouts import Agent, Feedback, Forwarder
from reward_functions.cdk.model.scale import Scale
from reward_functions.cdk.model.stages import Stage
from reward_functions.cdk.policies.own_rights import Secret, Statement
from reward_functions.cli import app
from reward_functions.core.errors import BadParameter, BrokenPlugin, UnknownReward
from reward_functions.core.settings import setting_kind
from reward_functions.data.rows.shapes import SHAPES, Shape
from reward_functions.jobs import reward_checks
from reward_functions.jobs.configuration import JobConfiguration, table_of
from reward_functions.jobs.figures import SIGNS
from reward_functions.jobs.plan_sheets import hyperparameters_table, models_table
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.usage import COUNTERS
from reward_functions.rollouts.report import settings as rollout_settings
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.scoring.prices import Work, bill
from reward_functions.serving.contract import BadEvent, ResponseTooLarge, TooManySamples
from reward_functions.serving.handler import FailedStart, FailedWarmUp, bind
from reward_functions.serving.imputation import BatchFailed
from reward_functions.serving.settings import BadSettings, LambdaSettings
from tests import (
    contributing_tables,
    gates,
    math_page,
    outages,
    rights_page,
    rule_tables,
    walkthrough,
)
from tests.architecture.rooms import ROOMS
from tests.audit.shipped import committed as audits
from tests.pictures import PICTURES
from tests.report_picture import report_picture
from tests.scoreboard.page import committed as scoreboard
from tests.troubleshooting import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType

    from pydantic import BaseModel

    from reward_functions import RewardSpec
    from reward_functions.core.settings import EnvSettings

ROOT: Final = Path(__file__).parents[1]

IMAGES: Final = ROOT / "docs" / "images"

COLUMNS: Final = 104
"""Characters of the pictured terminal: in a README page a letter is as tall as those around it."""

LINE: Final = 92
"""Characters a line of shown JSON holds before it is broken."""

PART: Final = re.compile(r"(<!-- make docs: (\S+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)

QUESTION: Final = "12 trays of 8 rolls, 75 sold: how many are left?"

BATCH: Final = [
    {
        "id": "rolls-1",
        "messages": [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": "12 × 8 = 96, and 96 - 75 = 21.\n#### 21"},
        ],
        "reference_answer": "21",
    },
    {
        "id": "rolls-2",
        "messages": [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": "#### 20 or 21"},
        ],
        "metadata": {"reference_answer": {"final_answer": 21}},
    },
]
"""The exchange of the contract: a right answer and a hedge, the reference in two of its places."""

START: Final = (BadSettings, UnknownReward, BrokenPlugin, BadParameter, FailedWarmUp, FailedStart)
"""What ends a function before its first batch."""

INVOCATION: Final = (BadEvent, TooManySamples, BatchFailed, ResponseTooLarge)
"""What ends an invocation."""


def pages() -> list[Path]:
    """Every page of the documentation."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def renewed(page: str) -> str:
    """The text of a page with every generated part made again."""
    return PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n\n{part[3]}", page)


def catalogue() -> str:
    """The rewards of this project; those of installed packages have catalogues of their own."""
    ours = [spec for name, spec in specs().items() if "." not in name]
    return _table(
        ["name", "what it verifies", "reference", "scale", "parameters", "version"], map(_row, ours)
    )


def rooms() -> str:
    """The walls: what each room is, what it imports, and how large it may be."""
    return _table(
        ["room", "what it is", "imports", "lines at most", "target"],
        (
            [
                f"[`{name}`](reward_functions/{name.replace('.', '/')}/__init__.py)",
                row.what,
                ", ".join(f"`{each}`" for each in ROOMS if each in row.imports) or "nothing",
                f"{row.lines:,}",
                f"{row.target:,}",
            ]
            for name, row in ROOMS.items()
        ),
    )


EARNS: Final = {
    "nothing": "nothing",
    "credit": "the declared partial credit at most",
    "all": "all, and must",
    "shown": "it is shown",
}


def audit_classes() -> str:
    """The classes of answers of an audit."""
    return _table(
        ["id", "what it is", "may earn"],
        ([f"`{each.id}`", each.title, EARNS[each.earns]] for each in (RIGHT, *CLASSES)),
    )


def example_output() -> str:
    """What the first Python block of the README prints."""
    return _block("text", run(python_blocks(ROOT / "README.md")[0]))


def request(batch: list[Any] = BATCH) -> str:
    """A batch as a trainer sends it."""
    return _block("json", _shown(batch))


def reply(batch: list[Any] = BATCH, mode: str = "list") -> str:
    """What the function answers to it; its log lines and metrics are left out."""
    deployed = LambdaSettings(
        name="gsm8k", response_mode=mode, service="documentation", log_level="CRITICAL"
    )
    with redirect_stdout(StringIO()):
        return _block("json", _shown(bind(deployed)(batch)))


def settings(kept: EnvSettings, more: Iterable[str] = ()) -> str:
    """The rows of a class of settings, by one with the defaults: a field's sentence is below it."""
    tree = ast.parse(getsource(type(kept))).body[0]
    sentences = [ast.literal_eval(below) for _, below in attributes(tree)]
    rows, defaults = [], kept.to_env()
    for each, sentence in zip(dataclass_fields(kept), sentences, strict=True):
        name = kept.variable(each.name)
        shown = f"`{defaults[name]}`" if name in defaults else "unset"
        required = each.default is MISSING and each.default_factory is MISSING
        about = " ".join(sentence.split())
        rows.append(
            [f"`{name}`", setting_kind(each).words, "required" if required else shown, about]
        )
    return "\n".join([_table(["variable", "values", "default", "what it sets"], rows), *more])


def attributes(tree: ast.ClassDef) -> Iterator[tuple[ast.AnnAssign, ast.expr]]:
    """The fields of a class, each with the string below it."""
    for each, below in pairwise(tree.body):
        if isinstance(each, ast.AnnAssign) and isinstance(below, ast.Expr):
            yield each, below.value


def fields(model: type[BaseModel], *, without: str = "") -> str:
    """The fields of a model of `cdk.json`, from its JSON schema."""
    rows = [
        [f"`{name}`", _values(field), _default(field), field["description"]]
        for name, field in model.model_json_schema()["properties"].items()
        if name != without
    ]
    return _table(["field", "values", "default", "what it sets"], rows)


def judge_settings(model: type[JudgeModel | JudgeConfig]) -> str:
    """The settings of a judge or of one of its models, from its docstring."""
    about = docstrings.parsed(getdoc(model)).items["Args"]
    return _table(
        ["setting", "default", "what it sets"],
        (
            [f"`{each.name}`", _kept(each.default), about[each.name]]
            for each in dataclass_fields(model)
        ),
    )


def _kept(default: Any) -> str:
    """What a field of a dataclass is where nobody sets it."""
    if default is MISSING:
        return "required"
    return "unset" if default in (None, "", ()) else f"`{json.dumps(default)}`"


def judge_counters() -> str:
    """What a judge counts of a batch."""
    return _table(["metric", "counts"], ([f"`{name}`", what] for name, what in COUNTERS.items()))


def job_table() -> str:
    """The fields of a job's file."""
    return _table(["field", "default", "what it says", "example"], job_fields())


def job_fields(model: type[BaseModel] = JobConfiguration, above: str = "") -> list[list[str]]:
    """A row for each field of a job's file, those of a table below it."""
    rows = []
    for name, field in model.model_fields.items():
        at, inside = f"{above}{name}", next(table_of(field.annotation), None)
        many = "[]." if "tuple" in str(field.annotation) else "."
        example = f"`{name} = {_toml(field.examples[0])}`" if field.examples else "-"
        default = {} if field.is_required() else {"default": field.default}
        rows.append([f"`{at}`", _default(default), field.description or "", example])
        rows += job_fields(inside, f"{at}{many}") if inside else []
    return rows


def _toml(value: Any) -> str:
    """A value as TOML has it on one line."""
    match value:
        case dict():
            return f"{{{', '.join(f'{key} = {_toml(each)}' for key, each in value.items())}}}"
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return json.dumps(value)


def job_signs() -> str:
    """The signs of a training that goes wrong, in the figures of a job."""
    return _table(
        ["sign", "in the figures of", "what it means", "what to do"],
        ([sign.name, f"the {_FIGURES[sign.split]}", sign.meaning, sign.remedy] for sign in SIGNS),
    )


_FIGURES: Final = {"training": "training", "validation": "validation", "grader": "grader's log"}


def _documented_table(module: ModuleType) -> str:
    """The table of a module's documentation."""
    lines = (getdoc(module) or "").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def start_errors() -> str:
    """Errors that end a function before its first batch, each with its own first line."""
    return _errors(START)


def invocation_errors() -> str:
    """Errors that end an invocation, each with its own first line."""
    return _errors(INVOCATION)


def decisions() -> str:
    """The decision records by their headings, and which of them are superseded."""
    records = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    return "\n".join(map(_decision, records))


def _decision(record: Path) -> str:
    heading, _, rest = record.read_text().partition("\n")
    superseded = re.match(r"\s*Status: superseded by \[(\d+)\.", rest)
    status = f" (superseded by {superseded[1]})" if superseded else ""
    return f"- [{heading.removeprefix('# ')}]({record.name}){status}"


def _whole_table(rows: Callable[[], Iterator[list[str]]]) -> str:
    """A table whose first row holds its headings."""
    headings, *others = rows()
    return _table(headings, others)


def rollout_settings_table() -> str:
    """The variables of an agent's process; the module says which are read elsewhere."""
    return settings(RolloutSettings(), [_documented_table(rollout_settings)])


def row_shapes() -> str:
    """The shapes of rows, and the columns in which their parts are looked for."""

    def columns(paths: tuple[str, ...], none: str) -> str:
        named = ", ".join(f"`{path}`" for path in paths[:3])
        return f"{named} …" if len(paths) > 3 else named or none

    return _table(
        ["shape", "whose", "prompt", "response", "reference"],
        (
            [
                f"`{shape.name}`",
                shape.title,
                columns(shape.columns.prompt, "–"),
                columns(shape.columns.response, "the last turn" if _is_exchange(shape) else "–"),
                columns(shape.columns.reference, "–"),
            ]
            for shape in SHAPES
        ),
    )


def local_commands() -> str:
    """The commands of the emulator by their own help, with their options."""
    group: Any = get_command(app)
    rows = []
    for name, command in group.commands["local"].commands.items():
        options = [f"`{each.opts[0]}`" for each in command.params if each.opts[0].startswith("--")]
        about = " ".join((command.help or "").partition("\n\n")[0].split())
        rows.append([f"`reward local {name}`", about, ", ".join(options)])
    return _table(["command", "what it does", "options"], rows)


def costs_at_rest() -> str:
    """What a stage costs while nobody calls it, and what each thing that it may have adds."""
    stages = {what: Stage.model_validate(RESTING | given) for what, given in RESTED.items()}
    plain, rows = at_rest(stages[PLAIN]), []
    for what, stage in stages.items():
        counts = {price.thing: (price.count(stage), price.dollars) for price in AT_REST}
        more = at_rest(stage) - plain
        shown = f"${plain:.2f}" if what == PLAIN else f"${more:.2f} more"
        rows.append([what, *(f"{count} at ${each:.2f}" for count, each in counts.values()), shown])
    return _table(["stage", *(price.thing for price in AT_REST), "a month"], rows)


def scale_prices() -> str:
    """What runs on AWS cost, by their rows."""
    kinds = [bill(Work(rows, 2 * 1024 * rows, -(-2 * rows // 2**16))) for rows in SCALED]
    names = dict.fromkeys(name for each in kinds for name in each.lines)
    table = [[name, *(f"${each.lines[name]:,.2f}" for each in kinds)] for name in names]
    table += [
        ["**together**", *(f"**${each.dollars:,.2f}**" for each in kinds)],
        ["results kept, a month", *(f"${each.a_month:,.2f}" for each in kinds)],
        ["minutes with 500 at once", *(f"{each.seconds / 500 / 60:,.1f}" for each in kinds)],
    ]
    return _table(["", *(f"{rows:,} rows" for rows in SCALED)], table)


WATCHED: Final = {
    FUNCTION: partial(Names.alarm, Names("STAGE").function("NAME")),
    FEEDBACK: partial(Names.alarm, Names("STAGE").rollouts("feedback")),
    FORWARDER: partial(Names.alarm, Names("STAGE").rollouts("NAME")),
    QUEUE: partial(Names.alarm, Names("STAGE").rollouts("NAME")),
    SCALE: partial(Names("STAGE").alarm_of_stage, "scale"),
    JOB_EVENTS: partial(Names("STAGE").alarm_of_stage, "job-events"),
}
"""How alarms are called, by the kind of what they watch."""


def alarm_table() -> str:
    """Every alarm of a stage, by the rows that make it."""
    return _table(
        ["alarm", "watches", "wrong when", "means", "first"],
        (
            [
                f"[`{WATCHED[kind](row.condition)}`](#{row.condition})",
                f"`{row.metric}`, {row.statistic.lower()} of {row.minutes} min",
                _wrong(row),
                row.means,
                row.first,
            ]
            for kind, rows in ALARMS.items()
            for row in rows
        ),
    )


def _wrong(row: Alarm) -> str:
    limit = f"{row.threshold:.0%} of {row.of}" if row.of else f"{row.threshold:g}"
    often = f", {row.periods} times in a row" if row.periods > 1 else ""
    return f"{'at most' if row.at_most else 'over'} {limit}{often}"


def query_table() -> str:
    """Every saved query of a stage."""
    return _table(
        ["query", "shows"],
        ([f"`{Names('STAGE').query(each.name)}`", each.shows] for each in QUERIES),
    )


def _is_exchange(shape: Shape) -> bool:
    """Whether one column holds prompt and response."""
    return shape.columns.prompt[:1] in {("messages",), ("conversations",)}


RESTING: Final = {
    "name": "dev",
    "region": "us-east-1",
    "deployments": ["gsm8k", "math", "finqa", "answer_text"],
}
"""A stage whose price a page shows."""

PLAIN: Final = "four functions"

RESTED: Final[Mapping[str, Mapping[str, object]]] = {
    PLAIN: {},
    "with `customer_key`": {"customer_key": True},
    "with `feedback`": {"feedback": {}},
    "with `scale`": {"scale": {}},
    "with a forwarder to an address": {
        "forwarders": [{"name": "agent", "endpoint": "https://agent.example.com"}]
    },
    "with a forwarder to a queue": {"forwarders": [{"name": "agent", "queue": True}]},
}
"""What a stage may have beside, and what it says for that."""

SCALED: Final = (10**6, 10**7, 10**8)
"""Rows of the runs whose prices a page shows."""

PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "rooms": rooms,
    "catalogue": catalogue,
    "audit-classes": audit_classes,
    "compare-figures": partial(_documented_table, comparing),
    "row-shapes": row_shapes,
    "scoreboard": scoreboard,
    "audits": audits,
    "example-output": example_output,
    "first-request": partial(request, BATCH[:1]),
    "first-reply": partial(reply, BATCH[:1]),
    "request": request,
    "reply": reply,
    "envelope": partial(reply, BATCH[:1], "envelope"),
    "settings": partial(settings, LambdaSettings(name="gsm8k")),
    "stage": partial(fields, Stage, without="name"),
    "deployment": partial(fields, Deployment),
    "job-rights": partial(fields, JobRights),
    "right": partial(fields, Statement),
    "secret": partial(fields, Secret),
    "read-folder": partial(fields, ReadFolder),
    "callers": partial(fields, Callers),
    "feedback": partial(fields, Feedback),
    "scale": partial(fields, Scale),
    "costs-at-rest": costs_at_rest,
    "local-commands": local_commands,
    "scale-prices": scale_prices,
    "alarms": alarm_table,
    "queries": query_table,
    "forwarders": partial(fields, Forwarder),
    "agents": partial(fields, Agent),
    "start-errors": start_errors,
    "invocation-errors": invocation_errors,
    "decisions": decisions,
    "judge-model": partial(judge_settings, JudgeModel),
    "judge-config": partial(judge_settings, JudgeConfig),
    "judge-counters": judge_counters,
    "make-targets": partial(_whole_table, contributing_tables.targets),
    "benchmarks": partial(_whole_table, contributing_tables.benchmarks),
    **{
        f"parts-{room}": partial(_whole_table, partial(contributing_tables.parts, room))
        for room in ("symbolic", "rollouts", "cdk")
    },
    "gates": gates.table,
    "job-fields": job_table,
    "job-signs": job_signs,
    "preflight-findings": partial(_documented_table, reward_checks),
    "rollout-settings": rollout_settings_table,
    "job-models": partial(_whole_table, models_table),
    "job-hyperparameters-bedrock": partial(_whole_table, partial(hyperparameters_table, "bedrock")),
    "job-hyperparameters-openai": partial(_whole_table, partial(hyperparameters_table, "openai")),
    **{name: partial(_whole_table, rows) for name, rows in TABLES.items()},
    "not-half-expected": partial(_whole_table, outages.expected_rows),
    "not-half-equal": partial(_whole_table, outages.equal_rows),
    **{name: partial(_whole_table, rows) for name, rows in math_page.TABLES.items()},
    **{name: partial(_whole_table, rows) for name, rows in rights_page.TABLES.items()},
    **{name: partial(_whole_table, rows) for name, rows in rule_tables.TABLES.items()},
}


def pictures() -> Mapping[Path, str]:
    """The pictures, each with its file."""
    made = {name: diagram().svg() for name, diagram in PICTURES.items()}
    made |= {"demo": demo_picture(), "score-report": report_picture()}
    return {IMAGES / f"{name}.svg": picture for name, picture in made.items()}


def lists() -> Mapping[Path, str]:
    """Files that are generated as a whole, beside the pictures."""
    return {ROOT / "docs" / llms.NAME: llms.of_the_repository()}


def demo_picture() -> str:
    """The first table `reward demo` prints, as the terminal shows it."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONUTF8": "1",
        "TERM": "xterm-256color",
        "FORCE_COLOR": "1",
        "COLUMNS": str(COLUMNS),
    }
    command = "from reward_functions.cli import main; main()"
    printed = Text.from_ansi(run(command, "demo", environment=environment))
    first = printed[: printed.plain.index("\nmath: ")]
    console = Console(record=True, file=StringIO(), width=COLUMNS)
    console.print(first)
    picture = console.export_svg(title="reward demo", unique_id="demo")
    # Web fonts: a picture in a page fetches nothing.
    local = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return "".join(f"{line.rstrip()}\n" for line in local.splitlines() if line.strip())


def python_blocks(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def run(code: str, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """What some Python code prints, in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        check=True,
        cwd=ROOT,
        encoding="utf-8",
        env=environment or os.environ | {"PYTHONUTF8": "1"},
    )
    return done.stdout


def _row(spec: RewardSpec) -> list[str]:
    source = spec.function.__module__.replace(".", "/") + ".py"
    reference = re.search(r"Reference: (.+?)[;.](?:\s|$)", spec.doc.replace("\n", " "))
    assert reference, f"{spec.name}: the docstring does not say what the reference is"
    parameters = [f"`{name}={parameter.default!r}`" for name, parameter in spec.parameters.items()]
    page = f"docs/{spec.name.replace('_', '-')}.md"
    more = f", [page]({page})" if (ROOT / page).exists() else ""
    return [
        f"[`{spec.name}`]({source}){more}",
        spec.summary,
        reference[1],
        f"{spec.scale.minimum:g} to {spec.scale.maximum:g}",
        ", ".join(parameters),
        str(spec.version),
    ]


def _shown(value: Any, indent: str = "") -> str:
    """JSON for a reader: on one line what fits on one, an object or a list broken otherwise."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= LINE or not isinstance(value, dict | list):
        return line
    inner = f"{indent}  "
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_shown(item, inner)}" for key, item in value.items()]
    else:
        items = [_shown(item, inner) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    inside = ",\n".join(f"{inner}{item}" for item in items)
    return f"{opening}\n{inside}\n{indent}{closing}"


def _values(field: Mapping[str, Any]) -> str:
    """What a setting accepts."""
    if "anyOf" in field:
        return _values(field["anyOf"][0])
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind = {
        "string": "string",
        "integer": "whole number",
        "number": "number",
        "object": "JSON object",
        "boolean": "`true`, `false`",
        "array": "list",
    }[field.get("type", "object")]  # what is defined elsewhere is an object
    bounds = [f"{field[key]:g}" for key in ("minimum", "maximum") if key in field]
    return f"{kind}, {' to '.join(bounds)}{' or more' * (len(bounds) == 1)}" if bounds else kind


def _default(field: Mapping[str, Any]) -> str:
    if "default" not in field:
        return "required"
    default = field["default"]
    if default is None:
        return "unset"
    return f"`{default if isinstance(default, str) else json.dumps(default)}`"


def _errors(kinds: Iterable[type[Exception]]) -> str:
    rows = [[f"`{kind.__name__}`", (getdoc(kind) or "").partition("\n")[0]] for kind in kinds]
    return _table(["error", "what it says"], rows)


def _table(columns: list[str], rows: Iterable[list[str]]) -> str:
    return "\n".join(_lines([columns, ["---"] * len(columns), *rows]))


def _lines(rows: Iterable[list[str]]) -> Iterator[str]:
    for row in rows:
        cells = " | ".join(cell.replace("|", "\\|") for cell in row)
        yield f"| {cells} |"


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def main() -> None:
    """Write every generated part again."""
    for file, picture in pictures().items():
        file.write_text(picture)
    for page in pages():
        before = page.read_text()
        after = renewed(before)
        if page in walkthrough.PAGES:
            after = walkthrough.updated(after)
        if after != before:
            page.write_text(after)
    for file, text in lists().items():  # of the pages as they are now
        file.write_text(text)


if __name__ == "__main__":
    main()
