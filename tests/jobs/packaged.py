"""SageMaker's model packages, S3 and Bedrock's imports in memory, for what is made of packages.

Each call is checked against botocore's model of it, patterns, lengths and enumerations included.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

import botocore.session
from botocore import xform_name
from botocore.exceptions import ClientError

from tests.bedrock_service import problems

BEGIN = datetime(2026, 11, 22, 9, tzinfo=UTC)
ARN = "arn:aws:bedrock:us-east-1:123456789012"
ROLE = "arn:aws:iam::123456789012:role/training"
GROUP = "math-models"
PACKAGE = f"arn:aws:sagemaker:us-east-1:123456789012:model-package/{GROUP}/2"
PLACE = "s3://bucket/rft-output/math-1/model/"
BASE = {"HubContentName": "qwen3-8b", "HubContentVersion": "1.2.0", "RecipeName": "rlvr-lora"}


@cache
def operations(service):
    model = botocore.session.get_session().get_service_model(service)
    return {xform_name(name): model.operation_model(name) for name in model.operation_names}


def refused(code, message="because"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "Op")


class Client:
    """boto3's of one service, whose operations are methods of what it stands before."""

    def __init__(self, aws, service):
        self.aws, self.service = aws, service

    def __getattr__(self, operation):
        model = operations(self.service)[operation]

        def call(**sent):
            if self.service != "s3":
                assert not list(problems(model.input_shape, sent)), sent
            self.aws.asked.append(operation)
            waiting = self.aws.faults.get(operation)
            if waiting:
                raise waiting.pop(0)
            return getattr(self.aws, operation)(sent)

        return call


class Aws:
    """What it holds; `looks` is how often what is made is looked at before it is ready."""

    def __init__(self):
        self.asked, self.faults, self.sent = [], {}, []
        self.packages, self.objects = {}, []
        self.imports, self.imported, self.models, self.hosts, self.tags = {}, {}, {}, {}, {}
        self.looks = 2

    def client(self, service, region, session=None):
        return Client(self, service)

    def package(self, arn=PACKAGE, *, status="Completed", place=PLACE, restricted=False, **more):
        container = {"BaseModel": BASE, "IsCheckpoint": False, "Image": "x"} | more
        if place:
            container["ModelDataSource"] = {"S3DataSource": {"S3Uri": place}}
        self.packages[arn] = {
            "ModelPackageArn": arn, "ModelPackageStatus": status, "CreationTime": BEGIN,
            "InferenceSpecification": {"Containers": [container]},
        } | ({"ManagedStorageType": "Restricted"} if restricted else {})  # fmt: skip

    def holds(self, *files, place=PLACE):
        self.objects += [place + file for file in files]

    def describe_model_package(self, sent):
        if sent["ModelPackageName"] not in self.packages:
            raise refused("ValidationException", "ModelPackage x does not exist.")
        return self.packages[sent["ModelPackageName"]]

    def list_model_packages(self, sent):
        names = [arn for arn in self.packages if f"/{sent['ModelPackageGroupName']}/" in arn][::-1]
        begin = int(sent.get("NextToken", 0))
        more = {"NextToken": str(begin + 2)} if names[begin + 2 :] else {}
        kept = ("ModelPackageArn", "ModelPackageStatus", "CreationTime")
        listed = [
            {name: self.packages[arn][name] for name in kept} for arn in names[begin : begin + 2]
        ]
        return {"ModelPackageSummaryList": listed} | more

    def delete_model_package(self, sent):
        self.describe_model_package(sent)
        del self.packages[sent["ModelPackageName"]]
        return {}

    def list_objects_v2(self, sent):
        begin = f"s3://{sent['Bucket']}/{sent['Prefix']}"
        found = [each for each in self.objects if each.startswith(begin)]
        skipped = len(f"s3://{sent['Bucket']}/")
        return {"Contents": [{"Key": each[skipped:], "Size": 1} for each in found]}

    def delete_objects(self, sent):
        gone = {f"s3://{sent['Bucket']}/{each['Key']}" for each in sent["Delete"]["Objects"]}
        self.objects = [each for each in self.objects if each not in gone]
        return {}

    def create_model_import_job(self, sent):
        self.sent.append(sent)
        if sent["jobName"] in {each["jobName"] for each in self.imports.values()}:
            raise refused("ConflictException")
        number = f"{len(self.imports):012}"
        self.imports[f"{ARN}:model-import-job/{number}"] = {
            "jobArn": f"{ARN}:model-import-job/{number}", "jobName": sent["jobName"],
            "importedModelName": sent["importedModelName"], "status": "InProgress",
            "modelDataSource": sent["modelDataSource"], "creationTime": BEGIN, "looks": self.looks,
        }  # fmt: skip
        return {"jobArn": f"{ARN}:model-import-job/{number}"}

    def get_model_import_job(self, sent):
        asked = sent["jobIdentifier"]
        found = [each for each in self.imports.values() if asked in each.values()]
        if not found:
            raise refused("ResourceNotFoundException")
        job = found[0]
        job["looks"] -= 1
        if job["looks"] < 0 and job["status"] == "InProgress":
            arn = job["jobArn"].replace("model-import-job", "imported-model")
            job |= {"status": "Completed", "importedModelArn": arn}
            self.imported[arn] = {
                "modelArn": arn, "modelName": job["importedModelName"], "jobArn": job["jobArn"],
                "creationTime": BEGIN + timedelta(hours=1),
                "modelDataSource": job["modelDataSource"],
            }  # fmt: skip
        return job

    def get_imported_model(self, sent):
        asked = sent["modelIdentifier"]
        found = [each for each in self.imported.values() if asked in each.values()]
        if not found:
            raise refused("ResourceNotFoundException")
        return found[0]

    def list_imported_models(self, sent):
        every = list(self.imported.values())
        return {
            "modelSummaries": [
                each for each in every if each["creationTime"] > sent["creationTimeAfter"]
            ]
        }

    def delete_imported_model(self, sent):
        self.get_imported_model(sent)
        del self.imported[sent["modelIdentifier"]]
        return {}

    def create_custom_model(self, sent):
        self.sent.append(sent)
        arn = f"{ARN}:custom-model/imported/{len(self.models):012}"
        self.tags[arn] = sent["modelTags"]
        self.models[sent["modelName"]] = {
            "modelArn": arn, "modelName": sent["modelName"], "modelStatus": "Creating",
            "creationTime": BEGIN + timedelta(hours=1), "looks": self.looks,
        }  # fmt: skip
        return {"modelArn": arn}

    def get_custom_model(self, sent):
        asked = sent["modelIdentifier"]
        found = [each for each in self.models.values() if asked in each.values()]
        if not found:
            raise refused("ResourceNotFoundException")
        found[0]["looks"] -= 1
        if found[0]["looks"] < 0:
            found[0]["modelStatus"] = "Active"
        return found[0]

    def list_custom_models(self, sent):
        return {"modelSummaries": list(self.models.values())[::-1]}

    def delete_custom_model(self, sent):
        found = self.get_custom_model(sent)
        del self.models[found["modelName"]]
        return {}

    def list_tags_for_resource(self, sent):
        return {"tags": self.tags.get(sent["resourceARN"], [])}

    def create_custom_model_deployment(self, sent):
        arn = f"{ARN}:custom-model-deployment/{len(self.hosts):012}"
        self.hosts[arn] = {
            "customModelDeploymentArn": arn, "modelDeploymentName": sent["modelDeploymentName"],
            "modelArn": sent["modelArn"], "createdAt": BEGIN, "status": "Active",
        }  # fmt: skip
        return {"customModelDeploymentArn": arn}

    def get_custom_model_deployment(self, sent):
        asked = sent["customModelDeploymentIdentifier"]
        found = [each for each in self.hosts.values() if asked in each.values()]
        if not found:
            raise refused("ResourceNotFoundException")
        return found[0]

    def list_custom_model_deployments(self, sent):
        model = sent.get("modelArnEquals")
        found = [each for each in self.hosts.values() if model in {None, each["modelArn"]}]
        return {"modelDeploymentSummaries": found}

    def delete_custom_model_deployment(self, sent):
        self.get_custom_model_deployment(sent)
        del self.hosts[sent["customModelDeploymentIdentifier"]]
        return {}
