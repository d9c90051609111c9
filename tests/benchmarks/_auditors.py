"""Two other auditors of rewards over the planted faults of the tests.

Each is asked about a reward with a fault and about its twin without it. It finds the fault where
something fails with it that does not fail with the twin. reward-doctor has cases of its own, few of
them behind "####"; falsepass takes the rows.
"""

import inspect
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.audit import faults
from tests.hosts.__main__ import environment
from tests.hosts.table import AUDITORS

SEARCH = 60
"""Scorer calls that falsepass searches with, in each direction on each of its tasks."""

TASKS = 25
"""Rows of falsepass: its own default."""

SECONDS = 120
"""Of one audit."""

ENDED = "it ends with status"

COPIED = inspect.getsource(faults)


def source(reward):
    """The planted faults as a file of somebody's, with `plain` and `in_batches` for this one.

    reward-doctor asks for one completion, falsepass calls a function as TRL does.
    """
    made = reward.__name__ if inspect.isfunction(reward) else f"{type(reward).__name__}()"
    if "completions" in inspect.signature(reward).parameters:
        return f"{COPIED}\n\nplain = in_batches = {made}\n"
    return (
        f"{COPIED}\n\nplain = {made}\n\n\n"
        "def in_batches(completions, reference, **_):\n"
        "    return [plain(*each) for each in zip(completions, reference, strict=True)]\n"
    )


def reward_doctor(python, folder):
    """The cases of its corpus that fail."""
    target = f"{folder / 'rewards.py'}:plain"
    asked = (python.with_name("reward-doctor"), "audit", target, "--format", "json")
    done = ran((*asked, "--fail-on", "never"), folder)
    if done.returncode:
        return {f"{ENDED} {done.returncode}"}
    found = json.loads(done.stdout)["failures"]
    return {each["id"].rpartition(".")[0] for each in found}


def falsepass(python, folder):
    """The probes that fail, or raise."""
    written = folder / "audit"
    written.mkdir()
    (written / "env.toml").write_text(
        f'[env]\nid = "local/rewards"\nframework = "reward"\ntask = "{folder / "rewards.py"}"\n'
        f'dataset = "{folder / "rows.jsonl"}"\nfunctions = ["in_batches"]\n'
    )
    asked = (python, "-m", "falsepass.runner", written, "-n", TASKS, "--search", SEARCH)
    done = ran(asked, folder)
    results = written / "probe-results.json"
    if not results.exists():
        return {f"{ENDED} {done.returncode}"}
    found = json.loads(results.read_text())["results"]
    failed = {f"{each['probe']} {each['name']}" for each in found if not each["passed"]}
    return failed | {f"{each['probe']} raised" for each in found if each["errors"]}


def ran(command, folder):
    """The command, ended; one that takes too long has a status of its own."""
    words = [str(each) for each in command]
    try:
        return subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", "")


RIVALS = {"reward-doctor 0.2.0": reward_doctor, "falsepass 0.11.0": falsepass}


def found_by_others(planted, rows, folder):
    """What each rival finds of each fault: {name of the fault: {rival: what fails}}.

    Args:
        planted: (reward, twin) by the name of the fault.
        rows: samples with their references.
        folder: an empty one.
    """
    python = environment(AUDITORS)
    lines = [
        json.dumps({"prompt": each.prompt, "reference": each.reference}) + "\n" for each in rows
    ]

    def failing(number, work):
        name, at, rival = work
        here = Path(folder) / str(number)
        here.mkdir()
        (here / "rewards.py").write_text(source(planted[name][at]))
        (here / "rows.jsonl").write_text("".join(lines))
        return RIVALS[rival](python, here)

    works = [(name, at, rival) for name in planted for at in (0, 1) for rival in RIVALS]
    with ThreadPoolExecutor(2) as threads:
        numbers = range(len(works))
        failed = dict(zip(works, threads.map(failing, numbers, works), strict=True))
    for (name, at, rival), found in failed.items():
        if at and any(each.startswith(ENDED) for each in found):
            raise SystemExit(f"{rival} did not audit the twin of the reward where {name}: {found}")
    return {
        name: {rival: failed[name, 0, rival] - failed[name, 1, rival] for rival in RIVALS}
        for name in planted
    }
