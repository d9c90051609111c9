"""The server in process: what it answers, what it refuses, and that nothing of a row is HTML."""

import re
import socket
from math import inf

import pytest
from starlette.testclient import TestClient

from reward_functions.view import app as served
from reward_functions.view import rows
from reward_functions.view.app import HEADERS, STRICTER, serving_of, viewer
from reward_functions.view.entries import KINDS, slug_of
from reward_functions.view.library import Library
from reward_functions.view.shown import SORTS, ListAsked, chosen_entries
from tests.parsed_page import parsed
from tests.view import made

HERE = ("127.0.0.1", 8766)
URL = "http://127.0.0.1:8766"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = made.everything(tmp_path_factory.mktemp("results"))
    made.run_of_shards(found)
    return found


def asking(folder, url=URL):
    return patient(Library(folder), url)


def patient(library, url=URL):
    return TestClient(viewer(library, HERE, patience=inf, longer=inf), base_url=url)


@pytest.fixture(scope="module")
def asked(folder):
    return asking(folder)


def names(html):
    """The results of a list, in order."""
    return re.findall(r'<th scope="row"><a href="/results/[^"]+">([^<]+)</a>', html)


def at(name, **more):
    query = "&".join(f"{key}={value}" for key, value in more.items())
    return f"/results/{slug_of(name)}?{query}"


def test_the_list_has_every_result_and_is_read_without_scripts(asked):
    answer = asked.get("/")
    assert answer.status_code == 200
    assert len(names(answer.text)) == 13
    assert answer.text.count("<script") == made.OWN_SCRIPTS
    assert made.SCRIPT not in answer.text
    assert "it broke &lt;script&gt;" in answer.text


def test_a_job_as_it_was_shown_names_the_command_that_writes_its_figures(asked):
    text = asked.get(at("job.json")).text
    assert "This file holds no figures" in text
    assert "reward job metrics --json" in text
    assert "no figure of it can be read" not in text


def test_every_result_opens_its_page_with_its_headers(asked):
    seen = set()
    for link in re.findall(r'href="(/results/[^"]+)"', asked.get("/").text):
        answer = asked.get(link)
        assert answer.status_code == 200, link
        assert made.SCRIPT not in answer.text
        assert "All results</a>" in answer.text
        policy = answer.headers["content-security-policy"]
        expected = HEADERS | {"Content-Security-Policy": policy}
        assert {name: answer.headers[name] for name in HEADERS} == expected
        seen.add(policy)
    assert seen == {HEADERS["Content-Security-Policy"], STRICTER}


def test_a_page_of_this_project_says_what_its_command_says(asked):
    for name, words in {
        "audit.json": "Audit of gsm8k",
        "compare.json": "Comparison of A gsm8k",
        "evaluation.json": "Evaluation of job",
        "baseline.json": "Baseline of base",
        "metrics.json": "Figures of sums (simulation)",
        "job.json": "Job sums",
        "scores.html": "Rewards of gsm8k",
        "scores.jsonl": "Scores of scores.jsonl",
        "run": "Scores of run",
        "below/rollouts.jsonl": "Rollouts of sums:agent",
        "below/trajectories.jsonl": "Trajectories",
    }.items():
        assert f"<h1>{words}" in asked.get(at(name)).text


SORTED = {
    "": ["audit.json", "baseline.json"],
    "sort=-name": ["scores.jsonl", "scores.html"],
    "sort=rows": ["evaluation.json", "baseline.json"],
    "sort=mean": ["metrics.json", "baseline.json"],
    "sort=nonsense": ["audit.json", "baseline.json"],
}


@pytest.mark.parametrize("query", SORTED)
def test_the_list_is_sorted(asked, query):
    found = [each for each in names(asked.get(f"/?{query}").text) if "/" not in each]
    assert found[:2] == SORTED[query]


@pytest.mark.parametrize(
    "sort", ["rows", "-rows", "mean", "-mean", "-unscored", "-reward", "-finding"]
)
def test_what_lacks_a_figure_is_last_in_both_orders(folder, sort):
    listing = Library(folder).listing()
    found = chosen_entries(listing, ListAsked(sort=sort))
    keys = [SORTS[sort.removeprefix("-")](entry) is None for entry in found]
    assert keys == sorted(keys)
    assert keys[-1]
    assert not keys[0]


def test_the_form_repeats_a_reward_that_is_no_short_number(tmp_path):
    rows = [
        f'{{"id": "r", "aggregate_reward_score": {each}, "metrics_list": []}}\n'
        for each in (1 / 3, 0.5)
    ]
    (tmp_path / "s.jsonl").write_text("".join(rows))
    asked = asking(tmp_path)
    page = asked.get(at("s.jsonl")).text
    assert "Id, answer or reason contains" in page
    (link,) = re.findall(r'href="([^"]+)">0.3333 \(1\)', page)
    page = asked.get(link.replace("&amp;", "&").partition("#")[0]).text
    low, high = re.findall(r'name="(?:low|high)"[^>]* value="([^"]*)"', page)
    assert asked.get(at("s.jsonl", low=low, high=high)).text.count("<article>") == 1


FILTERED = {
    "kind=scores": ["scores.jsonl"],
    "kind=nonsense&text=scores.h": ["scores.html"],
    "text=HTTP 500": ["below/rollouts.jsonl"],
    "text=nobody": [],
    "kind=audit&page=99999999999999999999": ["audit.json"],
    "page=-1&kind=run": ["run"],
}


@pytest.mark.parametrize("query", FILTERED)
def test_the_list_is_filtered_and_searched(asked, query):
    assert names(asked.get(f"/?{query}").text) == FILTERED[query]


ROWS = {
    "": 7,
    "low=1&high=1": 4,
    "low=nan&high=-": 7,
    "unscored=1": 1,
    "reason=differs": 2,
    "text=r6": 1,
    "text=%22": 0,
    "low=1&sort=-value&page=7": 4,
}


@pytest.mark.parametrize("query", ROWS)
def test_rows_are_filtered_by_parameters(asked, query):
    page = asked.get(f"/results/{slug_of('scores.jsonl')}?{query}").text
    assert page.count("<article>") == ROWS[query]
    assert page.count('name="low"') == 1


def test_rows_have_pages(tmp_path):
    row = '{"id": "r", "aggregate_reward_score": 1.0, "metrics_list": []}\n'
    (tmp_path / "s.jsonl").write_text(row * 120)
    asked = asking(tmp_path)
    page = asked.get(at("s.jsonl", page=2)).text
    assert "Rows 51 to 100 of 120." in page
    links = re.findall(r'href="(/results/[^"#]+)#rows">(\w+ \(\d\))', page)
    assert [words for _, words in links] == ["first (1)", "previous (1)", "next (3)", "last (3)"]
    assert "Rows 101 to 120 of 120." in asked.get(links[-1][0].replace("&amp;", "&")).text


def test_a_row_repeats_no_part_of_the_page(tmp_path):
    """A row that holds a whole page is shown as text."""
    hostile = '</pre></head><body><p>{{ 7 * 7 }}</p><form action="//evil">'
    row = {"id": hostile, "aggregate_reward_score": None, "metrics_list": []}
    row["error"] = {"type": hostile, "message": f"{hostile}\u202e\x1b[31m\ud800"}
    made.write_samples(tmp_path / f"{made.SCRIPT.replace('/', '')}.jsonl", [row])
    asked = asking(tmp_path)
    (link,) = re.findall(r'href="(/results/[^"]+)"', asked.get("/").text)
    for address in ("/", link, f"{link}?reason=%3Cform"):
        html = asked.get(address).text
        assert "<form action=" not in html
        assert html.count("<script") == made.OWN_SCRIPTS
        assert "\u202e" not in html
        assert "\x1b" not in html
        assert html.count("<body") == html.count("</head>") == 1
        parsed(html)


def test_a_trajectory_opens_its_own_page(asked):
    answer = asked.get(at("below/trajectories.jsonl", row=1))
    assert "<h1>Trajectory e1" in answer.text
    assert asked.get(at("below/trajectories.jsonl", row=9)).status_code == 422


def test_all_figures_of_many_rollouts_are_on_demand(asked, monkeypatch):
    monkeypatch.setattr("reward_functions.view.shown.FULL", 1)
    assert rows.FULL > 1
    page = asked.get(at("below/rollouts.jsonl")).text
    assert "<h1>Rollouts of below/rollouts.jsonl" in page
    assert "All figures</a>" in page
    assert "<h1>Rollouts of sums:agent" in asked.get(at("below/rollouts.jsonl", figures=1)).text


REFUSED = {
    "another host": ({"Host": "evil.example:8766"}, 403),
    "a rebound name": ({"Host": "localhost.evil.example"}, 403),
    "another port": ({"Host": "127.0.0.1:1"}, 403),
    "a page of the web": ({"Origin": "https://evil.example"}, 403),
    "a frame of the web": ({"Sec-Fetch-Site": "cross-site"}, 403),
    "a typed address": ({"Sec-Fetch-Site": "none"}, 200),
    "another name of here": ({"Host": "localhost:8766"}, 200),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_web_does_not_reach_it(asked, name):
    headers, status = REFUSED[name]
    answer = asked.get("/", headers=headers)
    assert answer.status_code == status
    assert ("scores.jsonl" in answer.text) == (status == 200)
    assert answer.headers["x-content-type-options"] == "nosniff"


ADDRESSES = {
    "/results/none": 404,
    "/results/../../etc/passwd": 404,
    "/results/%2e%2e%2f%2e%2e%2fetc%2fpasswd": 404,
    "/results/scores.jsonl": 404,
    "/nowhere": 404,
    "/results/%ff%00": 404,
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_of_nothing_is_a_sentence(asked, address):
    answer = asked.get(address)
    assert answer.status_code == ADDRESSES[address]
    assert answer.text.count('class="failure"') == 1
    assert "Traceback" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_it_is_read_alone(asked, method):
    assert asked.request(method, "/").status_code == 405


def test_what_is_being_written_is_shown_again_soon(folder):
    changed = (folder / "below/rollouts.jsonl").stat().st_mtime
    for since, again in ((1, str(served.AGAIN)), (1_000, None)):
        library = Library(folder, clock=lambda since=since: changed + since)
        asked = patient(library)
        for address in ("/", at("below/rollouts.jsonl")):
            assert asked.get(address).headers.get("refresh") == again
        assert "refresh" not in asked.get(at("scores.jsonl")).headers


def test_what_is_not_read_yet_is_shown_again_sooner(folder):
    app = viewer(Library(folder), HERE, patience=-1.0, longer=-1.0)
    answer = TestClient(app, base_url=URL).get("/")
    assert answer.headers["refresh"] == str(served.SOON)
    assert "files are looked at in a moment" in answer.text


def test_a_folder_that_goes_is_a_sentence(tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    asked = asking(there)
    answer = asked.get("/")
    assert "No result is here yet" in answer.text
    assert answer.headers["refresh"] == str(served.AGAIN)
    there.rmdir()
    assert asked.get("/").status_code == 404
    assert "there is no such folder" in asked.get("/").text


def test_what_cannot_be_read_by_now_is_a_sentence(tmp_path):
    path = tmp_path / "evaluation.json"
    made.evaluation(tmp_path)
    asked = asking(tmp_path)
    assert asked.get(at(path.name)).status_code == 200
    path.write_text(path.read_text().replace('"prompts": 10', '"prompts": "<b>"'))
    answer = asked.get(at(path.name))
    assert answer.status_code == 422
    assert "evaluation.json, evaluation: it cannot be read: prompts: Input should be" in answer.text
    assert "<b>" not in answer.text
    path.unlink()
    assert asked.get(at(path.name)).status_code == 404


def test_it_listens_on_this_machine_alone(tmp_path):
    serving = serving_of(Library(tmp_path), 0)
    with serving.socket:
        host, port = serving.socket.getsockname()
        assert (host, serving.url) == ("127.0.0.1", f"http://127.0.0.1:{port}/")
        with pytest.raises(OSError, match="in use"):
            serving_of(Library(tmp_path), port)
    with socket.socket() as free:
        free.bind(("127.0.0.1", port))


def test_every_kind_has_a_page(asked):
    found = re.findall(r"</th><td>(\w+)</td>", asked.get("/").text)
    assert {*found} == {*KINDS}
