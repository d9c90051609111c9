"""IAM as data: what functions, jobs, agents and people of a stage may do.

iam.py                       statements, and how a grant names a reward function
permissions.py               functions, judges, training jobs, events
own_rights.py                a reward of one's own
people.py                    people, by task
sagemaker.py                 SageMaker's serverless and multi-turn jobs
sagemaker_instances.py       SageMaker's jobs on instances
sagemaker_people.py          what people do with SageMaker's jobs
agentcore.py                 runtimes of AgentCore
forwarding.py                the Lambda between a trainer and an agent
deferred.py                  the path of deferred rewards
custodian.py                 the stack's custodian
vpc.py                       how jobs join a network
grants.py                    the reward functions of a stage, as policies name them
documents.py                 the documents of a stage, from what it says
deployments_own_rights.py    what a deployment gives a reward of one's own
conditions.py                the condition of a statement, checked
services.py                  services by IAM's name and by botocore's
"""
