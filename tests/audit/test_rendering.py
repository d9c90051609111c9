"""An audit as JSON, JUnit, Markdown, lines for GitHub, and a page."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from reward_functions import sample
from reward_functions.audit import rendering
from reward_functions.audit.corpus import BY_ID, CLASSES, Corpus
from reward_functions.audit.engine import audit
from reward_functions.audit.made_up import made_up
from reward_functions.audit.other_answers import ReplayCase
from reward_functions.audit.results import Gate
from reward_functions.reports.pages.page import worst_first
from tests.audit import faults

SECRET = "a response of somebody"


@pytest.fixture(scope="module")
def done():
    rows = [sample("", str(at + 100), prompt=f"{SECRET} {at}", id=f"r{at}") for at in range(12)]
    return audit(faults.empty, rows, search=50, latency=True)


def test_json_is_as_its_schema_says(done):
    schema = json.loads(rendering.SCHEMA_FILE.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for texts in (False, True):
        jsonschema.validate(json.loads(rendering.audit_json(done, texts=texts)), schema)


@pytest.mark.parametrize("form", rendering.FORMATS)
def test_no_format_shows_a_response_that_nobody_asked_for(form, done):
    assert SECRET not in rendering.FORMATS[form](done)


def test_junit_never_shows_one_and_markdown_and_json_do_where_they_are_asked(done):
    paid = next(each for each in done.findings if each.id == "EX-EMPTY").rows[0]
    assert repr(paid.response) in rendering.audit_markdown(done, texts=True)
    assert SECRET not in rendering.audit_junit(done, texts=True)


def test_junit_has_a_case_for_each_gate_and_fails_those_that_do_not_hold(done):
    suite = ET.fromstring(rendering.audit_junit(done)).find("testsuite")
    assert int(suite.get("tests")) == len(done.gates) + 1 == len(suite.findall("testcase"))
    assert int(suite.get("failures")) == len(done.failures) == len(suite.findall(".//failure"))


def test_github_gets_one_line_for_each_failure_and_no_command_of_a_row(done):
    lines = rendering.github_lines(done)
    assert len(lines) == len(done.failures) > 0
    assert all(line.startswith("::error title=reward audit::") for line in lines)
    assert not any("\n" in line for line in lines)


def test_the_page_begins_with_what_fails(done):
    html = rendering.audit_page(done).html()
    assert html.index(done.failures[0].split(":")[0].replace(">", "&gt;")) < html.index("EX-WRONG")
    assert "EX-EMPTY: empty" in html
    worst, lead, after = html.split("</p>", 2)
    assert '<p class="worst">' in worst
    assert "Wrong answers are paid: exploit&gt;0.02: exploit is 100.0%" in worst
    assert lead.endswith("Not fit to train on: of 7 gates 1 broken, 3 undecided.")
    notes = sum(each.verdict == "note" for each in done.findings)
    shown = len(done.failed) - 1 + min(notes, rendering.NOTED)
    assert after.count("<strong>Also.</strong>") == shown
    heads = re.findall(r"<h2[^>]*>([^<]*)", html)
    assert heads[:2] == ["Classes and properties", "Gates"]
    assert heads[-1] == "What was looked at"
    assert html.count("<details>") == sum(len(e.rows) for e in done.findings if e.verdict != "ok")


BROKEN = [
    # the figures of broken gates, the words of the worst of them
    (["bias", "unscored", "fn.right"], "Right answers are not paid"),
    (["contract", "unscored"], "Rows have no score"),
    (["growth", "contract"], "A gate is broken"),
    (["exploit.EX-LIST", "fp"], "Wrong answers are paid"),
    (["fn.value", "exploit"], "Wrong answers are paid"),
    (["fn.value", "exploit.EX-LIST"], "Wrong answers are paid"),
    (["fn", "fp"], "Responses that labels call wrong are paid"),
]


@pytest.mark.parametrize(("names", "words"), BROKEN)
def test_the_worst_of_several_gates_is_that_of_labels_and_then_of_rows_without_a_score(
    done, names, words
):
    gates = [Gate(f"{name}>0", name, "broken", f"{name}>0: it is 1") for name in names]
    undecided = Gate("exploit>0", "exploit", "undecided", "exploit>0: it may be 1")
    found = rendering.concerns_of_audit(replace(done, gates=[undecided, *gates], findings=[]))
    first, *others = worst_first(found)
    assert first.words.startswith(f"{words}: ")
    assert others[-1].words == "Undecided: exploit>0: it may be 1; or --allow-undecided."


def test_a_class_that_is_paid_stands_above_a_right_one_that_is_refused_more_often(done):
    kept = [each for each in done.findings if each.id in ("FN-VALUE", "EX-EMPTY")]
    both = [
        replace(each, verdict="broken", count=count)
        for each, count in zip(kept, (9, 3), strict=True)
    ]
    page = rendering.audit_page(replace(done, findings=both)).html()
    html = page.partition("</h2>")[2]  # below the first heading: the table of classes
    assert [each.id for each in both] == ["FN-VALUE", "EX-EMPTY"]
    assert html.index("EX-EMPTY") < html.index("FN-VALUE")


def test_the_page_of_what_was_not_measured_begins_with_it():
    page = rendering.audit_page(rendering.unmade(["gsm8k"], "there is no such file"))
    (found,) = page.concerns
    assert (found.kind, "could not be audited: there is no such file" in found.words.lower()) == (
        "failed", True,
    )  # fmt: skip


def test_a_markdown_table_is_not_broken_by_a_message(done):
    rows = [line for line in rendering.audit_markdown(done).splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)


def test_the_reference_stands_beside_the_answer_where_texts_are_asked_for(done):
    (paid,) = (each for each in done.findings if each.id == "EX-EMPTY")
    assert [len(row.reference) for row in paid.rows] == [3] * len(paid.rows)
    shown = json.loads(rendering.audit_json(done, texts=True))["findings"]
    assert paid.rows[0].reference in [row["reference"] for each in shown for row in each["rows"]]
    hidden = json.loads(rendering.audit_json(done))["findings"]
    assert not any("reference" in row for each in hidden for row in each["rows"])
    assert f", reference {paid.rows[0].reference}" in rendering.audit_markdown(done, texts=True)
    assert f"reference: {paid.rows[0].reference}</pre>" in rendering.audit_page(done).html()


def test_the_rows_of_a_class_are_one_of_each_way_with_its_share():
    rows = [sample("", str(at + 100), prompt=f"Add {at}.", id=f"r{at}") for at in range(12)]
    done = audit(lambda response, reference: float(response == reference), rows)
    (refused,) = (each for each in done.findings if each.id == "FN-VALUE")
    assert [row.response for row in refused.rows] == ["100.0", "200/2", "+101"]
    assert all(row.hits == row.of for row in refused.rows)
    shown = json.loads(rendering.audit_json(done))["findings"]
    assert {"hits": 8, "of": 8}.items() <= next(
        each["rows"][0] for each in shown if each["id"] == "FN-VALUE"
    ).items()


def test_a_failure_names_the_worst_classes_and_an_answer_to_a_row_that_nobody_has():
    rows = [sample("", str(at + 300), prompt=f"Add {at}.", id=f"r{at}") for at in range(12)]
    done = audit(faults.substring, rows)
    (found,) = (each for each in done.failures if each.startswith("exploit>"))
    assert "; EX-LIST 12 of 12, EX-HEDGE 12 of 12, EX-BOTH 12 of 12, " in found
    assert found.endswith(" more; such as '17, 42' where 42 is right, which earned 1")
    whole = [rendering.audit_junit(done), rendering.audit_markdown(done), repr(done)]
    whole += rendering.github_lines(done)
    assert all("where 42 is right" in each for each in whole[:3])
    for row in (row for each in done.findings for row in each.rows if row.reference):
        assert not any(row.reference in each for each in whole[:3])


@pytest.mark.parametrize(
    "reward",
    [faults.last_of_two, faults.first_of_two, faults.last_number, faults.substring],
    ids=lambda each: each.__name__,
)
def test_an_answer_to_a_row_that_nobody_has_earns_what_is_written_of_it(reward):
    rows = [sample("", str(at + 300), prompt=f"Add {at}.", id=f"r{at}") for at in range(40)]
    made = [row for each in audit(reward, rows).findings for row in each.rows if row.such]
    shown = [row for row in made if " … " not in row.such]
    assert shown
    for row in shown:
        answer, right = re.fullmatch(r"'(.*)' where (\w+) is right", row.such).groups()
        assert reward(answer.encode().decode("unicode_escape"), right) == row.score, row.such


def test_the_whole_is_a_summary_where_it_is_printed(done):
    lines = str(done).splitlines()
    assert lines == [
        "empty: not fit to train on: of 7 gates 1 broken, 3 undecided",
        *done.failures,
    ]
    assert repr(done) == f"<Audit: {'; '.join(lines)}>"
    assert SECRET not in repr(done)


@pytest.mark.parametrize("right", ["{}", "#### {}", r"\boxed{{{}}}"])
@pytest.mark.parametrize(
    "of", [("7", "9000"), ("8.25", "3/4"), ("F", "H"), ("yes", "no"), ("Oslo", "Rom")]
)
def test_what_is_made_up_holds_no_word_of_the_rows(right, of):
    rows = [ReplayCase("", sample("", each, prompt="Hidden."), right.format(each)) for each in of]
    corpus = Corpus([each._replace(wrong=rows[1 - at].right) for at, each in enumerate(rows)])
    made = [
        made_up(answers, case, corpus, way)
        for answers in CLASSES
        for case in corpus.cases
        for way in range(len(answers.ways(case, corpus)))
        if answers.id in ("EX-HEDGE", "EX-NEAR", "EX-PART", "EX-PROMPT", "FN-VALUE")
    ]
    assert "Hidden" not in str(made)
    assert any(made)
    assert not any(re.search(r"\b(Oslo|Rom|F|H|9000|8\.25)\b", each) for each in made)


def test_an_answer_that_needs_no_right_one_is_made_up_where_none_is_known():
    row = ReplayCase("", sample("", "ACME 7", prompt="Hidden."), "")
    assert made_up(BY_ID["EX-PROMPT"], row, Corpus([row]), 0) == "'What is it?' where 42 is right"
    assert made_up(BY_ID["EX-EMPTY"], row, Corpus([row]), 0) == "'' where 42 is right"
    known = row._replace(right="#### ACME 7")
    assert made_up(BY_ID["EX-PROSE"], known, Corpus([known]), 1).count("ACME") == 0
    assert made_up(BY_ID["EX-CUT"], known, Corpus([known]), 0) == ""


def test_what_all_references_begin_with_is_not_made_up():
    for words, shown in (("ACME {}", False), ("{}%", True), ("${}", True)):
        texts = [words.format(each) for each in ("71", "72")]
        rows = [ReplayCase("", sample("", each), f"#### {each}") for each in texts]
        made = made_up(BY_ID["EX-CUT"], rows[0], Corpus(rows), 0)
        assert bool(made) is shown
        assert not made or words.format("42") in made


def test_what_all_right_answers_share_beside_a_form_is_not_made_up():
    rows = [ReplayCase("", sample("", each), f"{each} is 5") for each in ("tin", "zinc")]
    assert made_up(BY_ID["EX-CUT"], rows[0], Corpus(rows), 0) == ""


def test_one_is_singular_and_a_mean_has_no_noise():
    rows = [sample("", str(at + 300), prompt=f"Add {at}.", id=f"r{at}") for at in range(30)]
    done = audit(lambda response, reference: float(response in (reference, "301 or 302")), rows)
    (paid,) = (each for each in done.findings if each.id == "EX-HEDGE")
    assert paid.message == (
        "answers of this kind earn 0.017 on average over 60 answers to 30 prompts; paid at 1 prompt"
    )
    alone = audit(lambda response, reference: float(response == reference), rows[:1])
    assert "fn.right is 0.0% (0.0% to 79.3%, 1 prompt)" in str(
        [each.message for each in alone.gates]
    )
