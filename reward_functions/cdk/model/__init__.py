"""A stage as data: what `cdk.json` says, validated before anything is built.

stages.py             the stages, and their deployments
deployment.py         one deployment: a reward with its parameters
completion.py         what a stage does not say
inheritance.py        a stage that takes another's settings
sentences.py          what is wrong in `cdk.json`, as one sentence
project.py            the `cdk.json` of a folder, read without the CDK
agents.py             programs that run on AgentCore
feedback.py           the path of deferred rewards
forwarding.py         the functions that hand a trainer's requests to an agent
judges.py             a judge that can ask its models
job_rights.py         what jobs use beside the stage's bucket and rewards
function_role.py      what a deployment's function may do
brought.py            what a company brings
deployed_before.py    what stands in the account already
exposed.py            variables that look like keys
"""
