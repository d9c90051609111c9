"""IAM as data: what functions, jobs, agents and people of a stage may do.

iam.py            statements, and how a grant names a reward function
permissions.py    functions, judges, training jobs, events
own_rights.py     a reward of one's own: what its deployment gives it
people.py         people, by task
sagemaker.py      SageMaker's jobs, and their agents
agents.py         runtimes of AgentCore, and the Lambda between a trainer and an agent
deferred.py       the path of deferred rewards
scale.py          files of any size, scored by the stage's state machine
custodian.py      the stack's custodian
vpc.py            how jobs join a network
grants.py         the reward functions of a stage, as policies name them
documents.py      the documents of a stage, from what it says
services.py       services by IAM's name and by botocore's
"""
