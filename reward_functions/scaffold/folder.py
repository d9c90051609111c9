"""A folder for a training job: everything beside its data, and all of it written, or nothing.

The texts are made in memory and the data in a temporary folder. They take their names together at
the end, so that an error or Ctrl-C leaves nothing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from importlib.metadata import version
from shlex import quote
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import Together
from reward_functions.data.preparing import earlier_splits
from reward_functions.reports.sheets import escaped
from reward_functions.scaffold.reward_files import TEMPLATES, RewardFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from reward_functions.core.spec import RewardSpec
    from reward_functions.scaffold.rows import MadeRows

Trains = Literal["bedrock", "sagemaker", "own"]


class TrainingPlace(NamedTuple):
    """Where a folder's model is trained.

    Args:
        named: in a sentence.
        extras: of this project that its commands take.
        deployed: what a deployment has beside its reward.
        fewest: rows that it trains on.
    """

    named: str
    extras: str
    deployed: Mapping[str, Any]
    fewest: int


SERVICES: Final[Mapping[Trains, TrainingPlace]] = {
    "bedrock": TrainingPlace("on Amazon Bedrock", "[deploy,local]", {}, 100),
    "sagemaker": TrainingPlace(
        "on Amazon SageMaker",
        "[deploy,local]",
        {"immutable": True, "response_mode": "envelope"},
        1,
    ),
    "own": TrainingPlace("with a trainer of your own", "", {}, 1),
}

CDK: Final = "2.1148.1"
"""The CDK command line that `package-lock.json` pins and that reads today's assemblies."""

REGION: Final = "us-east-1"

BATCHES: Final = (128, 64, 32, 16)
STEPS: Final = 6
"""The largest batch with which an epoch has so many steps: fewer points show no course."""

GREEN: Final = "Each command is green in the folder as it was written."
RED: Final = (
    "Not each command is green in the folder as it was written: mend first what is named below."
)
"""What the README promises, by the result of the checks."""
EVALUATE: Final = "reward job evaluate JOB -s local --data data/test.jsonl --yes\n"

WHAT: Final[Mapping[str, str]] = {
    "data/": "the rows, prepared and split, with a report",
    "tests/": "what must hold of the reward and of every row",
    "cdk.json": "the stages: `local` for the emulator, `dev` for your account",
    "job.toml": "the training job",
    "train.py": "the training",
    "pyproject.toml": "the Python package",
    "package.json": "the CDK command line",
    ".github/workflows/rewards.yml": "the checks, on GitHub",
}
"""By file: what the README says of it."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything that decides what is written.

    Args:
        name: of the folder.
        source: the file of rows, without its folder.
        spec: the reward.
        own: its files, where it is written too.
        parameters: of the reward.
        files: that parameters name, by their path in the folder.
        trains: where.
        judge: the model that judges; None for a reward that asks none.
        made: the rows.
        red: why checks of the folder fail, each in a sentence or two.
    """

    name: str
    source: str
    spec: RewardSpec
    own: RewardFiles | None
    trains: Trains
    made: MadeRows
    parameters: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    judge: str | None = None
    red: Sequence[str] = ()

    @property
    def project(self) -> str:
        """The name of the distribution."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") or "rewards"

    @property
    def package(self) -> str:
        """The package of a reward of your own."""
        return package_name(self.name)

    @property
    def deployment(self) -> str:
        """The reward's name in the stage."""
        return self.spec.name.replace(".", "-")

    @property
    def reward(self) -> str:
        """The reward as commands take it: a file of the folder, or its name."""
        return f"{self.package}/{self.own.reward}" if self.own else self.spec.name

    @property
    def has_few(self) -> bool:
        """Whether it has fewer rows than the service trains on."""
        return self.made.rows["train"] < SERVICES[self.trains].fewest

    @property
    def on_aws(self) -> bool:
        """Whether the reward is deployed."""
        return self.trains != "own"


def package_name(folder: str) -> str:
    """The package of a folder's own rewards, whose name is nobody else's."""
    stem = re.sub(r"[^a-z0-9]+", "_", folder.lower()).strip("_")
    return f"{stem if stem[:1].isalpha() else f'my_{stem}'.rstrip('_')}_rewards"


def first_commands(chosen: Choices) -> list[str]:
    """The commands that check the folder."""
    named, settings = typed_word(chosen.reward), _settings(chosen)
    files = " ".join(f"data/{part}.jsonl" for part in chosen.made.rows)
    every = f"reward data lint {files} --reward {named}{settings} --min-rows 1"
    train = f"reward data lint data/train.jsonl --reward {named}{settings}"
    few = SERVICES[chosen.trains].fewest
    lines = [
        *([train] if few > 1 else []),
        *([every] if few == 1 or len(chosen.made.rows) > 1 else []),
    ]
    lines.append("pytest -q")
    if not chosen.own:  # which is a skeleton so far, and fit for nothing
        lines.append(audit_command(chosen))
    if chosen.on_aws:
        lines += ["reward stage check --all", "reward job plan job.toml --offline"]
    return lines


def audit_command(chosen: Choices) -> str:
    """The command that says whether the reward can be trained on."""
    kind = " --scripted" if chosen.spec.needs.judge else ""
    named = f"{typed_word(chosen.reward)} data/train.jsonl{_settings(chosen)}{kind}"
    return f"reward audit {named} --allow-undecided"


def typed_word(text: str) -> str:
    """A text as a word of a command, on one line; bash and zsh read what does not print."""
    return quote(text) if text.isprintable() else f"$'{''.join(map(_printed, text))}'"


def _printed(char: str) -> str:
    """A character between `$'` and `'`."""
    if char.isprintable():
        return f"\\{char}" if char in "\\'" else char
    return repr(char)[1:-1] if char.isascii() else f"\\U{ord(char):08x}"


def texts_of(chosen: Choices) -> dict[str, str]:
    """Every file of the folder but the rows, by its path."""
    texts = {
        "pyproject.toml": _project(chosen),
        ".gitignore": TEMPLATES["gitignore"].substitute(),
        ".github/workflows/rewards.yml": _workflow(chosen),
        "tests/test_rows.py": _rows_test(chosen),
        **chosen.files,
    }
    if chosen.own:
        texts[f"{chosen.package}/__init__.py"] = f'"""Rewards of {chosen.project}."""\n'
        for file, text in chosen.own.texts.items():
            place = "tests" if file == chosen.own.test else chosen.package
            texts[f"{place}/{file}"] = text
    texts |= _aws(chosen) if chosen.on_aws else _trainer(chosen)
    texts["README.md"] = _readme(chosen, [*texts, "README.md"])
    return texts


def require_free(target: Path, texts: Iterable[str], spared: Path, *, force: bool) -> None:
    """Refuse a folder that holds something, unless files of it may be replaced.

    Args:
        target: the folder.
        texts: paths in it that are to be written; none where they are not known yet.
        spared: the file of rows, which may lie there.
        force: whether files are replaced.

    Raises:
        ConfigurationError: it holds something; the message names it.
    """
    if not target.is_dir():
        if target.exists():
            raise ConfigurationError(f"{target} is a file: name a new folder")
        return
    found = sorted(
        each.name
        for each in target.iterdir()
        if not each.name.startswith(".") and each.resolve() != spared.resolve()
    )
    found += [each for each in texts if each not in found and (target / each).exists()]
    if found and not force:
        raise ConfigurationError(
            f"{target} is not empty, it holds {found[0]}: name a new folder, or add --force, which "
            "replaces the files of the same names and the splits of an earlier run"
        )


class FolderWritten(NamedTuple):
    """The outcome of a folder.

    Args:
        files: how many were written.
        removed: splits of an earlier run that this one has not.
    """

    files: int
    removed: list[Path]


def write_folder(
    target: Path, texts: Mapping[str, str], rows: Path, spared: Sequence[Path]
) -> FolderWritten:
    """Write all files, or none, and remove the splits of an earlier run that are not replaced.

    Args:
        target: the folder; made where it is missing.
        texts: by path in the folder.
        rows: the folder with the rows and their report.
        spared: files that are neither written to nor removed.

    Raises:
        OSError: a file cannot be written or removed.
    """
    made = sorted(rows.glob("*.json*"))
    new, read = {path.name for path in made}, {path.resolve() for path in spared}
    removed = [
        path
        for path in earlier_splits(target / "data")
        if path.name not in new and read.isdisjoint([path.resolve(), *path.resolve().parents])
    ]
    with Together(spared=spared) as files:
        for name, text in texts.items():
            files.folder((target / name).parent)
            files.opened(target / name).write(text)
        files.folder(target / "data")
        for path in made:
            with path.open(encoding="utf-8") as stream:
                copyfileobj(stream, files.opened(target / "data" / path.name))
    for path in removed:
        path.unlink()
    return FolderWritten(len(texts) + len(made), removed)


def _settings(chosen: Choices) -> str:
    """The parameters as options of a command."""
    return "".join(
        f" -p {typed_word(f'{name}={_typed(value)}')}" for name, value in chosen.parameters.items()
    )


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _project(chosen: Choices) -> str:
    points, packaged = "", "bypass-selection = true  # there is no code of your own yet"
    if chosen.own:
        points = (
            '\n[project.entry-points."reward_functions"]\n'
            f'"{chosen.spec.name}" = "{chosen.own.module}:{chosen.own.stem}"\n'
        )
        packaged = f'packages = ["{chosen.package}"]'
    words = {"project": chosen.project, "entry_points": points, "packaged": packaged}
    return TEMPLATES["pyproject.toml"].substitute(words)


_EXPRESSION: Final = ("${{", "${{ '${{' }}")
"""What GitHub evaluates, and how it is written as a text."""


def _workflow(chosen: Choices) -> str:
    return TEMPLATES["workflow.yml"].substitute(
        version=version("reward-functions"),
        extras=SERVICES[chosen.trains].extras,
        editable=" --editable ." if chosen.own else "",
        # A block: what a label holds is no YAML; nor is it an expression of GitHub's.
        checks="\n".join(
            f"      - run: |\n          {each.replace(*_EXPRESSION)}"
            for each in first_commands(chosen)
        ),
    )


_FROM_CDK: Final = """\
STAGES = json.loads((Path(__file__).parents[1] / "cdk.json").read_text())["context"]["stages"]
DEPLOYED = STAGES["dev"]["deployments"][0]
REWARD = {reward}
PARAMETERS = DEPLOYED.get("parameters", {{}})"""

_FROM_TRAIN: Final = """\
REWARD = {reward}
PARAMETERS = train.PARAMETERS"""

_SILENT: Final = """
def test_no_answer_earns_nothing() -> None:
    reward = REWARD.bind(PARAMETERS)
    paid = {each.id: reward(each.answered("")).value for each in SAMPLES}
    assert {name: value for name, value in paid.items() if value > REWARD.scale.minimum} == {}

"""


def _rows_test(chosen: Choices) -> str:
    own = chosen.own
    usable = "reading_error" if own else "complaint"  # a skeleton need not pay every answer yet
    theirs = {
        "from reward_functions import get": own is None,
        f"from reward_functions.data.answers import {usable}": True,
        "from reward_functions.data.linting import lint": True,
        "from reward_functions.scoring.rows import samples_of": True,
    }
    further = {
        "import train": not chosen.on_aws,
        f"from {own.module} import {own.stem}" if own else "": own is not None,
    }
    standard = {"import json": chosen.on_aws, "from pathlib import Path": True}
    groups = [
        [line for line, wanted in each.items() if wanted] for each in (standard, theirs, further)
    ]
    written = _FROM_CDK if chosen.on_aws else _FROM_TRAIN
    named = 'DEPLOYED["reward"]' if chosen.on_aws else "train.REWARD"
    unpaid = chosen.spec.gold_response is not None and not chosen.spec.needs.judge
    return TEMPLATES["rows_test.py"].substitute(
        imports="\n\n".join("\n".join(each) for each in groups if each),
        usable=usable,
        reward=written.format(reward=own.stem if own else f"get({named})"),
        silent=_SILENT if unpaid else "",
    )


def _aws(chosen: Choices) -> dict[str, str]:
    """The stages and the job."""
    deployed: dict[str, Any] = {"name": chosen.deployment, "reward": chosen.spec.name}
    if chosen.parameters:
        deployed["parameters"] = chosen.parameters
    if chosen.judge:
        deployed["judge"] = {"models": [{"model": chosen.judge}]}
    own = {"packages": ["."]} if chosen.own else {}
    role = {"sagemaker_role": True} if chosen.trains == "sagemaker" else {}
    deployed |= SERVICES[chosen.trains].deployed
    stages = {
        "dev": {"region": REGION, **role, **own, "deployments": [deployed]},
        "local": {"extends": "dev", "emulated": True},
    }
    content = {"app": "reward-cdk-app", "context": {"stage": "dev", "stages": stages}}
    rows = chosen.made.rows["train"]
    job = TEMPLATES[f"job_{chosen.trains}.toml"].substitute(
        service=f"A training job {SERVICES[chosen.trains].named}",
        deployment=chosen.deployment,
        batch=next((each for each in BATCHES if STEPS * each <= rows), BATCHES[-1]),
        prompt_tokens=chosen.made.prompt_tokens,
    )
    return {
        "cdk.json": f"{json.dumps(content, indent=2)}\n",
        "job.toml": job,
        "package.json": TEMPLATES["package.json"].substitute(project=chosen.project, cdk=CDK),
    }


_JUDGED: Final[Mapping[str, str]] = {
    "toml": "import tomllib\n",
    "judged": "    from reward_functions.judge_runtime.config_reading import config_of\n"
    "    from reward_functions.judge_runtime.panel import JudgePool\n",
    "pool": '    pool = JudgePool(config_of(tomllib.loads(Path("judge.toml").read_text())))\n',
    "judge": ", judge=pool",
}
"""Parts of a training in which a judge is asked."""


def _trainer(chosen: Choices) -> dict[str, str]:
    """The training with TRL."""
    texts, judged = {}, dict.fromkeys(_JUDGED, "")
    if chosen.judge:
        judged = dict(_JUDGED)
        model = f"[[models]]\nmodel = {_basic(chosen.judge)}\nregion = {_basic(REGION)}\n"
        texts["judge.toml"] = model
    words = {"reward": _python(chosen.spec.name), "parameters": _literal(chosen.parameters)}
    return {"train.py": TEMPLATES["train.py"].substitute(words, **judged), **texts}


def _literal(parameters: Mapping[str, Any]) -> str:
    """Parameters as Python writes them, a line each."""
    lines = (f"    {_python(name)}: {_python(value)},\n" for name, value in parameters.items())
    return f"{{\n{''.join(lines)}}}" if parameters else "{}"


_SINGLE: Final = "'"
"""`repr` writes a text that holds one in double quotes."""


def _python(value: Any) -> str:
    """A value of Python; a text in double quotes, as formatters write it."""
    if not isinstance(value, str) or '"' in value:
        return repr(value)
    return f'"{repr(_SINGLE + value)[2:]}'


def _basic(text: str) -> str:
    """A string of TOML, which has no pairs of surrogates."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def in_code(text: str) -> str:
    """A text in a line of Markdown, as code."""
    line = " ".join(text.split()).replace("`", "'")
    return f"`{line}`"


def _readme(chosen: Choices, files: Sequence[str]) -> str:
    own = {f"{chosen.package}/": "the reward"} if chosen.own else {}
    there = {**WHAT, **own}
    listed = [
        f"| `{name}` | {what} |"
        for name, what in there.items()
        if name in files or name == "data/" or any(each.startswith(name) for each in files)
    ]
    install = [
        "python3 -m venv .venv && . .venv/bin/activate",
        "CHECKOUT=../reward-functions    # where your checkout of it lies: it is on no index",
        f'pip install "${{CHECKOUT}}{SERVICES[chosen.trains].extras}" pytest',
        *(["pip install --editable ."] if chosen.own else []),
        *(["npm install"] if chosen.on_aws else []),
    ]
    section = "readme_aws.md" if chosen.on_aws else "readme_own.md"
    words = {
        "models": " --models http://localhost:8000" if chosen.judge else "",
        "data": "".join(f" --data data/{part}.jsonl" for part in chosen.made.rows),
        "evaluate": EVALUATE if chosen.trains == "bedrock" and "test" in chosen.made.rows else "",
    }
    return TEMPLATES["readme.md"].substitute(
        title=escaped(chosen.name),
        promise=RED if chosen.red or chosen.has_few else GREEN,
        rows=" and ".join(f"{count:,} {part} rows" for part, count in chosen.made.rows.items()),
        source=in_code(chosen.source),
        reward=chosen.spec.name,
        trains=SERVICES[chosen.trains].named,
        files="\n".join(listed),
        install="\n".join(install),
        checks="\n".join(first_commands(chosen)),
        notes="".join(f"{note}\n\n" for note in remarks(chosen)),
        edited=_edited(chosen),
        sections=TEMPLATES[section].substitute(words).rstrip("\n"),
    )


def _edited(chosen: Choices) -> str:
    """How a skeleton becomes a reward; "" of a reward that is one."""
    if chosen.own is None:
        return ""
    words = {"reward": chosen.reward, "audit": audit_command(chosen)}
    return f"{TEMPLATES['readme_edit.md'].substitute(words)}\n"


def remarks(chosen: Choices) -> list[str]:
    """Reasons not to train on the folder as it is, each in a sentence or two."""
    notes = []
    service, rows = SERVICES[chosen.trains], chosen.made.rows
    notes += [f"Two files share rows: {leak}." for leak in map(in_code, chosen.made.leaks)]
    notes += chosen.red
    if chosen.has_few:
        notes.append(
            f"{rows['train']} rows are too few: Bedrock trains on {service.fewest} or more, and "
            "`reward data lint` and `reward job plan` refuse them until you add some."
        )
    if chosen.made.are_joined:
        notes.append(
            "No row is held out: each shares its page or its prompt with others, so that no part "
            "stands alone. Add rows of further pages, or a file of test rows."
        )
    elif len(rows) == 1:
        notes.append("No row is held out: add rows, or a file of test rows, to compare models on.")
    if chosen.judge and chosen.on_aws:
        notes.append(
            f"The judge asks {in_code(chosen.judge)}, which costs money for each answer. On the "
            "emulator, `--models` names a server of yours that answers in its place."
        )
    return notes
