"""A stage as data: what `cdk.json` says, validated before anything is built.

stages.py             the stages, and what is wrong in them as one sentence
deployment.py         one deployment: a reward with its parameters, and its judge
inheritance.py        a stage that takes another's settings
project.py            the `cdk.json` of a folder, read without the CDK
rollouts.py           agents, what hands them a trainer's requests, deferred rewards
scale.py              the function that scores shards of a file
brought.py            what a company brings, and what jobs use of it
operating.py          a stage's alarms and saved queries, as rows
deployed_before.py    what stands in the account already
exposed.py            variables that look like keys
"""
