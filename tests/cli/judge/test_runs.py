"""Runs over shards of a judge: priced before they begin, and no row is paid for twice."""

import json

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.engines.processes import Processes
from reward_functions.scoring.folder import Run
from reward_functions.scoring.plan import Plan
from reward_functions.scoring.scorers import scorer_of
from reward_functions.scoring.shard import work

PROMPT = "Which city is the capital of Australia?"


def rows(count):
    for at in range(count):
        said = {
            "role": "assistant",
            "content": f"It is the city of Canberra, {at} times.",
        }
        messages = [{"role": "user", "content": PROMPT}, said]
        yield {"id": f"s-{at}", "messages": messages, "reference_answer": "Canberra"}


@pytest.fixture
def priced(settings):
    def told(server):
        found = json.loads(settings(server))
        return json.dumps(found | {"prices": {"some-judge": [1_000.0, 1_000.0]}})

    return told


def test_a_run_has_the_bytes_of_a_file_and_asks_for_none_again(reward, serve, settings, write):
    server = serve()
    path, judge = write("rows.jsonl", rows(9)), settings(server)
    alone = reward("score", "reference", path, "--judge", judge, "--no-verdicts")
    assert len(server.requests) == 9
    folder = path.with_name("run")
    typed = ("score", "reference", path, "--judge", judge, "--on", "processes", "-o", folder)
    ran = reward(*typed, "--shard-mb", "0.001", "--no-verdicts")
    assert ran.exit_code == 0, ran.stderr
    assert len(server.requests) == 18
    assert reward("runs", "fetch", folder).stdout == alone.stdout
    assert reward(*typed, "--shard-mb", "0.001", "--resume").exit_code == 0
    assert reward("runs", "resume", folder, "--concurrency", 2).exit_code == 0
    assert len(server.requests) == 18


def test_what_a_judge_takes_is_known_before_it_is_asked(reward, serve, settings, priced, write):
    server = serve()
    path = write("rows.jsonl", rows(40))
    folder = path.with_name("run")
    typed = ("score", "reference", path, "--on", "processes", "-o", folder)
    shown = reward(*typed, "--judge", priced(server), "--plan")
    assert shown.exit_code == 0
    assert "about $" in shown.stdout
    for judge, said in (
        (priced(server), "dollars for the rows that are not scored, more than 0.5: nothing is"),
        (settings(server), "name its settings with --judge, with prices of its models"),
    ):
        ran = reward(*typed, "--judge", judge, "--max-usd", "0.5")
        assert ran.exit_code == 2
        assert said in ran.stderr
    assert not server.requests
    assert not folder.exists()


def test_only_the_rows_that_are_left_count_against_the_limit(serve, priced, write):
    server = serve()
    path = write("rows.jsonl", rows(40))
    folder = str(path.with_name("run"))
    plan = Plan.of(str(path), folder, "reference", judge=priced(server), shard_mb=0.001)
    usd = plan.asked.usd
    run = plan.start(Processes(2), max_usd=usd * 1.01)
    with pytest.raises(ConfigurationError, match="more than"):
        Plan.of(str(path), f"{folder}-2", "reference", judge=priced(server)).start(
            Processes(1), max_usd=usd * 0.9
        )
    for shard in run.shards()[:3]:
        run.place.delete(shard.facts)
    plan.start(Processes(1), resume=True, max_usd=usd * 0.9)
    assert Run.opened(plan.place).state().finished


def test_rows_that_were_paid_for_before_a_kill_are_not_asked_for_again(
    serve, settings, write, monkeypatch
):
    monkeypatch.setattr("reward_functions.scoring.shard.PAID_ROWS", 2)
    server = serve()
    path = write("rows.jsonl", rows(9))
    plan = Plan.of(str(path), str(path.with_name("run")), "reference", judge=settings(server))
    run = Run.begun(plan.place, plan.asked, plan.shards)

    class Killed(BaseException):
        pass

    scorer = scorer_of(run)

    class Mortal:
        def __call__(self, batch):
            if len(server.requests) >= 6:
                raise Killed
            return scorer(batch)

    with pytest.raises(Killed):
        work(run, "score", run.shards()[0], Mortal())
    content = run.place.read("part-000000.begun.jsonl")
    run.place.write("part-000000.begun.jsonl", content + b"its facts were never written")
    plan.start(Processes(1), resume=True)
    assert len(server.requests) == 9
    assert len(run.facts()) == 9
    assert run.state().finished


def test_without_a_model_no_run_is_planned(reward, write):
    path = write("rows.jsonl", rows(2))
    folder = path.with_name("run")
    ran = reward("score", "reference", path, "--on", "processes", "-o", folder)
    assert ran.exit_code == 2
    assert "reference asks a judge model" in ran.stderr
    assert not folder.exists()
