"""The resources of a stage, as constructs of the AWS CDK.

stack.py              one stage in one account
reward_function.py    one deployment, of which a job holds a version that never changes
function_alone.py     one reward in a stack of your own
training.py           the resources of training jobs
feedback_path.py      the path of deferred rewards, and its alarms
scale.py              what scores files of any size, and its alarm
forwarder.py          the function that hands a trainer's requests on
agent_stack.py        the agents of a stage, in a stack of their own
artifacts.py          what each deployment and each agent runs from
codes.py              artifacts as zips in `cdk.out`
custody.py            the custodian, which CloudFormation asks, and the buckets it empties
roles.py              roles and policies, of the documents of `cdk.policies`
job_events.py         a job's change of state becomes a notification
monitoring.py         alarms, and one dashboard
runtime.py            what functions have in common
"""
