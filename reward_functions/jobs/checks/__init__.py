"""What is checked before a job costs anything, a file for each subject.

    data.py       the files: what a trainer refuses, or trains on in vain
    grader.py     the deployed version: the contract, and what it pays on the job's own rows
    forms.py      whether it reads the form that the prompts ask for
    hostile.py    answers that deserve nothing, whatever the question is
    role.py       the role that a Bedrock job runs as, and what it may do
    trust.py      who may take that role on
    capacity.py   Lambda's concurrency beside what the job may want

Each yields findings and raises nothing for what a service denies: that is an `unknown` with the
name of the permission.
"""
