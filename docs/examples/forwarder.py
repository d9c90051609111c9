"""Make the Lambda between SageMaker's trainer and an agent, and print the ARN of its version.

    python forwarder.py http://127.0.0.1:8080

The same command again publishes another version, on AWS only where the code or the address has
changed. The function is the forwarder of this project, and nothing else of it.
"""

import io
import json
import os
import sys
import zipfile
from pathlib import Path

import boto3

import reward_functions

NAME = "SageMaker-agent"
PARTS = ("__init__.py", "core", "rollouts")
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "lambda.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}
LOGS = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"


def package():
    """A ZIP file of the forwarder."""
    root, made = Path(reward_functions.__file__).parent, io.BytesIO()
    files = [each for part in PARTS for each in (root / part, *(root / part).rglob("*.py"))]
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(each for each in files if each.is_file()):
            # The same bytes on every day, so that an equal function makes no version.
            entry = zipfile.ZipInfo(str(Path("reward_functions", file.relative_to(root))))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def role():
    """The ARN of a role that may write logs and nothing else."""
    iam = boto3.client("iam")
    try:
        made = iam.create_role(RoleName=NAME, AssumeRolePolicyDocument=json.dumps(TRUST))
        iam.attach_role_policy(RoleName=NAME, PolicyArn=LOGS)
        iam.get_waiter("role_exists").wait(RoleName=NAME)
    except iam.exceptions.EntityAlreadyExistsException:
        made = iam.get_role(RoleName=NAME)
    return made["Role"]["Arn"]


def version(agent):
    """The ARN of a version that forwards to this address."""
    client, code = boto3.client("lambda"), package()
    variables = {"AGENT_ENDPOINT": agent}
    if "AWS_ENDPOINT_URL" in os.environ:
        # Lambda has boto3; the local emulator runs functions on an interpreter that has not.
        variables["PYTHONPATH"] = str(Path(boto3.__file__).parents[1])
    settings = {
        "FunctionName": NAME,
        "Runtime": "python3.13",
        "Handler": "reward_functions.rollouts.servers.forwarder.handler",
        "Role": role(),
        "Timeout": 60,
        "MemorySize": 256,
        "Environment": {"Variables": variables},
    }
    try:
        client.create_function(Code={"ZipFile": code}, **settings)
    except client.exceptions.ResourceConflictException:
        client.update_function_code(FunctionName=NAME, ZipFile=code)
        client.get_waiter("function_updated_v2").wait(FunctionName=NAME)
        client.update_function_configuration(**settings)
    client.get_waiter("function_active_v2").wait(FunctionName=NAME)
    client.get_waiter("function_updated_v2").wait(FunctionName=NAME)
    return client.publish_version(FunctionName=NAME)["FunctionArn"]


if __name__ == "__main__":
    sys.stdout.write(f"{version(sys.argv[1])}\n")
