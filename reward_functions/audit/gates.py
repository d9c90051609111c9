"""Gates: a figure held to a limit, and what somebody accepts with a reason and a date.

`exploit>0.02` is broken where the figure is above the limit, held where even the upper end of its
interval is not, and undecided between: more rows would decide it. `kappa<0.4` is the same from
below. A limit of 0 is exact: it is held if nothing was seen among all that was tried. It is not
where the interval reaches below 0, as that of a difference does: more rows would decide it.

An `audit.toml` beside the reward accepts what is known and meant:

    [[accept]]
    id = "fn.value"
    reason = "The data set's answers are whole numbers, and its prompts ask for one."
    date = 2026-11-29
    reward = "gsm8k"        # all rewards audited beside this file, where it is left out
    at_most = 0.3           # of the figure; above it is broken again
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from datetime import date
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.audit.corpus import BY_ID
from reward_functions.audit.results import Figure, Finding, Gate
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.reports.statistics import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.audit.results import Decision

_EXPRESSION: Final = re.compile(
    r"\s*+([A-Za-z][\w.-]*+)\s*+([<>])\s*+([-+]?(?:\d++(?:\.\d*+)?|\.\d++))\s*+", re.ASCII
)

DEFAULTS: Final = (
    "contract>0",
    "fn.right>0.02",
    "fn.layout>0.02",
    "fn.asked>0.02",
    "fn.value>0.2",
    "exploit>0.02",
    "determinism>0",
    "unscored>0",
    "unscored.rollouts>0",
)
"""Gates of an audit with data."""

LABELLED: Final = ("fp>0.05", "fn>0.05")
"""Gates beside them where responses have labels, which err in a few of a hundred themselves."""

WITHOUT_DATA: Final = (
    "contract>0",
    "fn.right>0",
    "exploit>0",
    "determinism>0",
    "unscored>0",
)
"""Gates of an audit of the worked examples alone: they are too few for an interval. What a reward
reads on purpose stands in them, so that other layouts are shown and not held."""

ALIASES: Final[Mapping[str, str]] = {"dead": "frac_reward_zero_std"}
"""Figures of an audit by the name that a comparison gives them."""

OPTIONAL: Final = frozenset({"fn.value", "fn.layout", "fn.asked", "fn.right", "fp", "fn"})
"""Figures that some rows cannot have; a default gate of an absent one is left out."""

MOST_ROWS: Final = 100_000
"""Rows up to which it is worked out how many would decide a gate."""


class Expression(NamedTuple):
    """A gate as it is written.

    Attributes:
        text: "exploit>0.02".
        figure: whose value is looked at.
        above: whether the gate breaks above the limit, or else below it.
        limit: in the figure's unit.
        asked: whether somebody asked for it; a default one may have no figure.
    """

    text: str
    figure: str
    above: bool
    limit: float
    asked: bool = True


def expression(text: str, *, asked: bool = True) -> Expression:
    """Read one expression, such as "exploit.EX-LIST>0.02" or "kappa<0.4".

    Raises:
        ConfigurationError: the text is not an expression.
    """
    found = _EXPRESSION.fullmatch(text)
    if found is None:
        raise ConfigurationError(
            f"a gate is written FIGURE>LIMIT or FIGURE<LIMIT, such as 'exploit>0.02', not {text!r}"
        )
    name, sign, limit = found.groups()
    return Expression(f"{name}{sign}{limit}", name, sign == ">", float(limit), asked)


def expressions(fail_on: Sequence[str], defaults: Sequence[str]) -> list[Expression]:
    """The gates of an audit: the defaults, each replaced by one of the same figure, and the others.

    Raises:
        ConfigurationError: one is no expression.
    """
    asked = [expression(each) for each in fail_on]
    names = {each.figure for each in asked}
    kept = [expression(each, asked=False) for each in defaults]
    return [*(each for each in kept if each.figure not in names), *asked]


def gate_decisions(wanted: Iterable[Expression], figures: Sequence[Figure]) -> list[Gate]:
    """The decision of each gate.

    Args:
        wanted: the gates.
        figures: all there are.

    Raises:
        ConfigurationError: a gate that somebody asked for is of no figure.
    """
    known = {each.id: each for each in figures}
    gates = []
    for each in wanted:
        figure = known.get(each.figure) or known.get(ALIASES.get(each.figure, ""))
        if figure is None and each.asked:
            hint = did_you_mean(each.figure, known)
            raise ConfigurationError(f"{each.text!r}: there is no figure {each.figure!r}{hint}")
        if figure is None or (figure.value is None and not each.asked and _may_lack(figure)):
            continue
        gates.append(_gate(each, figure))
    return gates


def _may_lack(figure: Figure) -> bool:
    return figure.id in OPTIONAL


def _gate(each: Expression, figure: Figure) -> Gate:
    if figure.value is None:
        return Gate(each.text, figure.id, "absent", f"{each.text}: not measured, {figure.why}")
    value = figure.value
    if figure.low is None and figure.why and figure.unit == "share":  # few prompts, not drawn again
        found = wilson(value, figure.n)
        figure = replace(figure, low=found.low, high=found.high)
    signed = figure.low is not None and figure.low < 0
    exact = (each.limit == 0 and not signed) or figure.low is None or figure.high is None
    worst = figure.high if each.above else figure.low
    decision: Decision = "held"
    if _beyond(value, each):
        decision = "broken"
    elif not exact and worst is not None and _beyond(worst, each):
        decision = "undecided"
    needed = _needed(figure, each) if decision == "undecided" else 0
    more = f"; take {needed:,} prompts" if needed else ""
    return Gate(each.text, figure.id, decision, f"{each.text}: {figure_text(figure)}{more}", needed)


def _beyond(value: float, each: Expression) -> bool:
    return value > each.limit if each.above else value < each.limit


def figure_text(figure: Figure) -> str:
    """A figure with its interval and how many prompts it rests on."""
    if figure.value is None:
        return f"{figure.id} was not measured: {figure.why}"
    number = {"share": "{:.1%}", "count": "{:,.0f}"}.get(figure.unit, "{:.3g}")
    interval = (
        f"{number.format(figure.low)} to {number.format(figure.high)}, "
        if figure.low is not None and figure.high is not None
        else ""
    )
    end = "s" * (figure.n != 1)
    of = "row" if figure.id.startswith(("seconds.", "calls.")) else "prompt"
    return f"{figure.id} is {number.format(figure.value)} ({interval}{figure.n:,} {of}{end})"


def _needed(figure: Figure, each: Expression) -> int:
    """Prompts at which a share like this one would be held; 0 where none is found."""
    if figure.unit != "share" or figure.value is None or (figure.low or 0.0) < 0:
        return 0  # a difference is no share
    low, high = figure.n, MOST_ROWS
    if not _held_with(figure.value, high, each):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _held_with(figure.value, middle, each) else (middle, high)
    return high


def _held_with(value: float, prompts: int, each: Expression) -> bool:
    found = wilson(value, prompts)
    return not _beyond(found.high if each.above else found.low, each)


class Acceptance(NamedTuple):
    """What somebody accepts.

    Attributes:
        id: of a figure ("fn.value") or of a class ("EX-LIST").
        reason: one sentence.
        since: the day it was accepted.
        reward: for which reward; "" for every one.
        at_most: the figure above which it is not accepted.
    """

    id: str
    reason: str
    since: date
    reward: str = ""
    at_most: float = inf

    def covers(self, value: float | None) -> bool:
        """Whether a figure is accepted; one that was not measured is where there is no ceiling."""
        return self.at_most == inf if value is None else value <= self.at_most


FOUND: Final = "audit.toml"
"""The file of acceptances beside a reward."""

FILES: Final = (".py", ".toml", ".json")
"""Of a reward, or of a composite."""

_FIGURES: Final = """
    contract determinism unscored unscored.rollouts exploit fn.right fn.layout fn.asked fn.value
    ceiling lazy length format search fp fn frac_reward_zero_std reward_std distinct growth p50 p95
    p99 slowest length.rollouts accuracy macro_f1 weighted_f1 kappa tie_f1 bias length_bias
    consistency.both_orders consistency.own_orders consistency.asked_again
    consistency.right_where_consistent consistency.right_where_not accuracy.beside kappa.beside
    FN-RIGHT FP FN EQUAL CONTRACT DETERMINISM UNSCORED HUNG SEARCH GROWTH
"""

IDS: Final = {*_FIGURES.split(), *BY_ID, *(f"exploit.{each}" for each in BY_ID)}
"""What can be accepted."""


def accepted_of(
    target: object, names: Iterable[str], code: str, given: Sequence[Acceptance] | None = None
) -> list[Acceptance]:
    """The acceptances of a target.

    Args:
        target: as it was asked for: a name, a path, an object.
        names: its own.
        code: the file of its code; "" where it is not known.
        given: those to choose from; those of `audit.toml` beside its file, its code, or else in the
            current folder where not given.

    Raises:
        ConfigurationError: a file cannot be read, or one of this target has an id of nothing.
        OSError: a file cannot be read.
    """
    text = str(target) if isinstance(target, str | Path) else ""
    if given is None:
        where = text.partition(":")[0]
        folders = [where] if where.endswith(FILES) else [code, FOUND]
        found = [Path(each).with_name(FOUND) for each in folders if each]
        given = acceptances(next((each for each in found if each.exists()), found[0]))
    stem = Path(code).stem
    known = {_bare(each) for each in (text, *names) if each}
    known |= {text, stem, *(f"{stem}:{each.rpartition(':')[2]}" for each in known)}
    kept = [each for each in given if not each.reward or _bare(each.reward) in known]
    for each in kept:
        if each.id not in IDS:
            hint = did_you_mean(each.id, IDS)
            raise ConfigurationError(f"an acceptance of {each.id!r}: nothing is called so{hint}")
    return kept


def _bare(reward: str) -> str:
    """A reward's name without a stage, a function's with the name of its file or module alone."""
    if reward.startswith("arn:"):
        return reward
    where, _, name = reward.partition("@")[0].rpartition(":")
    where = where.rpartition("/")[2].removesuffix(".py").rpartition(".")[2]
    return f"{where}:{name}" if where else Path(name).stem if name.endswith(FILES) else name


def acceptances(path: Path) -> list[Acceptance]:
    """The acceptances of a file; none where there is no such file.

    Raises:
        ConfigurationError: it is no TOML, or a row lacks its id, reason or date.
        OSError: it cannot be read.
    """
    if not path.exists():
        return []
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("accept", [])
        if not (isinstance(rows, list) and all(isinstance(each, dict) for each in rows)):
            raise ConfigurationError(f"{path}: an acceptance begins with [[accept]]")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    return [_acceptance(path, at, row) for at, row in enumerate(rows, 1)]


def _acceptance(path: Path, at: int, row: Mapping[str, object]) -> Acceptance:
    found, reason, since = row.get("id"), row.get("reason"), row.get("date")
    if not (isinstance(found, str) and isinstance(reason, str) and reason.strip()):
        raise ConfigurationError(f"{path}, accept {at}: an acceptance has an id and a reason")
    if not isinstance(since, date):
        raise ConfigurationError(f"{path}, accept {at}: date = 2026-11-29 says since when")
    if unknown := [each for each in row if each not in KEYS]:
        hint = did_you_mean(unknown[0], KEYS)
        raise ConfigurationError(f"{path}, accept {at}: there is no key {unknown[0]!r}{hint}")
    most = row.get("at_most", inf)
    if isinstance(most, bool) or not isinstance(most, int | float):
        raise ConfigurationError(f"{path}, accept {at}: at_most = 0.05 is a number")
    return Acceptance(found, reason.strip(), since, str(row.get("reward", "")), most)


KEYS: Final = ("id", "reason", "date", "reward", "at_most")


def accept(
    gates: Sequence[Gate],
    findings: Sequence[Finding],
    accepted: Iterable[Acceptance],
    figures: Iterable[Figure] = (),
) -> tuple[list[Gate], list[Finding]]:
    """Gates and findings with what is accepted; an acceptance that nothing needs is a finding.

    Args:
        gates: as decided.
        findings: as found.
        accepted: those for this reward. One of a class is one of its figure.
        figures: held to the ceilings of what is accepted.
    """
    gates, found = list(gates), list(findings)
    values = {each.id: each.value for each in figures}
    for each in accepted:
        of = next((one.figure for one in findings if one.id == each.id), "") or each.id
        held = each.covers(values.get(of))
        most = "" if each.at_most == inf else f" up to {each.at_most:g}"
        why = f"accepted{most} on {each.since}: {each.reason}"
        needed = False
        for at, gate in enumerate(gates):
            if gate.figure == of and gate.decision != "held":
                decision = "accepted" if held else gate.decision
                gates[at] = replace(gate, decision=decision, message=f"{gate.message}; {why}")
                needed = True
        for at, finding in enumerate(found):
            if each.id in (finding.id, finding.figure) and finding.verdict == "broken":
                verdict = "accepted" if held else finding.verdict
                found[at] = replace(finding, verdict=verdict, message=f"{finding.message}; {why}")
                needed = True
        if not needed:
            found.append(
                Finding(
                    "STALE",
                    "an acceptance that nothing needs",
                    "note",
                    f"{each.id} was {why}; it is not broken any more: remove the acceptance",
                )
            )
    return gates, found
