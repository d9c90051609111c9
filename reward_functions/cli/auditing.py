"""`reward audit` and `reward compare`: whether a reward can be trained on, and how two differ."""

from __future__ import annotations

import os
import re
import sys
from contextlib import ExitStack, nullcontext
from functools import wraps
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer
from rich.text import Text

from reward_functions.audit import rendering
from reward_functions.audit.cards import CardOptions, card_audit, require_no_card_gate
from reward_functions.audit.comparing import compare as compared
from reward_functions.audit.engine import REPEATS, AuditOptions
from reward_functions.audit.engine import audit as audited
from reward_functions.audit.gates import Acceptance, acceptances
from reward_functions.audit.results import Comparison, both_ends
from reward_functions.audit.targets import SECONDS, audit_target
from reward_functions.cli._console import (
    MESSAGE,
    output,
    plain,
    remark,
    say_measured,
    sheet_table,
)
from reward_functions.cli._echo import harmless
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    Map,
    Models,
    Parameters,
    Stage,
)
from reward_functions.cli._progress import watched
from reward_functions.cli._results import number
from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.data.atomic import replaced
from reward_functions.scoring import ends_are_interrupts
from reward_functions.scoring.rows import row_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reward_functions.audit.results import Checked, Finding

_BUDGET: Final = re.compile(r"\s*+(\$?)\s*+(\d++(?:\.\d++)?)\s*+")

SHOWN: Final = 3
"""Rows of a finding in a terminal."""

ROOM: Final = 90
"""Characters of a response in a terminal, half of them of its end."""

SEARCHED: Final = "SEARCH"
"""The finding whose rows have an `Example` as their reason."""

ADD_TEXTS: Final = "add --texts to see what was answered, beside the reference"

TargetName = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A reward of `reward list`, the file of one or of a composite, any function as "
        "FILE.py:NAME or package.module:NAME, an ARN, or NAME@STAGE.",
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="EXPR",
        help="A gate, such as 'exploit>0.01' of an audit, 'lost>0.02' of a comparison; one option "
        "for each. It replaces the default of the same figure.",
    ),
]
RowShape = Annotated[
    str | None,
    typer.Option(
        "--shape",
        metavar="SHAPE",
        help="The shape of the rows, such as trl, verl or qa; docs/data.md lists them.",
        show_default="recognised from the first rows",
    ),
]
Form = Annotated[
    Literal["text", "json", "junit", "markdown", "html"],
    typer.Option("--format", help="Of what is written.", show_default="as --out ends, else text"),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write it to a .json, .xml, .md or .html instead."),
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="PAGE.html", help="Write a page as well.")
]
Seconds = Annotated[
    float,
    typer.Option(
        min=0.1, metavar="N", help="What a function that is no reward may take for a row."
    ),
]
Texts = Annotated[
    bool,
    typer.Option(
        "--texts",
        help="Show responses; without it, only where they stand. The page of --card shows texts.",
    ),
]
AllowUndecided = Annotated[
    bool,
    typer.Option(
        "--allow-undecided", help="Pass where too few rows were tried to decide: to look by hand."
    ),
]


def _written_anyway(command: Callable[..., None]) -> Callable[..., None]:
    """A command that writes its reports where nothing could be looked at, too."""

    @wraps(command)
    def run(**given: Any) -> None:
        read = [given.get(each) for each in ("target", "data", "a", "b", "rollouts")]
        out, report = given["out"], given["report"]
        _require_places(out, report, *read)
        if given["format"] == "text" and out is not None:
            given["format"] = rendering.SUFFIXES.get(out.suffix)
            if given["format"] is None:
                raise ConfigurationError(f"--out {out}: end it in {', '.join(rendering.SUFFIXES)}")
        try:
            with ends_are_interrupts():  # so that a function's interpreters end with it
                command(**given)
        except (RewardError, OSError) as error:
            names = [given[each] for each in ("target", "a", "b") if each in given]
            _write(rendering.unmade(names, str(error)), given["format"], out, report)
            raise

    return run


@_written_anyway
def audit(
    target: TargetName,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="Rows with references, in any shape; responses in them are used for groups and "
            "labels.",
            show_default="the worked examples",
        ),
    ] = None,
    *,
    label: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Says whether a response of DATA is right."),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option("--rows", min=1, help="Prompts to try.", show_default="300; 8 of a judge"),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--class", metavar="ID,…", help="Try these classes alone.")
    ] = None,
    without: Annotated[
        str | None, typer.Option(metavar="ID,…", help="Leave these classes out.")
    ] = None,
    search: Annotated[
        int, typer.Option(min=0, metavar="N", help="Answers of a seeded search for exploits.")
    ] = 0,
    repeat: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Times that answers are scored, or cases of --card asked.",
            show_default="3; 1 with --card",
        ),
    ] = None,
    latency: Annotated[
        bool, typer.Option("--latency", help="Measure times; they depend on the machine.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="CALLS|$USD",
            help="The most answers that a judge is asked about, or dollars that it may cost: '$2'.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask a judge without a budget.")] = False,
    fail_on: FailOn = None,
    accept: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Acceptances with reason and date.",
            show_default="audit.toml beside the reward",
        ),
    ] = None,
    allow_undecided: AllowUndecided = False,
    pass_at: Annotated[
        float,
        typer.Option("--pass", min=0, max=1, help="The share of the scale that means right."),
    ] = 0.5,
    form: Annotated[
        str, typer.Option(metavar="TEXT", help="Of right answers: 'FINAL ANSWER: {}'.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Of every draw.")] = 0,
    parameter: Parameters = None,
    judge: Models = None,
    judge_answers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Recorded answers in place of a judge's model, JSONL by the rows' ids.",
        ),
    ] = None,
    scripted: Annotated[
        bool,
        typer.Option(
            "--scripted",
            help="Ask no model but a scripted one, which obeys every order outside a fence.",
        ),
    ] = False,
    card: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Hold a judge against the labels of people in DATA, and write a card there.",
        ),
    ] = None,
    recorded: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="The judge's answers in the cases of --card; no model is asked."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the ledger of an earlier --card.")
    ] = False,
    both_orders: Annotated[
        bool, typer.Option("--both-orders", help="Ask pairs of --card with swapped responses, too.")
    ] = False,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="CARD.json",
            help="Another judge's card over the same cases: --card shows both, and 'kappa.beside' "
            "is this judge's kappa less the other's.",
        ),
    ] = None,
    stage: Stage,
    seconds: Seconds = SECONDS,
    mapped: Map = None,
    shape: RowShape = None,
    format: Form = "text",  # noqa: A002 - the option's name
    out: Out = None,
    report: Report = None,
    texts: Texts = False,
    every: Annotated[
        bool, typer.Option("--all", help="Show every gate, class and figure, not the bad ones.")
    ] = False,
) -> None:
    """Say whether a reward can be trained on.

    It pays what it must not: some twenty classes of wrong answers, such as an empty one, lists of
    guesses, near misses, words to the judge. It refuses what it must pay: right answers in other
    layouts, and in other forms of the same value. Beside these: the contract, the same scores
    again, rows without a score. Every rate has its interval, and its unit is the prompt.

    With --card, a judge is asked about the cases of DATA, responses or pairs with labels by people.
    Its agreement, consistency and biases are figures for --fail-on, such as 'kappa<0.4'. Each trial
    must have a verdict. The page of the card shows the cases in which judge and people disagree.

    Exit status: 0 every gate holds; 1 one is broken, or too few rows were tried to decide it; 2
    nothing was measured, or the arguments cannot be used.
    """
    calls, dollars = _budget(budget)
    asked = AuditOptions(
        label=label,
        rows=rows,
        classes=_ids(only),
        without=_ids(without),
        repeat=REPEATS if repeat is None else repeat,
        budget=calls,
        max_usd=dollars,
        fail_on=fail_on or [],
        accepted=_accepted(accept),
        allow_undecided=allow_undecided,
        search=search,
        latency=latency,
        pass_at=pass_at,
        form=form,
        seed=seed,
    )
    agreed = (lambda _: True) if yes else _confirmed
    if card is None:
        _require_no_card(asked, recorded or resume or both_orders or beside)
    if card is not None:
        if data is None:
            raise ConfigurationError("--card: DATA is a file of cases with labels by people")
        wanted = CardOptions(
            folder=card,
            recorded=recorded,
            resume=resume,
            trials=repeat or 1,
            both_orders=both_orders,
            beside=beside,
        )
        carded = card_audit(
            target,
            data,
            wanted,
            asked,
            parameters=parameter or [],
            judge=judge,
            answers=judge_answers,
            watched=lambda trials: watched(trials, "asking", len(trials)),
            confirm=agreed,
        )
        if format == "text":
            for sheet in carded.card.sheets:
                output().print(sheet_table(sheet))
        _leave(carded.audit, format, out, report, texts=texts, every=every)
        return
    done = audited(
        target,
        data,
        parameters=parameter or [],
        judge=judge,
        answers=judge_answers,
        scripted=scripted,
        how=row_options(mapped, shape),
        stage=stage,
        seconds=seconds,
        asked=asked,
        progress=_progress,
        confirm=agreed,
    )
    _leave(done, format, out, report, texts=texts, every=every)


@_written_anyway
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="The reward of today, as of `audit`.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The one that may take its place.")],
    rollouts: Annotated[
        str, typer.Argument(metavar="ROLLOUTS", help="Responses, in any shape that is known.")
    ],
    *,
    label: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Says whether a response is right."),
    ] = None,
    pass_at: Annotated[
        float,
        typer.Option("--pass", min=0, max=1, help="The share of each scale that means right."),
    ] = 0.5,
    fail_on: FailOn = None,
    allow_undecided: AllowUndecided = False,
    judge: Models = None,
    stage: Stage,
    seconds: Seconds = SECONDS,
    mapped: Map = None,
    shape: RowShape = None,
    format: Form = "text",  # noqa: A002 - the option's name
    out: Out = None,
    report: Report = None,
    texts: Texts = False,
) -> None:
    """Score the same responses by two rewards, and say how they differ.

    It says which rows flip, each way, and whether that may be chance. It says the difference of the
    means, the order within a prompt, and the share of samples whose advantage changes its sign, so
    that training would differ. It says which prompts teach nothing under either, and time and
    calls. Two judges beside people are `reward audit JUDGE CASES --card DIR --beside CARD.json`.

    Exit status: 0 every gate of --fail-on holds, or you named no gate; 1 one does not; 2 nothing
    was measured, or the arguments cannot be used.
    """
    with ExitStack() as opened:
        one, other = (
            audit_target(each, judge=judge, stage=stage, seconds=seconds) for each in (a, b)
        )
        opened.callback(one.close)
        opened.callback(other.close)
        done = compared(
            one,
            other,
            rollouts,
            label=label,
            pass_at=pass_at,
            fail_on=fail_on or [],
            rows=row_options(mapped, shape),
            allow_undecided=allow_undecided,
        )
    _leave(done, format, out, report, texts=texts)


def _require_no_card(asked: AuditOptions, given: object) -> None:
    """Refuse what belongs to a card where none is asked for.

    Raises:
        ConfigurationError: an option or a gate is one of a card.
    """
    if given:
        raise ConfigurationError(
            "--recorded, --resume, --both-orders and --beside are of --card DIR"
        )
    require_no_card_gate(asked.fail_on)


def _ids(text: str | None) -> list[str]:
    return [each.strip() for each in (text or "").split(",") if each.strip()]


def _budget(text: str | None) -> tuple[int | None, float | None]:
    """A budget in answers, and in dollars.

    Raises:
        ConfigurationError: the text is neither a number of answers nor a sum of dollars.
    """
    if text is None:
        return None, None
    found = _BUDGET.fullmatch(text)
    amount = float(found[2]) if found else 0.0
    if not found or not 0 < amount < inf or not (found[1] or amount.is_integer()):
        raise ConfigurationError(
            f"--budget is a number of answers, such as 500, or dollars, such as '$2', not {text!r}"
        )
    return (None, amount) if found[1] else (int(amount), None)


def _accepted(file: Path | None) -> list[Acceptance] | None:
    """The acceptances of a file of yours; None for those beside the reward.

    Raises:
        ConfigurationError: the file that was named is not there, or cannot be read.
    """
    if file is not None and not file.exists():
        raise ConfigurationError(f"{file}: there is no such file of acceptances")
    return acceptances(file) if file else None


def _require_places(out: Path | None, report: Path | None, *read: str | None) -> None:
    """Refuse to write over what is read, and into no folder, before anything is scored.

    Raises:
        ConfigurationError: a place is that of a file that is read, in a folder that does not exist,
            or not one of a page.
    """
    if report is not None and report.suffix != ".html":
        raise ConfigurationError(f"--report writes a page: name it {report.stem}.html")
    files = [Path(each.partition(":")[0]) for each in read if each]
    for option, place in (("--out", out), ("--report", report)):
        if place and place.exists() and any(f.exists() and f.samefile(place) for f in files):
            raise ConfigurationError(f"{option} {place} is read: write to another file")
        if place and not place.parent.exists():
            raise ConfigurationError(f"{option} {place}: the folder {place.parent} does not exist")


def _progress(sentence: str) -> None:
    if sys.stderr.isatty():
        remark(sentence, "dim")


def _confirmed(answers: int) -> bool:
    """Ask a person; nobody is asked where nobody can answer."""
    if not sys.stdin.isatty():
        return False
    return typer.confirm(
        f"The judge's model is asked about at most {answers:,} answers. Go on?", err=True
    )


def _leave(
    done: Checked,
    form: str,
    out: Path | None,
    report: Path | None,
    *,
    texts: bool,
    every: bool = True,
) -> None:
    """Write it, say why it fails, and leave with its status."""
    if form == "text":
        _print(done, texts=texts, every=every)
    elif not done.nothing:
        remark(f"{done.called}: {done.verdict}")
    say_measured(done.measured)
    for gate in done.failed:
        why = f"{done.unfit}: " if gate.decision == "broken" else ""
        remark(f"{why}{done.why(gate)}", "bold red" if why else "bold yellow")
    _write(done, form, out, report, texts=texts)
    raise typer.Exit(done.status)


def _write(
    done: Checked, form: str, out: Path | None, report: Path | None, *, texts: bool = False
) -> None:
    """Write the files, and the lines of a CI."""
    places = [(form, out)] * (form != "text") + [("html", report)] * (report is not None)
    for name, place in places:
        with replaced(place) if place else nullcontext(sys.stdout) as stream:
            stream.write(rendering.FORMATS[name](done, texts=texts))
        if place:
            remark(f"written: {place}")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in rendering.github_lines(done):
            typer.echo(line, err=True)


def _print(done: Checked, *, texts: bool, every: bool) -> None:
    console = output()
    of_both = [done.called, done.verdict] if isinstance(done, Comparison) else []
    for sentence in (*of_both, *done.notes):
        console.print(Text(plain(sentence)), soft_wrap=True)
    shown, counted = (rendering.audit_sheets(done), "") if every else rendering.short(done)
    for sheet in shown:
        console.print(sheet_table(sheet))
    seen = [each for each in done.findings if each.verdict in rendering.SEEN]
    for line in chain.from_iterable(_rows(each, texts=texts) for each in seen):
        console.print(Text(plain(line, MESSAGE)), soft_wrap=True)
    if not texts and any(each.rows for each in seen):
        console.print(Text(ADD_TEXTS))
    if counted:
        console.print(Text(counted), soft_wrap=True)
    for example in (row.reason for each in seen if each.id == SEARCHED for row in each.rows):
        console.print(Text(harmless(example)), soft_wrap=True)  # whole, to be pasted


def _rows(finding: Finding, *, texts: bool) -> Iterator[str]:
    """The rows that show a finding, or what it says where no row does."""
    if not finding.rows and finding.verdict != "note":
        yield f"{finding.id}: {finding.message}"
    for row in finding.rows[: SHOWN if texts else 0]:
        yield (
            f"{finding.id}, {row.place}: "
            + ("" if row.before is None else f"A {number(row.before)}, B ")
            + ("-" if row.score is None else number(row.score))
            + f" for '{_ends(row.response)}'"
            + (f", reference {_ends(row.reference)}" if row.reference else "")
            + (f"; at {row.hits:,} of {row.of:,} prompts" if row.of else "")
            + (f"; {row.reason}" if row.reason and finding.id != SEARCHED else "")
        )


def _ends(text: str) -> str:
    return both_ends(harmless(text).replace("\n", "\\n"), ROOM)
