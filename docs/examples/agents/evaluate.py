"""A batch as an evaluation: every row is a session of an agent on AgentCore.

    python evaluate.py rows.jsonl

AGENT_ARN is the agent's, RESULTS_BUCKET takes its results, POLICY_URL is where its policy answers.
"""

import json
import os
import sys
from pathlib import Path

from reward_functions.rollouts import RolloutClient
from reward_functions.rollouts.drive.evaluating import evaluate_batch


def client():
    """Of the agent that the environment names."""
    return RolloutClient(
        agent_runtime_arn=os.environ["AGENT_ARN"],
        s3_bucket=os.environ["RESULTS_BUCKET"],
        exp_id=os.environ.get("EXPERIMENT", "evaluation"),
        base_url=os.environ["POLICY_URL"],
        model_id=os.environ.get("POLICY_MODEL", "default"),
    )


def rows_of(path):
    """Of a file, a JSON object a line."""
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def evaluate(path, timeout=600):
    """The rewards of all rows, their mean with its interval, and the failures by kind."""
    rows = rows_of(path)
    with client().run_batch(rows, max_concurrent_sessions=32, timeout=timeout) as batch:
        return evaluate_batch(batch, rows)


if __name__ == "__main__":
    found = evaluate(sys.argv[1])
    sys.stdout.write(f"{found.mean} {dict(found.failures)}\n")
