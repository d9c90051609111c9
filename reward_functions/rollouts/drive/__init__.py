"""Rollouts as a trainer runs them: data → agent → reward → file, and what the file says.

    driving.py      rows as a trainer sends them, rollouts on many threads, a record for each
    agents.py       who is asked: HTTP, AWS, this process; the runtime that they report to
    records.py      the file of records, gone on with after an interruption, and scored again
    figures.py      what a file comes to: tables, JSON, a page
    trajectories.py what agents did: tables, pages, a trainer's rows
    evaluating.py   a batch on AgentCore as an evaluation
    redriving.py    dead letters of deferred rewards, sent back
    doctor.py       whether a rollout of this machine can be reported

`reward rollouts …` is the command line over all of this.
"""
