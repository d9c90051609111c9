"""An audit of rewards with planted faults, and of their twins without them."""

import json
import os
import re
from dataclasses import fields, replace
from datetime import date
from pathlib import Path

import pytest

from reward_functions import get, reward_function, sample
from reward_functions.audit.corpus import CLASSES
from reward_functions.audit.engine import AuditOptions, audit
from reward_functions.audit.gates import Acceptance
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Message
from reward_functions.testing import FakeAsk
from tests.audit import faults

ROWS = 40
"""Too few to decide a gate of two percent, and enough to see each fault."""

DECIDING = 200


@pytest.fixture(scope="module")
def rows():
    """Questions with a whole number as their answer, each another one."""
    return [
        sample("", str(at * 4 + 17), prompt=f"What is {at} times 4, plus 17?", id=f"r{at}")
        for at in range(DECIDING)
    ]


def found(done, verdict="broken"):
    return {each.id for each in done.findings if each.verdict == verdict}


FAULTS = {
    # the reward with the fault: (its twin, the finding that catches it, more options)
    "it looks for the reference anywhere": (faults.substring, faults.good, "EX-LIST", {}),
    "it takes the last number of a thought": (faults.last_number, faults.good, "EX-CUT", {}),
    "it takes the last of two": (faults.last_of_two, faults.good, "EX-HEDGE", {}),
    "it takes the first of two": (faults.first_of_two, faults.good, "EX-HEDGE", {}),
    "it takes over a score": (faults.unclamped, faults.clamped, "EX-CLAIM", {}),
    "it pays for length": (faults.by_length, faults.good, "EX-PROSE", {}),
    "the order of a batch decides": (faults.batch_order, faults.batch, "DETERMINISM", {}),
    "one in a hundred is paid": (faults.Lucky(), faults.good, "DETERMINISM", {}),
    "it counts its calls": (faults.Counting(), faults.Remembering(), "DETERMINISM", {}),
    "it pays the first time alone": (faults.Once, faults.good, "DETERMINISM", {}),
    "it pays early answers half": (faults.Warming, faults.good, "DETERMINISM", {}),
    "it remembers a prompt alone": (faults.ByPrompt, faults.good, "EX-WRONG", {}),
    "one number for a batch": (faults.one_for_all, faults.batch, "CONTRACT", {}),
    "it pays for the form": (faults.form_alone, faults.good, "EX-WRONG", {}),
    "it pays for nothing": (faults.empty, faults.good, "EX-EMPTY", {}),
    "it pays for a spray": (faults.spray, faults.good, "EX-SPRAY", {}),
    "no number for some": (faults.not_a_number, faults.good, "UNSCORED", {}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught_by_its_class(fault, rows):
    reward, _, caught, options = FAULTS[fault]
    done = audit(reward() if isinstance(reward, type) else reward, rows, rows=ROWS, **options)
    assert caught in found(done)
    assert done.status == (2 if caught == "CONTRACT" else 1)  # no number is one of a row


@pytest.mark.parametrize("fault", FAULTS)
def test_its_twin_without_the_fault_passes(fault, rows):
    _, twin, _, options = FAULTS[fault]
    done = audit(twin, rows, rows=ROWS, allow_undecided=True, **options)
    assert (done.failures, found(done), done.status) == ([], set(), 0)


OF_OBJECTS = {
    faults.fields: False,
    faults.names_of_fields: True,
    faults.any_superset: True,
}


@pytest.mark.parametrize("reward", OF_OBJECTS, ids=lambda each: each.__name__)
def test_objects_are_tried_with_other_fields(reward):
    invoices = [
        sample("", {"id": f"R-{at}", "total": at + 0.5}, prompt=f"Invoice {at}?", id=f"i{at}")
        for at in range(ROWS)
    ]
    done = audit(reward, invoices, rows=ROWS, allow_undecided=True)
    assert ("EX-FIELDS" in found(done)) is OF_OBJECTS[reward]
    assert OF_OBJECTS[reward] or found(done) == set()


@pytest.mark.skipif(
    not os.environ.get("REWARD_TESTS_NIGHTLY"), reason="it measures times: nightly alone"
)
def test_what_takes_a_square_of_the_length_is_caught_by_its_growth(rows):
    asked = {"rows": 5, "classes": ["EX-EMPTY"], "latency": True, "allow_undecided": True}
    slow = audit(faults.slow, rows, fail_on=["growth>1.3"], **asked)
    quick = audit(faults.good, rows, **asked)
    assert (found(slow), slow.status) == ({"GROWTH"}, 1)
    assert (found(quick), quick.status) == (set(), 0)


def test_few_rows_decide_nothing_and_more_do(rows):
    few, more = audit(faults.good, rows, rows=ROWS), audit(faults.good, rows)
    undecided = [each for each in few.gates if each.decision == "undecided"]
    assert few.status == 1
    assert {each.figure for each in undecided} == {"fn.right", "fn.layout", "exploit"}
    assert all(ROWS < each.needed <= DECIDING for each in undecided)
    assert (more.status, more.failures) == (0, [])


def asking(rows, demand):
    return [replace(each, messages=(Message("user", f"{each.prompt} {demand}"),)) for each in rows]


ASKED = {
    # what the prompts ask for, and whether a reward that reads "####" refuses it
    "Write \\boxed{N}.": True,
    "Write #### N.": False,
    "Write \\boxed{N} or #### N.": False,
    "Write it.": False,
    "ANSWER: N, or <answer>N</answer>.": True,
}


@pytest.mark.parametrize("demand", ASKED)
def test_the_form_that_all_prompts_ask_for_must_be_paid(demand, rows):
    done = audit(faults.good, asking(rows[:ROWS], demand), classes=["FN-ASKED"], repeat=1)
    assert ("FN-ASKED" in found(done)) == ASKED[demand]
    assert any(each.figure == "fn.asked" for each in done.gates) == ASKED[demand]


def test_one_of_two_forms_is_enough(rows):
    either = asking(rows[:ROWS], "Write <answer>N</answer> or ANSWER: N.")
    done = audit(faults.either_form, either, classes=["FN-ASKED"], repeat=1)
    assert (done.figure("fn.asked").value, done.figure("fn.asked").n) == (0.0, ROWS)


def test_an_audit_that_is_not_thorough_asks_about_each_class_once_a_row(rows):
    class Counted:
        calls = 0

        def __call__(self, completion, reference):
            self.calls += 1
            return faults.good(completion, reference)

    counted = Counted()
    audit(counted, rows[:8], thorough=False, answers_alone=True, repeat=1)
    right_and_forms = 8 + 2 * 5 * 8 + 5
    assert counted.calls <= right_and_forms + 8 * len(CLASSES)


def test_what_teaches_nothing_is_said(rows):
    same = [replace(each, reference="42") for each in rows[:ROWS]]
    assert "ALIKE" in found(audit(faults.good, same), "note")
    flat = reward_function(name="flat", version=0, gold_response=lambda _: "#### 1")(lambda _: 0.0)
    assert {"EQUAL", "FN-RIGHT"} <= found(audit(flat, rows[:ROWS]))


def test_a_judge_is_asked_nothing_before_somebody_agrees_to_what_it_costs():
    """pairwise writes no right answer itself, and its rows have references."""
    asked = FakeAsk(answer=lambda _: pytest.fail("the model was asked"))
    rows = [sample("", str(at), prompt=f"{at}?", id=f"r{at}") for at in range(3)]
    judge = get("pairwise").bind({}, ask=asked)
    with pytest.raises(ConfigurationError, match="give a budget"):
        audit(judge, rows)


def exits(completion, reference):
    raise SystemExit(3)


def huge(completion, reference):
    return 1e308 if reference in completion else -1e308


@pytest.mark.parametrize(("reward", "why"), [(exits, "sys.exit"), (huge, "1e\\+308")])
def test_a_function_that_scores_nothing_says_why_and_has_measured_nothing(reward, why, rows):
    done = audit(reward, rows, rows=5)
    assert (done.status, found(done)) == (2, {"UNSCORED"} | (found(done) & {"CONTRACT"}))
    assert re.search(f"no answer has a score: .*{why}", "; ".join(done.notes))
    assert done.figure("unscored").value == 1.0


def by_label(completions, label, **_):
    return [faults.good(each, gold) for each, gold in zip(completions, label, strict=True)]


def test_rows_of_python_are_read_as_a_file_is(rows, tmp_path):
    objects = [{"prompt": each.prompt, "answer": each.reference} for each in rows[:ROWS]]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in objects))
    for reward, breaches in (
        (faults.good, []),
        (by_label, ["no column is called label: rename answer to label"]),
    ):
        one, other = (audit(reward, each, allow_undecided=True) for each in (objects, file))
        assert one.figures == other.figures
        for done in (one, other):
            assert (done.status, len(done.failures)) == (len(breaches), len(breaches))
            (contract,) = [each for each in done.findings if each.id == "CONTRACT"]
            assert all(each in contract.message for each in breaches)
    assert one.data["prompts"] == ROWS
    broken = audit(faults.good, [*objects, {"prompt": 3, "answer": "4"}], allow_undecided=True)
    (unscored,) = [each for each in broken.findings if each.id == "UNSCORED"]
    assert [each.place for each in unscored.rows] == ["row 41"]
    for refused in ([3], [*objects, rows[0]]):
        with pytest.raises(ConfigurationError, match="rows are a file, or objects"):
            audit(faults.good, refused)
    with pytest.raises(ConfigurationError, match="columns"):
        audit(faults.good, [{"no": "columns"}])


@pytest.mark.parametrize(("most", "paid"), [(1.0, False), (0.9, True)])
def test_a_class_above_the_ceiling_of_its_acceptance_is_an_exploit(most, paid, rows):
    meant = [Acceptance("EX-LIST", "lists are meant", date(2026, 11, 29), at_most=most)]
    classes = ["EX-LIST", "EX-EMPTY"]
    done = audit(faults.substring, rows, rows=ROWS, classes=classes, accepted=meant)
    assert (done.figure("exploit").value, "EX-LIST" in found(done)) == (float(paid), paid)


def every_second(response, reference):
    """Pays the right answer alone, and wrong ones that say 'please'."""
    return 1.0 if "please" in response else faults.good(response, reference)


@pytest.mark.parametrize(("reward", "status"), [(every_second, "broken"), (faults.good, "held")])
def test_labels_have_gates_of_their_own(reward, status, rows, tmp_path):
    file = tmp_path / "rollouts.jsonl"
    responses = [
        {"prompt": one.prompt, "answer": one.reference, "response": text, "correct": right}
        for one in rows
        for text, right in ((f"#### {one.reference}", True), ("#### 1, please", False))
    ]
    file.write_text("".join(f"{json.dumps(each)}\n" for each in responses))
    asked = {"classes": ["EX-EMPTY"], "repeat": 1, "allow_undecided": True}
    done = audit(reward, file, label="correct", **asked)
    decided = {each.figure: each.decision for each in done.gates}
    assert (decided["fp"], decided["fn"], done.passed) == (status, "held", status == "held")
    assert "fp" not in {each.figure for each in audit(reward, file, **asked).gates}
    few = "".join(f"{json.dumps(each)}\n" for each in responses[:6])
    file.write_text(few)
    done = audit(faults.good, file, label="correct", **asked)
    assert {each.figure: each.decision for each in done.gates}["fp"] == "undecided"
    wrong = [each for each in responses if not each["correct"]]
    file.write_text("".join(f"{json.dumps(each)}\n" for each in wrong))
    figures = {each.figure for each in audit(reward, file, label="correct", **asked).gates}
    assert ("fp" in figures, "fn" in figures) == (True, False)


def final(completion, reference):
    """Pays for a form that nobody knows."""
    return float(completion.strip() == f"{{FINAL}} {reference}")


def always(completion, reference):
    return 2.0


def never(completion, reference):
    return 0.0


def test_what_pays_everything_is_broken_and_what_pays_nothing_is_not_measured(rows):
    paid, unpaid = (audit(each, rows[:ROWS], allow_undecided=True) for each in (always, never))
    assert (paid.status, paid.figure("exploit").value) == (1, 1.0)
    assert any("it pays an empty answer 2, no less than the reference" in n for n in paid.notes)
    assert unpaid.status == 2
    for done in (paid, unpaid):
        assert any("tried: bare, ####, a box" in n and "--form 'FINAL" in n for n in done.notes)
    lists = [replace(each, reference=[["4"]]) for each in rows[:ROWS]]
    assert any("no reference is a text" in n for n in audit(final, lists).notes)


def test_a_form_of_ones_own_is_tried_first(rows):
    asked = {"classes": ["EX-EMPTY"], "repeat": 1, "allow_undecided": True}
    assert audit(final, rows, **asked).status == 2
    done = audit(final, rows, form="{FINAL} {}", **asked)
    assert (done.status, done.notes[1]) == (0, "right answers are the reference, {FINAL} {}")
    done = audit(faults.good, rows, form="{FINAL} {}", **asked)
    assert (done.status, done.notes[1]) == (0, "right answers are the reference, ####")
    done = audit("exact_match", rows, form="{}", **asked)
    assert (done.status, done.notes[1]) == (0, "right answers are the reference, {}")
    with pytest.raises(ConfigurationError, match=r"no \{\} for the reference"):
        audit(final, rows, form="FINAL", **asked)


def test_an_option_that_does_not_exist_is_refused_with_the_nearest_and_all():
    with pytest.raises(
        TypeError, match=r"no option 'fail_no'. Did you mean 'fail_on'\? Options: l"
    ):
        audit(faults.good, fail_no=["exploit>0"])
    with pytest.raises(TypeError, match=r"no option 'xyz'; there are accepted, .*, without$"):
        audit(faults.good, xyz=1)


def test_the_page_lists_the_options_of_python():
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()
    listed = page.partition("The options of `audit`")[2].partition("\n\n")[0]
    assert {each.name for each in fields(AuditOptions)} <= set(re.findall(r"`(\w+)", listed))
