"""The control planes of Bedrock and SageMaker on the loopback interface: their training jobs.

The local AWS emulator knows neither. Protocol: ListModelCustomizationJobs and
GetModelCustomizationJob of botocore's model of Bedrock; ListTrainingJobs, DescribeTrainingJob,
DescribeHubContent, ListJobs and DescribeJob of its model of SageMaker. All list in pages.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

ACCOUNT = "000000000000"
PLACE = f"us-east-1:{ACCOUNT}"
MOMENT = "2026-11-22T09:00:00Z"
HUB = f"arn:aws:sagemaker:{PLACE}:hub-content/rewards/JsonDoc"


@dataclass
class ControlPlanes:
    """What the two services hold.

    Args:
        bedrock: jobs by name: the members of GetModelCustomizationJob that matter.
        sagemaker: jobs by name: those of DescribeTrainingJob.
        multi_turn: jobs by name: those of DescribeJob.
        contents: documents of evaluators, by their names in the hub.
        page: jobs on a page.
        refusals: (status, code) by operation, in the place of an answer.
        bodies: what is answered instead, by operation.
    """

    bedrock: dict = field(default_factory=dict)
    sagemaker: dict = field(default_factory=dict)
    multi_turn: dict = field(default_factory=dict)
    contents: dict = field(default_factory=dict)
    page: int = 10
    refusals: dict = field(default_factory=dict)
    bodies: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    address: str = ""

    def graded(self, name, arn, status="InProgress"):
        """Put a reinforcement job into Bedrock, graded by a function."""
        grader = {"rftConfig": {"graderConfig": {"lambdaGrader": {"lambdaArn": arn}}}}
        self.bedrock[name] = {
            "status": status,
            "customizationType": "REINFORCEMENT_FINE_TUNING",
            "customizationConfig": grader,
        }

    def rolled_out(self, name, document, status="InProgress", category="AgentRFT"):
        """Put a multi-turn job into SageMaker, with a document of any kind."""
        self.multi_turn[name] = {
            "JobCategory": category,
            "JobStatus": status,
            "JobConfigDocument": document if isinstance(document, str) else json.dumps(document),
        }

    def evaluated(self, name, reference, status="InProgress", **members):
        """Put a training job into SageMaker, with an evaluator that leads to a reference."""
        self.contents[name] = evaluator(reference)
        self.sagemaker[name] = {
            "TrainingJobStatus": status,
            "ServerlessJobConfig": {
                "BaseModelArn": "arn:aws:sagemaker:us-east-1:aws:hub-content/x/Model/y/1.0.0",
                "JobType": "FineTuning",
                "EvaluatorArn": f"{HUB}/{name}/1.0.0",
            },
            **members,
        }


def evaluator(reference):
    """The document of an evaluator, as SageMaker's SDK writes it."""
    inner = {"Reference": reference, "EvaluatorType": "RewardFunction"}
    return json.dumps({"SubType": "AWS/Evaluator", "JsonContent": json.dumps(inner)})


@contextmanager
def control_planes():
    """Serve both from one address."""
    planes = ControlPlanes()

    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self):
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            name = unquote(url.path).rpartition("/")[2]
            if name == "model-customization-jobs":
                self.answer("ListModelCustomizationJobs", lambda: self.bedrock_page(query))
            else:
                self.answer("GetModelCustomizationJob", lambda: bedrock_job(planes, name))

        def do_POST(self):
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            operation = self.headers["X-Amz-Target"].removeprefix("SageMaker.")
            answers = {
                "ListTrainingJobs": lambda: self.sagemaker_page(sent),
                "DescribeTrainingJob": lambda: sagemaker_job(planes, sent["TrainingJobName"]),
                "DescribeHubContent": lambda: content(planes, sent),
                "ListJobs": lambda: self.multi_turn_page(sent),
                "DescribeJob": lambda: multi_turn_job(planes, sent["JobName"]),
            }
            self.answer(operation, answers[operation])

        def bedrock_page(self, query):
            jobs = [
                {"jobArn": bedrock_arn(name), "jobName": name, "status": job["status"],
                 "baseModelArn": "arn:aws:bedrock:us-east-1::foundation-model/m",
                 "creationTime": MOMENT}
                for name, job in planes.bedrock.items()
                if job["status"] == query["statusEquals"]
            ]  # fmt: skip
            return paged(jobs, "modelCustomizationJobSummaries", "nextToken", query, planes.page)

        def sagemaker_page(self, sent):
            jobs = [
                {"TrainingJobName": name, "TrainingJobArn": f"arn:aws:sagemaker:{PLACE}:x/{name}",
                 "CreationTime": 1.0, "TrainingJobStatus": job["TrainingJobStatus"]}
                for name, job in planes.sagemaker.items()
                if job["TrainingJobStatus"] == sent["StatusEquals"]
            ]  # fmt: skip
            return paged(jobs, "TrainingJobSummaries", "NextToken", sent, planes.page)

        def multi_turn_page(self, sent):
            jobs = [
                {"JobName": name, "JobArn": f"arn:aws:sagemaker:{PLACE}:job/x/{name}",
                 "JobCategory": job["JobCategory"], "JobStatus": job["JobStatus"],
                 "CreationTime": 1.0}
                for name, job in planes.multi_turn.items()
                if (job["JobCategory"], job["JobStatus"])
                == (sent["JobCategory"], sent["StatusEquals"])
            ]  # fmt: skip
            return paged(jobs, "JobSummaries", "NextToken", sent, planes.page)

        def answer(self, operation, made):
            planes.asked.append(operation)
            status, code = planes.refusals.get(operation, (200, ""))
            refused = {"__type": code, "message": f"User: x is not authorized ({operation})"}
            body = planes.bodies.get(operation) or json.dumps(refused if code else made()).encode()
            self.send_response(status)
            if code:
                self.send_header("x-amzn-errortype", code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    planes.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield planes
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def paged(jobs, member, token, sent, page):
    start = int(sent.get(token, 0))
    rest = {token: str(start + page)} if start + page < len(jobs) else {}
    return {member: jobs[start : start + page], **rest}


def bedrock_arn(name):
    return f"arn:aws:bedrock:{PLACE}:model-customization-job/m.n/{name}"


def bedrock_job(planes, name):
    times = {"creationTime": MOMENT, "lastModifiedTime": MOMENT}
    return {"jobArn": bedrock_arn(name), "jobName": name, **times, **planes.bedrock[name]}


def sagemaker_job(planes, name):
    return {"TrainingJobName": name, "CreationTime": 1.0, **planes.sagemaker[name]}


def multi_turn_job(planes, name):
    return {"JobName": name, "CreationTime": 1.0, **planes.multi_turn[name]}


def content(planes, sent):
    named = {"HubContentName": sent["HubContentName"], "HubContentType": sent["HubContentType"]}
    return {**named, "HubContentDocument": planes.contents[sent["HubContentName"]]}
