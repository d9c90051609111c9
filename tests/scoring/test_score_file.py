"""`scoring.score_file`, called from Python: what it writes, returns, says and raises."""

import io
import json
import subprocess
import sys

import pytest

from reward_functions import Example, Score, get, reward_function, sample, scoring
from reward_functions.core.errors import BadParameter, ConfigurationError, NoJudge, UnknownReward
from reward_functions.data.json_rows import BadInput
from reward_functions.scoring.journal import Journal
from reward_functions.testing import wire_row

COUNT = 300

RIGHT = COUNT // 3
"""Each third response is right."""


@pytest.fixture
def rows(tmp_path):
    lines = [
        json.dumps(
            wire_row(sample(f"#### {at % 3}", "1", prompt=f"p{at // 4}", id=f"r{at}"))
            | {"right": at % 3 == 1}
        )
        for at in range(COUNT)
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(lines))
    return file


@reward_function(
    version=1, examples=[Example("positive", response="one", reference="one", score=1.0)]
)
def nearby(sample, *, least: int = 0):
    """A reward that no package registers."""
    return Score(float(len(sample.response) > least))


def ids(lines):
    return [json.loads(line)["id"] for line in lines]


def test_results_go_to_a_file_and_figures_come_back(rows, tmp_path):
    out = tmp_path / "out.jsonl"
    done = scoring.score_file("gsm8k", rows, out)
    assert (done.rows, done.scored, done.unscored) == (COUNT, COUNT, 0)
    assert (done.computed, done.written, done.path) == (COUNT, COUNT, out)
    assert (done.report, done.agreement, done.account) == (None, None, None)
    mean, _, lowest = done.summary.figures()
    assert (mean, lowest) == pytest.approx((RIGHT / COUNT, 1 - RIGHT / COUNT))
    assert ids(out.read_text().splitlines()) == [f"r{at}" for at in range(COUNT)]
    assert sorted(tmp_path.iterdir()) == [out, rows]


def test_without_a_destination_only_figures_come_back(rows, tmp_path, capsys):
    done = scoring.score_file(get("gsm8k"), rows)
    assert (done.scored, done.path) == (COUNT, None)
    assert capsys.readouterr() == ("", "")
    assert [*tmp_path.iterdir()] == [rows]


@pytest.mark.parametrize("parameters", [{"least": 99}, ["least=99"]])
def test_parameters_are_values_by_name_or_what_is_typed(parameters, rows):
    assert scoring.score_file(nearby, rows).summary.figures()[0] == 1.0
    done = scoring.score_file(nearby, rows, parameters=parameters, workers=2)
    assert done.summary.figures()[0] == 0.0


@pytest.mark.parametrize("reward", ["gsm8k", get("gsm8k")], ids=["by name", "itself"])
def test_interpreters_write_the_same_bytes(reward, rows, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    scoring.score_file(reward, rows, one, parameters={"flexible": True}, explain=True)
    scoring.score_file(reward, rows, two, parameters={"flexible": True}, explain=True, workers=2)
    assert one.read_bytes() == two.read_bytes()


def test_progress_is_heard_step_by_step(rows):
    heard = []
    scoring.score_file("gsm8k", rows, progress=lambda *said: heard.append(said))
    steps = list(dict.fromkeys(what for what, _, _ in heard))
    assert steps == ["reading", "scoring", "writing"]
    assert [done for what, done, _ in heard if what == "reading"] == [*range(1, COUNT + 1)]
    scored = [(done, total) for what, done, total in heard if what == "scoring"]
    assert scored == sorted(scored)
    assert (scored[0], scored[-1]) == ((0, COUNT), (COUNT, COUNT))


def test_rows_that_change_while_they_are_scored_have_no_results(rows, tmp_path):
    def changing(what, *_):
        if what == "writing":
            rows.write_text("{}\n" + rows.read_text())

    out = tmp_path / "out.jsonl"
    with pytest.raises(ConfigurationError, match="changed while it was scored; score it again"):
        scoring.score_file("gsm8k", rows, out, progress=changing)
    assert not out.exists()


def test_results_and_page_are_two_files(rows, tmp_path):
    out = str(tmp_path / "out")
    with pytest.raises(ConfigurationError, match="is to hold the results and the page; name two"):
        scoring.score_file("gsm8k", rows, out, report=f"{tmp_path}/./out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ConfigurationError, match="holds the samples; write the results to another"):
        scoring.score_file("gsm8k", rows, report=rows)


def interrupting(monkeypatch, after):
    add = Journal.add

    def added(self, positions, results):
        add(self, positions, results)
        if self.done > after:
            raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "add", added)


def test_an_interrupted_run_says_what_is_kept_and_is_gone_on_with(rows, tmp_path, monkeypatch):
    whole, out = tmp_path / "whole", tmp_path / "out"
    scoring.score_file("gsm8k", rows, whole)
    with monkeypatch.context() as patched:
        interrupting(patched, 50)
        with pytest.raises(scoring.ScoringInterrupted) as caught:
            scoring.score_file("gsm8k", rows, out)
    interrupt = caught.value
    assert isinstance(interrupt, KeyboardInterrupt)
    assert interrupt.began
    assert 50 < interrupt.done < interrupt.rows == COUNT
    assert interrupt.kept == tmp_path / "out.partial"
    assert (interrupt.streamed, interrupt.verdicts, interrupt.calls_left) == (None, 0, 0)
    with pytest.raises(ConfigurationError, match="holds the rows of an interrupted run"):
        scoring.score_file("gsm8k", rows, out)
    with pytest.raises(ConfigurationError, match="differs in the parameters"):
        scoring.score_file("gsm8k", rows, out, parameters={"flexible": True}, resume=True)
    done = scoring.score_file("gsm8k", rows, out, resume=True)
    assert done.computed == COUNT - interrupt.done
    assert done.scored == COUNT
    assert out.read_bytes() == whole.read_bytes()
    assert not interrupt.kept.exists()


def test_an_interrupt_of_what_flows_says_how_much_is_written(rows, monkeypatch):
    interrupting(monkeypatch, 100)
    stream = io.StringIO()
    with pytest.raises(scoring.ScoringInterrupted) as caught:
        scoring.score_file("gsm8k", rows, stream=stream, live=True)
    assert caught.value.kept is None
    assert caught.value.streamed == stream.getvalue().count("\n") > 0


@pytest.mark.parametrize("live", [False, True])
def test_results_go_to_a_stream(live, rows):
    stream = io.StringIO()
    done = scoring.score_file("gsm8k", rows, stream=stream, live=live, form="json", limit=5)
    assert done.written == 5
    assert [each["id"] for each in json.loads(stream.getvalue())] == [f"r{at}" for at in range(5)]


def test_rows_are_chosen_sorted_and_written_by_the_caller(rows):
    seen = []
    done = scoring.score_file(
        "gsm8k",
        rows,
        only="maximum",
        sort="-id",
        limit=2,
        stream=io.StringIO(),
        form=lambda _stream, lines: seen.extend(ids(lines)),
    )
    assert seen == ["r97", "r94"]
    assert (done.written, done.scored) == (2, COUNT)


def test_rewards_are_held_against_labels_on_a_page(rows, tmp_path):
    page = tmp_path / "page.html"
    done = scoring.score_file("gsm8k", rows, label="right", report=page)
    assert (len(done.agreement.disagreements), done.report) == (0, str(page))
    assert "gsm8k" in page.read_text()


def test_a_row_that_cannot_be_scored_has_an_error_and_the_others_a_score(rows, tmp_path):
    with rows.open("a") as file:
        file.write('\n{"id": "odd"}')
    out = tmp_path / "out"
    done = scoring.score_file("gsm8k", rows, out)
    assert (done.rows, done.scored, done.unscored) == (COUNT + 1, COUNT, 1)
    last = json.loads(out.read_text().splitlines()[-1])
    assert (last["id"], last["aggregate_reward_score"]) == ("odd", None)
    assert last["error"]["type"] == "BadSample"


WRONG = {
    "no such reward": (UnknownReward, {"reward": "gsm9k"}),
    "no such parameter": (BadParameter, {"parameters": {"nope": 1}}),
    "a judge without settings": (NoJudge, {"reward": "reference"}),
    "no such label": (ConfigurationError, {"label": "nope"}),
    "disagreement without labels": (ConfigurationError, {"only": "disagree"}),
    "to go on with nothing": (ConfigurationError, {"resume": True}),
    "no such file": (OSError, {"source": "none.jsonl"}),
    "a file without rows": (BadInput, {"source": "empty.jsonl"}),
    "a line that is no object": (BadInput, {"source": "list.jsonl"}),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_done_is_raised_and_nothing_is_written(case, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "list.jsonl").write_text("[1]\n")
    before = sorted(tmp_path.iterdir())
    kind, given = WRONG[case]
    call = {"reward": "gsm8k", "source": rows} | given
    out = None if case == "to go on with nothing" else tmp_path / "out"
    with pytest.raises(kind):
        scoring.score_file(destination=out, **call)
    assert sorted(tmp_path.iterdir()) == before


def test_the_samples_are_never_replaced(rows):
    before = rows.read_bytes()
    with pytest.raises(ConfigurationError, match="holds the samples"):
        scoring.score_file("gsm8k", rows, rows)
    assert rows.read_bytes() == before


def test_the_room_imports_nothing_until_it_is_used():
    code = "import sys; from reward_functions import scoring; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    named = set(done.stdout.split())
    inside = {name for name in named if name.startswith("reward_functions.scoring.")}
    assert not inside
    assert not {name.partition(".")[0] for name in named} & {"typer", "rich", "sympy", "boto3"}
    assert not {
        name
        for name in named
        if name.startswith(("reward_functions.data", "reward_functions.reports", "pydantic"))
    }
    assert all(getattr(scoring, name) for name in scoring.__all__)
    with pytest.raises(AttributeError, match="nothing_there"):
        _ = scoring.nothing_there


def test_the_engine_runs_without_the_command_line(rows):
    code = (
        "import sys; from reward_functions.scoring import score_file\n"
        f"print(score_file('gsm8k', {str(rows)!r}, workers=2).scored)\n"
        "print(*[name for name in sys.modules if name.startswith('reward_functions.cli')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{COUNT}\n\n"


@pytest.mark.parametrize(
    ("ended", "raised"),
    [(KeyboardInterrupt, scoring.ScoringInterrupted), (OSError(37, "no locks"), OSError)],
    ids=["an interrupt", "a disk without locks"],
)
def test_what_ends_a_run_before_its_partial_file_is_open_leaves_none(
    ended, raised, rows, tmp_path, monkeypatch
):
    def lock(stream, how):
        raise ended

    monkeypatch.setattr("fcntl.flock", lock)
    with pytest.raises(raised):
        scoring.score_file("gsm8k", rows, tmp_path / "out")
    assert [*tmp_path.iterdir()] == [rows]


def test_what_ends_a_resumed_run_as_early_leaves_the_rows_that_were_kept(
    rows, tmp_path, monkeypatch
):
    kept = tmp_path / "out.partial"
    kept.write_text('{"partial results of reward score": true}\n')

    def lock(stream, how):
        raise KeyboardInterrupt

    monkeypatch.setattr("fcntl.flock", lock)
    with pytest.raises(scoring.ScoringInterrupted):
        scoring.score_file("gsm8k", rows, tmp_path / "out", resume=True)
    assert kept.exists()
