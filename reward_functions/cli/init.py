"""`reward init`: a folder of your own from a file of rows, or a reward alone.

The file gives a guess for each option that you leave out. At a terminal you are asked, with the
guess as the answer to confirm; elsewhere `--yes` takes each guess, and the rest is an error.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args

import typer

from reward_functions.audit.engine import audit as audited
from reward_functions.cli._console import output, remark
from reward_functions.cli._echo import Yes, harmless, require_agreement, say, several
from reward_functions.cli._errors import UNUSABLE
from reward_functions.cli._options import Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli._progress import watched
from reward_functions.cli.data._wording import complaints
from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.core.files import files_named
from reward_functions.core.registry import get
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Unscored
from reward_functions.data.answers import reading_error
from reward_functions.data.atomic import Together
from reward_functions.data.decimals import WITH_POINTS, DecimalSign, Signs, in_quotes, with_point
from reward_functions.data.splitting import prompt_of
from reward_functions.data.wording import answer_format_of
from reward_functions.scaffold.columns import LISTED, Source, looked_at
from reward_functions.scaffold.folder import (
    SERVICES,
    Choices,
    FolderWritten,
    Trains,
    first_commands,
    in_code,
    package_name,
    remarks,
    require_free,
    texts_of,
    typed_word,
    write_folder,
)
from reward_functions.scaffold.offers import Offer, form_of, offers
from reward_functions.scaffold.reward_files import (
    TEMPLATES,
    RewardFiles,
    packages_of,
    reward_files,
)
from reward_functions.scaffold.rows import (
    TRAIN,
    MadeRows,
    lint_errors,
    made_rows,
    mapped_to,
    template_of,
    wire_rows,
)
from reward_functions.scoring.rewards import is_path, parameter_values, reward_named
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.data.rows.shapes import RowOptions

_Read = TypeVar("_Read")

COMMANDS: Final = (
    "audit {}",
    "explain {} --response Paris --reference paris",
    "score {} responses.jsonl",
)
JUDGE_COMMANDS: Final = ("audit {} --scripted", "show {}")

OWN: Final = "own"
"""Typed for a reward of your own."""

AS_IT_IS: Final = "none"
"""The form of answer of prompts that are left alone."""

LAST_LINE: Final = "End with one line that holds the answer alone."
"""The written reward looks there until you edit it."""


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A new folder, or an empty one.")
    ] = Path(),
    *,
    data: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Your rows: any file `reward data prepare` reads."),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the prompts.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the right answers.")
    ] = None,
    no_reference: Annotated[
        bool, typer.Option("--no-reference", help="The rows have no right answers.")
    ] = False,
    reward: Annotated[
        str | None, typer.Option(metavar="NAME", help="A reward of `reward list`.")
    ] = None,
    own: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A reward of your own, such as acme.answer: a skeleton is written."
        ),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Your own reward asks a model, and has a prompt.")
    ] = False,
    judge_model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="The model that a judge asks, such as amazon.nova-lite-v1:0."
        ),
    ] = None,
    parameters: Parameters = None,
    answer_format: Annotated[
        str | None,
        typer.Option(
            "--answer-format",
            metavar="FORM",
            help="How the prompts ask for the answer: boxed, hash (####), answer (ANSWER:), a "
            "sentence of your own; none leaves the prompts alone.",
            show_default="the form that the reward reads",
        ),
    ] = None,
    trains: Annotated[
        Trains | None,
        typer.Option("--for", help="Where the model is trained: on AWS, or by a trainer of yours."),
    ] = None,
    decimal: Annotated[
        DecimalSign | None,
        typer.Option(
            "--decimal",
            help="The decimal sign of the right answers: comma writes 1.250,50 as 1250.50, point "
            "leaves them.",
            show_default="point, unless some have a comma",
        ),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out rows that cannot be used.")
    ] = False,
    reward_only: Annotated[
        str | None,
        typer.Option(
            "--reward-only",
            metavar="NAME",
            help="Write a reward and its test into FOLDER, no more.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace files of the same names, and the splits of an earlier run."
        ),
    ] = False,
    yes: Yes = False,
) -> None:
    """Write a folder to train with from a file of your own.

    At a terminal you are asked for what no option says. --yes takes each guess. The data are split
    so that no prompt stands on two sides. All files are written, or none.

    Exit status: 0 all is written, 2 nothing is.
    """
    typed = _Typed(
        data=data,
        prompt=prompt,
        reference=reference,
        no_reference=no_reference,
        reward=reward,
        own=own,
        judge=judge,
        judge_model=judge_model,
        parameters=parameters,
        answer_format=answer_format,
        trains=trains,
        decimal=decimal,
        skip_bad=skip_bad,
        force=force,
        yes=yes,
    )
    if reward_only is None:
        _whole_folder(folder, typed)
    else:
        typed.require_reward_only()
        _reward_alone(reward_only, folder, judge=judge, force=force)


@dataclass(frozen=True, slots=True)
class _Typed:
    """The options, as they were typed."""

    data: str | None
    prompt: str | None
    reference: str | None
    no_reference: bool
    reward: str | None
    own: str | None
    judge: bool
    judge_model: str | None
    parameters: list[str] | None
    answer_format: str | None
    trains: Trains | None
    decimal: DecimalSign | None
    skip_bad: bool
    force: bool
    yes: bool

    def require_reward_only(self) -> None:
        """Refuse options that say nothing about a reward alone."""
        with_it = ("judge", "force", "yes")
        named = {"trains": "for", "parameters": "param"}
        for each in fields(self):
            if getattr(self, each.name) and each.name not in with_it:
                option = named.get(each.name, each.name).replace("_", "-")
                raise ConfigurationError(
                    f"--{option} is for a whole folder: leave out --reward-only"
                )

    def require_sense(self) -> None:
        """Refuse options that contradict each other."""
        excluded = (
            (self.reward and self.own, "--reward and --own exclude each other"),
            (
                self.reference and self.no_reference,
                "--reference and --no-reference exclude each other",
            ),
            (self.judge and not self.own, "--judge is of a reward of your own: give --own NAME"),
            (self.own and self.parameters, "--param is of a reward of `reward list`, not of --own"),
        )
        for is_wrong, sentence in excluded:
            if is_wrong:
                raise ConfigurationError(sentence)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Answers for options that are left out: a guess with `--yes`, yours at a terminal."""

    yes: bool

    def answer(
        self,
        option: str,
        what: str,
        typed: str | None,
        guess: str | None,
        read: Callable[[str], _Read],
    ) -> _Read:
        """The value of an option, or an answer in its place.

        Args:
            option: that says it.
            what: a noun, for the question and the error.
            typed: after the option.
            guess: what `--yes` takes.
            read: what the answer stands for; its error at a terminal is shown, and you are asked
                again.

        Raises:
            ConfigurationError: the option is missing, and nobody can be asked; or `read` raises.
        """
        if typed is not None:
            return read(typed)
        if self.yes and guess is not None:
            return read(guess)
        if not sys.stdin.isatty():
            likely = f", such as {option} {quote(guess)}; --yes takes each guess" if guess else ""
            raise ConfigurationError(f"{option} is missing: {what}{likely}")
        while True:
            try:
                asked = harmless(f"{what[0].upper()}{what[1:]}")
                return read(typer.prompt(asked, default=guess, err=True))
            except typer.Abort:
                say("\nnothing is written", err=True)
                raise typer.Exit(UNUSABLE) from None
            except RewardError as error:
                remark(str(error), "yellow")
            except OSError as error:
                remark(f"{error.filename}: {error.strerror}", "yellow")


def _whole_folder(target: Path, typed: _Typed) -> None:
    typed.require_sense()
    asking = _Asking(typed.yes)
    require_free(target, (), Path(typed.data or ""), force=typed.force)
    source = asking.answer("--data", "the file of your rows", typed.data, None, looked_at)
    options = _columns(asking, source, typed)
    options = options._replace(comma=_has_comma(asking, typed.decimal, wire_rows(source, options)))
    template = template_of(source, options)
    rows = wire_rows(source, options, template)
    reward, own, settings = _reward(asking, typed, rows)
    places = f"where the model is trained ({', '.join(SERVICES)})"
    trains = asking.answer("--for", places, typed.trains, "bedrock", _place)
    name = target.resolve().name
    with TemporaryDirectory() as scratch:
        files = _own_files(own, name, Path(scratch), judge=typed.judge) if own else None
        spec = get(reward) if files is None else reward_named(f"{scratch}/{files.reward}")
        values = _values(spec, typed.parameters, settings)
        judge = _judge(asking, spec, typed.judge_model)
        made = made_rows(
            source.file,
            Path(scratch) / "data",
            options=options,
            template=template,
            answer_format=_form(
                typed.answer_format,
                spec,
                values,
                [prompt_of(row) for row in rows],
                comma=options.comma,
            ),
            complaint=partial(_unread, spec) if files else complaints(spec, values),
            skip_bad=typed.skip_bad,
            fewest=SERVICES[trains].fewest,
            watched=lambda outcomes: watched(outcomes, "preparing"),
        )
        moved, kept = _moved(spec, values)
        shown = Path(source.file).name
        red = _red(spec, values, Path(scratch) / "data", made, is_own=files is not None)
        chosen = Choices(name, shown, spec, files, trains, made, moved, kept, judge, red)
        texts = texts_of(chosen)
        require_free(target, texts, Path(source.file), force=typed.force)
        if not typed.yes and sys.stdin.isatty():
            question = f"Write {len(texts)} files and the data to {target}?"
            require_agreement(question, "nothing is written", yes=False)
        written = write_folder(target, texts, Path(scratch) / "data", [Path(source.file)])
    if template:
        remark(f"the prompts show the options of the columns {', '.join(source.options)}")
    _report(chosen, target, options.map, written)


def _red(
    spec: RewardSpec, values: dict[str, Any], folder: Path, made: MadeRows, *, is_own: bool
) -> list[str]:
    """Why checks of the folder fail, each in a sentence or two; a skeleton is not audited."""
    errors, red = lint_errors(folder, made, spec, values), []
    if errors:
        count, first = several(len(errors), "error"), in_code(errors[0])
        red.append(f"`reward data lint` finds {count}, such as {first}. Mend the file.")
    if not is_own:
        train = str(folder / f"{TRAIN}.jsonl")
        scripted = bool(spec.needs.judge)
        done = audited(spec.name, train, parameters=values, scripted=scripted, allow_undecided=True)
        red += [
            f"`reward audit` finds {spec.name} not fit to train on: {in_code(why)}. Its `--texts` "
            "shows such answers. Take another reward, other parameters, or one of your own."
            for why in done.failures
        ]
    return red


def _unread(spec: RewardSpec, content: dict[str, Any], position: int) -> str | None:
    """Why a skeleton cannot read a row; it need not pay every right answer yet."""
    sample = decode_row(content, position)
    error = sample.error if isinstance(sample, Unscored) else reading_error(spec, sample)
    return None if error is None else str(error)


def _values(
    spec: RewardSpec, typed: list[str] | None, offered: dict[str, Any] | None
) -> dict[str, Any]:
    """The parameters of the reward.

    Raises:
        ConfigurationError: one that it needs is missing, or one is wrong.
    """
    values = offered if offered is not None else parameter_values(spec, typed or ())
    for parameter in spec.parameters.values():
        if not parameter.has_default and parameter.name not in values:
            name = parameter.name
            raise ConfigurationError(f"{spec.name} needs the parameter {name}: -p {name}=VALUE")
    spec.bind(values)
    return values


def _columns(asking: _Asking, source: Source, typed: _Typed) -> RowOptions:
    """How the rows are read."""
    columns = ", ".join(source.columns[:LISTED])

    def column(part: str, what: str, named: str | None) -> str:
        guess, doubt = source.guess.get(part), source.doubts.get(part)
        if doubt and named is None:
            if asking.yes or not sys.stdin.isatty():
                raise ConfigurationError(doubt)
            remark(doubt.replace(": add ", ": ", 1), "yellow")
        read = partial(source.column, part)
        return asking.answer(f"--{part}", f"{what} (of {columns})", named, guess, read)

    prompt = column("prompt", "the column of the prompts", typed.prompt)
    if typed.no_reference:
        return mapped_to(prompt, None)
    reference = column("reference", "the column of the right answers", typed.reference)
    if reference == prompt:
        raise ConfigurationError(f"--prompt and --reference both name the column {prompt}")
    return mapped_to(prompt, reference)


def _has_comma(asking: _Asking, typed: DecimalSign | None, rows: Sequence[dict[str, Any]]) -> bool:
    """Whether the references have a decimal comma, and are written with a point.

    Raises:
        ConfigurationError: some look so, and no option says what they are.
    """
    signs = Signs()
    for row in rows:
        signs.add(row.get("reference_answer"))
    if typed is None and (thousands := signs.perhaps_thousands):
        text, _ = thousands[0]
        remark(
            f"{len(thousands):,} of {signs.references:,} right answers are like {in_quotes(text)}, "
            f"which is read as it stands; if it is {with_point(text)}, add --decimal comma",
            "yellow",
        )
    if typed is None and (commas := signs.with_comma):
        text, _ = commas[0]
        what = (
            f"the decimal sign of {len(commas):,} of {signs.references:,} right answers, such as "
            f"{in_quotes(text)} (comma writes {with_point(text)}, as rewards read it; point leaves "
            "them)"
        )
        return asking.answer("--decimal", what, None, None, _sign) == "comma"
    return typed == "comma"


def _sign(answer: str) -> str:
    """A decimal sign.

    Raises:
        ConfigurationError: it is no such sign.
    """
    if answer not in get_args(DecimalSign):
        raise ConfigurationError(f"--decimal {answer}: it is comma or point")
    return answer


def _reward(
    asking: _Asking, typed: _Typed, rows: Sequence[dict[str, Any]]
) -> tuple[str, str | None, dict[str, Any] | None]:
    """The reward's name; the name of one of your own; parameters, where an offer has them."""
    if typed.own:
        return "", typed.own, None
    if typed.reward:
        return _registered(typed.reward), None, None
    found = offers(rows)
    for number, each in enumerate(found, 1):
        remark(f"{number}  {_shown(each)}: can use {each.usable:,} of {each.of:,} rows")
    what = f"the reward (a number above, a name of `reward list`, or {OWN})"
    guess = "1" if found else None
    if found and not asking.yes and not sys.stdin.isatty():
        guess = found[0].reward
    if not sys.stdin.isatty():
        what = "the reward, of `reward list`; --own NAME writes one of your own"
    answer = asking.answer("--reward", what, None, guess, partial(_offered, found))
    if answer == OWN:
        own = asking.answer("--own", "the name of your reward", None, None, str)
        return "", own, None
    if isinstance(answer, Offer):
        return answer.reward, None, dict(answer.parameters) if not typed.parameters else None
    return answer, None, None


def _shown(offer: Offer) -> str:
    settings = "".join(f" -p {name}={value}" for name, value in offer.parameters.items())
    return f"{offer.reward}{settings}"


def _offered(found: Sequence[Offer], answer: str) -> Offer | str:
    """The offer of a number; else a reward's name, or `OWN`.

    Raises:
        UnknownReward: no reward has this name.
    """
    if answer.isdecimal() and 0 < int(answer) <= len(found):
        return found[int(answer) - 1]
    return answer if answer == OWN else _registered(answer)


def _registered(name: str) -> str:
    """The name of a reward of `reward list`.

    Raises:
        UnknownReward: no reward has this name.
        ConfigurationError: it is a file.
    """
    if is_path(name):
        raise ConfigurationError(
            f"--reward {name}: a function finds its reward by name: --own NAME writes a package to "
            "put yours in"
        )
    return get(name).name


def _place(answer: str) -> Trains:
    """Where a model is trained.

    Raises:
        ConfigurationError: it is no such place.
    """
    for place in SERVICES:
        if answer == place:
            return place
    raise ConfigurationError(f"--for {answer}: unknown{did_you_mean(answer, SERVICES)}")


def _own_files(own: str, folder: str, scratch: Path, *, judge: bool) -> RewardFiles:
    """The files of your own reward, which stand in the temporary folder too."""
    package = package_name(folder)
    named = own if "." in own else f"{package.removesuffix('_rewards')}.{own}"
    files = reward_files(named, [package], judge=judge)
    for name, text in files.texts.items():
        (scratch / name).write_text(text, encoding="utf-8")
    return files


def _form(
    typed: str | None,
    spec: RewardSpec,
    values: Mapping[str, Any],
    prompts: Sequence[str],
    *,
    comma: bool,
) -> str | None:
    """The sentence that asks for the answer; None where the prompts are left alone."""
    if typed == AS_IT_IS:
        return None
    own = LAST_LINE if "." in spec.name and not spec.needs.judge else None
    form = typed or own or form_of(spec.name, values, prompts)
    asked = None if form is None else answer_format_of(form)[0]
    # A prompt with commas is answered with commas, which no reward reads.
    return " ".join(filter(None, [WITH_POINTS if comma else None, asked])) or None


def _moved(spec: RewardSpec, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters, with files as the folder has them, and what these hold.

    Raises:
        ConfigurationError: one names a folder.
    """
    named = set(files_named(spec, values))
    moved, kept = dict(values), {}
    for name, value in values.items():
        if value not in named:
            continue
        path = Path(value)
        if not path.is_file():
            raise ConfigurationError(
                f"--param {name}: {value} is no file: name one, or write the parameter into "
                "cdk.json afterwards"
            )
        moved[name] = f"files/{path.name}"
        kept[moved[name]] = path.read_text(encoding="utf-8")
    return moved, kept


def _judge(asking: _Asking, spec: RewardSpec, typed: str | None) -> str | None:
    """The model that is asked; None for a reward that asks none."""
    if spec.needs.judge:
        return asking.answer(
            "--judge-model",
            "the model that judges, such as amazon.nova-lite-v1:0",
            typed,
            None,
            str,
        )
    if typed is not None:
        raise ConfigurationError(f"--judge-model: {spec.name} asks no model; leave it out")
    return None


def _report(
    chosen: Choices, target: Path, columns: Mapping[str, str], written: FolderWritten
) -> None:
    """Print what was written, the reasons not to train on it yet, and the next commands."""
    read = ", ".join(f"{part} from {column}" for part, column in columns.items())
    rows = " and ".join(f"{number:,} {part}" for part, number in chosen.made.rows.items())
    where = typed_word(str(target))
    say(f"Wrote {written.files} files to {where}: {rows} rows, graded by {chosen.spec.name}.")
    remark(f"read: {read}")
    for path in written.removed:
        remark(f"removed: {path}, a split of an earlier run", "yellow")
    for why, number in chosen.made.dropped.items():
        remark(f"left out: {why} ({several(number, 'row')})", "yellow")
    if chosen.made.problems:
        remark(
            f"left out: {several(len(chosen.made.problems), 'row')} that cannot be used", "yellow"
        )
    for note in remarks(chosen):
        remark(note, "yellow")
    lines = "".join(f"  {each}\n" for each in first_commands(chosen))
    say(f"Next, as README.md has it:\n\n  cd {where}\n{lines}".rstrip("\n"))


def _reward_alone(name: str, folder: Path, *, judge: bool, force: bool) -> None:
    """Write a reward and its test, and what to try."""
    files = reward_files(name, packages_of(folder), judge=judge)
    paths = {folder / file: text for file, text in files.texts.items()}
    for path in paths:
        if path.exists() and not force:
            raise ConfigurationError(f"{path} exists; it is not overwritten without --force")
    with Together() as together:
        together.folder(folder)
        for path, text in paths.items():
            together.opened(path).write(text)
    reward, test = folder / files.reward, folder / files.test
    shown = quote(str(reward) if folder.parts else f"./{reward}")
    words = {
        **files._asdict(),
        "pytest": "" if find_spec("pytest") else "\n  pip install pytest",
        "written": _listed([quote(str(path)) for path in paths]),
        "commands": "\n".join(
            f"  reward {each.format(shown)}" for each in (JUDGE_COMMANDS if judge else COMMANDS)
        ),
        "test": quote(str(test)),
    }
    output().out(TEMPLATES["next.txt"].substitute(words), end="")


def _listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
