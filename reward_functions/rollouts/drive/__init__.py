"""Rollouts as a trainer runs them: data → agent → reward → file, and what the file says.

    requests.py     what a request holds
    tasks.py        the rows of a data set, as a trainer sends them
    agents.py       who is asked, and what an answer means
    http_agent.py   over HTTP
    aws_agents.py   on AWS: a forwarder, AgentCore
    python_agent.py in this process
    runtimes.py     what the agent samples from and reports to
    driving.py      rollouts on many threads, a record for each
    records.py      the file of records, gone on with after an interruption
    rescoring.py    recorded responses, scored again by a pinned reward
    exporting.py    trajectories as a trainer's rows, joined with rewards
    redriving.py    dead letters of deferred rewards, sent back
    evaluating.py   a batch on AgentCore as an evaluation
    figures.py      what a file comes to
    reporting.py    the same, as tables and as JSON          page.py    and as a page
    trajectories.py what agents did, as tables and pages
    trajectory_groups.py  what the rollouts of each row took
    doctor.py       whether a rollout of this machine can be reported
    doctor_aws.py   what the doctor sees of AWS
    doctor_frameworks.py  which frameworks are installed, and whether rollouts are traced

`reward rollouts …` is the command line over all of this.
"""
