"""Bedrock's jobs and custom models, and S3, on the loopback interface.

Requests are held to botocore's model of Bedrock in whole: patterns, enums and maxima as well, which
botocore itself does not check. Answers are parsed by botocore.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import zip_longest

import botocore.session
from botocore import xform_name

from tests.loopback import Service

ACCOUNT = "000000000000"
MOMENT = "2026-11-22T09:00:00Z"
ARN = f"arn:aws:bedrock:us-east-1:{ACCOUNT}"
NOVA = "amazon.nova-2-lite-v1:0:256k"

ROUTES = [
    # method, path with * for any part, operation
    ("POST", "model-customization-jobs", "CreateModelCustomizationJob"),
    ("GET", "model-customization-jobs", "ListModelCustomizationJobs"),
    ("GET", "model-customization-jobs/*", "GetModelCustomizationJob"),
    ("POST", "model-customization-jobs/*/stop", "StopModelCustomizationJob"),
    ("POST", "listTagsForResource", "ListTagsForResource"),
    ("GET", "custom-models", "ListCustomModels"),
    ("GET", "custom-models/*", "GetCustomModel"),
    ("DELETE", "custom-models/*", "DeleteCustomModel"),
    ("POST", "model-customization/custom-model-deployments", "CreateCustomModelDeployment"),
    ("GET", "model-customization/custom-model-deployments", "ListCustomModelDeployments"),
    ("GET", "model-customization/custom-model-deployments/*", "GetCustomModelDeployment"),
    ("DELETE", "model-customization/custom-model-deployments/*", "DeleteCustomModelDeployment"),
]


class Refused(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.answer = refusal(status, code, message)


def refusal(status, code, message="because"):
    """An error as rest-json has it."""
    body = json.dumps({"message": message}).encode()
    return status, {"x-amzn-errortype": code, "Content-Type": "application/json"}, body


def body(content):
    """A plain answer."""
    return 200, {}, content


@cache
def shape(operation):
    model = botocore.session.get_session().get_service_model("bedrock")
    return model.operation_model(operation).input_shape


def problems(kind, value, place="request"):
    """Every way in which a value breaks the model of its shape."""
    if kind.type_name != "boolean":
        size = len(value) if isinstance(value, (str, list, dict)) else value
        if not kind.metadata.get("min", size) <= size <= kind.metadata.get("max", size):
            yield f"{place}: {size} is out of its range"
    yield from WITHIN.get(kind.type_name, nothing)(kind, value, place)


def nothing(kind, value, place):
    return ()


def of_structure(kind, value, place):
    yield from (f"{place}.{name} is missing" for name in kind.required_members if name not in value)
    yield from (f"{place}.{name} is unknown" for name in value if name not in kind.members)
    for name in value.keys() & kind.members.keys():
        yield from problems(kind.members[name], value[name], f"{place}.{name}")
    if kind.is_tagged_union and len(value) != 1:
        yield f"{place}: not exactly one member"


def of_list(kind, value, place):
    for each in value:
        yield from problems(kind.member, each, f"{place}[]")


def of_map(kind, value, place):
    for key, each in value.items():
        yield from problems(kind.key, key, f"{place} key")
        yield from problems(kind.value, each, f"{place}[{key}]")


def of_string(kind, value, place):
    if kind.enum and value not in kind.enum:
        yield f"{place}: {value!r} is none of {kind.enum}"
    if not re.fullmatch(kind.metadata.get("pattern", ".*"), value):
        yield f"{place}: {value!r} does not match"


WITHIN = {"structure": of_structure, "list": of_list, "map": of_map, "string": of_string}


@dataclass
class Bedrock(Service):
    """What it holds.

    Args:
        jobs: by name: the members of GetModelCustomizationJob.
        models: by name: those of GetCustomModel.
        deployments: by name: those of GetCustomModelDeployment.
        tags: by ARN.
        sent: the bodies of the requests that made something.
        page: entries on a page of a list.
        by_name: whether a job is found by its name; its ARN always leads to it.
    """

    jobs: dict = field(default_factory=dict)
    models: dict = field(default_factory=dict)
    deployments: dict = field(default_factory=dict)
    tags: dict = field(default_factory=dict)
    sent: list = field(default_factory=list)
    page: int = 2
    by_name: bool = True

    def operation(self, asked):
        for method, pattern, name in ROUTES:
            pairs = list(zip_longest(pattern.split("/"), asked.path))
            if method == asked.method and all(each in {"*", part} for each, part in pairs):
                named = [part for each, part in pairs if each == "*"]
                return name, partial(self.done, name, asked, named)
        raise AssertionError(asked)

    def done(self, name, asked, named):
        sent = json.loads(asked.body or b"{}")
        if name.startswith("Create"):
            assert not list(problems(shape(name), sent))
            self.sent.append(sent)
        try:
            made = getattr(self, xform_name(name))(*named, *([sent or asked.query] * (not named)))
        except Refused as error:
            return error.answer
        return 200, {"Content-Type": "application/json"}, json.dumps(made).encode()

    def create_model_customization_job(self, sent):
        name = sent["jobName"]
        there = self.jobs.get(name)
        if there and there["clientRequestToken"] == sent["clientRequestToken"]:
            return {"jobArn": there["jobArn"]}
        if there or sent["customModelName"] in self.models:
            raise Refused(400, "ConflictException", "the name is already in use")
        number = len(self.jobs)
        arn = f"{ARN}:model-customization-job/amazon.nova-2-lite-v1:0:256k/{number:012}"
        self.tags[arn] = sent.get("jobTags", [])
        kept = {member: each for member, each in sent.items() if not member.endswith("Tags")}
        self.jobs[name] = {
            "jobArn": arn,
            "outputModelName": sent["customModelName"],
            "baseModelArn": f"arn:aws:bedrock:us-east-1::foundation-model/{NOVA}",
            "status": "InProgress",
            "creationTime": f"2026-11-22T09:{number:02}:00Z",
            "validationDataConfig": {"validators": []},
            **kept,
        }
        return {"jobArn": arn}

    def get_model_customization_job(self, identifier):
        for name, job in self.jobs.items():
            if identifier == job["jobArn"] or (self.by_name and identifier == name):
                return job
        raise Refused(404, "ResourceNotFoundException", f"no job {identifier}")

    def list_model_customization_jobs(self, query):
        members = (
            *("jobArn", "jobName", "status", "creationTime", "baseModelArn"),
            *("customizationType", "endTime"),
        )
        found = [
            {member: job[member] for member in members if member in job}
            for name, job in self.jobs.items()
            if query.get("nameContains", "") in name
        ]
        found.sort(key=lambda job: job["creationTime"], reverse=True)
        return self.paged(found, "modelCustomizationJobSummaries", query)

    def stop_model_customization_job(self, identifier):
        job = self.get_model_customization_job(identifier)
        if job["status"] != "InProgress":
            raise Refused(400, "ConflictException", "the job is over")
        job["status"] = "Stopping"
        return {}

    def list_tags_for_resource(self, sent):
        return {"tags": self.tags.get(sent["resourceARN"], [])}

    def get_custom_model(self, identifier):
        for name, model in self.models.items():
            if identifier in {name, model["modelArn"]}:
                return model
        raise Refused(404, "ResourceNotFoundException", f"no model {identifier}")

    def list_custom_models(self, query):
        summaries = [{**model, "baseModelName": NOVA} for model in reversed(self.models.values())]
        return self.paged(summaries, "modelSummaries", query)

    def delete_custom_model(self, identifier):
        del self.models[self.get_custom_model(identifier)["modelName"]]
        return {}

    def create_custom_model_deployment(self, sent):
        arn = f"{ARN}:custom-model-deployment/{len(self.deployments):012}"
        self.tags[arn] = sent["tags"]
        self.deployments[sent["modelDeploymentName"]] = {
            "customModelDeploymentArn": arn,
            "modelDeploymentName": sent["modelDeploymentName"],
            "modelArn": sent["modelArn"],
            "createdAt": MOMENT,
            "status": "Creating",
        }
        return {"customModelDeploymentArn": arn}

    def get_custom_model_deployment(self, identifier):
        for name, deployment in self.deployments.items():
            if identifier in {name, deployment["customModelDeploymentArn"]}:
                return deployment
        raise Refused(404, "ResourceNotFoundException", f"no deployment {identifier}")

    def list_custom_model_deployments(self, query):
        found = [
            {**each, "customModelDeploymentName": each["modelDeploymentName"]}
            for each in self.deployments.values()
            if query.get("modelArnEquals", "") in each["modelArn"]
        ]
        return self.paged(found, "modelDeploymentSummaries", query)

    def delete_custom_model_deployment(self, identifier):
        found = self.get_custom_model_deployment(identifier)
        del self.deployments[found["modelDeploymentName"]]
        return {}

    def paged(self, found, member, query):
        start = int(query.get("nextToken", 0))
        end = start + self.page
        more = {"nextToken": str(end)} if end < len(found) else {}
        return {member: found[start:end], **more}


@dataclass
class Bucket(Service):
    """S3 with one bucket, of which the caller may list prefixes and not the whole.

    Args:
        objects: (content, metadata) by key.
    """

    objects: dict = field(default_factory=dict)

    def operation(self, asked):
        if len(asked.path) == 1:
            return "ListObjectsV2", lambda: self.listed(asked.query)
        do = getattr(self, asked.method.lower())
        return asked.method, lambda: do("/".join(asked.path[1:]), asked)

    def listed(self, query):
        keys = sorted(key for key in self.objects if key.startswith(query["prefix"]))
        entries = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys)
        return 200, {}, f"<ListBucketResult>{entries}</ListBucketResult>".encode()

    def put(self, key, asked):
        prefix = "x-amz-meta-"
        metadata = {name: value for name, value in asked.headers.items() if prefix in name}
        self.objects[key] = asked.body, metadata
        return 200, {}, b""

    def head(self, key, asked):
        content, metadata = self.objects[key]
        return 200, {**metadata, "Content-Length": str(len(content))}, content

    def get(self, key, asked):
        return 200, {}, self.objects[key][0]

    def delete(self, key, asked):
        self.objects.pop(key, None)
        return 204, {}, b""
