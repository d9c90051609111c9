"""The OpenAI-compatible API on the loopback interface: files, jobs, their events and checkpoints.

Bodies of new jobs are held to what AWS's guide to Bedrock and OpenAI's API reference name.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP

from tests.loopback import Service

BEGAN = 1_795_338_000
"""2026-11-22T09:00:00Z."""

METHOD = {
    "type": str,
    "reinforcement": {
        "grader": {"type": str, "lambda": {"function": str}},
        "hyperparameters": {
            "n_epochs": int,
            "batch_size": int,
            "learning_rate_multiplier": (int, float),
        },
    },
}
JOB = {"model": str, "training_file": str, "validation_file": str, "method": METHOD}
"""Every member that a new job may have; `suffix` is not supported."""

REQUIRED = {"model", "training_file", "method", "type", "reinforcement", "grader", "lambda"}


def problems(table, value, place="request"):
    """Every way in which a body differs from a table of its members."""
    if not isinstance(table, dict):
        if not isinstance(value, table) or isinstance(value, bool):
            yield f"{place}: {value!r} is of another type"
        return
    if not isinstance(value, dict):
        yield f"{place}: no object"
        return
    yield from (f"{place}.{name} is unknown" for name in value.keys() - table.keys())
    yield from (f"{place}.{name} is missing" for name in (table.keys() - value.keys()) & REQUIRED)
    for name in table.keys() & value.keys():
        yield from problems(table[name], value[name], f"{place}.{name}")


def error(status, message="because", **headers):
    """An error of this API."""
    return status, headers, json.dumps({"error": {"message": message, "code": "x"}}).encode()


@dataclass
class OpenAI(Service):
    """What it holds.

    Args:
        files: the members of each, and its content, by id.
        jobs: the members of each, by id.
        events: of a job, the newest first, by its id.
        checkpoints: of a job, by its id.
        keys: that were sent.
        refused: keys that are not accepted.
        page: entries on a page of a list.
        echo: whether a new job's answer holds its method.
        apart: seconds between two jobs.
    """

    files: dict = field(default_factory=dict)
    contents: dict = field(default_factory=dict)
    jobs: dict = field(default_factory=dict)
    events: dict = field(default_factory=dict)
    checkpoints: dict = field(default_factory=dict)
    keys: list = field(default_factory=list)
    refused: set = field(default_factory=set)
    page: int = 2
    echo: bool = True
    apart: int = 60

    def operation(self, asked):
        version, *path = asked.path
        assert version == "v1", asked.path
        return f"{asked.method} {' '.join(path[:2])}", lambda: self.done(asked, path)

    def done(self, asked, path):
        scheme, key = asked.headers["authorization"].split(" ", 1)
        self.keys.append(key)
        if scheme != "Bearer" or key in self.refused:
            return error(401, f"unknown key {key}")
        if path[0] == "files":
            return self.of_files(asked, *path[1:])
        return self.of_jobs(asked, *path[2:])

    def of_files(self, asked, name=""):
        if asked.method == "POST":
            return self.upload(asked)
        if not name:
            assert asked.query["purpose"] == "fine-tune"
            return self.listed(list(self.files.values()), asked)
        found = self.one(self.files, name)
        if asked.method == "DELETE":
            self.files.pop(name, None)
        return found

    def of_jobs(self, asked, name="", what=""):
        if what == "cancel":
            return self.cancel(name)
        if what:
            return self.listed(getattr(self, what).get(name, []), asked)
        if asked.method == "POST":
            return self.create(json.loads(asked.body))
        if name:
            return self.one(self.jobs, name)
        return self.listed(list(reversed(self.jobs.values())), asked)

    def upload(self, asked):
        head = f"Content-Type: {asked.headers['content-type']}\r\n\r\n".encode()
        parts = list(BytesParser(policy=HTTP).parsebytes(head + asked.body).iter_parts())
        named = {part.get_param("name", header="content-disposition"): part for part in parts}
        assert named["purpose"].get_content().strip() == "fine-tune"
        content = asked.body.split(b"\r\n\r\n")[2].rpartition(b"\r\n--")[0]
        made = {
            "id": f"file-{len(self.contents)}",
            "object": "file",
            "filename": named["file"].get_filename(),
            "bytes": len(content),
            "created_at": BEGAN + len(self.contents),
            "purpose": "fine-tune",
        }
        self.files[made["id"]], self.contents[made["id"]] = made, content
        return 200, {}, json.dumps(made).encode()

    def create(self, sent):
        found = list(problems(JOB, sent))
        if found or sent["method"]["type"] != "reinforcement":
            return error(400, "; ".join(found))
        if sent["training_file"] not in self.files:
            return error(400, "no such file")
        made = {
            "id": f"ftjob-{len(self.jobs)}",
            "object": "fine_tuning.job",
            "created_at": BEGAN + self.apart * len(self.jobs),
            "status": "validating_files",
            "error": None,
            "finished_at": None,
            "fine_tuned_model": None,
            **sent,
        }
        if not self.echo:
            del made["method"]
        self.jobs[made["id"]] = made
        return 200, {}, json.dumps(made).encode()

    def cancel(self, name):
        job = self.jobs[name]
        if job["status"] in {"succeeded", "failed", "cancelled"}:
            return error(409, "the job is over")
        job["status"] = "cancelled"
        return self.one(self.jobs, name)

    def one(self, table, name):
        if not re.fullmatch(r"[a-z0-9-]+", name):
            return error(400, "no such id")
        if name not in table:
            return error(404, f"no {name}")
        return 200, {}, json.dumps(table[name]).encode()

    def listed(self, found, asked):
        ids = [each["id"] for each in found]
        start = ids.index(asked.query["after"]) + 1 if "after" in asked.query else 0
        page = found[start : start + self.page]
        whole = {"object": "list", "data": page, "has_more": start + self.page < len(found)}
        return 200, {}, json.dumps(whole).encode()
