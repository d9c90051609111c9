"""`reward data upload`: objects arrive whole, over the S3 protocol on loopback."""

import threading
import zlib
from base64 import b64decode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"


class Bucket(BaseHTTPRequestHandler):
    """S3's PutObject: keeps what arrives with a right checksum.

    The bucket `closed` is denied, and the connection to `broken` closes.
    """

    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        checksum = self.headers["x-amz-checksum-crc32"]
        if self.path.startswith("/closed/"):
            self.answer(403, DENIED)
        elif self.path.startswith("/broken/"):
            self.close_connection = True
        elif zlib.crc32(body) != int.from_bytes(b64decode(checksum)):
            self.answer(400, b"<Error><Code>BadDigest</Code></Error>")
        else:
            self.objects[self.path] = body
            self.answer(200, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def s3(monkeypatch, tmp_path):
    """The objects of an S3 on loopback, by path; credentials of nobody."""

    class Here(Bucket):
        objects = {}  # noqa: RUF012 - one server, one bucket

    for name, value in {
        "no_proxy": "*",
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "nobodys-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }.items():
        monkeypatch.setenv(name, value)
    with ThreadingHTTPServer(("127.0.0.1", 0), Here) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield Here.objects
        server.shutdown()
        thread.join()


def test_files_go_below_an_address_that_ends_in_a_slash(reward, write, s3):
    train, test = write("train.jsonl", [{"a": 1}]), write("test.jsonl", [{"b": 2}])
    ran = reward("data", "upload", train, test, "s3://bucket/rft-data/datasets/gsm8k/")
    assert ran.exit_code == 0, ran.stderr
    assert s3 == {
        "/bucket/rft-data/datasets/gsm8k/train.jsonl": train.read_bytes(),
        "/bucket/rft-data/datasets/gsm8k/test.jsonl": test.read_bytes(),
    }
    assert ran.stdout.splitlines() == [
        "s3://bucket/rft-data/datasets/gsm8k/train.jsonl",
        "s3://bucket/rft-data/datasets/gsm8k/test.jsonl",
    ]


def test_one_file_may_take_the_address_itself(reward, write, s3):
    ran = reward("data", "upload", write("train.jsonl", [{"a": 1}]), "s3://bucket/mine.jsonl")
    assert ran.exit_code == 0, ran.stderr
    assert list(s3) == ["/bucket/mine.jsonl"]


def test_what_s3_refuses_is_one_line_without_secrets(reward, write, s3):
    ran = reward("data", "upload", write("train.jsonl", [{"a": 1}]), "s3://closed/")
    assert ran.exit_code == 2
    assert ran.stderr == "error: s3://closed/train.jsonl: AccessDenied: Access Denied\n"
    assert not s3


def test_a_connection_that_breaks_off_is_one_line(reward, write, s3):
    ran = reward("data", "upload", write("train.jsonl", [{"a": 1}]), "s3://broken/")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: s3://broken/train.jsonl: Connection was closed")


def test_missing_credentials_are_said_to_be_missing(reward, write, s3, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    ran = reward("data", "upload", write("train.jsonl", [{"a": 1}]), "s3://bucket/")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: no AWS credentials: ")
    assert ran.stderr.count("\n") == 1
    assert not s3


def test_half_of_the_credentials_are_none(reward, write, s3, monkeypatch):
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    ran = reward("data", "upload", write("train.jsonl", [{"a": 1}]), "s3://bucket/")
    assert (ran.exit_code, s3) == (2, {})
    assert "missing: AWS_SECRET_ACCESS_KEY" in ran.stderr
    assert "AKIDEXAMPLE" not in ran.stderr


def test_an_unknown_profile_is_named(reward, write, s3):
    ran = reward(
        "data", "upload", write("t.jsonl", [{"a": 1}]), "s3://bucket/", "--profile", "nobody"
    )
    assert (ran.exit_code, s3) == (2, {})
    assert "nobody" in ran.stderr


def test_an_endpoint_that_does_not_answer_is_one_line(reward, write, s3, monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Bucket) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_port}")
    ran = reward("data", "upload", write("train.jsonl", [{"a": 1}]), "s3://bucket/")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: s3://bucket/train.jsonl: Could not connect")
    assert not s3


def test_a_file_that_is_not_there_is_found_out_before_anything_is_sent(reward, write, s3, tmp_path):
    ran = reward(
        "data", "upload", write("train.jsonl", [{"a": 1}]), tmp_path / "none", "s3://bucket/"
    )
    assert ran.exit_code == 2
    assert "none: No such file" in ran.stderr
    assert not s3
