"""The page: each figure on it is that of the rows, and nothing that a policy wrote runs on it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial

import pytest

from reward_functions import get, sample, score_batch
from reward_functions.core.errors import (
    BadSample,
    ConfigurationError,
    JudgeUnavailable,
    NoVerdict,
)
from reward_functions.core.types import Evidence, Metric, Score, Scored, Unscored
from reward_functions.reports.score_report import figures, tables
from reward_functions.reports.score_report.bar_rows import GROUPS, MEMBERS, ROWS
from reward_functions.reports.score_report.cases import GROUP_LINK
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.labels import labels_of
from reward_functions.reports.score_report.page import WORST, score_page
from reward_functions.reports.score_report.reasons import (
    ATTRIBUTIONS,
    attribution,
    errors,
    tallied,
)
from reward_functions.testing import hostile_responses
from tests.gallery.parsed import parsed
from tests.gallery.rules import findings

GSM8K = get("gsm8k")
LIMIT = 3_000_000
ENDINGS = ["#### 7", "The answer is 7.", "#### 6", "#### 6 or 7", "<think>7", "#### 7 and more"]


def rows(prompts=30, responses=4):
    return [
        sample(
            f"{'so ' * (at % 17)}{ENDINGS[(at * at + at // 4) % len(ENDINGS)]}",
            None if at % 23 == 0 else "7",
            prompt=f"Problem {at // responses}: 3 + 4?",
            id=f"row-{at}",
            correct="7" in ENDINGS[(at * at + at // 4) % len(ENDINGS)],
        )
        for at in range(prompts * responses)
    ]


def paged(samples, **options):
    return score_page(GSM8K, samples, score_batch(GSM8K, samples), **options).html()


def test_every_figure_is_that_of_the_rows(read):
    samples = rows()
    results = score_batch(GSM8K, samples)
    labels = labels_of(samples, "correct", GSM8K.scale)
    page = read(score_page(GSM8K, samples, results, labels=labels).html())
    scored = [
        (row, each.score)
        for row, each in zip(samples, results, strict=True)
        if isinstance(each, Scored)
    ]
    values = [score.value for _, score in scored]
    summary = {name: value for name, value, _ in page.tables["Summary"][1:]}
    assert summary["rows"] == str(len(samples))
    assert summary["scored"] == str(len(values))
    assert summary["unscored"] == str(len(samples) - len(values)) != "0"
    assert summary["mean reward"] == f"{sum(values) / len(values):.4g}"
    assert summary["share at the minimum"] == f"{values.count(0.0) / len(values):.1%}"
    open_reasoning = sum(row.response.endswith("<think>7") for row, _ in scored)
    assert summary["share that seems cut off"] == f"{open_reasoning / len(values):.1%}"

    reasons = Counter(score.reason.partition("; ")[0] for _, score in scored)
    listed = {row[0]: row[1] for row in page.tables["Reasons"][1:]}
    assert listed == {reason: str(count) for reason, count in reasons.items()}

    groups = defaultdict(list)
    for row, score in scored:
        groups[row.prompt].append(score.value)
    flat = sum(len(set(group)) == 1 for group in groups.values() if len(group) > 1)
    assert page.cell("Groups by reward", "zero advantage, in all", "groups") == str(flat)

    cells = Counter((row.metadata["correct"], score.value > 0.5) for row, score in scored)
    table = {row[0]: row[1:] for row in page.tables["Confusion matrix"][1:]}
    assert table["correct"][:2] == [str(cells[True, True]), str(cells[True, False])]
    assert table["incorrect"][:2] == [str(cells[False, True]), str(cells[False, False])]
    right = cells[True, True] + cells[False, False]
    assert page.cell("Agreement", "accuracy", "of") == f"{right} of {len(scored)}"
    precision = cells[True, True] / (cells[True, True] + cells[False, True])
    assert page.cell("Agreement", "precision", "value") == f"{precision:.1%}"

    assert sum(int(row[1]) for row in page.tables["By length"][1:]) == len(values)
    assert page.cell("Errors", "BadReference", "rows") == summary["unscored"]
    assert page.cell("Errors", "BadReference", "whose failure") == "the data set"
    answered = sum(score.metrics[0].value for _, score in scored) / len(scored)
    assert page.cell("Metrics", "answered", "mean") == f"{answered:.4g}"


def test_the_same_rows_make_the_same_page():
    assert paged(rows()) == paged(rows())


def test_the_facts_say_what_was_scored_with_what(read):
    reward = GSM8K.bind({"flexible": True})
    samples = rows(2)
    page = score_page(
        partial(reward, include_reasoning=False),
        samples,
        score_batch(reward, samples),
        source=[("file", "responses.jsonl")],
        made="2026-11-22",
    )
    facts = read(page.html()).facts
    assert facts["file"] == "responses.jsonl"
    assert facts["made"] == "2026-11-22"
    assert facts["reward"].startswith(f"gsm8k, version {GSM8K.version}: The number after")
    assert facts["scale"] == "0 to 1"
    assert facts["parameters"] == "flexible=true, include_reasoning=false"


def test_a_function_without_a_declaration_is_refused():
    with pytest.raises(ConfigurationError, match="declare it with @reward_function"):
        score_page(lambda sample: 1.0, [], [])


HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e\ud800\0&\"'"
SMALL = {
    "nothing": [],
    "one row": [sample("#### 7", "7", prompt="p")],
    "one row at the minimum": [sample("no", "7", prompt="p")],
    "no prompts": [sample("#### 7", "7"), sample("no", "7"), sample("no", "7")],
    "only unscored rows": [sample("#### 7", None, prompt="p"), sample("x", None)],
    "rows that are not valid samples": [Unscored("a", BadSample("messages is missing"))],
    "no response": [sample("", "7", prompt="p")],
    "hostile in every place": [
        sample(HOSTILE * 9, HOSTILE, prompt=HOSTILE, id=HOSTILE, label=True),
        sample(f"#### {HOSTILE}", {HOSTILE: HOSTILE}, prompt=HOSTILE),
        Unscored(HOSTILE, BadSample(HOSTILE)),
    ],
}


@pytest.mark.parametrize("samples", SMALL.values(), ids=SMALL)
def test_bad_input_is_a_page_correct_and_harmless(samples, read):
    html = paged(samples)
    page = read(html)
    assert len(html.encode()) < LIMIT
    assert findings(html) == []
    assert not set(html) & {"\x1b", "\0", "\u202e", "\ud800"}
    summary = {name: value for name, value, _ in page.tables["Summary"][1:]}
    assert summary["rows"] == f"{len(samples):,}"
    if "no row could be scored" in html.lower():
        assert "mean reward" not in summary


@pytest.mark.parametrize(("character", "length"), [("x", 10_000_000), ("<", 1_000_000)])
def test_megabytes_of_a_response_are_shown_by_their_ends(character, length, read):
    html = paged([sample(f"begin {character * length} end", "7", prompt="p")])
    assert len(html) < 50_000
    (quoted,) = [each for each in read(html).quotations if each.startswith("begin")]
    assert quoted.endswith("end")
    assert "characters left out" in quoted


def test_hostile_responses_are_quoted_harmlessly():
    samples = [sample(text, "7", prompt=text, id=name) for name, text in hostile_responses()]
    results = [Scored(each.id, Score(0.0, reason=each.response)) for each in samples]
    html = score_page(GSM8K, samples, results).html()
    assert len(html.encode()) < LIMIT
    assert all(char.isprintable() or char in "\n\t" for char in html)
    assert findings(html) == []


def test_the_words_of_a_hostile_row_are_still_readable(read):
    page = read(paged(SMALL["hostile in every place"]))
    shown = "<script>alert(1)</script>\\x1b[2J\\u202e\\ud800\\x00"
    assert any(shown in each for each in page.quotations)
    assert any(each.startswith("<script>alert(1)</script>\\x1b") for each in page.cases)


def loud(at):
    """A row that writes as much as any can, in the characters that take most room."""
    wide = "\U000e0001&<\u202e" * 2_000
    names = [f"criterion_{each}" for each in range(30)]
    values = dict.fromkeys(names, "no") | {f"{name}_reason": wide for name in names}
    score = Score(
        0.0,
        tuple(Metric(f"metric {each}", 1.0) for each in range(200)),
        wide,
        f"{at} {wide}"[at % 7 :],
        Evidence("the verdict" if at % 2 else wide, [values] if at % 2 else wide, wide),
    )
    row = sample(wide * 3, wide, prompt=f"{at // 4} {wide}", id=f"{at} {wide}", ok=bool(at % 2))
    return row, Scored(row.id, score)


def test_a_page_stays_small_whatever_the_rows_hold():
    samples, results = zip(*map(loud, range(260)), strict=True)
    broken = [Unscored(each.id, NoVerdict(each.response)) for each in samples[:100]]
    labels = labels_of([*samples, *samples[:100]], "ok", GSM8K.scale)
    page = score_page(GSM8K, [*samples, *samples[:100]], [*results, *broken], labels=labels)
    assert len(page.html().encode()) < LIMIT


def test_lists_are_cut_and_say_so(read):
    samples = [sample("none", "7", prompt=str(at)) for at in range(WORST + 50)]
    page = read(paged(samples))
    assert len(page.cases) == WORST
    assert f"{WORST} of {WORST + 50} rows, the lowest rewards first" in " ".join(page.paragraphs)


def test_each_reason_is_among_the_lowest(read):
    samples = [sample("no", "7", prompt=str(at)) for at in range(WORST + 50)]
    samples.append(sample("#### 6", "7", prompt="last", id="the rare one"))
    assert "the rare one · reward 0" in read(paged(samples)).cases


@pytest.mark.parametrize(("without", "words"), [(0, ""), (1, "1 row has"), (3, "3 rows have")])
def test_rows_without_a_prompt_are_named_below_the_figures(without, words, read):
    samples = [sample("#### 7", "7", prompt="p" if at >= without else "") for at in range(5)]
    (note,) = [text for text in read(paged(samples)).paragraphs if "in no mean" in text]
    assert ("no prompt" in note) == bool(without)
    assert words in note


@pytest.mark.parametrize("different", [tables.MARKS - 1, tables.MARKS, tables.MARKS + 1])
def test_few_rewards_of_one_length_have_a_mark_each_and_more_share_some(different):
    rewards = [at / (2 * different) for at in range(different)]
    samples = [sample("abc", prompt=str(at), id=str(at)) for at in range(different)]
    results = [Scored(str(at), Score(reward)) for at, reward in enumerate(rewards)]
    made = Batch.of(samples, results, GSM8K.scale)
    chart = tables.length_chart(made, figures.by_length(made))
    marks = [title for title in chart.html().split("<title>") if "3 long at" in title]
    assert (len(marks) == different) == (different <= tables.MARKS)


@pytest.mark.parametrize("surprising", [False, True])
def test_where_no_row_is_surprising_the_page_says_so(surprising, read):
    samples = [sample("#### 7", "7", prompt=str(at)) for at in range(3)]
    samples += [sample("so 7", "7", prompt="p")] * surprising
    page = read(paged(samples))
    assert ("None of them finds a row." in page.paragraphs) != surprising


@pytest.mark.parametrize("more", [0, 1, 3])
def test_reasons_and_errors_beyond_the_most_frequent_share_a_row(more):
    count = tables.MOST + more
    words = [f"{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(count)]
    samples = [sample("x", prompt=word, id=word) for word in words * 2]
    values = [Scored(word, Score(float(at >= count), reason=word)) for at, word in enumerate(words)]
    values += [Scored(word, Score(1.0, reason=word)) for word in words]
    made = Batch.of(samples, values, GSM8K.scale)
    found = tables.reasons_table(made, tallied(made, "any")).rows
    assert len(found) == tables.MOST + bool(more)
    share = more / count
    rest = [f"{more} other reasons", f"{2 * more}", f"{share:.1%}", f"{more}", "0.5"]
    assert found[tables.MOST :] == ([rest] if more else [])

    broken = [Unscored(word, type(word, (BadSample,), {})("wrong")) for word in words * 2]
    listed = tables.errors_table(errors(Batch.of(samples, broken, GSM8K.scale))).rows
    rest = [f"{more} other errors", f"{2 * more}", "", ""]
    assert listed[tables.MOST :] == ([rest] if more else [])
    assert {tuple(row[1:2] + row[3:]) for row in listed[: tables.MOST]} == {("2", "wrong")}


LEADS = {
    "rows of all kinds": (
        [
            sample("#### 7", "7", prompt="p"),
            sample("no", "7", prompt="q"),
            sample("no", None, prompt="q"),
        ],
        (
            "2 of 3 rows scored; mean 0.5 (95 % interval 0 to 1); 50.0% at the minimum, mostly: "
            "there is no ####."
        ),
    ),
    "nothing at the minimum": (
        [sample("#### 7", "7", prompt="p")],
        "1 of 1 row scored; mean 1 (95 % interval 0 to 1); 0.0% at the minimum.",
    ),
    "nothing scored": ([sample("x", None), sample("x", None)], "0 of 2 rows scored."),
}


@pytest.mark.parametrize(("samples", "words"), LEADS.values(), ids=LEADS)
def test_the_lead_is_the_page_in_one_sentence(samples, words):
    (lead,) = [each for each in parsed(paged(samples)).all("p") if "lead" in _classes(each)]
    assert lead.words == words


def _classes(element):
    return (element.attributes.get("class") or "").split()


def labelled(texts):
    """Rows of the reference 7 with a label each, all of different prompts."""
    return [
        sample(text, None if text == "broken" else "7", prompt=f"p{at}", correct=correct)
        for at, (text, correct) in enumerate(texts)
    ]


RIGHT, MISSED, HACKED = ("#### 7", True), ("#### 6", True), ("#### 7", False)
WRONG, CUT, BROKEN = ("#### 6", False), ("<think>7", False), ("broken", True)

FINDINGS = [
    # rows; how the findings begin, in their order
    ([RIGHT] * 20, []),
    ([RIGHT] * 20 + [WRONG], []),  # below NOTABLE
    ([RIGHT, WRONG], ["1 of 2 scored rows earn the minimum, mostly: the last #### differs from"]),
    (
        [RIGHT, MISSED, BROKEN, CUT],
        [
            "1 of 2 rows labelled correct are scored as incorrect (recall 50.0%",
            "1 of 4 rows could not be scored, and are in no mean; mostly: BadReference.",
            "2 of 3 scored rows earn the minimum, mostly: ",
            "1 of 3 responses seems cut off.",
        ],
    ),
    (
        [RIGHT, HACKED, HACKED, MISSED],
        [
            "2 of 3 rows scored as correct are labelled incorrect (precision 33.3%",
            "1 of 4 scored rows earn the minimum",
        ],
    ),
]


@pytest.mark.parametrize(("texts", "words"), FINDINGS)
def test_the_worst_finding_is_first_labels_before_all(texts, words):
    samples = labelled(texts)
    labels = labels_of(samples, "correct", GSM8K.scale)
    page = score_page(GSM8K, samples, score_batch(GSM8K, samples), labels=labels)
    assert {each.section for each in page.concerns} <= {each.title for each in page.sections}
    tree = parsed(page.html())
    main = [each for each in tree.all("p") if {"worst", "warning"} & {*_classes(each)}]
    found = [each.words.partition(". ")[2] for each in main if not each.inside("section")]
    assert [each.startswith(of) for each, of in zip(found, words, strict=True)] == [True] * len(
        words
    )
    assert ["worst" in _classes(each) for each in main[:1]] == [True] * bool(words)


def test_of_two_shares_against_labels_the_worse_is_first():
    samples = labelled([RIGHT, MISSED, MISSED, HACKED])
    html = paged(samples, labels=labels_of(samples, "correct", GSM8K.scale))
    words = next(each.words for each in parsed(html).all("p") if "worst" in _classes(each))
    assert words.index("recall 33.3%") < words.index("precision 50.0%")


def tables_of(html, kind):
    """Of each link of a chart that leads to a table of a kind: (its words, the table)."""
    tree = parsed(html)
    places = {each.attributes["id"]: each for each in tree if "id" in each.attributes}
    links = [each for each in tree.all("a") if each.inside("svg")]
    return [
        (each.attributes["aria-label"], places[each.attributes["href"][1:]])
        for each in links
        if each.attributes["href"].startswith(f"#{kind}-")
    ]


def test_each_bar_leads_to_its_rows():
    samples = rows()
    html = paged(samples, labels=labels_of(samples, "correct", GSM8K.scale))
    scored = [each for each in score_batch(GSM8K, samples) if isinstance(each, Scored)]
    values = Counter(f"{each.score.value:g}" for each in scored)
    by_reward = tables_of(html, "reward")
    assert [words for words, _ in by_reward] == [
        f"{value}: {values[value]}, its rows" for value in sorted(values)
    ]
    for value, (_, table) in zip(sorted(values), by_reward, strict=True):
        shown = [row.all("td")[0].words for row in table.all("tbody")[0].all("tr")]
        assert shown == [value] * ROWS
        assert f"{ROWS} of {values[value]}" in table.attributes["aria-label"]
    (reason, table), *_ = tables_of(html, "reason")
    count = int(reason.rpartition(": ")[2].partition(",")[0])
    assert table.attributes["aria-label"].endswith(f": {min(ROWS, count)} of {count}")
    cells = tables_of(html, "labels")
    assert cells
    assert all(
        words.split(" rows, ")[0] == table.attributes["aria-label"].split(" of ")[-1]
        for words, table in cells
    )


def test_a_bar_of_many_rewards_leads_to_the_rows_of_its_step():
    samples = [sample("x", "7", prompt=f"{at}") for at in range(40)]
    results = [Scored(each.id, Score(at / 39)) for at, each in enumerate(samples)]
    html = score_page(GSM8K, samples, results).html()
    found = tables_of(html, "reward")
    assert len(found) == 10
    for words, table in found:
        low, high = (float(each) for each in words.partition(":")[0].split(" to "))
        shown = [float(row.all("td")[0].words) for row in table.all("tbody")[0].all("tr")]
        assert all(low - 1e-3 <= value <= high + 1e-3 for value in shown)


def test_a_row_of_a_table_leads_to_its_case_or_its_group():
    texts = {"the one": ("no", "p"), "alone": ("#### 7", "q")}
    texts |= {"of a group": ("#### 7", "r"), "the other": ("#### 7", "r")}
    samples = [sample(text, "7", prompt=of, id=name) for name, (text, of) in texts.items()]
    tree = parsed(paged(samples))
    links = {each.words: each.attributes["href"] for each in tree.all("a") if each.inside("th")}
    assert links == {"the one": "#row-1", "of a group": "#group-3", "the other": "#group-3"}
    (case,) = [each for each in tree.all("article") if each.attributes.get("id") == "row-1"]
    assert case.all("h3")[0].words == "the one · reward 0"


def groups_of(html):
    """The groups side by side: their title, and the title and facts of each card."""
    tree = parsed(html)
    return [
        (
            each.all("h3")[0].words,
            [card.all("h4")[0].words for card in each.all("article")],
        )
        for each in tree.all("div")
        if "beside" in _classes(each)
    ]


def test_the_responses_to_a_prompt_stand_side_by_side():
    texts = {"flat": ["no", "no"], "mixed": ["#### 6", "#### 7", "no"], "one": ["#### 7"]}
    samples = [sample(each, "7", prompt=name) for name, some in texts.items() for each in some]
    html = paged(samples)
    assert groups_of(html) == [
        ("mixed", ["reward 1", "reward 0", "reward 0"]),
        ("flat", ["reward 0", "reward 0"]),
    ]
    links = [each.attributes["href"] for each in parsed(html).all("a") if each.words == GROUP_LINK]
    assert set(links) == {"#group-1", "#group-2"}
    labels = labels_of(
        [replace(each, metadata={"ok": at == 0}) for at, each in enumerate(samples)],
        "ok",
        GSM8K.scale,
    )
    first, *_ = groups_of(paged(samples, labels=labels))
    otherwise = ["reward 1: the label says otherwise", "reward 0", "reward 0"]
    assert first == ("mixed", otherwise)


def test_a_large_group_shows_its_ends_and_there_are_few_groups():
    samples = [
        sample("#### 7" if at % 20 == 3 else "no", "7", prompt=f"p{at // 20}") for at in range(400)
    ]
    found = groups_of(paged(samples))
    assert len(found) == GROUPS
    assert found[0][1] == ["reward 1", *["reward 0"] * (MEMBERS - 1)]


def test_the_end_of_a_response_is_read_without_a_click_and_on_paper():
    long = "so " * 500 + "I say 6"
    tree = parsed(paged([sample(long, "7", prompt="p"), sample("short", "7", prompt="p")]))
    cards = [each for each in tree.all("article") if each.all("h3")]
    seen = [[pre.text for pre in card.all("pre") if not pre.inside("details")] for card in cards]
    assert seen == [[f"… {long[-200:]}"], ["short"]]
    clicked = [[each.text for each in card.all("summary")] for card in cards]
    assert clicked == [
        ["prompt, 1 characters", "response, 1,507 characters"],
        ["prompt, 1 characters"],
    ]


def test_what_to_try_is_a_sentence_for_each_remedy(read):
    samples = [sample(text, "7", prompt="p") for text in ("no", "none", "#### 6", "#### 7")]
    words = read(paged([*samples, sample("x", None)])).paragraphs
    assert any(each.startswith("Note. 2 rows at the minimum: there is no ####.") for each in words)
    assert sum(" Try: " in each for each in words) == 1 + 1  # the finding and the advice
    command = "reward data lint FILE --reward NAME --param …"
    assert f"Note. 1 row, BadReference: mend these references, which {command} lists." in words


def test_a_fact_is_shown_once(read):
    page = paged([sample("#### 6", "7", prompt="p")])
    assert "reference, as compared" not in read(page).facts
    assert "No row is below the maximum." in read(paged([sample("#### 7", "7")])).paragraphs


def test_one_long_response_leaves_room_for_the_others():
    lengths = (10, 20, 30, 1_000_000)
    html = paged([sample("x" * each, "7", prompt="p") for each in lengths])
    (chart,) = [each for each in parsed(html).all("svg") if "logarithmic" in each.text]
    assert all(each in chart.text for each in ("10", "100", "1,000,000"))
    assert "logarithmic" not in paged([sample("x" * each, "7") for each in (10, 20, 499)])


def test_the_page_warns_of_what_must_not_be_overlooked(read):
    cut = [sample("<think>so", "7", prompt="p") for _ in range(4)]
    words = " ".join(read(paged(cut)).paragraphs)
    assert "4 of 4 responses seem cut off" in words
    assert "All groups have zero advantage" in words
    assert "No row could be scored" in " ".join(read(paged([sample("x", None)])).paragraphs)


def test_every_error_says_whose_failure_it_is():
    errors = [JudgeUnavailable("x", kind) for kind in ("throttled", "denied", "timeout")]
    whose = [attribution(error).whose for error in errors]
    assert whose == ["the judge model"] * 3
    assert attribution(ZeroDivisionError()).whose == "the reward's code"
    assert attribution(NoVerdict("x", "cut")).remedy == "raise max_tokens of the judge model"


def test_the_table_of_errors_names_errors_that_exist():
    import reward_functions.core.errors as known

    assert all(hasattr(known, name.partition(" ")[0]) for name in ATTRIBUTIONS)
