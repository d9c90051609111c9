"""A trainer's request, a reward, the owner of a failure; the ground of all other folders.

contract.py      what a trainer sends, in every spelling, and how it is written again
context.py       which rollout this code runs for, by ContextVar
headers.py       the headers and parameters of a policy call, read when the call is made
endpoints.py     where the runtime of a job is, and which hosts may be given a credential
api_key.py       the key between a forwarder, an agent and a relay
rewards.py       finite numbers, one a rollout or one a turn
errors.py        what went wrong, and whose it is: the table of failure attribution
outcomes.py      what became of a report, by status and error type
clock.py         the time of a process, which nobody can set
threads.py       threads that report, apart from those that agents run on
file_locks.py    locks on files, which end with their process
s3.py            S3's client, and an object that is written once
"""
