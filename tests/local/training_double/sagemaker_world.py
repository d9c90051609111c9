"""What a SageMaker job needs beside the double of these tests: a hub, a group, a role."""

from __future__ import annotations

import json
from itertools import count

from tests.local.training_double.conftest import ACCOUNT, REGION, allow, document, jsonl, rows

NUMBERS = count(1)

LLAMA = "meta-textgeneration-llama-3-2-1b-instruct"
QWEN = "huggingface-llm-qwen2-5-7b-instruct"
NOVA = "nova-textgeneration-lite-v2"
OLD = "huggingface-text2text-flan-t5-xl"

ENVELOPED = """
import json, re

def text(content):
    if isinstance(content, str):
        return content
    return content["text"] if isinstance(content, dict) else content[0]["text"]

def handler(event, context):
    results = []
    for row in event:
        if "model_response" in row:
            said, reference = row["model_response"], row["reference_answer"]["text"]
        else:
            said = text(row["messages"][-1]["content"])
            reference = row.get("reference_answer") or row["metadata"]["reference_answer"]
        score = float(re.findall(r"(?m)^#### (.*)$", said) == [reference])
        results.append({"id": row["id"], "aggregate_reward_score": score})
    return {"statusCode": 200, "headers": {}, "body": json.dumps(results)}
"""


def verl_rows(number, first=0):
    """The same sums as a verl file has them."""
    for row in rows(number, first):
        yield {
            "id": row["id"],
            "prompt": row["messages"],
            "data_source": "sums",
            "reward_model": {
                "style": "rule",
                "ground_truth": row["reference_answer"]["final_answer"],
            },
        }


def eval_rows(number):
    for row in rows(number):
        yield {
            "query": row["messages"][0]["content"],
            "response": row["reference_answer"]["final_answer"],
            "metadata": {"n": row["id"]},
        }


def base_arn(name, version="1.0.0"):
    return f"arn:aws:sagemaker:{REGION}:aws:hub-content/SageMakerPublicHub/Model/{name}/{version}"


def trust_of(service):
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}}
    return document(statement)


class SageMakerWorld:
    """A person with SageMaker's rights, and all that a job names."""

    def __init__(self, world):
        self.world = world
        functions = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:SageMaker-double-*"
        bucket = f"arn:aws:s3:::{world.bucket}"
        self.may = (
            allow("lambda:InvokeFunction", functions),
            allow(["s3:GetObject", "s3:PutObject"], f"{bucket}/*"),
            allow("s3:ListBucket", bucket),
            allow(["sagemaker:DescribeHubContent", "sagemaker:CreateModelPackage"], "*"),
            allow(["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"], "*"),
        )
        trusts = document(
            {
                "Effect": "Allow",
                "Action": "sts:AssumeRole",
                "Principal": {"Service": ["sagemaker.amazonaws.com", "bedrock.amazonaws.com"]},
            }
        )
        self.role = world.role("sagemaker", document(*self.may), trusts)
        self.person = world.user(
            allow(["sagemaker:*", "sagemaker-mlflow:*", "bedrock:*"], "*"),
            allow("s3:GetObject", "arn:aws:s3:::jumpstart-cache-prod-*/*"),
            allow("iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/training-double-*"),
        )
        self.client = world.client(self.person, "sagemaker")
        self.bedrock = world.client(self.person)
        self.runtime = world.client(self.person, "bedrock-runtime")
        self.client.create_hub(HubName="rewards", HubDescription="rewards")
        self.plain = self.function("sm-list", bare(ENVELOPED))
        self.enveloped = self.function("sm-envelope", ENVELOPED)
        self.evaluator = self.evaluator_of(self.enveloped, "sums")
        self.bare_evaluator = self.evaluator_of(self.plain, "bare")
        self.group = self.client.create_model_package_group(ModelPackageGroupName="models")[
            "ModelPackageGroupArn"
        ]
        self.train = world.put("verl.jsonl", jsonl(verl_rows(128)))
        self.dev = world.put("verl-dev.jsonl", jsonl(verl_rows(8, first=500)))
        self.nova_train = world.put("nova.jsonl", jsonl(rows(128)))
        self.evaluated = world.put("eval.jsonl", jsonl(eval_rows(40)))
        self.app = self.client.list_mlflow_apps()["Summaries"][0]["Arn"]

    def function(self, name, source):
        """The plain ARN of a function: an evaluator takes no qualifier."""
        return self.world.grader(name, source).rpartition(":")[0]

    def evaluator_of(self, reference, name, kind="RewardFunction"):
        inner = json.dumps({"Reference": reference, "EvaluatorType": kind})
        return self.client.import_hub_content(
            HubName="rewards",
            HubContentType="JsonDoc",
            HubContentName=name,
            DocumentSchemaVersion="2.0.0",
            HubContentDocument=json.dumps({"SubType": "AWS/Evaluator", "JsonContent": inner}),
        )["HubContentArn"]

    def request(self, model=QWEN, serverless=None, parameters=None, **changes):
        """The parameters of a job of one step that succeeds, with some of them changed."""
        config = {
            "BaseModelArn": base_arn(model),
            "JobType": "FineTuning",
            "CustomizationTechnique": "RLVR",
            "Peft": "LORA",
            "EvaluatorArn": self.evaluator,
        } | (serverless or {})
        return {
            "TrainingJobName": f"serverless-{next(NUMBERS)}",
            "RoleArn": self.role,
            "InputDataConfig": [channel("train", self.train)],
            "OutputDataConfig": {"S3OutputPath": f"s3://{self.world.bucket}/rft-output"},
            "ServerlessJobConfig": {k: v for k, v in config.items() if v is not None},
            "HyperParameters": {"rollout_n": "2"} | (parameters or {}),
            "ModelPackageConfig": {"ModelPackageGroupArn": self.group},
            "MlflowConfig": {"MlflowResourceArn": self.app},
        } | changes

    def run(self, **changes):
        """The description of a job once it has ended."""
        asked = self.request(**changes)
        asked = {name: value for name, value in asked.items() if value is not None}
        arn = self.client.create_training_job(**asked)["TrainingJobArn"]
        self.world.wait(arn)
        return self.client.describe_training_job(TrainingJobName=asked["TrainingJobName"])

    def mlflow(self, path, session=None, app=None, **query):
        """The status and the JSON of an answer of MLflow's REST API."""
        from urllib.error import HTTPError
        from urllib.parse import urlencode
        from urllib.request import Request, urlopen

        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        url = f"{self.world.double.endpoint}/api/2.0/mlflow/{path}?{urlencode(query)}"
        signed = AWSRequest("GET", url, headers={"x-sm-mlflow-app-arn": app or self.app})
        SigV4Auth((session or self.person).get_credentials(), "sagemaker", REGION).add_auth(signed)
        try:
            with urlopen(Request(url, headers=dict(signed.headers.items())), timeout=60) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            return error.code, json.load(error)


def bare(source):
    """The same function, with a bare list, and of references that are objects."""
    enveloped = 'return {"statusCode": 200, "headers": {}, "body": json.dumps(results)}'
    either = "(reference['final_answer'] if isinstance(reference, dict) else reference)"
    listed = source.replace(enveloped, "return results")
    return listed.replace("== [reference])", f"== [{either}])")


def channel(name, uri):
    source = {
        "S3DataType": "S3Prefix",
        "S3Uri": uri,
        "S3DataDistributionType": "FullyReplicated",
    }
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}}
