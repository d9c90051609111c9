"""An agent on the loopback interface, and a forwarder in the emulator that leads to it."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[3]

FORWARDER = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, *{[each for each in sys.path if "site-packages" in each]!r}]
from reward_functions.rollouts.servers.forwarder import handler
"""
"""The emulator runs a function as a process of this machine, which may read this source."""

REFUSING = """
def handler(event, context):
    if event.get("prompt") == "silent":
        return {}
    return {"errorType": "ValidationError", "errorMessage": "the agent takes no such prompt"}
"""


def question(cell):
    """What is asked: of a cell that is the JSON of a row, its prompt alone."""
    try:
        row = json.loads(cell)
    except ValueError:
        return cell
    return row["prompt"] if isinstance(row, dict) else cell


def asked(request, endpoint, text):
    """One chat completion of the policy."""
    from reward_functions.rollouts.report.credentials import generate_token
    from reward_functions.rollouts.request.headers import make_inference_headers

    body = {"model": "default", "messages": [{"role": "user", "content": text}]}
    headers = make_inference_headers(request["metadata"]) | {
        "Authorization": f"Bearer {generate_token('us-east-1')}",
        "Content-Type": "application/json",
    }
    url = f"{endpoint}/v1/chat/completions"
    with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=30) as answer:
        return json.load(answer)["choices"][0]["message"]["content"] or ""


@contextmanager
def serving(handler):
    """The address of an agent for a block."""
    from reward_functions.rollouts.serve.app import RolloutApp

    with RolloutApp(handler).serving(port=0, grace=0.0) as url:
        yield url


def solver(request):
    """Asks the policy once, and returns what it wrote."""
    return asked(request, request["metadata"]["endpoint"], question(request["prompt"]))


def sums(number):
    """Rows of sums, each with its answer, as a file of cells has them."""
    for n in range(1, number + 1):
        row = {"prompt": f"What is {n} + {n}? End with #### <number>", "answer": str(2 * n)}
        yield {"prompt": json.dumps(row)}
