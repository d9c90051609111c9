"""An evaluation for a reader: its tables, the same in Markdown, and one page of HTML.

Shares of the scale are percentages; differences are points, hundredths of the scale, tuned less
base. Answers stand in the table of flips only where a record holds them, and are cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.jobs.evaluation.evaluation import ends, in_points
from reward_functions.reports.pages.charts.plots import Course, lines
from reward_functions.reports.pages.charts.rows import Row, Span, spans
from reward_functions.reports.pages.page import (
    Case,
    Concern,
    Page,
    Section,
    SideBySide,
    excerpt,
    one_line,
)
from reward_functions.reports.sheets import Sheet, escaped, markdown_document, quotes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.jobs.evaluation.evaluation_record import (
        Beside,
        Compared,
        EvaluationRecord,
        Flip,
        Group,
        PassAtK,
    )
    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.reports.pages.page import Kind
    from reward_functions.reports.statistics import Difference

SIMULATION: Final = "SIMULATION: the training double answered, and no language model."


def markdown(record: EvaluationRecord) -> str:
    """The whole document; strings from rows and models are escaped and stay on their line."""
    paragraphs = [f"**{escaped(record.conclusion)}.**"]
    if record.simulation:
        paragraphs.insert(0, f"> {SIMULATION}")
    return markdown_document(
        f"Evaluation of {record.job or record.tuned}",
        [*paragraphs, *quotes(record.warnings)],
        facts(record),
        sheets(record),
    )


WAYS: Final = ("wrong", "right")

MOST_CASES: Final = 50
"""Flips whose answers the page has, of each direction half."""

OPEN: Final = 6
"""Flips whose answers are in sight; a click opens those of others."""

ROOM: Final = 2_000
"""Bytes of an answer in sight."""

DIFFERENCE: Final = "The difference"
BESIDE: Final = "Beside the mean"
"""Titles of sections."""


def page(record: EvaluationRecord) -> Page:
    """The whole page; answers are in it where the record holds them."""
    warnings = [SIMULATION] if record.simulation else []
    found = list(concerns_of_evaluation(record))
    judged = _sentence(record.conclusion)
    lead = judged if record.verdict == "better" else _gained(record)
    return Page(
        f"Evaluation of {record.job or record.tuned}",
        lead,
        warnings=[*warnings, *(f"{warning}." for warning in record.warnings)],
        facts=facts(record),
        sections=list(_sections(record)),
        concerns=found,
    )


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _gained(record: EvaluationRecord) -> str:
    """Both means in a sentence, where the verdict stands above."""
    both, test = record.greedy, record.mcnemar
    return (
        f"The base earns {both.base:.1%} and the tuned model {both.tuned:.1%} of the scale; "
        f"{test.gained:,} prompts turned right and {test.lost:,} wrong."
    )


CHANCE: Final = 0.05
"""The adjusted p below which a group of prompts got worse."""


def concerns_of_evaluation(record: EvaluationRecord) -> Iterator[Concern]:
    """Findings against a tuned model, or against the measurement."""
    kinds: dict[str, Kind] = {"worse": "failed", "no difference shown": "labels"}
    if record.verdict in kinds:
        yield Concern(kinds[record.verdict], _sentence(record.conclusion), DIFFERENCE)
    tuned = [each for each in record.beside if each.side == "tuned"]
    for each in tuned:
        if each.unscored:
            words = "answers of the tuned model have no score, and count as nothing"
            yield Concern("unscored", _of(each, each.unscored, words), BESIDE)
    worse = [each for each in record.groups if each.difference.value < 0]
    worse = [each for each in worse if each.adjusted < CHANCE]
    if worse:
        names = ", ".join(f"{one_line(each.name, 60)} by {_points(each)}" for each in worse[:NAMED])
        more = f" and {len(worse) - NAMED:,} more" if len(worse) > NAMED else ""
        groups = "1 group" if len(worse) == 1 else f"{len(worse):,} groups"
        words = f"The tuned model is worse in {groups}: {names}{more}."
        yield Concern("reasons", words, f"By {record.grouped_by}")
    base = {each.mode: each for each in record.beside if each.side == "base"}
    for each in tuned:
        before = base.get(each.mode)
        if _more(each, before, _without_answer):
            words = "answers of the tuned model are empty or filtered"
            yield Concern("reasons", _of(each, _without_answer(each), words), BESIDE)
        if _more(each, before, lambda side: side.cut):
            words = f"answers of the tuned model are cut off at {record.max_tokens:,} tokens"
            yield Concern("truncation", _of(each, each.cut, words), BESIDE)


def _without_answer(side: Beside) -> int:
    return side.empty + side.filtered


def _more(tuned: Beside, base: Beside | None, count: Callable[[Beside], int]) -> bool:
    """Whether a model does something more often than its base: less of it is no finding."""
    share = count(base) / base.answers if base and base.answers else 0.0
    return bool(tuned.answers) and count(tuned) / tuned.answers > share


NAMED: Final = 3
"""Groups that a sentence names."""


def _of(each: Beside, count: int, words: str) -> str:
    share = f"{count:,} of {each.answers:,} {each.mode}"
    return f"{share} {words} ({count / each.answers:.1%})."


def _points(each: Group) -> str:
    return f"{in_points(abs(each.difference.value), signed=False)} points"


def _sections(record: EvaluationRecord) -> Iterator[Section]:
    drawn = [drawn_difference(record), *([_lengths(record)] if record.beside else [])]
    yield Section(DIFFERENCE, [*drawn, differences_sheet(record), tests_sheet(record)])
    if record.pass_at_k:
        yield Section("pass@k", [_passes(record), pass_at_k_sheet(record)])
    sheet = groups_sheet(record)
    yield Section(sheet.title, [*([drawn_groups(record)] if record.groups else []), sheet])
    if record.beside:
        yield Section(BESIDE, [beside_sheet(record)])
    if record.flips:
        yield Section("Flips", [flips_sheet(record)])
    flips = [flip for flip in _turned(record, MOST_CASES) if flip.base_text is not None]
    if flips:
        both = [_both(flip) for flip in flips[:OPEN]]
        yield Section("Answers of flips", [*both, *map(_case, flips[OPEN:])])


def drawn_difference(record: EvaluationRecord) -> Chart:
    """The mean difference of each way of drawing, with its interval."""
    both = [each for each in (record.greedy, record.sampled) if each is not None]
    return _drawn("of both models", [(each.mode, each.difference) for each in both])


def drawn_groups(record: EvaluationRecord) -> Chart:
    """The mean difference of each group of prompts, with its interval."""
    groups = [(each.name, each.difference) for each in record.groups]
    return _drawn("in each group of prompts", groups)


def _drawn(of: str, differences: Sequence[tuple[str, Difference]]) -> Chart:
    rows = []
    for name, each in differences:
        value, low, high = (100 * end for end in (each.value, each.low, each.high))
        rows.append(Row(name, [Span(value, (low, high))], limit=0.0))
    return spans(
        f"The mean difference {of} with its 95 % interval",
        rows,
        x="points of the scale, tuned less base",
        limit="no difference",
        includes=(0.0,),
    )


def _passes(record: EvaluationRecord) -> Chart:
    base = [(float(each.k), each.base) for each in record.pass_at_k]
    tuned = [(float(each.k), each.tuned) for each in record.pass_at_k]
    return lines(
        "pass@k of both models",
        [Course("base", base), Course("tuned", tuned, "b")],
        x="k",
        y="pass@k",
        includes=(0.0, 1.0),
    )


def _lengths(record: EvaluationRecord) -> Chart:
    """The median of each model's tokens, with a line to the 95th percentile."""
    rows = [
        Row(
            f"{each.side}, {each.mode}",
            [Span(each.tokens_p50, (each.tokens_p50, max(each.tokens_p50, each.tokens_p95)))],
        )
        for each in record.beside
    ]
    label = "The length of each model's answers, from the median to the 95th percentile"
    return spans(label, rows, x="tokens, median to 95th percentile", includes=(0.0,))


def _turned(record: EvaluationRecord, most: int) -> list[Flip]:
    """At most so many prompts that turned, of each direction half; first those gone wrong."""
    wrong, right = ([each for each in record.flips if each.turned == way] for way in WAYS)
    return [*wrong[: most // 2], *right[: most // 2]]


def _both(flip: Flip) -> SideBySide:
    """Both answers of a flip beside one another, each with why it earned its score."""
    sides = (
        ("base", flip.base_score, flip.base_reason, flip.base_text),
        ("tuned", flip.tuned_score, flip.tuned_reason, flip.tuned_text),
    )
    cases = [
        Case(
            f"{side}: {score:.2f}",
            facts=[("why", reason)] if reason else (),
            quotations=[("", excerpt(text or "", ROOM))],
        )
        for side, score, reason, text in sides
    ]
    return SideBySide(f"{flip.place}: turned {flip.turned}", cases)


def _case(flip: Flip) -> Case:
    why = [("base", flip.base_reason), ("tuned", flip.tuned_reason)]
    return Case(
        f"{flip.place}: turned {flip.turned}",
        facts=[(f"why, {side}", reason) for side, reason in why if reason],
        texts=[("base", flip.base_text or ""), ("tuned", flip.tuned_text or "")],
    )


EXAMPLE: Final = 120
"""Characters of an answer in a table: its end, where answers stand."""

MOST_FLIPS: Final = 200
"""Rows of the table of flips, of each direction half; the record has all."""

SMALLEST_P: Final = 0.001

HEADS: Final = ("base", "tuned", "difference", "95 % interval", "prompts")


def facts(record: EvaluationRecord) -> list[tuple[str, str]]:
    """The settings of the evaluation, for people."""
    reward = f"{record.reward}, version {record.reward_version}" if record.reward else "not known"
    sampled = (
        f"{record.answers} at temperature {record.temperature:g}" if record.answers else "none"
    )
    return [
        *([("job", record.job)] if record.job else []),
        ("base", record.base),
        ("tuned", record.tuned),
        ("reward", reward),
        ("grader", record.grader),
        ("split", f"{record.split}, SHA-256 {record.split_sha256}"),
        ("shares no prompt with", " and ".join(record.compared_with)),
        ("greedy answers", "1 at temperature 0"),
        ("sampled answers to a prompt", sampled),
        ("tokens of an answer", f"at most {record.max_tokens:,}"),
        ("right", f"from {record.success:.0%} of the scale"),
        ("seed", f"{record.seed}"),
        ("measured", f"{record.measured_at:%Y-%m-%d %H:%M} UTC"),
    ]


def sheets(record: EvaluationRecord) -> Iterator[Sheet]:
    """All tables, what decides first."""
    for section in _sections(record):
        yield from (part for part in section.parts if isinstance(part, Sheet))


def differences_sheet(record: EvaluationRecord) -> Sheet:
    """The means of both models."""
    both = [each for each in (record.greedy, record.sampled) if each is not None]
    return Sheet(
        "What they earn, of the scale",
        ("answers", *HEADS),
        [(each.mode, *_row(each)) for each in both],
        note="Differences are points, hundredths of the scale: tuned less base. The interval is "
        "the bootstrap's over prompts.",
        spare=("prompts",),
    )


def tests_sheet(record: EvaluationRecord) -> Sheet:
    """McNemar's test."""
    test = record.mcnemar
    mid = "-" if test.mid_p is None else p_value(test.mid_p)
    return Sheet(
        "Prompts that turned",
        ("test", "wrong to right", "right to wrong", "p", "mid-p"),
        [
            (
                f"McNemar, {test.test}",
                f"{test.gained:,}",
                f"{test.lost:,}",
                p_value(test.p_value),
                mid,
            )
        ],
        note="p is that of the named test, two-sided.",
    )


def pass_at_k_sheet(record: EvaluationRecord) -> Sheet:
    """pass@k of both models."""
    return Sheet(
        "pass@k",
        ("k", *HEADS),
        [(f"{each.k}", *_row(each)) for each in record.pass_at_k],
        note="The unbiased estimate of Chen et al. (2021).",
        spare=("prompts",),
    )


def groups_sheet(record: EvaluationRecord) -> Sheet:
    """A row for each group of prompts."""
    rows = [
        (each.name, *_row(each), f"+{each.gained:,} -{each.lost:,}", p_value(each.adjusted))
        for each in record.groups
    ]
    return Sheet(
        f"By {record.grouped_by}",
        ("group", *HEADS, "turned", "p, adjusted"),
        rows,
        note="Greedy answers. p is McNemar's, adjusted by Holm for the number of groups; the "
        "intervals are not adjusted.",
        spare=("turned", "base", "tuned"),
    )


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _beside(each: Beside) -> dict[str, str]:
    """A row by the heads of its columns."""
    return {
        "model": f"{each.side}, {each.mode}",
        "answers": f"{each.answers:,}",
        "tokens": f"{each.tokens_mean:,.0f}",
        "p95": f"{each.tokens_p95:,.0f}",
        "cut off": f"{each.cut / each.answers:.1%}",
        "empty": f"{each.empty:,}",
        "filtered": f"{each.filtered:,}",
        "unscored": f"{each.unscored:,}",
        "seconds, p50": _seconds(each.seconds_p50),
        "p95 s": _seconds(each.seconds_p95),
        "dollars": "-" if each.usd is None else f"{each.usd:.4f}",
    }


def beside_sheet(record: EvaluationRecord) -> Sheet:
    """The figures beside the means; at least one model's answers are known."""
    rows = [_beside(each) for each in record.beside]
    return Sheet(
        BESIDE,
        tuple(rows[0]),
        [tuple(row.values()) for row in rows],
        note="Unscored answers count as nothing, and never as 0. Dollars are those of asking. "
        + ("A simulation's seconds say nothing." if record.simulation else ""),
        words=(),
        spare=("filtered", "p95", "p95 s", "dollars"),
    )


def flips_sheet(record: EvaluationRecord) -> Sheet:
    """The prompts that turned, those that turned wrong first."""
    shown = _turned(record, MOST_FLIPS)
    texts = any(flip.base_text is not None for flip in shown)
    heads = ("row", "turned", "base", "tuned", "why: base", "why: tuned")
    rows = [
        (
            flip.place,
            flip.turned,
            f"{flip.base_score:.2f}",
            f"{flip.tuned_score:.2f}",
            flip.base_reason or "-",
            flip.tuned_reason or "-",
            *((_end(flip.base_text), _end(flip.tuned_text)) if texts else ()),
        )
        for flip in shown
    ]
    left_out = len(record.flips) - len(shown)
    answers = ("the base ends", "the tuned ends") if texts else ()
    return Sheet(
        "Flips",
        (*heads, *answers),
        rows,
        note=f"{left_out:,} more are in the JSON." if left_out else "",
        words=("turned", "why: base", "why: tuned", *answers),
        spare=("why: base", "why: tuned", "base", "tuned"),
    )


def p_value(value: float) -> str:
    """Three digits; "< 0.001" below."""
    return f"{value:.3f}" if value >= SMALLEST_P else "< 0.001"


def _row(each: Compared | PassAtK | Group) -> tuple[str, str, str, str, str]:
    difference = each.difference
    return (
        f"{each.base:.1%}",
        f"{each.tuned:.1%}",
        in_points(difference.value),
        ends(difference),
        f"{difference.prompts:,}",
    )


def _end(text: str | None) -> str:
    if text is None:
        return "-"
    return text if len(text) <= EXAMPLE else f"…{text[-EXAMPLE:]}"
