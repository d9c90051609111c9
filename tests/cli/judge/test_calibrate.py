"""`reward audit JUDGE --card`: known figures of recorded judges, and runs that go on."""

import json
import re
import time
from collections import Counter
from itertools import combinations
from threading import Lock

import pytest

from reward_functions.audit import cards
from tests.commands import Command
from tests.parsed_page import harmless
from tests.waiting import until

LABELS = (0, 1, 2)
JUDGES = ("gpt35", "pandalm7b")


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    """Intervals of a hundred draws: most of a run is a thousand of them, the default."""
    monkeypatch.setattr(cards, "DRAWS", 100)


@pytest.fixture
def pandalm(shared):
    path = shared / "pandalm" / "cases.jsonl"
    return path, [json.loads(line) for line in path.read_text().splitlines()]


def card(reward, tmp_path, *arguments, **options):
    """The card as data, and what the command said."""
    folder = tmp_path / "cards"
    ran = reward("audit", *arguments, "--card", folder, "--yes", **options)
    written = max(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, default=None)
    return (json.loads(written.read_text()) if written else None), ran


def expected(rows, answers):
    """Accuracy, F1 and kappa from the answers themselves, without a table of counts."""
    pairs = [(row["label"], answer) for row, answer in zip(rows, answers, strict=True)]
    scores, support = {}, Counter(label for label, _ in pairs)
    for label in LABELS:
        hits = sum(one == other == label for one, other in pairs)
        precision = hits / max(1, sum(other == label for _, other in pairs))
        recall = hits / support[label]
        scores[label] = 2 * precision * recall / (precision + recall) if hits else 0.0
    agreed = sum(one == other for one, other in pairs) / len(pairs)
    said = Counter(other for _, other in pairs)
    chance = sum(support[label] * said[label] for label in LABELS) / len(pairs) ** 2
    return {
        "accuracy": agreed,
        "macro F1": sum(scores.values()) / 3,
        "weighted F1": sum(scores[label] * support[label] for label in LABELS) / len(pairs),
        "tie F1": scores[0],
        "kappa": (agreed - chance) / (1 - chance),
    }


def values(agreement):
    return {name: figure["value"] for name, figure in agreement.items()}


@pytest.mark.parametrize("judge", JUDGES)
def test_recorded_judges_have_the_figures_computed_from_their_answers(
    reward, tmp_path, pandalm, judge
):
    path, rows = pandalm
    assert len(rows) == 472
    told, ran = card(reward, tmp_path, "pairwise", path, "--recorded", judge)
    assert ran.exit_code == (1 if judge == "gpt35" else 0), "17 invalid verdicts, or none"
    usable = [row for row in rows if row[judge] in LABELS]
    ways = {
        "wrong": expected(rows, [row[judge] for row in rows]),
        "left out": expected(usable, [row[judge] for row in usable]),
        "imputed": expected(rows, [row[judge] or 0 for row in rows]),
    }
    for way, figures in ways.items():
        assert values(told["agreement"][way]) == pytest.approx(figures), way
    for at, person in enumerate(told["people"]):
        voted = [row["votes"][at] for row in rows]
        against = expected([{"label": vote} for vote in voted], [row[judge] for row in rows])
        assert person["judge_kappa"] == pytest.approx(against["kappa"])
        assert person["judge_accuracy"] == pytest.approx(against["accuracy"])
        ceiling = expected(rows, voted)
        assert person["accuracy"] == pytest.approx(ceiling["accuracy"])
        assert person["kappa"] == pytest.approx(ceiling["kappa"])
    same = sum(one == other for row in rows for one, other in combinations(row["votes"], 2))
    assert told["between people"]["share"] == pytest.approx(same / (3 * len(rows)))
    assert sum(told["invalid"].values()) == len(rows) - len(usable)


def test_the_way_unusable_answers_are_counted_moves_f1_by_points(reward, tmp_path, pandalm):
    told, _ = card(reward, tmp_path, "pairwise", pandalm[0], "--recorded", "gpt35")
    shown = {way: round(100 * values(told["agreement"][way])["macro F1"], 1) for way in
             ("wrong", "left out", "imputed")}  # fmt: skip
    assert shown == {"wrong": 49.8, "left out": 50.2, "imputed": 57.0}
    assert told["ceiling"]["accuracy"] == pytest.approx(0.9534, abs=1e-4)


def replayed(rows, judge, write):
    """The recorded answers as `pairwise` would have been given them, in either order."""
    better = ({1: "first", 2: "second", 0: "tie"}, {1: "second", 2: "first", 0: "tie"})
    return write(
        f"{judge}.jsonl",
        [
            {"id": row["id"], "turn": turn}
            | (
                {"verdict": {"better": better[turn][row[judge]], "confidence": "high"}}
                if row[judge] in LABELS
                else {"error": "NoVerdict", "kind": "malformed"}
            )
            for row in rows
            for turn in (0, 1)
        ],
    )


@pytest.mark.parametrize("judge", JUDGES)
def test_the_judge_itself_over_replayed_answers_has_the_same_figures(
    reward, tmp_path, pandalm, write, judge
):
    """Equal pairs keep their own answers, so that it contradicts itself as often as before. Three
    empty responses, one of them preferred by people, lose by the prefilter as they lost to both
    judges.
    """
    path, rows = pandalm
    answers = replayed(rows, judge, write)
    arguments = ("pairwise", path)
    recorded, _ = card(reward, tmp_path, *arguments, "--recorded", judge)
    told, ran = card(
        reward, tmp_path, *arguments, "--judge-answers", answers, "--param", "orders=auto"
    )
    assert ran.exit_code == (1 if judge == "gpt35" else 0), "17 invalid verdicts, or none"
    assert told["models"] == ["recorded"]
    assert len(told["instructions"]) == 64
    assert told["invalid"] == ({"malformed": 17} if judge == "gpt35" else {})
    for part in ("agreement", "people", "confusion", "bias", "length bias"):
        assert told[part] == recorded[part], part
    assert told["consistency"]["asked again"] == recorded["consistency"]["asked again"]
    assert told["consistency"]["both orders"] == recorded["consistency"]["both orders"]


def test_an_answer_that_was_not_recorded_is_in_no_figure(reward, tmp_path, pandalm, write):
    path, rows = pandalm
    answers = replayed(rows[:-2], "gpt35", write)
    arguments = ("pairwise", path, "--judge-answers", answers, "--param", "orders=auto")
    told, ran = card(reward, tmp_path, *arguments)
    assert ran.exit_code == 1
    assert (told["cases"], told["missing"]) == (470, 2)


def pair(id, label, first="good", second="bad", prompt="Well?"):
    texts = {"instruction": prompt, "response1": first, "response2": second}
    return {"id": id, **texts, "label": label}


PAIRS = [
    pair(f"p{at}", 1 + at % 2, *(("good", "bad") if at % 2 == 0 else ("bad", "good")), f"Q{at}?")
    for at in range(40)
]


def better(talk):
    """What a sound judge says: the good one, wherever it stands."""
    found = re.search(r'name="first".*?\n"(\w+)"', talk.text)
    return {"better": "first" if found[1] == "good" else "second"}


def ledger(tmp_path):
    (path,) = (tmp_path / "cards").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_real_model_is_asked_each_case_in_both_orders(
    reward, tmp_path, write, serve, settings, pandalm
):
    server = serve(verdict=better)
    arguments = ("pairwise", write("cases.jsonl", PAIRS), "--judge", settings(server))
    told, ran = card(reward, tmp_path, *arguments)
    assert ran.exit_code == 0, ran.stderr
    assert len(server.requests) == told["calls"] == 80
    assert values(told["agreement"]["wrong"])["accuracy"] == 1.0
    assert told["consistency"]["own orders"] == {"part": 40, "whole": 40, "share": 1.0}
    assert told["confidence"] == {"1": {"part": 40, "whole": 40, "share": 1.0}}
    assert len(ledger(tmp_path)) == 41


def test_a_run_goes_on_where_it_was_ended(reward, tmp_path, write, serve, settings):
    """The model refuses every request after the fiftieth; the next run asks only for the rest."""
    broken = {"on": True}
    server = serve(
        verdict=better, schedule=lambda call, _: "400" if broken["on"] and call >= 50 else "ok"
    )
    arguments = ("pairwise", write("cases.jsonl", PAIRS), "--judge", settings(server))
    told, ran = card(reward, tmp_path, *arguments)
    assert ran.exit_code == 1
    known = told["cases"]
    assert 0 < known <= 25  # of fifty answers, some were the first half of a case
    assert known + told["missing"] == 40
    assert len(ledger(tmp_path)) == 1 + known
    refused = reward("audit", *arguments, "--card", tmp_path / "cards", "--yes")
    assert refused.exit_code == 2
    assert "--resume" in refused.stderr

    broken["on"], before = False, len(server.requests)
    told, ran = card(reward, tmp_path, *arguments, "--resume")
    assert ran.exit_code == 0, ran.stderr
    assert (told["cases"], told["missing"]) == (40, 0)
    assert len(server.requests) - before == 2 * (40 - known)
    assert len(ledger(tmp_path)) == 41

    told, ran = card(reward, tmp_path, *arguments, "--resume")
    assert (ran.exit_code, told["calls"]) == (0, 0)


def test_answers_that_are_no_verdict_are_the_judges_and_are_kept(
    reward, tmp_path, write, serve, settings
):
    def schedule(_, text):
        return "refused" if "Q7?" in text or "Q8?" in text else "ok"

    server = serve(verdict=better, schedule=schedule)
    arguments = ("pairwise", write("cases.jsonl", PAIRS), "--judge", settings(server))
    told, ran = card(reward, tmp_path, *arguments)
    assert ran.exit_code == 1
    assert "38 of 40 trials measured\n" in ran.stderr
    assert told["invalid"] == {"refused": 2}
    accuracy = {way: values(told["agreement"][way])["accuracy"] for way in told["agreement"]}
    assert accuracy == {"wrong": 0.95, "left out": 1.0, "imputed": 0.95}


def test_a_judge_without_a_single_verdict_has_a_card_that_says_so_and_status_2(
    reward, tmp_path, write, serve, settings
):
    server = serve(schedule=lambda call, _: "truncated")
    arguments = ("pairwise", write("cases.jsonl", PAIRS), "--judge", settings(server))
    told, ran = card(reward, tmp_path, *arguments)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("nothing was measured: 0 of 40 trials measured\n")
    assert sum(told["invalid"].values()) == 40


def test_a_judge_asked_again_is_asked_and_not_remembered(reward, tmp_path, write, serve, settings):
    """It changes its mind about ten questions when they come again, in one of the two orders.

    In both, two runs side by side could each get one old and one new verdict, and agree.
    """
    seen, counting = Counter(), Lock()

    def verdict(talk):
        said = better(talk)["better"]
        with counting:
            seen[talk.text] += 1
            again = seen[talk.text] > 1 and said == "first"
        turned = again and any(f"Q{at}?" in talk.text for at in range(10))
        return {"better": {"first": "second", "second": "first"}[said] if turned else said}

    server = serve(verdict=verdict)
    arguments = ("pairwise", write("cases.jsonl", PAIRS), "--judge", settings(server))
    told, ran = card(reward, tmp_path, *arguments, "--repeat", 2)
    assert ran.exit_code == 0
    assert len(server.requests) == 160
    assert told["consistency"]["asked again"] == {"part": 30, "whole": 40, "share": 0.75}


def test_a_judge_of_single_responses_scores_both_of_a_pair(
    reward, tmp_path, write, serve, settings
):
    """The better score is the better response, and asking in the other order changes nothing."""

    def verdict(talk):
        good = re.search(r'name="response".*\n"good"', talk.text) is not None
        choices = {name: spec.get("enum", []) for name, spec in talk.schema.items()}
        return {
            name: "yes" if good else "no" for name, enum in choices.items() if "yes" in enum
        } | {"addressed_to_judge": "no"}

    server = serve(verdict=verdict)
    arguments = ("rubric", write("cases.jsonl", PAIRS), "--judge", settings(server))
    told, ran = card(reward, tmp_path, *arguments, "--both-orders")
    assert ran.exit_code == 0, ran.stderr
    assert values(told["agreement"]["wrong"])["accuracy"] == 1.0
    assert told["consistency"]["both orders"]["share"] == 1.0


def test_an_empty_response_loses_wherever_it_stands(reward, tmp_path, write, serve, settings):
    rows = [pair("a", 1, "good", ""), pair("b", 2, "", "good"), pair("c", 2, " ", "bad", "Q?")]
    server = serve(verdict=better)
    arguments = ("pairwise", write("cases.jsonl", rows), "--judge", settings(server))
    told, ran = card(reward, tmp_path, *arguments, "--both-orders")
    assert ran.exit_code == 2, "the judge's model was asked nothing"
    assert ran.stderr.startswith("nothing was measured: 6 decided without a model\n")
    assert server.requests == []
    assert values(told["agreement"]["wrong"])["accuracy"] == 1.0


def graded(id, label, response):
    turns = [
        {"role": "user", "content": "The capital of Australia?"},
        {"role": "assistant", "content": f"The answer is {response}."},
    ]
    return {"id": id, "messages": turns, "reference_answer": "Canberra", "label": label}


def test_graded_responses_are_compared_with_their_grades(reward, tmp_path, write, serve, settings):
    cases = [graded("a", True, "Canberra city"), graded("b", False, "Sydney"),
             graded("c", False, "Perth")]  # fmt: skip
    server = serve(verdict=lambda talk: {"same": "no" if "Sydney" in talk.text else "yes"})
    arguments = ("reference", write("cases.jsonl", cases), "--judge", settings(server))
    told, ran = card(reward, tmp_path, *arguments)
    assert ran.exit_code == 0, ran.stderr
    assert told["classes"] == ["0", "1"]
    assert told["confusion"] == [[1, 1, 0], [0, 1, 0]]


def test_the_money_of_a_run_has_a_limit(reward, tmp_path, write, serve):
    """A case costs 0.2 dollars: the tenth passes 1.9, and the rest stays unasked, for --resume."""
    server = serve(verdict=better)
    config = {
        "models": [{"model": "dear", "backend": "openai", "endpoint": f"{server.url}/v1"}],
        "prices": {"dear": [1_000.0, 0.0]},
        "max_usd": 1.9,
        "concurrency": 1,
        "max_concurrency": 1,
    }
    cases = write("cases.jsonl", PAIRS)
    told, ran = card(reward, tmp_path, "pairwise", cases, "--judge", json.dumps(config))
    assert ran.exit_code == 1
    assert (told["cases"], told["missing"]) == (10, 30)
    assert told["usd"] == pytest.approx(2.0)
    assert len(server.requests) == 20
    more = json.dumps(config | {"max_usd": 100.0})
    told, ran = card(reward, tmp_path, "pairwise", cases, "--judge", more, "--resume")
    assert (ran.exit_code, told["cases"]) == (0, 40)
    assert len(server.requests) == 80


def test_a_run_that_was_killed_goes_on(reward, tmp_path, write, serve, settings):
    """What is lost are the answers to the few turns that were under way."""
    server = serve(verdict=better, delay=0.05)
    config = json.loads(settings(server)) | {"concurrency": 2, "max_concurrency": 2}
    folder = tmp_path / "cards"
    arguments = ["pairwise", str(write("cases.jsonl", PAIRS)), "--card", str(folder),
                 "--judge", json.dumps(config), "--yes"]  # fmt: skip
    run = Command(["audit", *arguments])
    try:
        until(lambda: any(path.read_text().count("\n") > 8 for path in folder.glob("*.jsonl")))
    finally:
        run.kill()
        run.wait()
        time.sleep(0.3)  # what it had sent arrives
    known = len(ledger(tmp_path)) - 1
    assert 8 <= known < 40
    assert not list(folder.glob("*.md"))

    server.delay, before = 0.0, len(server.requests)
    ran = reward("audit", *arguments, "--resume")
    assert ran.exit_code == 0, ran.stderr
    (written,) = folder.glob("*.json")
    assert json.loads(written.read_text())["cases"] == 40
    assert len(server.requests) - before == 2 * (40 - known)


def test_the_page_is_whole_static_and_says_what_the_markdown_says(
    reward, tmp_path, pandalm, monkeypatch
):
    monkeypatch.setattr(cards, "DRAWS", 1_000)
    arguments = ("pairwise", pandalm[0], "--recorded", "gpt35")
    _, ran = card(reward, tmp_path, *arguments)
    assert ran.exit_code == 1
    (html,) = (tmp_path / "cards").glob("*.html")
    page = harmless(html.read_text())
    assert page.tags["svg"] == 3
    assert "prefers-color-scheme: dark" in html.read_text()
    markdown = html.with_suffix(".md").read_text()
    for figure in ("0.498 (0.464–0.530)", "0.570 (0.493–0.645)", "0.953"):
        assert figure in page.text
        assert figure in markdown


def test_the_figures_fit_a_terminal_of_eighty_columns(reward, tmp_path, pandalm, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(cards, "DRAWS", 1_000)
    arguments = (pandalm[0], "--recorded", "gpt35", "--card", tmp_path)
    ran = reward("audit", "pairwise", *arguments)
    assert ran.exit_code == 1
    assert "macro F1     0.498 (0.464–0.530)" in ran.stdout
    tables, _, _ = ran.stdout.partition("pairwise, version")
    assert max(map(len, tables.splitlines())) <= 80


def test_the_same_run_writes_the_same_card(reward, tmp_path, pandalm):
    arguments = ("pairwise", pandalm[0], "--recorded", "pandalm7b")
    first, _ = card(reward, tmp_path, *arguments)
    again, _ = card(reward, tmp_path, *arguments)
    other, _ = card(reward, tmp_path, *arguments, "--seed", 1)
    assert first == again
    assert first["agreement"]["wrong"]["kappa"] != other["agreement"]["wrong"]["kappa"]
    assert len(list((tmp_path / "cards").iterdir())) == 3


HOSTILE = "<script>alert(1)</script> | `x` [a](b)"


def test_texts_of_the_cases_cannot_break_out_of_the_card(reward, tmp_path, write):
    """The field and the file's name are shown, and so is the first case that has no rating."""
    rows = [row | {HOSTILE: row["label"]} for row in PAIRS] + [pair("last", 1)]
    folder = tmp_path / "<b>x<b>"
    folder.mkdir()
    path = folder / "cases|.jsonl"
    path.write_text(write("cases.jsonl", rows).read_text())
    _, ran = card(reward, tmp_path, "pairwise", path, "--recorded", HOSTILE)
    assert ran.exit_code == 1
    (html,) = (tmp_path / "cards").glob("*.html")
    page = harmless(html.read_text())
    assert page.tags["b"] == 0
    markdown = html.with_suffix(".md").read_text()
    assert "<script>" not in markdown.replace("\\<", "")


UNUSABLE = [
    (("nothing",), "no reward function is called 'nothing'"),
    (("gsm8k", "--recorded", "judge"), "gsm8k asks no judge model"),
    (("pairwise",), "no judge model is named, and none is the default"),
    (("pairwise", "--judge", "{"), "the judge's settings: "),
    (("pairwise", "--judge", '{"models": []}'), "no judge model is named"),
    (("pairwise", "--judge", '{"models": [{"modle": "x"}]}'), "models.0.modle is unknown"),
    (("pairwise", "--judge", "missing.toml"), "missing.toml: No such file"),
    (("pairwise", "--judge-answers", "missing.jsonl"), "missing.jsonl cannot be read"),
    (("pairwise", "--recorded", "judge"), "nothing is recorded under 'judge'"),
    (("pairwise", "--recorded", "label", "--resume"), "--recorded asks no model"),
    (("pairwise", "--recorded", "label", "--both-orders"), "it excludes --judge-answers, --resume"),
    (("pairwise", "--recorded", "label", "--repeat", "2"), "--both-orders and --repeat"),
    (("pairwise", "--recorded", "label", "--param", "sides=2"), "no parameter 'sides'"),
]


@pytest.mark.parametrize(("arguments", "problem"), UNUSABLE, ids=[said for _, said in UNUSABLE])
def test_what_cannot_be_used_is_one_sentence_and_nothing_is_written(
    reward, tmp_path, write, arguments, problem
):
    name, *options = arguments
    cases = write("cases.jsonl", PAIRS)
    ran = reward("audit", name, cases, "--card", tmp_path / "out", "--yes", *options)
    assert ran.exit_code == 2
    assert problem in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_key_that_is_not_set_is_one_sentence(
    reward, tmp_path, write, serve, settings, monkeypatch
):
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    judge = settings(serve(), key="env:JUDGE_KEY")
    arguments = (write("cases.jsonl", PAIRS), "--judge", judge)
    ran = reward("audit", "pairwise", *arguments, "--card", tmp_path / "out", "--yes")
    assert ran.exit_code == 2
    assert "some-judge: the environment variable that its key names is not set" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no cases"),
        ("{", "line 1, column 2: not JSON"),
        ("[1]", "item 1: not a JSON object but a number"),
        ('{"id": 1, "messages": []}\n', "line 1: the case has no label"),
    ],
)
def test_a_broken_file_of_cases_is_one_sentence(reward, tmp_path, text, problem):
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    ran = reward("audit", "pairwise", path, "--card", "cards", "--recorded", "x")
    assert ran.exit_code == 2
    assert problem in ran.stderr


def test_both_orders_are_for_pairs(reward, write):
    cases = write("cases.jsonl", [graded("a", 1, "x"), graded("b", 0, "y")])
    ran = reward("audit", "reference", cases, "--card", "cards", "--both-orders")
    assert ran.exit_code == 2
    assert "the cases are no pairs" in ran.stderr


GATES = {
    # expression: whether it holds for the recorded answers of PandaLM's own judge
    "kappa<0.1": True,
    "kappa<0.9": False,
    "bias>0.5": True,
    "macro_f1<0.9": False,
    "accuracy<0.3": True,
    "consistency.both_orders<0.1": True,
    "consistency.asked_again<0.1": True,
}


@pytest.mark.parametrize("gate", GATES)
def test_a_build_fails_by_what_people_say(reward, tmp_path, pandalm, gate):
    given = ("--recorded", "pandalm7b", "--fail-on", gate, "--card", tmp_path, "--format", "json")
    ran = reward("audit", "pairwise", pandalm[0], *given)
    told = json.loads(ran.stdout)
    (found,) = [each for each in told["gates"] if each["expression"] == gate]
    assert (found["decision"], ran.exit_code) == (("held", 0) if GATES[gate] else ("broken", 1))
    assert told["data"]["rows"] == 472


def test_nobody_is_asked_before_somebody_agrees(reward, tmp_path, write, serve, settings):
    server = serve(verdict=better)
    cases = write("cases.jsonl", PAIRS)
    given = ("audit", "pairwise", cases, "--judge", settings(server), "--card", tmp_path / "out")
    for more, says in (
        ((), "give a budget (--budget 40), or agree to it (--yes)"),
        (("--repeat", 2), "(--budget 80)"),
        (("--budget", 39), "a budget of 39 is too small: the cases take 40 trials"),
    ):
        ran = reward(*given, *more)
        assert (ran.exit_code, says in ran.stderr) == (2, True), ran.stderr
    assert (server.requests, (tmp_path / "out").exists()) == ([], False)
    assert reward(*given, "--budget", 40).exit_code == 0


WITHOUT_A_CARD = [
    (("rows.jsonl", "--recorded", "x"), "are of --card DIR"),
    (("rows.jsonl", "--resume"), "are of --card DIR"),
    (("rows.jsonl", "--beside", "card.json"), "are of --card DIR"),
    (("rows.jsonl", "--fail-on", "kappa<0.4"), "is a gate of a judge beside people: add --card"),
    (("rows.jsonl", "--fail-on", "bias>0.1"), "is a gate of a judge beside people: add --card"),
    (("--card", "out"), "DATA is a file of cases"),
]


@pytest.mark.parametrize(("arguments", "problem"), WITHOUT_A_CARD)
def test_a_card_needs_cases_and_its_options_a_card(reward, arguments, problem):
    ran = reward("audit", "pairwise", *arguments)
    assert (ran.exit_code, problem in ran.stderr) == (2, True)


def test_the_label_may_have_another_name(reward, tmp_path, write):
    rows = [{**row, "vote": row["label"], "said": row["label"]} for row in PAIRS]
    for row in rows:
        del row["label"]
    cases = write("cases.jsonl", rows)
    told, ran = card(reward, tmp_path, "pairwise", cases, "--label", "vote", "--recorded", "said")
    assert ran.exit_code == 0, ran.stderr
    assert values(told["agreement"]["wrong"])["kappa"] == 1.0


BUDGETS = {
    "0": "not '0'",
    "-1": "not '-1'",
    "1.5": "not '1.5'",
    "$": "not '$'",
    "$0": "not '$0'",
    "$1e9": "not '$1e9'",
    "2 dollars": "not '2 dollars'",
    "9" * 400: "--budget is a number of answers",
}


@pytest.mark.parametrize("budget", BUDGETS, ids=lambda text: text[:12])
def test_a_budget_is_answers_or_dollars(reward, budget):
    ran = reward("audit", "reference", f"--budget={budget}")
    assert (ran.exit_code, BUDGETS[budget] in ran.stderr) == (2, True), ran.stderr


def test_dollars_end_an_audit_and_what_was_not_asked_has_no_score(reward, write, serve):
    """A question costs 0.1 dollars, and may cost more: that much is kept back before it."""
    server = serve(verdict=lambda talk: {"same": "no"})
    config = {
        "models": [{"model": "dear", "backend": "openai", "endpoint": f"{server.url}/v1"}],
        "prices": {"dear": [1_000.0, 0.0]},
        "concurrency": 1,
        "max_concurrency": 1,
    }
    towns = ("Canberra", "Lima", "Oslo", "Accra", "Hanoi", "Quito", "Tunis", "Riga")
    asked = [{"id": town, "prompt": f"Where is {town}'s mayor?", "answer": town} for town in towns]
    rows = write("rows.jsonl", asked)
    given = ("--judge", json.dumps(config), "--class", "EX-WRONG", "--format", "json")
    ran = reward("audit", "reference", rows, *given, "--budget", "$0.9")
    found = json.loads(ran.stdout)
    assert 0 < found["dollars"] <= 0.9
    assert 0 < len(server.requests) < 16
    by_id = {each["id"]: each["value"] for each in found["figures"]}
    assert (by_id["unscored"] > 0, ran.exit_code) == (True, 1)


WRONG_GATES = {
    "kapa<0.4": "a card has no figure 'kapa'. Did you mean 'kappa'?",
    "exploit>0": "a card has no figure 'exploit'",
    "kappa.beside<0": "'kappa.beside<0' holds two judges: add --beside CARD.json",
    "kappa": "a gate is written FIGURE>LIMIT",
    "kappa<nan": "a gate is written FIGURE>LIMIT",
}


@pytest.mark.parametrize("gate", WRONG_GATES)
def test_a_gate_that_is_none_is_refused_before_a_model_is_asked(
    reward, tmp_path, write, serve, settings, gate
):
    server = serve(verdict=better)
    cases = write("cases.jsonl", PAIRS)
    given = ("--judge", settings(server), "--card", tmp_path / "out", "--yes", "--fail-on", gate)
    ran = reward("audit", "pairwise", cases, *given)
    assert (ran.exit_code, WRONG_GATES[gate] in ran.stderr) == (2, True), ran.stderr
    assert (server.requests, (tmp_path / "out").exists()) == ([], False)


def test_a_gate_of_what_the_cases_do_not_define_is_no_pass(reward, tmp_path, write):
    cases = write("cases.jsonl", [row | {"said": row["label"]} for row in PAIRS])
    given = ("--card", tmp_path / "out", "--recorded", "said")
    ran = reward("audit", "pairwise", cases, *given, "--fail-on", "consistency.own_orders<0.5")
    assert (ran.exit_code, "not measured, these cases" in ran.stderr) == (1, True), ran.stderr


RARE = {
    # the gate of a judge that is right: prompts with a second label of 40, its decision
    "kappa<0.4": {9: "undecided", 10: "held"},
    "macro_f1<0.4": {9: "undecided", 10: "held"},
    "tie_f1<0.4": {9: "absent", 10: "absent"},
    "accuracy<0.4": {1: "held"},
}


@pytest.mark.parametrize(("gate", "rare"), [(gate, rare) for gate in RARE for rare in RARE[gate]])
def test_a_gate_is_not_held_by_a_label_that_hardly_anyone_gave(reward, tmp_path, write, gate, rare):
    labels = [1 + (at < rare) for at in range(40)]
    rows = [row | {"label": each, "said": each} for row, each in zip(PAIRS, labels, strict=True)]
    cases = write("cases.jsonl", rows)
    given = ("--recorded", "said", "--fail-on", gate, "--card", tmp_path, "--format", "json")
    ran = reward("audit", "pairwise", cases, *given)
    (found,) = [each for each in json.loads(ran.stdout)["gates"] if each["expression"] == gate]
    wanted = RARE[gate][rare]
    assert (found["decision"], ran.exit_code) == (wanted, 0 if wanted == "held" else 1)
    assert ("label 10" in found["message"]) is (wanted == "undecided")


@pytest.mark.parametrize("gate", ["kappa<0.4", "accuracy<0.4", "bias>0.5"])
def test_a_gate_of_few_prompts_is_undecided(reward, tmp_path, write, gate):
    cases = write("cases.jsonl", [row | {"said": row["label"]} for row in PAIRS[:29]])
    given = ("--recorded", "said", "--fail-on", gate, "--card", tmp_path)
    ran = reward("audit", "pairwise", cases, *given)
    assert (ran.exit_code, "of 29 prompts only: label 30" in ran.stderr) == (1, True), ran.stderr
    assert reward("audit", "pairwise", cases, *given, "--allow-undecided").exit_code == 0


def answered(rows, wrong):
    """The rows with the answers of a judge that is right, and of one that is wrong about some."""
    return [
        {**row, "right": row["label"], "other": abs(row["label"] - 3 * (at < wrong))}
        for at, row in enumerate(rows)
    ]


def test_a_second_judge_stands_beside_the_first_and_gates_hold_the_difference(
    reward, tmp_path, write
):
    cases = write("cases.jsonl", answered(PAIRS, 30))
    earlier, _ = card(reward, tmp_path / "other", "pairwise", cases, "--recorded", "other")
    assert earlier["verdict"] == "not fit"
    (path,) = (tmp_path / "other" / "cards").glob("*.json")
    given = ("pairwise", cases, "--recorded", "right", "--beside", path)
    written, ran = card(reward, tmp_path, *given, "--fail-on", "kappa.beside<0.5")
    assert ran.exit_code == 0, ran.stderr
    assert "Fit: kappa 1.00, 1.00 to 1.00, is above 0.4. Beside it, pairwise" in ran.stdout
    assert written["beside"]["right"]["the first alone"] == 30
    assert len(list((tmp_path / "cards").glob("*.html"))) == 1
    (page,) = (tmp_path / "cards").glob("*.md")
    assert "| the judge alone | 30 | 75.0% |" in page.read_text()
    ran = reward("audit", *given, "--card", tmp_path / "cards", "--fail-on", "accuracy.beside<0.9")
    assert (ran.exit_code, "accuracy.beside<0.9" in ran.stderr) == (1, True)
    ran = reward("audit", *given, "--card", tmp_path, "--beside", tmp_path / "nothing.json")
    assert (ran.exit_code, "nothing.json" in ran.stderr) == (2, True), ran.stderr


NEARLY_NOTHING = {
    # an earlier card's verdicts: why a gate of the difference does not hold then
    "two": (lambda verdicts: verdicts[:2], "of 2 prompts only: label 30"),
    "too few": (lambda verdicts: verdicts[:29], "of 29 prompts only: label 30"),
    "none valid": (
        lambda verdicts: [each | {"value": None, "invalid": "malformed"} for each in verdicts],
        "<-0.9: not measured, these cases",
    ),
}


@pytest.mark.parametrize("case", NEARLY_NOTHING)
@pytest.mark.parametrize("figure", ["kappa", "accuracy"])
def test_a_difference_of_nearly_nothing_holds_no_gate(reward, tmp_path, write, case, figure):
    cases = write("cases.jsonl", answered(PAIRS, 10))
    earlier, _ = card(reward, tmp_path / "other", "pairwise", cases, "--recorded", "other")
    kept, why = NEARLY_NOTHING[case]
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps(earlier | {"verdicts": kept(earlier["verdicts"])}))
    given = ("pairwise", cases, "--recorded", "right", "--beside", path)
    _, ran = card(reward, tmp_path, *given, "--fail-on", f"{figure}.beside<-0.9")
    assert (ran.exit_code, why in ran.stderr) == (1, True), ran.stderr


def test_cards_of_other_trials_or_beside_another_judge_replace_no_card(
    reward, tmp_path, write, serve, settings
):
    cases = write("cases.jsonl", answered(PAIRS, 30))
    plain, _ = card(reward, tmp_path, "pairwise", cases, "--recorded", "other")
    (first,) = (tmp_path / "cards").glob("*.json")
    for _ in range(2):
        beside, _ = card(
            reward, tmp_path, "pairwise", cases, "--recorded", "other", "--beside", first
        )
    assert beside["beside"]["right"]["both"] == 10
    assert json.loads(first.read_text()) == plain
    assert len([*(tmp_path / "cards").glob("*.json")]) == 2
    given = ("pairwise", write("two.jsonl", PAIRS[:2]), "--judge", settings(serve(verdict=better)))
    for more in ((), ("--both-orders", "--resume"), ("--both-orders", "--repeat", 2, "--resume")):
        assert card(reward, tmp_path, *given, *more)[1].exit_code == 0
    assert len([*(tmp_path / "cards").glob("*.json")]) == 5
    assert len(ledger(tmp_path)) == 1 + 2 * 2 * 2, "one, and no trial is asked twice"


@pytest.mark.parametrize("gate", ["kappa<0.4", "bias>0.1"])
def test_a_single_prompt_decides_no_gate(reward, tmp_path, write, gate):
    turns = [row | {"instruction": "One question?"} for row in answered(PAIRS[:4], 0)]
    cases = write("cases.jsonl", turns)
    given = ("pairwise", cases, "--recorded", "right", "--card", tmp_path / "out")
    ran = reward("audit", *given, "--fail-on", gate)
    assert (ran.exit_code, "undecided" in ran.stderr) == (1, True), ran.stderr
    assert "a single prompt has no interval" in ran.stderr


def test_the_page_of_a_card_begins_with_the_gate_that_does_not_hold(reward, tmp_path, write):
    cases = write("cases.jsonl", answered(PAIRS, 30))
    _, ran = card(
        reward, tmp_path, "pairwise", cases, "--recorded", "other", "--fail-on", "kappa<0.4"
    )
    assert ran.exit_code == 1
    (html,) = (tmp_path / "cards").glob("*.html")
    harmless(html.read_text())
    before, _, _ = html.read_text().partition("<h2")
    assert "Not fit: kappa" in before
    assert "kappa&lt;0.4: kappa is" in before
