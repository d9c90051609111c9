"""The figures of a batch as tables, charts and sentences: how rewards are, what to try."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from reward_functions.core.means import mean
from reward_functions.reports.pages.charts.plots import Point, histogram, points
from reward_functions.reports.pages.charts.rows import matrix, tallies
from reward_functions.reports.pages.page import one_line
from reward_functions.reports.score_report import figures
from reward_functions.reports.score_report.bar_rows import Bar, links
from reward_functions.reports.score_report.figures import KINDS, Length, mean_by_prompt, share_of
from reward_functions.reports.score_report.labels import LABELLED, REWARDED
from reward_functions.reports.sheets import Sheet
from reward_functions.reports.statistics import share

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.reports.score_report.criteria import CriterionFigures
    from reward_functions.reports.score_report.figures import Batch, GroupFigures
    from reward_functions.reports.score_report.labels import Confusion
    from reward_functions.reports.score_report.reasons import ErrorFigures, ReasonFigures, Remedy
    from reward_functions.reports.statistics import Share

MOST: Final = 30
"""Rows of a table of reasons; the others are one row."""

BARS: Final = 8
"""Reasons of a chart."""

CHOICES: Final = 6
"""Decisions of a criterion that are named."""

MARGIN: Final = 0.1
"""Of half a scale, beyond its ends: marks at an end stay clear of the axis."""

WIDE: Final = 50
"""How many times the shortest responses the longest are from which on their axis is logarithmic."""

MARKS: Final = 10
"""Steps of the reward in which rows of one length are drawn together."""


def number(value: float) -> str:
    """A reward or a metric: short where it is round."""
    return f"{value:.4g}"


def rows_are(count: int, one: str, several: str) -> str:
    """How many rows, and the verb in their number: "2 rows have"."""
    return f"1 row {one}" if count == 1 else f"{count:,} rows {several}"


def percent(of: Share | None) -> str:
    """A share; "none" where there is nothing to have it."""
    return "none" if of is None else f"{of.value:.1%}"


def interval(of: Share | None, form: str = ".1%") -> str:
    """The 95 % interval of a figure."""
    return "" if of is None else f"{of.low:{form}} to {of.high:{form}}"


def counted(count: int, of: Share | None) -> list[str]:
    """A number of rows or groups, its share, and the interval of that."""
    return [f"{count:,}", percent(of), interval(of)]


def summary(batch: Batch, cut: Collection[int]) -> Sheet:
    """The figures that are looked at first."""
    heads = ["figure", "value", "95 % interval"]
    rows = [["rows", f"{len(batch.results):,}", ""], ["scored", f"{len(batch.scored):,}", ""]]
    rows.append(["unscored", f"{len(batch.unscored):,}", ""])
    middle = figures.mean_by_prompt(batch)
    if middle:
        among = batch.scored
        low = share_of(batch, batch.at_minimum, among)
        broken = share_of(batch, sorted(cut), among)
        rows += [
            ["mean reward", number(middle.value), interval(middle, ".4g")],
            ["standard deviation", number(figures.std(batch.values(among))), ""],
            ["share at the minimum", percent(low), interval(low)],
            ["share that seems cut off", percent(broken), interval(broken)],
            ["prompts", f"{len(batch.groups):,}", ""],
        ]
    note = (
        "Intervals count prompts, because responses to one prompt are alike. An unscored row is in "
        "no mean and no share."
    )
    if batch.without_prompt:
        note += (
            f" {rows_are(batch.without_prompt, 'has', 'have')} no prompt: each counts as a prompt "
            "of its own, and is in no group."
        )
    return Sheet("Summary", heads, rows, note)


def rewards_chart(batch: Batch, bars: Sequence[Bar] = ()) -> Chart:
    """How many rows have which reward; a bar leads to its rows.

    Args:
        batch: of rows.
        bars: by `bar_rows.reward_bars`; empty for a chart without links.
    """
    values = batch.values(batch.scored)
    counted = figures.counts(values)
    label = f"The rewards of {len(values):,} scored rows."
    if len(counted) <= figures.FEW:
        named = [(number(value), count) for value, count in counted]
        return tallies(label, named, x="rows, by reward", links=links(bars))
    steps = figures.bins(values, *batch.scale)
    return histogram(label, steps, x="reward", y="rows", links=links(bars))


def length_chart(batch: Batch, lengths: Sequence[Length]) -> Chart:
    """Length against reward: a mark for each group of rows of similar length and reward."""
    low, high = batch.scale
    margin = (high / 2 - low / 2) * MARGIN
    shown = []
    through = []
    for each in lengths:
        x = _median_length(batch, each)
        values = batch.values(each.rows)
        through.append((x, mean(values)))
        for value, count in _gathered(values, low, high):
            shown.append(
                Point(x, value, count, f"{count:,} rows about {x:,} long at {number(value)}")
            )
    places = [max(1, at) for at, _ in through]
    wide = max(places) >= WIDE * min(places)
    return points(
        "Length of the responses against their reward; the line is the mean.",
        shown,
        x=f"characters of the response, {'logarithmic' if wide else 'ten groups of rows'}",
        y="reward",
        through=through if len(through) > 1 else (),
        includes=(low - margin, high + margin),
        logarithmic=wide,
    )


def length_table(batch: Batch, lengths: Sequence[Length], cut: Collection[int]) -> Sheet:
    """The groups by length: how each fares."""
    heads = ["characters", "rows", "mean reward", "at the minimum", "seem cut off"]
    rows = [
        [
            _range(each),
            f"{len(each.rows):,}",
            number(mean(batch.values(each.rows))),
            f"{_portion(batch.value(at) == batch.scale.minimum for at in each.rows):.1%}",
            f"{_portion(at in cut for at in each.rows):.1%}",
        ]
        for each in lengths
    ]
    return Sheet("By length", heads, rows)


def signals_table(batch: Batch, signals: Mapping[str, Sequence[int]]) -> Sheet:
    """The signs of truncation, each with its share of the rows."""
    heads = ["sign", "rows", "share", "95 % interval", "at the minimum"]
    rows = []
    for name, found in signals.items():
        of = share_of(batch, found, batch.scored)
        low = sum(batch.value(at) == batch.scale.minimum for at in found)
        rows.append([name, *counted(len(found), of), f"{low:,}"])
    note = (
        "An estimate: a row may show several signs, and a response that stops without any of them "
        "is not counted."
    )
    return Sheet("Signs of truncation", heads, rows, note)


def reasons_chart(reasons: Sequence[ReasonFigures], bars: Sequence[Bar] = ()) -> Chart | None:
    """The most frequent reasons at the minimum; None where no row is there.

    Args:
        reasons: the most frequent at the minimum first.
        bars: by `bar_rows.reason_bars`; empty for a chart without links.
    """
    low = [(each.reason, len(each.at_minimum)) for each in reasons if each.at_minimum]
    if not low:
        return None
    label = "The most frequent reasons at the minimum."
    return tallies(label, low[:BARS], x="rows at the minimum", links=links(bars))


def reasons_table(batch: Batch, reasons: Sequence[ReasonFigures]) -> Sheet:
    """Every reason with its rows."""
    heads = ["reason", "rows", "share", "at the minimum", "mean reward"]
    rows = [[one_line(each.reason), *_reason_figures(batch, [each])] for each in reasons[:MOST]]
    if rest := reasons[MOST:]:
        rows.append([f"{len(rest):,} other reasons", *_reason_figures(batch, rest)])
    note = (
        "Numbers, quotations and what follows a semicolon are left out of a reason, so that like "
        "counts with like."
    )
    return Sheet("Reasons", heads, rows, note)


def metrics_table(found: Mapping[str, Sequence[float]]) -> Sheet:
    """The metrics that the reward reports beside its score, over the rows that report each."""
    rows = [
        [one_line(name, 60), f"{len(each):,}", *map(number, (mean(each), min(each), max(each)))]
        for name, each in islice(found.items(), MOST)
    ]
    return Sheet("Metrics", ["metric", "rows", "mean", "least", "most"], rows)


def groups_table(groups: GroupFigures) -> Sheet:
    """Groups by what their rewards are."""
    heads = ["rewards of the group", "groups", "share", "95 % interval"]
    places = {kind: groups.by_kind[kind] for kind in KINDS}
    flat = [place for kind in KINDS[:-1] for place in places[kind]]
    rows = [
        [name, *counted(len(found), _group_share(found, groups))]
        for name, found in (places | {"zero advantage, in all": flat}).items()
    ]
    return Sheet("Groups by reward", heads, rows)


def flat_groups_table(batch: Batch, groups: GroupFigures, most: int) -> Sheet:
    """The groups with zero advantage, first those at the minimum and the largest."""
    heads = ["prompt", "responses", "reward", "first response and its reason"]
    flat = [place for kind in KINDS[:-1] for place in _largest(batch, groups.by_kind[kind])]
    rows = []
    for place in flat[:most]:
        members = batch.groups[place]
        first = batch.sample(members[0])
        score = batch.score(members[0])
        rows.append(
            [
                one_line(first.prompt or first.context[-1].content, 120),
                f"{len(members):,}",
                number(score.value),
                f"{one_line(first.id, 60)}: {one_line(score.reason, 120)}",
            ]
        )
    note = f"{len(flat) - most:,} more are left out." if len(flat) > most else ""
    return Sheet("Groups with zero advantage", heads, rows, note, words=heads[3:])


def confusion_chart(found: Confusion, bars: Sequence[Sequence[Bar]] = ()) -> Chart:
    """Labels against rewards; a cell leads to its rows.

    Args:
        found: the counts.
        bars: by `bar_rows.label_bars`; empty for a chart without links.
    """
    return matrix(
        "Labels against rewards, in rows of the file.",
        [name for _, name in LABELLED],
        [name for _, name in REWARDED],
        [[len(found.cells[label, reward]) for reward, _ in REWARDED] for label, _ in LABELLED],
        down="label",
        across="reward",
        links=[links(row) for row in bars],
    )


def confusion_table(found: Confusion) -> Sheet:
    """The counts of labels against rewards."""
    heads = ["label", *(f"reward {name}" for _, name in REWARDED)]
    rows = [
        [name, *(f"{len(found.cells[label, reward]):,}" for reward, _ in REWARDED)]
        for label, name in LABELLED
    ]
    note = f"{found.rule} An unscored row is in no share."
    if found.unlabelled:
        note += f" {rows_are(found.unlabelled, 'has', 'have')} no label."
    return Sheet("Confusion matrix", heads, rows, note)


def agreement_table(found: Confusion) -> Sheet:
    """Precision, recall and accuracy, each with its interval."""
    heads = ["figure", "value", "95 % interval", "of"]
    rows = [
        [name, percent(each.share), interval(each.share), f"{each.rows:,} of {each.of:,}"]
        for name, each in found.agreement.items()
    ]
    return Sheet("Agreement", heads, rows)


def criteria_table(batch: Batch, criteria: Sequence[CriterionFigures], *, several: bool) -> Sheet:
    """What the judge decided."""
    heads = ["criterion", "responses", "met", "95 % interval", "decisions", "a reason against"]
    rows = []
    for each in criteria:
        of = share_of(batch, each.met, each.rows) if each.best is not None else None
        choices = each.choices.most_common(CHOICES)
        decided = ", ".join(f"{choice} {count:,}" for choice, count in choices)
        more = len(each.choices) - len(choices)
        rows.append(
            [
                one_line(each.name, 60),
                f"{len(each.rows):,}",
                percent(of) if each.best is not None else "",
                interval(of),
                one_line(decided + (f", {more:,} more" if more else ""), 160),
                one_line(each.unmet_reason),
            ]
        )
    note = (
        "A criterion is met by its best decision. Responses that no model was asked about count "
        "in none."
    )
    if several:
        note += " Of a panel, these are the decisions of its first member that answered."
    return Sheet("Criteria", heads, rows, note, words=["decisions", "a reason against"])


def errors_table(found: Sequence[ErrorFigures]) -> Sheet:
    """Errors of unscored rows: whose failure each is."""
    heads = ["error", "rows", "whose failure", "most frequent message"]
    rows = [
        [
            one_line(each.title, 90),
            f"{len(each.rows):,}",
            each.attribution.whose,
            one_line(each.message),
        ]
        for each in found[:MOST]
    ]
    rest = sum(len(each.rows) for each in found[MOST:])
    if rest:
        rows.append([f"{len(found) - MOST:,} other errors", f"{rest:,}", "", ""])
    note = "These rows have no reward. None of them is a low score."
    return Sheet("Errors", heads, rows, note, words=heads[2:])


def _reason_figures(batch: Batch, reasons: Sequence[ReasonFigures]) -> list[str]:
    rows = [at for each in reasons for at in each.rows]
    low = sum(len(each.at_minimum) for each in reasons)
    of = len(rows) / len(batch.scored)
    return [f"{len(rows):,}", f"{of:.1%}", f"{low:,}", number(mean(batch.values(rows)))]


def _group_share(places: Sequence[int], groups: GroupFigures) -> Share | None:
    return share(len(places), groups.count, groups.count) if groups.count else None


def _largest(batch: Batch, places: Sequence[int]) -> list[int]:
    return sorted(places, key=lambda place: (-len(batch.groups[place]), place))


def _range(each: Length) -> str:
    if each.shortest == each.longest:
        return f"{each.shortest:,}"
    return f"{each.shortest:,} to {each.longest:,}"


def _median_length(batch: Batch, each: Length) -> int:
    return len(batch.sample(each.rows[len(each.rows) // 2]).response)


def _gathered(values: Sequence[float], low: float, high: float) -> list[tuple[float, int]]:
    """Rewards of rows of one length: where there are many, the middles of steps."""
    counted = figures.counts(values)
    if len(counted) <= MARKS:
        return counted
    return [
        (each.low / 2 + each.high / 2, each.count)
        for each in figures.bins(values, low, high)
        if each.count
    ]


def _portion(found: Iterable[bool]) -> float:
    flags = list(found)
    return sum(flags) / len(flags)


NAMED: Final = 3
"""Reasons that share a remedy and are named."""


def lead(batch: Batch, reasons: Sequence[ReasonFigures]) -> str:
    """The page in one sentence: rows, mean, share at the minimum and its most frequent reason.

    Args:
        batch: of rows; "" without any.
        reasons: of the batch, the most frequent at the minimum first.
    """
    rows, scored, low = len(batch.results), len(batch.scored), len(batch.at_minimum)
    if not rows:
        return ""
    parts = [f"{scored:,} of {rows:,} {'row' if rows == 1 else 'rows'} scored"]
    if middle := mean_by_prompt(batch):
        ends = f"{number(middle.low)} to {number(middle.high)}"
        parts.append(f"mean {number(middle.value)} (95 % interval {ends})")
        mostly = f", mostly: {one_line(reasons[0].reason, 120)}" if low else ""
        parts.append(f"{low / scored:.1%} at the minimum{mostly}")
    return "; ".join(parts) + "."


def against_labels(found: Confusion) -> str:
    """Where labels say otherwise, the worse share first, in one sentence; "" where none does."""
    wrong = []
    for name, words in (
        ("recall", "rows labelled correct are scored as incorrect"),
        ("precision", "rows scored as correct are labelled incorrect"),
    ):
        each = found.agreement[name]
        if each.share and each.rows < each.of:
            missed = f"{each.of - each.rows:,} of {each.of:,} {words}"
            shown = f"{missed} ({name} {percent(each.share)}, 95 % interval {interval(each.share)})"
            wrong.append((each.share.value, shown))
    return f"{', and '.join(words for _, words in sorted(wrong))}." if wrong else ""


def at_the_minimum(batch: Batch, reasons: Sequence[ReasonFigures]) -> str:
    """How many rows earn the minimum, why most do, and what to try, in two sentences.

    Args:
        batch: of rows, at least one of them at the minimum.
        reasons: of the batch, the most frequent at the minimum first.
    """
    first, rows, low = reasons[0], len(batch.scored), len(batch.at_minimum)
    words = f"{low:,} of {rows:,} scored rows earn the minimum, mostly: "
    attempt = f" Try: {first.remedy.attempt}." if first.remedy else ""
    return f"{words}{one_line(first.reason, 120)} ({first.low:,}).{attempt}"


def remedies(reasons: Sequence[ReasonFigures]) -> Iterator[str]:
    """The advice, a sentence for each remedy; the most frequent reasons have theirs first."""
    sharing: dict[Remedy, list[ReasonFigures]] = {}
    for each in reasons[:MOST]:
        if each.remedy:
            sharing.setdefault(each.remedy, []).append(each)
    for remedy, found in sharing.items():
        rows = sum(len(each.at_minimum) for each in found)
        named = ", ".join(one_line(each.reason, 90) for each in found[:NAMED])
        more = f" and {len(found) - NAMED:,} more reasons" if len(found) > NAMED else ""
        yield (
            f"{_rows(rows)} at the minimum: {named}{more}. Likely, {remedy.cause}; or it is what "
            f"the policy deserves. Try: {remedy.attempt}."
        )


def mending(errors: Sequence[ErrorFigures]) -> Iterator[str]:
    """The advice about rows that could not be scored, a sentence for each way to mend them."""
    sharing: dict[str, list[ErrorFigures]] = {}
    for each in errors[:MOST]:
        sharing.setdefault(each.attribution.remedy, []).append(each)
    for remedy, found in sharing.items():
        rows = sum(len(each.rows) for each in found)
        named = ", ".join(one_line(each.title, 90) for each in found[:NAMED])
        yield f"{_rows(rows)}, {named}: {remedy}."


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
