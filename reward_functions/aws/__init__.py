"""AWS as every command and job meets it: who signs, what fails, names, ARNs, and what is deployed.

shell.py        where a command goes: its stage, its region, its credentials
written_stages.py       what `cdk.json` of a folder says of its stages
calls.py        clients, answers, pages, and the one loop that waits
failures.py     what the SDK raises: one sentence with the remedy, classified once
arn.py          ARNs of anything, and what stands after a function's
s3.py           files sent to S3, and objects read
request_validation.py   a request against the models of botocore
iam_matching.py  whether a statement of IAM matches
catalogue.py    the names and records by which tools find a deployment
names.py        what the resources of one stage are called
regions.py      the names of AWS's regions, as botocore knows them
emulator_record.py      what is known of local emulators, and which of them a shell points at
deployed/       functions that are deployed: found, invoked, checked, rolled back, pruned
"""
