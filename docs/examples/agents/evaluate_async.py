"""The evaluation of evaluate.py on an event loop, beside whatever else runs there.

python evaluate_async.py rows.jsonl
"""

import asyncio
import sys

from evaluate import client, rows_of
from reward_functions.rollouts.drive.evaluating import evaluate_batch_async


async def evaluate(path, timeout=600):
    """What `evaluate.evaluate` gives."""
    rows = rows_of(path)
    async with client().run_batch_async(rows, max_concurrent_sessions=32, timeout=timeout) as batch:
        return await evaluate_batch_async(batch, rows)


if __name__ == "__main__":
    found = asyncio.run(evaluate(sys.argv[1]))
    sys.stdout.write(f"{found.mean} {dict(found.failures)}\n")
