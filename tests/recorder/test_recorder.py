"""The recorder says the same twice, and what it finds different is different."""

import json
from itertools import chain, islice

import pytest

from tests.recorder import __main__ as command
from tests.recorder import comparing, labelled, names, recording, surface
from tests.recorder.mutations import Pool
from tests.recorder.rows import Trial, row


@pytest.fixture(scope="module")
def ours():
    return list(labelled.own())


@pytest.fixture
def few(monkeypatch, ours):
    """All examples and the mutations, in place of everything."""
    pool = Pool(ours, [])

    def trials(*, mutations, seed):
        return chain(surface.examples(), (pool.trial(seed, at) for at in range(mutations)))

    monkeypatch.setattr(recording, "trials", trials)


def line(**said):
    """A line of a record."""
    return {
        "case": "0123",
        "reward": "math",
        "parameters": {},
        "judge": "",
        "where": "cases/math.jsonl:1",
        "reference": "5",
        "response": "\\boxed{5}",
        "version": 1,
        "asked": [],
        "score": 1.0,
        "metrics": [["answered", 1.0, "Metric"]],
        "answer": "5",
        "rule": "exact rational",
        "reason": "the same number",
        "error": None,
        **said,
    }


def compared(old, new, tables=None, **options):
    return comparing.compare(old, new, tables or names.Names(), **options)


def test_two_records_of_one_checkout_are_the_same_file(few, tmp_path):
    paths = [tmp_path / name for name in ("once.jsonl", "again.jsonl")]
    for path in paths:
        assert command.main(["record", str(path), "--mutations", "50"]) == 0
    once, again = (path.read_bytes() for path in paths)
    assert once == again
    assert command.main(["compare", *map(str, paths)]) == 0


def test_a_record_holds_scores_of_every_reward_and_no_mistake_of_ours(few, tmp_path):
    summary = recording.record(tmp_path / "out.jsonl", mutations=50, seed=1)
    assert summary.versions.keys() == surface.specs().keys()
    assert summary.errors.keys() <= {"BadReference", "NoVerdict"}


def test_a_mutation_is_the_same_whichever_others_are_made(ours):
    pool, again = Pool(ours, []), Pool(reversed(ours), [])
    assert [pool.trial(1, at).rows for at in (3, 700)] == [
        again.trial(1, at).rows for at in (3, 700)
    ]
    assert pool.trial(1, 3).rows != pool.trial(2, 3).rows


def test_a_new_row_moves_only_the_mutations_that_draw_it(ours):
    new = [("math", row("cases/math.jsonl:9999", "So it is \\boxed{7}.", "7"))]
    before, after = (Pool(rows, []) for rows in (ours, ours + new))
    moved = [at for at in range(500) if before.trial(1, at).rows != after.trial(1, at).rows]
    assert len(moved) < 10


def test_a_row_keeps_its_name_wherever_it_stands():
    here, there = (row(where, "5", "5", "How many?") for where in ("a.jsonl:1", "b/c.jsonl:2"))
    assert here.name == there.name
    assert here.name != row("a.jsonl:1", "5", "6", "How many?").name


def test_a_row_is_scored_by_the_defaults_and_once_more(ours):
    first, second, *_ = labelled.trials(ours)
    assert first.rows == second.rows
    assert not first.parameters
    assert second.parameters in labelled.VARIANTS[second.reward]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("score", {"score": 0.0}),
        ("version", {"version": 2}),
        ("rule", {"rule": "same text"}),
        ("reason", {"reason": "another number"}),
        ("answer", {"answer": "6"}),
        ("error", {"error": "BadReference"}),
        ("asked", {"asked": ["0f"]}),
        ("metric answered", {"metrics": [["answered", 0.0, "Metric"]]}),
        ("metric answered", {"metrics": [["answered", 1.0, "Reward"]]}),
        ("metrics", {"metrics": [["answered", 1.0, "Metric"], ["undecided", 0.0, "Metric"]]}),
    ],
)
def test_whatever_changes_is_found(name, change):
    found = compared([line()], [line(**change)])
    assert ("math", name) in found.kinds
    assert (found.same, found.differing) == (0, 1)
    assert found.fails(allow_missing=True)
    assert any(name in told for told in comparing.report(found))


def test_what_a_reader_is_shown_may_change():
    found = compared([line()], [line(where="cases/moved.jsonl:7", response="…", reference="…")])
    assert found.same == 1
    assert not found.fails(allow_missing=False)


def test_a_field_can_be_ignored():
    changed = line(reason="equal numbers")
    assert not compared([line()], [changed], ignored=["reason"]).fails(allow_missing=False)


def test_renames_are_no_differences():
    tables = names.Names(
        parameters={"rounded": "digits"},
        values={"sibling": "group"},
        metrics={"answered": "extracted"},
        rules={"exact rational": "equal-rationals"},
        errors={"BadKnob": "BadParameter"},
        reasons={"number": "value", "the same": "equal", "value": "number"},
    )
    old = line(parameters={"rounded": 2, "against": "sibling"}, error="BadKnob")
    new = line(
        parameters={"digits": 2, "against": "group"},
        metrics=[["extracted", 1.0, "Metric"]],
        rule="equal-rationals",
        reason="equal value",
        error="BadParameter",
    )
    assert not compared([old], [new], tables).fails(allow_missing=False)
    assert compared([old], [new]).fails(allow_missing=False)


def test_two_records_from_before_the_renames_are_compared_too():
    tables = names.Names(values={"sibling": "group"}, errors={"NoSibling": "NoOtherResponse"})
    old = line(parameters={"against": "sibling"}, error="NoSibling")
    assert not compared([old], [old], tables).fails(allow_missing=False)
    assert compared([old], [{**old, "version": 2}], tables).fails(allow_missing=False)


def test_a_row_of_one_side_fails_unless_it_is_allowed():
    other = line(case="4567", where="cases/gsm8k.jsonl:3")
    for found in (compared([line(), other], [line()]), compared([line()], [line(), other])):
        assert found.fails(allow_missing=False)
        assert not found.fails(allow_missing=True)
        assert any("cases/gsm8k.jsonl" in told for told in comparing.report(found))


def test_what_the_machine_decided_is_told_apart(monkeypatch):
    monkeypatch.setattr(comparing, "INCOMPARABLE", 0.5)
    late = line(score=0.0, reason="too much algebra: the time is used up")
    gone = line(score=None, error="EngineUnavailable")
    other = line(case="4567")
    for spoilt in (late, gone):
        found = compared([line(), other], [spoilt, other], names.read())
        assert (len(found.engine), found.same) == (1, 1)
        assert not found.fails(allow_missing=False)


def test_whether_calls_are_used_up_is_no_matter_of_the_machine():
    counted = line(score=0.0, reason="too much algebra: the calls are used up")
    assert not names.read().rests_on_the_engine(counted)
    assert compared([line()], [counted], names.read()).differing == 1


def test_an_engine_that_is_never_there_is_a_failure():
    gone = line(score=None, error="EngineUnavailable")
    assert compared([line()], [gone], names.read()).fails(allow_missing=True)


def test_a_renamed_parameter_is_bound_by_its_new_name(monkeypatch, ours):
    monkeypatch.setattr(surface, "NAMES", names.Names(parameters={"round_to": "rounded"}))
    trial = next(islice(labelled.trials(ours), 1))
    renamed = Trial("math", trial.rows, {"round_to": 2})
    (told,) = surface.outcomes(renamed)
    assert told["parameters"] == {"rounded": 2}


def test_every_line_is_json_of_one_line():
    awkward = row("x:1", "\ud800\u2028\n\0 \\boxed{5}", "5")
    (told,) = surface.outcomes(Trial("math", (awkward,)))
    assert "\n" not in json.dumps(told)
    assert json.dumps(told).isascii()
