"""AWS as every command and job meets it: who signs, what fails, names, ARNs, and what is deployed.

iam_matching.py        whether a statement of IAM matches
request_validation.py  a request against the models of botocore
emulator_record.py     what is known of local emulators; `emulator_pointing.py` turns a shell to one
shell.py        where a command goes: its stage, its region, its credentials
failures.py     the exceptions of AWS's SDK, as one sentence with the remedy
arn.py          the ARN of a Lambda function
regions.py      the names of AWS's regions, as botocore knows them
names.py        what the resources of one stage are called
catalogue.py    the names and records by which tools find a deployment
uploading.py    files to S3, where a training job reads them
deployed/       functions that are deployed: found, invoked, checked, rolled back, pruned
"""
