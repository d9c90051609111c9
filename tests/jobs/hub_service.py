"""SageMaker and S3 in memory, behind boto3's clients: each request is checked by botocore's model.

What SageMaker has is what a test puts there: models with recipes, an account's hub, jobs.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO

from botocore import xform_name
from botocore.exceptions import ClientError

from reward_functions.jobs.request_rules import check_request

NOW = datetime(2026, 11, 23, tzinfo=UTC)
READS = ("Describe", "List", "Get")
ACCOUNT = "000000000000"
HUB = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}"
PUBLIC = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model"

RLVR = {
    "learning_rate": {"type": "float", "default": 1e-5, "min": 1e-7, "max": 1e-3},
    "global_batch_size": {"type": "integer", "default": 128, "enum": [64, 128, 256]},
    "max_epochs": {"type": "integer", "default": 1, "min": 1, "max": 10},
    "rollout_n": {"type": "integer", "default": 8, "min": 1, "max": 32},
    "max_prompt_length": {"type": "integer", "default": 1024, "min": 512, "max": 16384},
    "max_response_length": {"type": "integer", "default": 2048, "min": 512, "max": 16384},
    "merge_weights": {"type": "boolean", "default": False},
    "lora_alpha": {"type": "integer", "required": False},
    "preset_reward_function": {
        "type": "string",
        "default": "",
        "enum": ["", "gsm8k", "prime_code", "prime_math"],
    },
    "data_path": {"type": "string", "required": True},
    "output_path": {"type": "string", "default": "s3://nowhere"},
}
RLAIF = {
    "judge_model_id": {"type": "string", "enum": ["bedrock/openai.gpt-oss-120b-1:0"]},
    "judge_prompt_template": {"type": "string", "default": "cot.jinja", "enum": ["evaluate.jinja"]},
}


def recipe(technique="RLVR", peft="LORA", length="4K", options="rlvr.json", **more):
    """An entry of a model's `RecipeCollection`."""
    return {
        "Name": f"{technique}-{length}".lower(),
        "CustomizationTechnique": technique,
        "SmtjRecipeTemplateS3Uri": "s3://hub-us-east-1/template.yaml",
        "SmtjOverrideParamsS3Uri": f"s3://hub-us-east-1/{options}",
        "SequenceLength": length,
        **({"Peft": peft} if peft else {}),
    } | more


MODELS = {
    "small-open-model": {
        "RecipeCollection": [
            recipe(length="8K"),
            recipe(),
            recipe(peft="", length="16K"),
            recipe("RLAIF", options="rlaif.json"),
            recipe("SFT"),
        ]
    },
    "gated-model": {"GatedBucket": True, "RecipeCollection": [recipe()]},
    "nova-textgeneration-lite-v2": {"RecipeCollection": [recipe()]},
    "only-supervised": {"RecipeCollection": [recipe("SFT")]},
    "no-recipe": {"RecipeCollection": [{"CustomizationTechnique": "RLVR"}]},
}


def error(code, operation, message="no"):
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


class Service:
    """The state of both services, and every call that was made."""

    def __init__(self):
        self.models = {name: json.dumps(document) for name, document in MODELS.items()}
        self.objects = {
            ("hub-us-east-1", "rlvr.json"): json.dumps(RLVR).encode(),
            ("hub-us-east-1", "rlaif.json"): json.dumps(RLAIF).encode(),
        }
        self.contents = {}
        self.hub = False
        self.groups = {}
        self.apps = []
        self.jobs = {}
        self.sent = []
        self.multi_turn = {}
        self.trouble = {}
        self.lost = {}

    def client(self, service, region, session=None):
        return Client(self, service)

    @property
    def made(self):
        """Names of the calls that were more than reading."""
        return [name for name, _ in self.sent if not name.startswith(READS)]

    def answer(self, service, operation, request):
        self.sent.append((operation, request))
        if service == "sagemaker":
            check_request(service, operation, request)
        for trouble in self.trouble.pop(operation, []):
            raise trouble
        lost = self.lost.pop(operation, None)
        try:
            return getattr(self, f"answer_to_{xform_name(operation)}")(request, operation)
        finally:
            if lost:
                raise lost

    def answer_to_describe_hub_content(self, request, operation):
        name = request["HubContentName"]
        if request["HubName"] == "SageMakerPublicHub":
            if name not in self.models:
                raise error("ResourceNotFound", operation)
            return {
                "HubContentName": name,
                "HubContentArn": f"{PUBLIC}/{name}/1.0.0",
                "HubContentDocument": self.models[name],
            }
        found = self.contents.get((name, request["HubContentVersion"]))
        if found is None:
            raise error("ResourceNotFound", operation)
        return found

    def answer_to_list_hub_contents(self, request, operation):
        if request["HubName"] == "SageMakerPublicHub":
            return {"HubContentSummaries": [{"HubContentName": name} for name in self.models]}
        if not self.hub:
            raise error("ResourceNotFound", operation)
        return {"HubContentSummaries": list(self.contents.values())}

    def answer_to_list_hub_content_versions(self, request, operation):
        found = [
            each for (name, _), each in self.contents.items() if name == request["HubContentName"]
        ]
        if not found:
            raise error("ResourceNotFound", operation)
        return {"HubContentSummaries": found}

    def answer_to_describe_hub(self, request, operation):
        if not self.hub:
            raise error("ResourceNotFound", operation)
        return {"HubName": request["HubName"]}

    def answer_to_create_hub(self, request, operation):
        self.hub = True
        return {}

    def answer_to_import_hub_content(self, request, operation):
        name, version = request["HubContentName"], request["HubContentVersion"]
        if (name, version) in self.contents:
            raise error("ResourceInUse", operation)
        arn = f"{HUB}:hub-content/{request['HubName']}/JsonDoc/{name}/{version}"
        self.contents[name, version] = {
            "HubContentName": name,
            "HubContentVersion": version,
            "HubContentArn": arn,
            "HubContentStatus": "Available",
            "HubContentDocument": request["HubContentDocument"],
        }
        return {"HubContentArn": arn}

    def answer_to_describe_model_package_group(self, request, operation):
        name = request["ModelPackageGroupName"]
        if name not in self.groups:
            raise error(
                "ValidationException", operation, f"ModelPackageGroup {name} does not exist"
            )
        return {"ModelPackageGroupArn": self.groups[name]}

    def answer_to_create_model_package_group(self, request, operation):
        name = request["ModelPackageGroupName"]
        self.groups[name] = f"{HUB}:model-package-group/{name}"
        return {"ModelPackageGroupArn": self.groups[name]}

    def answer_to_list_mlflow_apps(self, request, operation):
        return {"Summaries": self.apps}

    def answer_to_create_training_job(self, request, operation):
        name = request["TrainingJobName"]
        if name in self.jobs:
            raise error("ResourceInUse", operation, f"{name} exists")
        arn = f"{HUB}:training-job/{name}"
        self.jobs[name] = dict(request) | {
            "TrainingJobArn": arn,
            "TrainingJobStatus": "InProgress",
            "SecondaryStatus": "Training",
            "CreationTime": NOW,
        }
        return {"TrainingJobArn": arn}

    def answer_to_describe_training_job(self, request, operation):
        if request["TrainingJobName"] not in self.jobs:
            raise error("ValidationException", operation, "Requested resource not found.")
        return self.jobs[request["TrainingJobName"]]

    def answer_to_list_training_jobs(self, request, operation):
        return {"TrainingJobSummaries": list(self.jobs.values())}

    def answer_to_stop_training_job(self, request, operation):
        job = self.jobs[request["TrainingJobName"]]
        if job["TrainingJobStatus"] != "InProgress":
            raise error("ValidationException", operation, "The request was rejected: it is over")
        job["TrainingJobStatus"] = "Stopping"
        return {}

    def answer_to_list_job_schema_versions(self, request, operation):
        return {"JobConfigSchemas": [{"JobConfigSchemaVersion": "1.0.0"}]}

    def answer_to_describe_job_schema_version(self, request, operation):
        return {"JobConfigSchema": json.dumps({"type": "object"})}

    def answer_to_create_job(self, request, operation):
        name = request["JobName"]
        if name in self.multi_turn:
            raise error("ResourceInUse", operation, f"{name} exists")
        arn = f"{HUB}:job/{request['JobCategory']}/{name}"
        self.multi_turn[name] = dict(request) | {
            "JobArn": arn,
            "JobStatus": "InProgress",
            "SecondaryStatus": "Training",
            "CreationTime": NOW,
        }
        return {"JobArn": arn}

    def answer_to_describe_job(self, request, operation):
        if request["JobName"] not in self.multi_turn:
            raise error("ResourceNotFound", operation)
        return self.multi_turn[request["JobName"]]

    def answer_to_list_jobs(self, request, operation):
        return {"JobSummaries": list(self.multi_turn.values())}

    def answer_to_stop_job(self, request, operation):
        job = self.multi_turn[request["JobName"]]
        if job["JobStatus"] != "InProgress":
            raise error("ValidationException", operation, "The request was rejected: it is over")
        job["JobStatus"] = "Stopping"
        return {}

    def answer_to_list_tags(self, request, operation):
        name = request["ResourceArn"].rpartition("/")[2]
        return {"Tags": self.jobs[name].get("Tags", [])}

    def answer_to_get_object(self, request, operation):
        return {"Body": BytesIO(self.objects[request["Bucket"], request["Key"]])}


class Client:
    """One of boto3's clients."""

    def __init__(self, service, name):
        self._service, self._name = service, name

    def __getattr__(self, method):
        operation = "".join(part.capitalize() for part in method.split("_"))
        return lambda **request: self._service.answer(self._name, operation, request)
