"""Rollouts as a trainer runs them: data → agent → reward → file, and what the file says.

    driving.py      rows as a trainer sends them, rollouts on many threads, a record for each
    agents.py       who is asked: HTTP, AWS, this process; the runtime that they report to
    records.py      the file of records, gone on with after an interruption, and scored again
    figures.py      what a file comes to: tables, JSON
    report_page.py  the same as a page, with the rows that earn the least
    trajectories.py what agents did: tables, pages, a trainer's rows
    conversing.py   one trajectory as a page: a conversation
    evaluating.py   a batch on AgentCore as an evaluation
    redriving.py    dead letters of deferred rewards, sent back
    doctor.py       whether a rollout of this machine can be reported

`reward rollouts …` is the command line over all of this.
"""

from __future__ import annotations

from typing import Final, Literal

FIELD: Final = "prompt"
"""Of a row: the column that the managed trainer reads."""

Sent = Literal["both", "prompt", "instance"]
"""The prompt as the managed trainer sends it, the row as sagemaker.train.rft's models have it."""
