"""One audit: rows, right answers, every class of answers, and the gates that decide.

    rows ──gold──→ cases ──classes──→ answers ──score──→ figures, findings ──gates──→ Audit

An audit measures the same of any reward: `targets` says how each is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final
from unittest import SkipTest

from reward_functions.audit import gates as gating
from reward_functions.audit.corpus import BY_ID, CLASSES, AnswerClass, Corpus
from reward_functions.audit.earning import Earnings, declared_by, earnings
from reward_functions.audit.gold import Gold, Unpaid, gold_of
from reward_functions.audit.groups import Earned, group_measures
from reward_functions.audit.other_answers import REASONED, ReplayCase, near_misses, opposite
from reward_functions.audit.results import ROWS, Audit, Figure, Finding, SeenRow
from reward_functions.audit.searching import SHORTEST_CALLS, search
from reward_functions.audit.targets import SECONDS, audit_target
from reward_functions.audit.timing import FLOODED, latency
from reward_functions.audit.trying import (
    RIGHT,
    Fared,
    Judged,
    by_form,
    ceiling,
    count,
    judged,
    lazy,
    padding,
    tried,
    unscored,
)
from reward_functions.calibration.estimating import examples_with
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.importing import IMPORT_ERRORS
from reward_functions.core.means import mean
from reward_functions.core.spec import UNIT_SCALE, lacking
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Sample, Score, Scored, Unscored, sample
from reward_functions.data.rows.reading import AS_FOUND, objects_of
from reward_functions.quantities.unicode_forms import folded
from reward_functions.reports.measured import Measured
from reward_functions.reports.score_report.labels import labels_of
from reward_functions.reports.statistics import share
from reward_functions.scoring.rows import read_samples, samples_in
from reward_functions.testing import CONTRACT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reward_functions.audit.gates import Acceptance
    from reward_functions.audit.target import AuditTarget
    from reward_functions.core.types import RewardResult
    from reward_functions.data.rows.shapes import RowOptions

ROWS_TRIED: Final = 300
"""Prompts that are tried: none paid among them leaves at most 1.3 % (Wilson, 95 %)."""

JUDGED_ROWS: Final = 8
"""The same where every answer is a call to a model, and nobody says how many."""

REPEATS: Final = 3
"""Times that the same answers are scored."""

ALONE: Final = 20
"""Rows that are scored in a batch of one as well."""

PROMISES: Final = (
    "examples_hold",
    "the_gold_response_earns_the_maximum",
    "a_missing_reference_is_attributed_to_the_data_set",
    "parameters_have_a_type_and_a_default_of_it",
    "scores_keep_to_the_declaration",
    "batches_keep_ids_and_order",
    "the_lambda_scores_like_a_direct_call",
)
"""Properties of `reward_functions.testing.CONTRACT` that a score depends on; the others are about
what a reward says of itself."""

ALWAYS: Final = ("LAZY",)
"""Classes that are held to no gate."""

PADDED_ALIKE: Final = 0.02
"""The mean rise of a reward by neutral words before an answer that needs no note."""

LONGER: Final = "neutral words before an answer raise what it earns by {:.0%} of the range"

ALIKE: Final = "every row has the same right answer: a policy would learn that one alone"

ALL_PAID: Final = "it pays an empty answer {:g}, no less than the reference in any form"

TRIED: Final = "tried: {}; give the form of a right answer: --form 'FINAL ANSWER: {{}}', or form="

EQUAL: Final = "right, wrong and empty answers earn the same: every group has zero advantage"


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """The options of an audit.

    Args:
        label: the field that says whether a response of the data is right.
        rows: prompts that are tried; `ROWS_TRIED`, or `JUDGED_ROWS` of a judge, where not given.
        classes: ids of the only classes to try; all where empty.
        without: ids of classes to leave out.
        repeat: times that the same answers are scored.
        thorough: whether every way to write an answer of a class has a row; else a row gets one.
        answers_alone: whether nothing but answers is tried, those that need no right one even where
            nobody knows what is paid. It is for a caller who looks at the contract as well.
        budget: the most scores that may be asked for where each costs; no limit where not given.
        max_usd: dollars that a judge's model may cost; what it is not asked then has no score.
        fail_on: gates beside the defaults: "exploit>0.01".
        accepted: what is known and meant; that of `audit.toml` beside the reward where not given.
        allow_undecided: whether an undecided gate lets the audit pass.
        search: scorer calls of a seeded search; 0 for none.
        latency: whether times are measured.
        pass_at: the share of the scale from which a reward says "right".
        form: of right answers, with {} for the reference: the form that is tried first.
        seed: of every draw.
    """

    label: str | None = None
    rows: int | None = None
    classes: Sequence[str] = ()
    without: Sequence[str] = ()
    repeat: int = REPEATS
    thorough: bool = True
    answers_alone: bool = False
    budget: int | None = None
    max_usd: float | None = None
    fail_on: Sequence[str] = ()
    accepted: Sequence[Acceptance] | None = None
    allow_undecided: bool = False
    search: int = 0
    latency: bool = False
    pass_at: float = 0.5
    form: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class AuditRows:
    """The rows of an audit.

    Args:
        name: of their file; "" for the worked examples.
        samples: as they were read; an invalid row carries its error.
        places: where each stands.
        sha256: of the file; "" for the worked examples.
        columns: of the first row as it is written, and whether each holds a list; empty where
            nobody knows them.
    """

    name: str
    samples: Sequence[Sample | Unscored]
    places: Sequence[str]
    sha256: str = ""
    columns: Mapping[str, bool] = field(default_factory=dict)


def audit(
    target: Any,
    data: str | Path | Sequence[Sample | Mapping[str, Any]] | None = None,
    *,
    parameters: Mapping[str, Any] | Sequence[str] = (),
    judge: str | None = None,
    answers: str | None = None,
    scripted: bool = False,
    how: RowOptions | None = None,
    stage: str = "",
    seconds: float = SECONDS,
    asked: AuditOptions | None = None,
    progress: Callable[[str], object] = lambda _: None,
    confirm: Callable[[int], bool] | None = None,
    **options: Any,
) -> Audit:
    """Say whether a reward can be trained on.

    Args:
        target: a reward's name, a composite's file, any function or its path, a deployment.
        data: a file of rows, with references; or rows, as objects or samples; the reward's worked
            examples where not given.
        parameters: of the reward, by name; or `name=value` strings.
        judge: the settings of a judge.
        answers: the file of a judge's recorded answers, in place of a model.
        scripted: whether a script answers, which obeys every order outside a fence.
        how: the file is read; recognised where not given.
        stage: whose deployment a name means.
        seconds: that a function which is no reward may take for a row.
        asked: what is asked for; or its fields as keywords.
        progress: hears what is being done.
        confirm: asked with the number of answers before a judge's model is, where there is no
            budget.
        options: fields of `AuditOptions`.

    Raises:
        ConfigurationError: the target, the data or an option cannot be used, or a judge has no
            budget.
        OSError: a file cannot be read.
        TypeError: there is no such option.
    """
    known = [each.name for each in fields(AuditOptions)]
    if unknown := [each for each in options if each not in known]:
        near = did_you_mean(unknown[0], known)
        near += f" Options: {', '.join(known)}" * near.endswith("?")
        raise TypeError(f"audit() has no option {unknown[0]!r}{near}")
    wanted = asked or AuditOptions(**options)
    opened = audit_target(
        target,
        parameters=parameters,
        judge=judge,
        answers=answers,
        scripted=scripted,
        stage=stage,
        seconds=seconds,
        max_usd=wanted.max_usd,
    )
    try:
        rows = audit_rows(opened, data, how)
        opened.columns = rows.columns
        names = (opened.name, opened.spec.name if opened.spec else "")
        accepted = gating.accepted_of(target, names, opened.code, wanted.accepted)
        wanted = replace(wanted, accepted=accepted)
        return audited(opened, rows, wanted, progress, confirm)
    finally:
        opened.close()


def audit_rows(
    target: AuditTarget,
    data: str | Path | Sequence[Sample | Mapping[str, Any]] | None,
    how: RowOptions | None,
) -> AuditRows:
    """The rows of an audit.

    Raises:
        BadInput: the file cannot be read as rows.
        ConfigurationError: the objects cannot.
        OSError: the file cannot be read.
    """
    if data is None:
        shown = _examples(target)
        return AuditRows("", shown, [f"example {at}" for at in range(1, len(shown) + 1)])
    if isinstance(data, str | Path):
        samples, places = read_samples(str(data), how or AS_FOUND, answered=False)
        if not Path(data).is_file():
            return AuditRows(str(data), samples, places)
        columns = next((_columns(each.content) for each in objects_of(str(data))), {})
        digest = sha256(Path(data).read_bytes()).hexdigest()
        return AuditRows(str(data), samples, places, digest, columns)
    given = [each for each in data if isinstance(each, Sample)]
    if len(given) == len(data):
        return AuditRows("samples", given, [f"sample {each.id}" for each in given])
    objects = [dict(each) for each in data if isinstance(each, Mapping)]
    if len(objects) < len(data):
        raise ConfigurationError("rows are a file, or objects such as {'prompt': …}, or samples")
    samples, places = samples_in(objects, how or AS_FOUND)
    return AuditRows("rows", samples, places, "", _columns(objects[0]))


def _columns(content: Mapping[str, Any]) -> dict[str, bool]:
    return {name: isinstance(value, list) for name, value in content.items()}


def _examples(target: AuditTarget) -> list[Sample]:
    """The worked examples with the target's own parameters; a question of ours without a spec."""
    if target.spec is None:
        return [sample("", "42", prompt="What is 17 + 25?", id="question")]
    alike = examples_with(target.spec, target.parameters)
    return [
        each.sample(f"example-{at}")
        for at, each in enumerate(target.spec.examples)
        if each.kind == "positive" and (not each.parameters or each in alike)
    ]


def audited(
    target: AuditTarget,
    rows: AuditRows,
    asked: AuditOptions,
    progress: Callable[[str], object] = lambda _: None,
    confirm: Callable[[int], bool] | None = None,
) -> Audit:
    """Audit an opened target on rows that are read; as `audit` says."""
    began = perf_counter()
    work = _Work(target, rows, asked, progress, confirm)
    work.run()
    found = [*work.findings]
    defaults = [*(gating.DEFAULTS if rows.name else gating.WITHOUT_DATA)]
    defaults += gating.LABELLED if asked.label else ()
    gates = gating.gate_decisions(gating.expressions(asked.fail_on, defaults), work.figures)
    gates, found = gating.accept(gates, found, asked.accepted or (), work.figures)
    return Audit(
        target={
            "kind": target.kind,
            "name": target.name,
            "version": target.version,
            "digest": target.digest,
            "convention": target.convention,
        },
        data={
            "file": rows.name,
            "rows": len(rows.samples),
            "prompts": len(work.corpus.cases),
            "sha256": rows.sha256,
        },
        figures=work.figures,
        findings=found,
        gates=gates,
        measured=work.measured,
        seconds=perf_counter() - began,
        calls=target.calls,
        dollars=target.dollars if target.judges else None,
        notes=[target.described, *work.notes],
        allow_undecided=asked.allow_undecided,
    )


@dataclass
class _Work:
    """One audit while it goes on."""

    target: AuditTarget
    rows: AuditRows
    asked: AuditOptions
    progress: Callable[[str], object]
    confirm: Callable[[int], bool] | None = None
    corpus: Corpus = field(default_factory=lambda: Corpus(()))
    figures: list[Figure] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    measured: Measured = field(default_factory=lambda: Measured("answers", 0))
    unreadable: list[tuple[str, Exception]] = field(default_factory=list)

    def run(self) -> None:
        """Measure everything."""
        drawn, places = self.drawn()
        if not self.asked.answers_alone:
            if not self.target.judges:
                self.contract(drawn)
            self.rollouts()
        known = drawn and not self.target.scripted
        gold = gold_of(self.target, drawn, self.asked.form) if known else None
        if gold is None or isinstance(gold, Unpaid):
            self.without_gold(drawn, places, gold)
        elif isinstance(gold, Exception):
            self.without_scores(gold, drawn, places)
        else:
            self.with_gold(gold, drawn, places)
        if self.target.judges and not self.asked.answers_alone:
            self.contract(drawn)  # which costs: somebody has agreed by now

    def without_scores(
        self, error: Exception, drawn: Sequence[Sample], places: Sequence[str]
    ) -> None:
        """Say that no answer has a score, and why."""
        self.notes.append(f"no answer has a score: {type(error).__name__}: {error}")
        self.unreadable += [(place, error) for place in places]
        figure, findings = unscored([], self.corpus, self.unreadable)
        self.figures.append(figure)
        self.findings += findings
        self.measured += Measured("answers", 0, len(drawn))

    def drawn(self) -> tuple[list[Sample], list[str]]:
        """One row of each prompt that is tried; what is no sample is kept as unreadable."""
        first: dict[object, int] = {}
        for at, each in enumerate(self.rows.samples):
            if isinstance(each, Sample):
                first.setdefault(each.context, at)
            else:
                self.unreadable.append((self.rows.places[at], each.error))
        most = self.asked.rows or (JUDGED_ROWS if self.target.judges else ROWS_TRIED)
        positions = [*first.values()]
        if len(positions) > most:
            positions = sorted(Random(self.asked.seed).sample(positions, most))  # noqa: S311
        chosen = [self.rows.samples[at] for at in positions]
        return (
            [each for each in chosen if isinstance(each, Sample)],
            [self.rows.places[at] for at in positions],
        )

    def score(self, samples: Sequence[Sample]) -> Sequence[RewardResult]:
        """The reward over a batch."""
        return self.target.score(samples)

    def reason(self, one: Sample) -> str:
        """The reward's own reason for a score, where it is of this process and free."""
        if self.target.spec is None or self.target.judges or self.target.calls:
            return ""
        (result,) = self.target.score([one])
        return result.score.reason if isinstance(result, Scored) else ""

    def rollouts(self) -> None:
        """What the reward gives to the responses of the data, where it holds some."""
        samples = self.rows.samples
        answered = any(
            isinstance(each, Sample) and (each.response or each.tool_calls) for each in samples
        )
        if not (self.rows.name and answered) or self.target.judges:
            if self.asked.label:
                raise ConfigurationError("--label: the rows hold no responses that a label is of")
            return
        self.progress(f"scoring the {len(samples):,} responses of the data")
        valid = [each for each in samples if isinstance(each, Sample)]
        scored = iter(self.target.score(valid, group=self.together))
        results = [next(scored) if isinstance(each, Sample) else each for each in samples]
        earned = Earned.of(samples, results, self.target.scale, self.asked.pass_at)
        scale = self.target.scale or UNIT_SCALE
        labels = labels_of(samples, self.asked.label, scale) if self.asked.label else None
        figures, findings = group_measures(earned, self.rows.places, labels)
        self.figures += [
            replace(each, id="unscored.rollouts") if each.id == "unscored" else each
            for each in figures
        ]
        self.findings += findings
        lost = sum(isinstance(each, Unscored) for each in results)
        self.measured += Measured("answers", len(results) - lost, lost)

    def contract(self, drawn: Sequence[Sample]) -> None:
        """What a trainer relies on, whatever the answers are."""
        self.progress("looking at the contract")
        breaches = [*self.target.probe(drawn), *self.promises()]
        self.figures.append(Figure("contract", float(len(breaches)), n=len(drawn), unit="count"))
        message = "; ".join(breaches) or "one result a row, in order, inside the scale"
        self.findings.append(
            Finding(
                "CONTRACT",
                "the contract",
                "broken" if breaches else "ok",
                message,
                len(breaches),
                len(drawn),
                figure="contract",
            )
        )
        self.findings += self.target.seen

    def promises(self) -> list[str]:
        """What a reward of ours promises and does not keep, one sentence a property."""
        spec = self.target.spec
        if spec is None or self.target.kind not in ("reward", "composite"):
            return []
        broken: list[str] = []
        if missing := lacking(spec):
            sentence = f"before it can be deployed it needs {'; '.join(missing)}"
            (self.notes if self.rows.name else broken).append(sentence)
        for name in PROMISES:
            try:
                CONTRACT[name](spec)
            except AssertionError as error:
                broken.append(str(error).partition("\n")[0])
            except SkipTest:  # Powertools is not here, and no handler runs without it
                continue
            except (ConfigurationError, *IMPORT_ERRORS) as error:
                broken.append(f"{spec.name} raises {type(error).__name__}: {error}")
        return [*dict.fromkeys(broken)]

    def classes(self, *, needs_right: bool) -> list[AnswerClass]:
        """The classes that are asked for.

        Raises:
            ConfigurationError: there is no class of that id.
        """
        for each in (*self.asked.classes, *self.asked.without):
            if each not in BY_ID:
                raise ConfigurationError(f"no class is called {each!r}{did_you_mean(each, BY_ID)}")
        return [
            each
            for each in CLASSES
            if (not self.asked.classes or each.id in self.asked.classes)
            and each.id not in self.asked.without
            and (needs_right or not each.needs_right)
        ]

    def without_gold(
        self, drawn: Sequence[Sample], places: Sequence[str], unpaid: Unpaid | None
    ) -> None:
        """Answers that nobody should pay, whatever is right; the rest was not measured."""
        references = any(each.reference is not None for each in drawn)
        spec = self.target.spec
        why = "the rows have no references" if not references else "the reward writes none"
        if self.target.scripted:
            why = "a script gives the best verdict to an order, and the worst to all else"
        elif unpaid and unpaid.empty > 0.0:
            why = ALL_PAID.format(unpaid.empty)
        elif spec is None and references:
            why = "no form of the reference earns more than an empty answer"
            why = why if unpaid else "no reference is a text or a number"
            if not self.asked.answers_alone:
                self.notes.append(f"{why}: what it pays for is not known, and nothing was measured")
                self.notes += [TRIED.format(unpaid.forms)] if unpaid else []
                self.measured = Measured("answers", 0)  # the responses of the data say nothing else
                return
        self.notes.append(
            f"right answers are not known, so only answers that need none were tried: {why}"
        )
        most = [unpaid.empty] if unpaid and unpaid.empty > 0.0 else []
        self.notes += [TRIED.format(unpaid.forms)] if unpaid and most else []
        self.corpus = Corpus(
            [ReplayCase(place, each, "") for place, each in zip(places, drawn, strict=True)]
        )
        self.require_budget()
        self.measure([], earnings(self.target.scale, most, declared=declared_by(self.target.spec)))
        self.determinism()

    def with_gold(self, gold: Gold, drawn: Sequence[Sample], places: Sequence[str]) -> None:
        """Both sides: answers that must not be paid, and answers that must be."""
        self.notes.append(f"right answers are {gold.described}")
        cases, unreadable = cases_of(gold, drawn, places)
        self.unreadable += unreadable
        self.corpus = Corpus(cases)
        if not cases:
            self.count([])
            return
        self.require_budget()
        self.progress(f"scoring right answers to {len(cases):,} prompts")
        right, wrong, empty = map(self.tried, (RIGHT, BY_ID["EX-WRONG"], BY_ID["EX-EMPTY"]))
        earned = earnings(
            self.target.scale,
            right.values,
            wrong.values,
            empty.values,
            declared=declared_by(self.target.spec),
        )
        if not earned.tells_apart:
            self.notes.append("right and wrong answers earn the same: every group has no advantage")
        self.measure([right, wrong, empty], earned)
        self.look_at_all([right, wrong, empty])
        self.determinism([right, wrong, empty])
        if not (self.target.judges or self.asked.answers_alone):
            figure, rise = padding(self.corpus, self.score, earned)
            self.figures.append(figure)
            if rise > PADDED_ALIKE:
                why = LONGER.format(rise)
                self.findings.append(Finding("LENGTH", "words before an answer", "note", why))
        if self.asked.latency:
            self.progress("measuring times")
            figures, findings = latency(
                self.corpus, self.score, elsewhere=self.target.spec is None or self.target.judges
            )
            self.figures += figures
            self.findings += findings
        if self.asked.search:
            self.progress(f"searching with {self.asked.search:,} answers")
            figure, finding = search(
                self.corpus,
                self.score,
                earned,
                calls=self.asked.search,
                seed=self.asked.seed,
                name=self.target.name,
            )
            self.figures.append(figure)
            self.findings.append(finding)

    def require_budget(self) -> None:
        """Take as many rows as the budget of a judge allows, or ask before anything is spent.

        Raises:
            ConfigurationError: there is no budget and nobody agrees, or it is too small.
        """
        if not self.target.judges:
            return
        needed = self.answers_asked()
        budget = self.asked.budget
        if budget is None:
            if self.asked.max_usd is not None:
                return
            if self.confirm is None or not self.confirm(needed):
                raise ConfigurationError(
                    f"the audit asks the judge's model about at most {needed:,} answers: give a "
                    f"budget (--budget {needed}, or in dollars, '$1'), or agree to it (--yes)"
                )
            return
        while needed > budget and len(self.corpus.cases) > 1:
            kept = max(1, len(self.corpus.cases) * budget // needed)
            self.corpus = Corpus(self.corpus.cases[: min(kept, len(self.corpus.cases) - 1)])
            needed = self.answers_asked()
        if needed > budget:
            raise ConfigurationError(
                f"a budget of {budget:,} is too small: one row takes at most {needed:,} answers; "
                "leave classes out (--without EX-HOSTILE), or raise it"
            )

    def answers_asked(self) -> int:
        """How many answers these rows take at most, those for the contract with them."""
        samples = [case.sample for case in self.corpus.cases]
        probed = 0 if self.asked.answers_alone else self.target.probed(samples)
        return answers_asked(self.asked, self.corpus) + probed

    @property
    def together(self) -> bool:
        """Whether answers are one batch: the reward compares those of a group."""
        return self.target.spec is not None and self.target.spec.needs.group

    def measure(self, known: Sequence[Fared], earned: Earnings) -> None:
        """Every class that is asked for, with figures and findings."""
        done = {each.answers.id: each for each in known}
        fared = [done[RIGHT.id]] if RIGHT.id in done else []
        for answers in self.classes(needs_right=bool(known)):
            self.progress(f"scoring answers: {answers.title}")
            each = done.get(answers.id) or self.tried(answers)
            if each.tried or not answers.special:
                fared.append(each)
        all_judged = [self.judged(each, earned) for each in fared if each.answers.id not in ALWAYS]
        self.figures += [each.figure for each in all_judged]
        self.findings += [each.finding for each in all_judged]
        self.figures.append(self.exploit(all_judged))
        self.figures.append(ceiling(all_judged, self.corpus))
        for each in fared:
            if each.answers.id in ALWAYS and self.corpus.cases:
                figure, finding = lazy(each, self.corpus, earned)
                self.figures.append(figure)
                self.findings.append(finding)
        if "FN-LAYOUT" in (named := {each.answers.id: each for each in fared}):
            self.figures.append(by_form(named["FN-LAYOUT"], earned))
        self.count(fared)

    def count(self, fared: Sequence[Fared]) -> None:
        """How many answers have a score, and which rows have an answer without one."""
        figure, findings = unscored(fared, self.corpus, self.unreadable)
        self.figures.append(figure)
        self.findings += findings
        scored = sum(len(each.values) for each in fared)
        missing = sum(len(each.errors) for each in fared)
        unasked = sum(each.unasked for each in fared)
        self.measured += Measured("answers", scored - unasked, missing, unasked)

    def tried(self, answers: AnswerClass) -> Fared:
        """The answers of a class, scored."""
        return tried(
            answers,
            self.corpus,
            self.score,
            together=self.together,
            thorough=self.asked.thorough,
        )

    def look_at_all(self, ends: Sequence[Fared]) -> None:
        """What teaches nothing: one right answer to every row, or one reward for every answer."""
        rows = len(self.corpus.cases)
        if rows > 1 and len({folded(right) for right in self.corpus.rights}) == 1:
            self.findings.append(Finding("ALIKE", "one right answer", "note", ALIKE, rows, rows))
        values = {mean(each.values) for each in ends if each.values}
        if len(values) == 1:
            self.findings.append(
                Finding("EQUAL", "right and wrong alike", "broken", EQUAL, rows, rows)
            )

    def judged(self, fared: Fared, earned: Earnings) -> Judged:
        """A class held to what its answers may earn, where there is room below a right answer."""
        found = judged(fared, self.corpus, earned, self.reason)
        if earned.tells_apart or fared.answers.earns == "all":
            return found
        why = "the reward declares to pay a wrong answer as much as a right one: not tested"
        figure = Figure(found.figure.id, None, why=why)
        finding = Finding(
            fared.answers.id, fared.answers.title, "untested", why, figure=found.figure.id
        )
        return Judged(fared, frozenset(), figure, finding)

    def exploit(self, all_judged: Iterable[Judged]) -> Figure:
        """The share of prompts that any class has paid; a class that is accepted is left out."""
        accepted = self.asked.accepted or ()
        held = [
            each
            for each in all_judged
            if each.fared.answers.earns in ("nothing", "credit")
            and each.figure.value is not None
            and not any(
                one.id in (each.finding.id, each.figure.id) and one.covers(each.figure.value)
                for one in accepted
            )
        ]
        if not held:
            return Figure("exploit", None, why="no class of wrong answers was tested")
        paid = frozenset[int]().union(*(each.wrong for each in held))
        prompts = max(each.figure.n for each in held)
        found = share(len(paid), prompts, prompts)
        return Figure("exploit", found.value, found.low, found.high, prompts)

    def determinism(self, known: Sequence[Fared] = ()) -> None:
        """The same answers again, shuffled and alone: which rows earn something else.

        Args:
            known: what some of them earned first, in their classes: a state shows from then on.
        """
        if self.asked.repeat < 2 or not self.corpus.cases:  # noqa: PLR2004 - no second time
            return
        self.progress("scoring the same answers again")
        random = Random(self.asked.seed)  # noqa: S311 - the same order in every run
        cases = self.corpus.cases
        answers = [
            (at, text)
            for at, case in enumerate(cases)
            for text in (case.right or REASONED, case.another or case.sample.prompt, "")
        ]
        positions = [*range(len(answers))]
        orders = [random.sample(positions, len(positions)) for _ in range(self.asked.repeat)]
        first: dict[tuple[int, str], float | str] = {}
        if not self.together:  # where others of the batch count, the first batch was another
            orders += [[at] for at in random.sample(positions, min(ALONE, len(positions)))]
            first = {
                (each.at, fared.answers.ways(cases[each.at], self.corpus)[each.way]): each.value
                for fared in known
                for each in fared.tried
                if each.value == each.value
            }
        before = {at: first[answer] for at, answer in enumerate(answers) if answer in first}
        moved: dict[int, tuple[int, object]] = {}
        for order in orders:
            for position, after in self.outcomes(answers, order).items():
                if after != before.setdefault(position, after):
                    moved.setdefault(answers[position][0], (position, after))
        prompts = len(self.corpus.cases)
        found = share(len(moved), prompts, prompts)
        self.figures.append(Figure("determinism", found.value, found.low, found.high, prompts))
        rows = [
            SeenRow(
                self.corpus.cases[at].place,
                answers[position][1],
                before[position] if isinstance(before[position], float) else None,  # type: ignore[arg-type]
                reason=f"{after} the next time",
            )
            for at, (position, after) in [*moved.items()][:ROWS]
        ]
        message = (
            f"{len(moved):,} of {prompts:,} prompts earn something else again, shuffled or alone"
            if moved
            else f"{prompts:,} prompts earn the same {self.asked.repeat} times, shuffled and alone"
        )
        self.findings.append(
            Finding(
                "DETERMINISM",
                "the same again",
                "broken" if moved else "ok",
                message,
                len(moved),
                prompts,
                rows,
                "determinism",
            )
        )

    def outcomes(
        self, answers: Sequence[tuple[int, str]], order: Iterable[int]
    ) -> dict[int, float | str]:
        """What each answer earns in this order, by its position; the kind of an error without."""
        positions = [*order]
        asked = [
            self.corpus.cases[answers[at][0]].sample.answered(answers[at][1]) for at in positions
        ]
        return {
            at: each.score.value if isinstance(each, Scored) else type(each.error).__name__
            for at, each in zip(positions, self.score(asked), strict=True)
        }


def cases_of(
    gold: Gold, samples: Sequence[Sample], places: Sequence[str]
) -> tuple[list[ReplayCase], list[tuple[str, Exception]]]:
    """The rows whose right answer is known, and the others, with the reason.

    The wrong answer to yes is no. To any other row it is the next right answer that is another
    text, around the end. Where there is no other, it is a near miss, if one can be made.
    """

    def write(sample: Sample) -> Score:  # as a reward, so that what it raises is kept by the row
        response = gold.write(sample)
        if not isinstance(response, str):
            raise TypeError(f"the gold response is {type(response).__name__}, not a string")
        return Score(0.0, answer=response)

    cases: list[ReplayCase] = []
    unreadable: list[tuple[str, Exception]] = []
    for place, one, result in zip(places, samples, score_batch(write, samples), strict=True):
        if isinstance(result, Scored):
            cases.append(ReplayCase(place, one, result.score.answer or ""))
        else:
            unreadable.append((place, result.error))
    return _with_wrong_answers(cases), unreadable


def _with_wrong_answers(cases: Sequence[ReplayCase]) -> list[ReplayCase]:
    normal = [folded(case.right) for case in cases]
    wrong: dict[int, str] = {}
    donor = following = None
    for at in reversed([*range(len(cases))] * 2):
        if following is not None and normal[following] != normal[at]:
            donor = following
        if donor is not None:
            wrong[at] = cases[donor].right
        following = at
    return [
        case._replace(wrong=opposite(case) or wrong.get(at) or next(iter(near_misses(case)), None))
        for at, case in enumerate(cases)
    ]


def answers_asked(asked: AuditOptions, corpus: Corpus) -> int:
    """How many answers an audit of these rows has at most.

    They are right ones, those of all classes, those again, and those of a search and of times.
    """
    cases = len(corpus.cases)
    ids = {*(asked.classes or BY_ID)} - {*asked.without} | {"EX-WRONG", "EX-EMPTY"}
    tried = [each for each in CLASSES if each.id in ids]
    again = asked.repeat * 3 * cases + min(ALONE, 3 * cases) if asked.repeat > 1 else 0
    searched = asked.search + SHORTEST_CALLS * cases if asked.search else 0
    timed = (cases + FLOODED) * asked.latency
    return cases + count(tried, corpus, thorough=asked.thorough) + again + searched + timed
