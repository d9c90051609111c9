"""`reward audit` of a judge: what it costs at most, and what it did cost."""

import json
import re


def audited(reward, write, serve, settings, *arguments):
    server = serve(verdict=lambda _: {"same": "no"})
    rows = [{"prompt": f"Who is {at}?", "answer": f"Smith {at}"} for at in "ABC"]
    asked = ("audit", "reference", write("rows.jsonl", rows), "--judge", settings(server))
    ran = reward(*asked, "--format", "json", *arguments)
    return len(server.requests), ran


def test_an_audit_asks_no_more_than_it_says_and_counts_what_it_asked(
    reward, write, serve, settings
):
    made, ran = audited(reward, write, serve, settings)
    assert (made, ran.exit_code) == (0, 2)
    most = int(re.search(r"about at most ([\d,]+) answers", ran.stderr)[1].replace(",", ""))
    made, ran = audited(reward, write, serve, settings, "--yes")
    assert json.loads(ran.stdout)["calls"] == made
    assert 0 < made <= most
    assert json.loads(ran.stdout)["status"] == 1
    made, ran = audited(reward, write, serve, settings, "--yes", "--search", "20", "--latency")
    assert json.loads(ran.stdout)["calls"] == made
    made, ran = audited(reward, write, serve, settings, "--budget", "3")
    assert (made, "one row takes at most" in ran.stderr) == (0, True)
