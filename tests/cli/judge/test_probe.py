"""`reward judge probe`: the output modes in which a model gives structured verdicts."""

import json
import socket

import pytest

from tests.gates import HALF, INVALID, UNSCORED, cases, ended_with


def probe(reward, *arguments):
    ran = reward("judge", "probe", *arguments, "--json")
    return (json.loads(ran.stdout) if ran.stdout else None), ran


def mode(request):
    """The output mode of a request, in either dialect."""
    if "response_format" in request or "outputConfig" in request:
        return "json_schema"
    tools = request.get("tools") or request.get("toolConfig", {}).get("tools")
    if not tools:
        return "json"
    tool = tools[0].get("function") or tools[0]["toolSpec"]
    return "strict_tool" if tool.get("strict") else "tool"


def taking(server, *modes):
    """A schedule of a model that refuses the requests in other modes, as APIs do."""
    return lambda call, _: "ok" if mode(server[0].requests[call]) in modes else "400"


@pytest.fixture
def able(serve):
    """A server that takes these modes only."""

    def start(*modes, **behaviour):
        held = []
        held.append(serve(schedule=taking(held, *modes), **behaviour))
        return held[0]

    return start


BACKENDS = {
    "openai": {},
    "bedrock": {"backend": "bedrock", "region": "us-east-1", "model": "anthropic.claude-haiku-4-5"},
}


@pytest.fixture(params=BACKENDS)
def judge(request, settings):
    def told(server, **model):
        named = BACKENDS[request.param]
        endpoint = {"endpoint": server.url} if request.param == "bedrock" else {}
        return settings(server, **named, **endpoint, **model)

    return told


def test_a_model_that_takes_the_chosen_mode_is_asked_once(reward, able, judge):
    server = able("json_schema", "tool", "json")
    told, ran = probe(reward, "reference", "--judge", judge(server))
    assert ran.exit_code == 0, ran.stderr
    assert [(each["output_mode"], each["chosen"], each["works"]) for each in told] == [
        ("json_schema", True, True)
    ]
    assert told[0]["tokens"] == 120
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("takes", "tried"),
    [
        ("strict_tool", ["json_schema", "strict_tool"]),
        ("tool", ["json_schema", "strict_tool", "tool"]),
        ("json", ["json_schema", "strict_tool", "tool", "json"]),
    ],
)
def test_the_surest_mode_that_works_is_found_and_told(reward, able, judge, takes, tried):
    told, ran = probe(reward, "reference", "--judge", judge(able(takes)))
    assert ran.exit_code == 1
    assert [each["output_mode"] for each in told] == tried
    assert [each["works"] for each in told] == [False] * (len(tried) - 1) + [True]
    assert f"set output_mode = '{takes}'" in ran.stderr


def test_the_mode_of_the_settings_is_the_first(reward, able, judge):
    told, ran = probe(reward, "reference", "--judge", judge(able("tool"), output_mode="tool"))
    assert ran.exit_code == 0, ran.stderr
    assert [each["output_mode"] for each in told] == ["tool"]


def test_a_probe_never_advises_a_probe(reward, able, judge, serve, settings):
    for judged in (judge(able()), settings(serve(schedule=lambda *_: "prose"))):
        told, ran = probe(reward, "reference", "--judge", judged)
        assert "no output mode works" in ran.stderr
        assert not any("reward judge probe" in words for words in (ran.stdout, ran.stderr))
        assert all(each["error"] for each in told)


def test_all_modes_are_tried_on_demand(reward, able, judge):
    told, ran = probe(reward, "reference", "--judge", judge(able("json_schema", "json")), "--all")
    assert ran.exit_code == 0, ran.stderr
    assert {each["output_mode"]: each["works"] for each in told} == {
        "json_schema": True,
        "strict_tool": False,
        "tool": False,
        "json": True,
    }


def test_a_mode_whose_answers_are_no_verdict_does_not_work(reward, serve, settings):
    """Some endpoints take a schema and then write what they like."""
    server = serve(schedule=lambda *_: "prose")
    told, ran = probe(reward, "reference", "--judge", settings(server))
    assert ran.exit_code == 1
    assert len(told) == 4
    assert {each["kind"] for each in told} == {"malformed"}
    assert "no output mode works" in ran.stderr


def test_a_model_that_is_not_there_is_not_asked_by_every_mode(reward, settings, serve):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    judge = settings(serve(), endpoint=f"http://127.0.0.1:{port}/v1")
    told, ran = probe(reward, "reference", "--judge", judge)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("nothing was measured: 0 of 1 models measured\n")
    (result,) = told
    assert result["kind"] == "unreachable"


@pytest.mark.parametrize(("_command", "case", "status"), cases("judge probe"))
def test_models_that_do_not_answer_are_never_a_pass(reward, serve, _command, case, status):
    """Half is one of two models."""
    says = {UNSCORED: ("401", "401"), INVALID: ("prose", "prose"), HALF: ("ok", "prose")}[case]
    models = [
        {"model": how, "backend": "openai", "endpoint": f"{serve(schedule=told).url}/v1"}
        for how in says
        for told in [lambda *_, how=how: how]
    ]
    judge = json.dumps({"models": models, "retries": 0})
    ended_with(reward("judge", "probe", "reference", "--judge", judge), status)


def test_every_form_of_verdict_of_a_judge_is_compiled(reward, serve, settings, tmp_path):
    """A rubric of many criteria asks in two calls, whose schemas differ."""
    criteria = "".join(
        f'[[criteria]]\nid = "c{at}"\ntext = "It is good in the way {at}."\n' for at in range(12)
    )
    rubric = tmp_path / "many.toml"
    rubric.write_text(f'version = 1\ntask = "a text"\n{criteria}')
    server = serve(verdict=lambda _: {})
    told, ran = probe(
        reward, "rubric", "--judge", settings(server), "--param", f"criteria={rubric}"
    )
    assert ran.exit_code == 0, ran.stderr
    schemas = [
        tuple(request["response_format"]["json_schema"]["schema"]["properties"])
        for request in server.requests
    ]
    assert len(set(schemas)) == len(schemas) == 2
    assert told[0]["tokens"] == 240


def test_recorded_answers_have_no_mode_to_probe(reward, write):
    answers = write("answers.jsonl", [{"id": "x", "verdict": {"same": "yes"}}])
    model = {"model": "old", "backend": "replay", "answers": str(answers)}
    ran = reward("judge", "probe", "reference", "--judge", json.dumps({"models": [model]}))
    assert ran.exit_code == 2
    assert "recorded answers have no output mode to probe" in ran.stderr


def test_the_table_says_which_mode_works(reward, able, settings):
    ran = reward("judge", "probe", "reference", "--judge", settings(able("tool")))
    assert ran.exit_code == 1
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert ["some-judge", "tool", "works"] in [line[:3] for line in lines]


def test_the_table_does_not_send_its_reader_to_the_command_that_prints_it(reward, serve, settings):
    server = serve(schedule=lambda *_: "prose")
    ran = reward("judge", "probe", "reference", "--judge", settings(server))
    assert "not keep to" in " ".join(ran.stdout.split())
    assert "reward judge probe" not in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("gsm8k",), "gsm8k asks no judge model"),
        (("reference",), "no judge model is named"),
        (("rubrics",), "Did you mean 'rubric'"),
        (("reference", "--param", "answer=half"), "parameter 'answer' takes"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(reward, arguments, problem):
    ran = reward("judge", "probe", *arguments)
    assert ran.exit_code == 2
    assert problem in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_the_judge_of_the_environment_is_asked(reward, able, settings, monkeypatch):
    monkeypatch.setenv("REWARD_JUDGE", settings(able("json_schema")))
    assert reward("judge", "probe", "reference").exit_code == 0
