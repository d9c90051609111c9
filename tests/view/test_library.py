"""What a folder's results say of themselves, and what becomes of files that are none."""

import json
import os
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock

import pytest

from reward_functions.scoring import journal
from reward_functions.view import kinds, reading
from reward_functions.view import library as library_module
from reward_functions.view.entries import KINDS, slug_of
from reward_functions.view.library import GROWING, Library, NoFolder, Unknown
from reward_functions.view.reading import Gone
from reward_functions.view.row_index import Asked
from reward_functions.view.rows import texts_of
from tests.parsed_page import harmless
from tests.view import made

VERSION = "the reward's version"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made.everything(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def listing(folder):
    return Library(folder, clock=lambda: 1e12).listing()


def by_name(listing):
    return {entry.name: entry for entry in listing.entries}


EXPECTED = {
    # name: kind, reward, rows, mean, unscored, what the finding holds
    "audit.json": ("audit", "gsm8k 2", None, None, 0, ""),
    "baseline.json": ("baseline", "math 2", 8, 0.5, 1, ""),
    "compare.json": ("comparison", "gsm8k, exact_match", 4, None, 0, ""),
    "evaluation.json": ("evaluation", "math 3", 10, 0.6, 1, "no difference shown"),
    "job.json": ("job", "math", None, None, None, "failed: it broke"),
    "metrics.json": ("metrics", "", 5, 0.4, None, "flat"),
    "scores.html": ("page", "gsm8k", None, None, None, ""),
    "scores.jsonl": ("scores", "gsm8k", 7, 2 / 3, 1, "1 of 7 rows have no reward, mostly Bad"),
    "below/rollouts.jsonl": ("rollouts", "math 4", 3, 0.75, 1, "1 of 3 rollouts have no reward"),
    "below/trajectories.jsonl": ("trajectories", "", 2, 1.0, 1, "mostly failed"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_result_says_what_it_is(listing, name):
    kind, reward, rows, mean, unscored, finding = EXPECTED[name]
    entry = by_name(listing)[name]
    facts = entry.facts
    assert (entry.kind, facts.problem, facts.progress) == (kind, "", "")
    assert entry.reward.startswith(reward.rpartition(" ")[0] or reward)
    assert (facts.unscored, facts.mean) == (unscored, mean and pytest.approx(mean))
    assert rows in (None, facts.rows)
    assert finding in facts.finding


def test_a_card_is_listed_with_its_page(listing):
    found = [each for each in listing.entries if each.name.startswith("cards/")]
    assert sorted(each.kind for each in found) == ["calibration", "page"]
    (card,) = (each.facts for each in found if each.kind == "calibration")
    assert (card.reward, card.rows, card.mean) == ("reference", 4, None)
    assert card.finding


def test_what_is_no_result_is_counted(listing):
    assert listing.notes == ["1 file is no result of this project, and left out."]  # the card's .md


def test_names_have_addresses_of_their_own():
    names = ["a b", "a-b", "a/b", "../a", "ä", "a" * 300, "\udcff"]
    slugs = {slug_of(name) for name in names}
    assert len(slugs) == len(names)
    assert all(slug.isascii() and "/" not in slug and slug[0] != "." for slug in slugs)


def line(value, at=0, **more):
    return json.dumps({"id": f"r{at}", "aggregate_reward_score": value, "metrics_list": []} | more)


GOOD = f"{line(1.0)}\n".encode()

BROKEN = {
    # a file's bytes: (rows that are read, what is said)
    "half a last line": (GOOD + b'{"id": "r1", "aggre', 1, ""),
    "an empty line": (GOOD + b"\n" + GOOD, 2, ""),
    "junk between": (GOOD + b"\xff\x00junk\n" + GOOD, 2, "1 line is not read"),
    "no object": (GOOD + b"[1]\n3\nnull\n", 1, "3 lines are not read"),
    "another shape": (GOOD + b'{"id": "x"}\n', 1, "1 line is not read"),
    "not a number": (GOOD + line(float("nan")).encode() + b"\n", 1, "1 line is not read"),
    "without a measure": (GOOD + b'{"id":"","aggregate_reward_score":1e999}\n', 1, "1 line is"),
    "a boolean": (GOOD + line(True).encode() + b"\n", 1, "1 line is not read"),
    "deep": (GOOD + b"[" * 9_999 + b"\n" + GOOD, 2, "1 line is not read"),
    "a digit too many": (GOOD + b'{"id": ' + b"9" * 9_999 + b"}\n", 1, "1 line is not read"),
    "an array": (b"[\n" + line(1.0).encode() + b",\n" + line(0.0).encode() + b"\n]\n", 2, ""),
    "an array, half written": (b"[\n" + line(1.0).encode() + b",\n", 1, ""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_line_that_is_no_row_is_passed_over_and_counted(tmp_path, name):
    content, rows, said = BROKEN[name]
    (tmp_path / "s").write_bytes(content)
    (entry,) = Library(tmp_path).listing().entries
    assert (entry.kind, entry.facts.rows, entry.facts.problem) == ("scores", rows, "")
    assert said in entry.facts.finding


BASELINES = {
    # what a baseline's record holds: the mean, and the finding
    "nothing is scored": ({"scored": 0, "unscored": 20, "mean": None}, None, "20 of 20 answers"),
    "one is scored": ({"scored": 1, "unscored": 19}, 0.5, "19 of 20 answers have no reward"),
    "of a tuned model": ({"scored": 0, "unscored": 2, "mean": None, "tuned": True}, None, "2 of 2"),
    "a tuned model is held to nothing": ({"unscored": 0, "tuned": True}, 0.5, ""),
    "all are cut off": ({"unscored": 0, "cut": [1, 1, 1]}, 0.5, "100.0% of the answers reach the"),
}


@pytest.mark.parametrize("name", BASELINES)
def test_answers_without_a_reward_are_the_first_finding_of_a_baseline(folder, tmp_path, name):
    fields, mean, said = BASELINES[name]
    item = json.loads((folder / "baseline.json").read_text()) | fields
    (tmp_path / "b.json").write_text(json.dumps(item))
    entry, result = Library(tmp_path).opened(slug_of("b.json"))
    assert (entry.facts.mean, entry.facts.unscored) == (mean, item["unscored"])
    assert entry.facts.finding.startswith(said)
    assert bool(said) == bool(entry.facts.finding)
    assert "have no reward: " not in result.page().html()
    if not item["scored"]:
        assert "No answer of the model was scored" in result.page().html()


NOTHING = {
    # the file, what was measured: the finding, and how many are unscored
    "audit.json": ((0, 0), "nothing was measured: there are no answers", None),
    "compare.json": ((0, 4), "nothing was measured: 0 of 4 rows measured", 4),
}


@pytest.mark.parametrize("name", NOTHING)
def test_an_audit_of_nothing_says_so_as_its_command_does(folder, tmp_path, name):
    (measured, missing), said, unscored = NOTHING[name]
    item = json.loads((folder / name).read_text())
    item["measured"] = {"measured": measured, "missing": missing, "unasked": 0}
    (tmp_path / name).write_text(json.dumps(item))
    (entry,) = Library(tmp_path).listing().entries
    assert entry.facts.finding.startswith(said)
    assert entry.facts.unscored == unscored


COURSES = {
    # names of figures, each with its last value: the mean that the list shows
    "a time": ({"timing_s/reward": 31.5, "critic/rewards/mean": 0.25}, 0.25),
    "a share": ({"train/frac_reward_zero_std": 1.0}, None),
    "a mean": ({"train/reward_std": 0.1, "train/reward": 0.5}, 0.5),
}


@pytest.mark.parametrize("name", COURSES)
def test_the_mean_of_metrics_is_that_of_the_reward(tmp_path, name):
    courses, mean = COURSES[name]
    series = [
        {"name": each, "split": "training", "unit": "step", "points": [[1, 9.0], [2, value]]}
        for each, value in courses.items()
    ]
    item = {"job": "j", "simulation": False, "notes": [], "signs": [], "series": series}
    (tmp_path / "m.json").write_text(json.dumps(item))
    assert [each.facts.mean for each in Library(tmp_path).listing().entries] == [mean]


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self):
        return self.now


BEGINS = {
    # how a file begins: rows that are read
    "a long answer": (line(1.0, explanation={"answer": "y" * 100_000, "reason": "no"}), 2),
    "a long id": (line(1.0, "y" * 100_000), 2),
    "an array with a long answer": (f"[\n{line(1.0, 'y' * 100_000)},", 2),
    "a line that is too long": (line(1.0, explanation={"answer": "y" * 300_000}), 1),
    "half a row": (line(1.0)[:50], 2),
    "a byte order mark": (f"\ufeff{line(1.0)}", 2),
}


@pytest.mark.parametrize("name", BEGINS)
def test_scores_are_known_however_long_their_first_row_is(tmp_path, monkeypatch, name):
    begins, rows = BEGINS[name]
    monkeypatch.setattr(kinds, "LONGEST", 200_000)
    monkeypatch.setattr(reading, "LONGEST", 200_000)
    (tmp_path / "s").write_text(begins)
    library = Library(tmp_path)
    assert [each.kind for each in library.listing().entries] == ["scores"]
    with (tmp_path / "s").open("a") as stream:
        stream.write(f"{line(1.0)[50:] * (name == 'half a row')}\n{line(0.0)}\n")
    entry, result = library.opened(slug_of("s"))
    assert entry.facts.rows == rows
    assert result.case(rows - 1).title.startswith("r0")


LAST = {
    # what stands after the last line break: (rows, the finding, rows once more is written)
    "a row": (line(0.0).encode(), 2, "at the minimum", 3),
    "half a row": (line(0.0).encode()[:-9], 1, "the last line is half written", 2),
    "the end of an array": (line(0.0).encode() + b"]", 2, "at the minimum", 3),
    "a bracket": (b"]", 1, "", 2),
    "a number": (b"1", 1, "the last line is half written", 2),
}


@pytest.mark.parametrize("name", LAST)
def test_a_last_line_without_a_line_break_is_read_where_it_is_whole(tmp_path, name):
    last, rows, said, later = LAST[name]
    (tmp_path / "s").write_bytes(b"[" + line(1.0).encode() + b",\n" + last)
    library = Library(tmp_path, clock=lambda: 1e12)
    entry, result = library.opened(slug_of("s"))
    assert (entry.facts.rows, said in entry.facts.finding) == (rows, True)
    assert bool(said) == bool(entry.facts.finding)
    assert result.case(rows - 1).title.startswith("r0")
    assert result.index.chosen(Asked(text="r0"), texts_of).found == rows
    rest = line(0.0).encode()[-9:] if name == "half a row" else b""
    with (tmp_path / "s").open("ab") as stream:
        stream.write(rest + (b"" if name == "half a row" else b"\n" + line(0.5).encode()))
    (entry,) = library.listing().entries
    assert (entry.facts.rows, result.index.bad_lines) == (later, name == "a number")


def test_half_a_last_line_is_no_finding_while_more_may_come(tmp_path):
    path, clock = tmp_path / "s", Clock()
    path.write_bytes(GOOD + b'{"id": "r1", "aggre')
    library = Library(tmp_path, clock=clock)
    for since, said in ((1, ""), (2 * GROWING, "the last line is half written")):
        clock.now = path.stat().st_mtime + since
        entry, result = library.opened(slug_of("s"))
        assert entry.facts.finding == said
        assert list(result.figures().warnings) == ([f"T{said[1:]}."] if said else [])


REWRITTEN = {
    # what a file of 100 rows of 0.0 holds then: its mean
    "its last rows": ([0.0] * 90 + [1.0] * 10, 0.1),
    "a row among others": ([0.0] * 80 + [1.0] + [0.0] * 19, 0.01),
    "its last rows, and more rows": ([0.0] * 90 + [1.0] * 110, 0.55),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_file_that_is_written_anew_in_its_place_is_read_anew(tmp_path, name):
    values, mean = REWRITTEN[name]
    path = tmp_path / "s"
    path.write_text("".join(f"{line(0.0, at)}\n" for at in range(100)))
    library = Library(tmp_path, clock=lambda: 1e12)
    _, result = library.opened(slug_of("s"))
    assert "mean 0" in result.figures().lead
    with path.open("r+") as stream:
        stream.write("".join(f"{line(value, at)}\n" for at, value in enumerate(values)))
    os.utime(path, (1, 1))
    (entry,) = library.listing().entries
    assert (entry.facts.rows, entry.facts.mean) == (len(values), pytest.approx(mean))
    assert f"mean {mean:.4g}." in result.figures().lead


def test_a_line_without_an_end_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST", 1_000)
    endless = b'{"id": "' + b"x" * 5_000
    (tmp_path / "s").write_bytes(GOOD + endless + b'"}\n' + GOOD + endless)
    (entry,) = Library(tmp_path).listing().entries
    assert entry.facts.rows == 2
    assert entry.facts.finding.startswith("1 line is not read")


OTHERS = {
    "empty": b"",
    "junk": bytes(range(256)) * 9,
    "another's JSON": b'{"rows": []}',
    "another's page": b"<!doctype html><html><body></body></html>",
    "samples": json.dumps(made.sample(0, "1")).encode(),
    "an endless line": b'{"id": "' + b"x" * 100_000,
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_others_is_left_out(tmp_path, name):
    (tmp_path / "file").write_bytes(OTHERS[name])
    listing = Library(tmp_path).listing()
    assert (listing.entries, listing.notes) == (
        [],
        ["1 file is no result of this project, and left out."],
    )


@pytest.mark.parametrize("name", ["audit.json", "evaluation.json", "baseline.json", "job.json"])
def test_a_half_written_record_is_a_sentence(folder, tmp_path, name):
    (tmp_path / name).write_bytes((folder / name).read_bytes()[:-40])
    library = Library(tmp_path)
    assert library.listing().notes == [f"{name} seems half written: it is no JSON."]
    (tmp_path / name).write_bytes((folder / name).read_bytes())
    assert [each.name for each in library.listing().entries] == [name]


@pytest.mark.parametrize("name", ["audit.json", "evaluation.json", "baseline.json", "metrics.json"])
def test_a_record_of_other_types_is_a_sentence(folder, tmp_path, name):
    item = json.loads((folder / name).read_text())
    for key in ("figures", "greedy", "mean", "series"):
        if key in item:
            item[key] = {"a": ["b"]}
    (tmp_path / name).write_text(json.dumps(item))
    library = Library(tmp_path)
    (entry,) = library.listing().entries
    assert entry.facts.problem.startswith(f"{name}, {entry.kind}: ")
    with pytest.raises(Gone):
        library.opened(entry.slug)


def test_partial_results_show_how_far_they_are(tmp_path):
    path, clock = tmp_path / "out.jsonl.partial", Clock()
    head = {journal.MARK: True, "the reward": ["gsm8k"], "the reward's version": 2, journal.ROWS: 4}
    path.write_text(f"{json.dumps(head)}\n")
    library = Library(tmp_path, clock=clock)
    clock.now = path.stat().st_mtime
    (entry,) = library.listing().entries
    assert entry.facts.progress == "being written, 0 of 4 (0%) rows"
    with path.open("a") as stream:
        for at, value in ((0, 1.0), (1, 0.0), (1, 0.5)):  # the second is scored again
            stream.write(f'{line(value, at)}\t[{at}, {value}, "wrong", 0, 9, 0]\n')
        stream.write('{"id": "r2", "agg')
    (entry,) = library.listing().entries
    assert (entry.reward, entry.facts.rows, entry.facts.mean) == ("gsm8k 2", 2, 0.75)
    assert entry.facts.progress == "being written, 2 of 4 (50%) rows"
    clock.now += 2 * GROWING
    (entry,) = library.listing().entries
    assert entry.facts.progress.startswith("interrupted")


def test_a_run_that_waits_for_its_judge_is_not_interrupted(tmp_path):
    library = Library(tmp_path, clock=lambda: 1e12)
    with journal.beside(tmp_path / "out", {"the reward": ["g"], VERSION: 2}, 4, resume=False):
        (entry,) = library.listing().entries
        assert entry.facts.progress == "being written, 0 of 4 (0%) rows"
        written = (tmp_path / "out.partial").read_bytes()
    (tmp_path / "out.partial").write_bytes(written)
    (entry,) = library.listing().entries
    assert entry.facts.progress == "interrupted: --resume goes on, 0 of 4 (0%) rows"


def test_a_run_that_ends_without_a_row_is_interrupted_from_then_on(tmp_path):
    path = tmp_path / "out.partial"
    path.write_text(f'{{"{journal.MARK}": true, "the reward": ["g"], "{VERSION}": 2}}\n')
    library = Library(tmp_path, clock=lambda: 1e12)
    with path.open("rb") as stream:
        flock(stream, LOCK_EX)
        assert library.listing().entries[0].facts.progress.startswith("being written")
    assert library.listing().entries[0].facts.progress.startswith("interrupted")
    with path.open("rb") as stream:
        flock(stream, LOCK_EX | LOCK_NB)  # looking on has left no lock


def test_a_file_that_grows_is_read_on_and_another_one_anew(tmp_path):
    path = tmp_path / "s"
    path.write_bytes(GOOD)
    library = Library(tmp_path)
    means = []
    for content, mode in ((GOOD, "wb"), (f"{line(0.0)}\n".encode(), "ab")):
        with path.open(mode) as stream:
            stream.write(content)
        means.append(library.listing().entries[0].facts.mean)
    path.unlink()
    path.write_text(f"{line(0.25)}\n" * 5)
    means.append(library.listing().entries[0].facts.mean)
    assert means == [1.0, 0.5, 0.25]


def test_reading_may_stop_and_goes_on(tmp_path):
    (tmp_path / "s").write_bytes(GOOD * 2_500)
    library = Library(tmp_path)
    seen = []
    for first in (False, True, True, True):
        looks = iter([first, *[True] * 9])
        listing = library.listing(lambda looks=looks: next(looks))
        seen.append((listing.entries[0].facts.rows, listing.reading))
    assert seen == [(1_000, True), (2_000, True), (2_500, False), (2_500, False)]


def test_many_files_are_looked_at_a_few_at_a_time(tmp_path):
    for at in range(5):
        (tmp_path / f"{at}").write_bytes(GOOD)
    library = Library(tmp_path)
    looks = iter([False, True, True, True])
    listing = library.listing(lambda: next(looks, False))
    assert ([each.name for each in listing.entries], listing.reading) == (["0", "1"], True)
    assert listing.notes == ["3 files are looked at in a moment."]
    assert len(library.listing().entries) == 5


def test_a_run_over_shards_is_one_result(tmp_path):
    run = made.run_of_shards(tmp_path)
    (entry,) = Library(tmp_path).listing().entries
    assert (entry.name, entry.kind, entry.facts.rows, entry.facts.mean) == ("run", "run", 4, 0.5)
    (run / "summary.json").unlink()
    for facts in run.glob("*.facts.json"):
        facts.unlink()
    (entry,) = Library(tmp_path, clock=lambda: 1e12).listing().entries
    assert (entry.facts.progress, entry.facts.rows) == ("not finished: 0 of 1 parts", 0)
    (run / "manifest.jsonl").write_text("{}\n")
    (entry,) = Library(tmp_path).listing().entries
    assert "is not the one that the run began with" in entry.facts.problem


def test_parts_are_read_once_in_any_order_that_they_end_in(tmp_path):
    run = made.run_of_shards(tmp_path, shard_mb=200 / (1 << 20))
    first, summary = run / "part-000000.facts.json", run / "summary.json"
    facts, figures = first.read_text(), summary.read_text()
    first.unlink()
    summary.unlink()
    library = Library(tmp_path)
    ids = []
    for path, text in ((None, ""), (first, facts), (summary, figures)):
        if path:
            path.write_text(text)
        _, result = library.opened(slug_of("run"))
        ids.append([result.case(at).title.partition(" ")[0] for at in range(len(result.index))])
    assert ids[2] == ["r0", "r1", "r2", "r3"]
    assert ids[1] == [*ids[0], *(each for each in ids[2] if each not in ids[0])]
    assert 0 < len(ids[0]) < 4


def test_links_that_lead_out_are_not_followed(tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    (outside / "more").mkdir(parents=True)
    inside.mkdir()
    (outside / "s").write_bytes(GOOD)
    (inside / "file").symlink_to(outside / "s")
    (inside / "folder").symlink_to(outside)
    (inside / "circle").symlink_to(inside / "circle")
    (inside / "own").write_bytes(GOOD)
    (inside / "again").symlink_to(inside / "own")
    listing = Library(inside).listing()
    assert [each.name for each in listing.entries] == ["again", "own"]
    assert listing.notes == ["file leads out of the folder: it is not read."]
    run = made.run_of_shards(inside)
    (run / "stopped.json").symlink_to(outside / "s")
    problems = {each.name: each.facts.problem for each in Library(inside).listing().entries}
    assert problems["run"] == "run holds links: it is not read"


def test_a_link_to_nothing_hides_no_run(tmp_path):
    run = made.run_of_shards(tmp_path)
    (run / "notes").symlink_to("nowhere")
    (entry,) = Library(tmp_path).listing().entries
    assert (entry.name, entry.facts.rows, entry.facts.problem) == ("run", 4, "")


def test_folders_have_a_depth(tmp_path, monkeypatch):
    monkeypatch.setattr(library_module, "DEEPEST", 2)
    below = tmp_path / "1" / "2" / "3"
    below.mkdir(parents=True)
    for each in (below, below.parent):
        (each / "s").write_bytes(GOOD)
    listing = Library(tmp_path).listing()
    assert [each.name for each in listing.entries] == ["1/2/s"]
    assert listing.notes == ["Folders more than 2 levels below are not looked at."]


def test_devices_and_pipes_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert Library(tmp_path).listing().notes == ["pipe is no regular file."]


def test_what_vanishes_while_it_is_looked_at_is_a_sentence(tmp_path, monkeypatch):
    path = tmp_path / "s"
    path.write_bytes(GOOD)
    library = Library(tmp_path)
    (entry,) = library.listing().entries
    _, result = library.opened(entry.slug)
    path.unlink()
    with pytest.raises(Gone, match="s is not there any more"):
        result.case(0)
    with pytest.raises(Unknown):
        library.opened(entry.slug)
    assert library.listing().entries == []


def test_no_permission_is_a_sentence_for_every_user(tmp_path, monkeypatch):
    (tmp_path / "s").write_bytes(GOOD)

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(reading.os, "open", refused)
    assert Library(tmp_path).listing().notes == ["s may not be read: you have no permission."]


def test_a_folder_that_is_missing_or_no_folder_is_a_sentence(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for name, words in {"none": "there is no such folder", "file": "is a file"}.items():
        with pytest.raises(NoFolder, match=words):
            Library(tmp_path / name)


ROWS = [(0.0, "wrong"), (1.0, "right"), (0.5, "Partly wrong"), (None, ""), (1.0, "right")]

CHOSEN = {
    # what is asked: the rows
    "all": ({}, [0, 1, 2, 3, 4]),
    "a range": ({"low": 0.5, "high": 0.9}, [2]),
    "unscored": ({"unscored": True}, [3]),
    "a reason": ({"reason": "WRONG"}, [0, 2]),
    "an error": ({"reason": "badref"}, [3]),
    "a text": ({"text": "ZÜRICH 1"}, [1]),
    "a name of a field is no text": ({"text": "aggregate"}, []),
    "lowest first": ({"sort": "value"}, [0, 2, 1, 4, 3]),
    "highest first": ({"sort": "-value"}, [1, 4, 2, 0, 3]),
    "a page past the last": ({"page": 99}, [0, 1, 2, 3, 4]),
    "both": ({"low": 1.0, "text": "zürich 4"}, [4]),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_rows_are_chosen(tmp_path, name):
    asked, rows = CHOSEN[name]
    lines = []
    for at, (value, reason) in enumerate(ROWS):
        known = {"answer": f"Zürich {at}", "reason": reason, "rule": None}
        error = {"error": {"type": "BadReference", "message": "none"}}
        lines.append(line(value, at, **({"explanation": known} if reason else error)))
    (tmp_path / "s").write_text("".join(f"{each}\n" for each in lines))
    library = Library(tmp_path)
    _, result = library.opened(slug_of("s"))
    chosen = result.index.chosen(Asked(**asked), texts_of)
    assert (list(chosen.rows), chosen.found) == (rows, len(rows))


def test_a_page_has_so_many_rows(tmp_path):
    (tmp_path / "s").write_bytes(GOOD * 120)
    _, result = Library(tmp_path).opened(slug_of("s"))
    chosen = result.index.chosen(Asked(page=3), str)
    assert (list(chosen.rows), chosen.page, chosen.pages) == (list(range(100, 120)), 3, 3)


def test_every_kind_is_made_here(listing):
    assert {entry.kind for entry in listing.entries} | {"run"} == {*KINDS}


SERIES = {"name": "reward_mean", "split": "training", "unit": "step"}


@pytest.mark.parametrize("place", [0, 1], ids=["position", "value"])
@pytest.mark.parametrize("number", ["1e999", "-1e999", "1.7e308"])
def test_points_beyond_any_figure_are_left_out_as_where_a_service_is_asked(tmp_path, place, number):
    points = [[at, at / 10] for at in range(9)]
    points[4][place] = "HERE"
    item = {"job": "sums", "simulation": True, "series": [SERIES | {"points": points}]}
    text = json.dumps(item | {"signs": [], "notes": []}).replace('"HERE"', number)
    (tmp_path / "metrics.json").write_text(text)
    library = Library(tmp_path)
    (entry,) = library.listing().entries
    assert (entry.facts.problem, entry.facts.rows, entry.facts.mean) == ("", 8, 0.8)
    harmless(library.opened(entry.slug)[1].page().html())


@pytest.mark.parametrize("notes", [["a note"] * 10_000, "a" * 1_000_000], ids=["list", "text"])
def test_notes_and_names_of_an_audit_are_bounded(folder, tmp_path, notes):
    item = json.loads((folder / "audit.json").read_text())
    item["target"] |= {"name": "n" * 1_000_000, "version": "v" * 1_000_000}
    (tmp_path / "audit.json").write_text(json.dumps(item | {"notes": notes}))
    library = Library(tmp_path)
    (entry,) = library.listing().entries
    assert len(entry.reward) < 1_000
    assert len(library.opened(entry.slug)[1].page().html()) < 200_000


def test_notes_of_a_record_do_not_make_its_page_longer(tmp_path):
    item = {"job": "sums", "simulation": True, "series": [], "signs": []}
    for notes in (["a note"] * 10_000, "a" * 1_000_000):
        (tmp_path / "metrics.json").write_text(json.dumps(item | {"notes": notes}))
        library = Library(tmp_path)
        (entry,) = library.listing().entries
        assert len(library.opened(entry.slug)[1].page().html()) < 100_000
