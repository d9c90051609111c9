"""Addresses in S3: which Bedrock takes, where files go, and what a refusal comes to."""

from io import BytesIO
from pathlib import Path

import pytest
from boto3.exceptions import S3UploadFailedError
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError

from reward_functions.aws.failures import AwsFailed
from reward_functions.aws.s3 import (
    MAX_URI,
    NO_CREDENTIALS,
    Destination,
    destinations,
    read_object,
    upload,
)
from reward_functions.core.errors import ConfigurationError

BAD = {
    "no address": "bucket/key",
    "another scheme": "https://bucket/key",
    "no bucket": "s3:///key",
    "capitals in the bucket": "s3://Bucket/key",
    "a space": "s3://bucket/a key",
    "an equals sign": "s3://bucket/date=2026/",
}


@pytest.mark.parametrize("address", BAD.values(), ids=BAD)
def test_what_bedrock_would_not_take_is_no_address(address):
    with pytest.raises(ConfigurationError, match=r"s3://BUCKET/KEY|name of a bucket|a key here"):
        destinations(["train.jsonl"], address)


def test_two_files_need_two_addresses():
    with pytest.raises(
        ConfigurationError, match="several files go below an address that ends in /"
    ):
        destinations(["a.jsonl", "b.jsonl"], "s3://bucket/key")
    with pytest.raises(ConfigurationError, match="two of the files have the same name"):
        destinations(["a/t.jsonl", "b/t.jsonl"], "s3://bucket/")


def test_a_file_whose_name_makes_no_address_is_named():
    with pytest.raises(ConfigurationError, match="rename the file"):
        destinations(["my rows.jsonl"], "s3://bucket/")
    with pytest.raises(ConfigurationError, match="no address that Bedrock takes"):
        destinations(["x" * MAX_URI], "s3://bucket/")


@pytest.mark.parametrize("address", ["s3://bucket", "s3://bucket/"])
def test_a_bucket_alone_is_an_address_to_go_below(address):
    (placed,) = destinations(["a/t.jsonl"], address).items()
    assert (placed[0], str(placed[1])) == (Path("a/t.jsonl"), "s3://bucket/t.jsonl")


@pytest.mark.parametrize(
    ("uri", "complaint"),
    [
        ("s3://b/x/", "'b' is not the name of a bucket: 3 to 63"),
        ("s3://My-Bucket/x", "'My-Bucket' is not the name of a bucket"),
        ("s3://under_score/x", "'under_score' is not the name of a bucket"),
        ("s3:///x", "'' is not the name of a bucket"),
        ("s3://-bucket/x", "'-bucket' is not the name of a bucket"),
        ("s3://bucket/a b", "a key here has letters, digits and / _ . ! * ' ( ) - alone"),
        ("s3://bucket/a=b", "and not 'a=b'"),
        ("bucket/x", "an address in S3 is written s3://BUCKET/KEY"),
        ("https://bucket/x", "an address in S3 is written s3://BUCKET/KEY"),
    ],
)
def test_an_address_is_refused_for_the_part_that_is_wrong(uri, complaint):
    with pytest.raises(ConfigurationError) as refused:
        destinations(["rows.jsonl"], uri)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("files", "address", "placed"),
    [
        (["a/t.jsonl"], "s3://bucket/key", ["s3://bucket/key"]),
        (["a/t.jsonl"], "s3://bucket/key/", ["s3://bucket/key/t.jsonl"]),
        (
            ["a/t.jsonl", "b/v.jsonl"],
            "s3://bucket/k/",
            ["s3://bucket/k/t.jsonl", "s3://bucket/k/v.jsonl"],
        ),
        (["t.jsonl", "v.jsonl"], "s3://bucket", ["s3://bucket/t.jsonl", "s3://bucket/v.jsonl"]),
        ([], "s3://bucket/key", []),
        (["t"], f"s3://bucket/{'k' * (MAX_URI - 12)}", [f"s3://bucket/{'k' * (MAX_URI - 12)}"]),
        (["t"], f"s3://bucket/{'k' * (MAX_URI - 11)}", None),
    ],
)
def test_where_files_go(files, address, placed):
    if placed is None:
        with pytest.raises(ConfigurationError, match="no address that Bedrock takes; rename"):
            destinations(files, address)
    else:
        found = destinations(files, address)
        assert [str(each) for each in found.values()] == placed
        assert [*found] == [*map(Path, files)]


def refused(code, message="no"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "PutObject")


def wrapped(error):
    """What boto3 makes of an error of its transfers."""
    try:
        try:
            raise error
        except ClientError:
            raise S3UploadFailedError("Failed to upload")  # noqa: B904 - as boto3 does
    except S3UploadFailedError as failed:
        return failed


class Client:
    """Takes files, or fails in one way."""

    def __init__(self, error=None, body=b""):
        self.error, self.body, self.sent = error, body, []

    def upload_file(self, *where, **more):
        if self.error:
            raise self.error
        self.sent.append((where, more))

    def get_object(self, **_):
        return {"Body": self.body}


PLACED = {Path("t.jsonl"): Destination("bucket", "k/t.jsonl")}


@pytest.mark.parametrize("metadata", [None, {}, {"by": "me"}])
def test_a_file_is_sent_with_what_is_said_of_it(metadata):
    client = Client()
    assert list(upload(client, PLACED, metadata=metadata)) == [*PLACED.values()]
    ((where, more),) = client.sent
    assert where == ("t.jsonl", "bucket", "k/t.jsonl")
    assert more["ExtraArgs"] == ({"Metadata": metadata} if metadata else None)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (refused("AccessDenied"), "denied", "s3://bucket/k/t.jsonl: AccessDenied: no"),
        (wrapped(refused("AccessDenied")), "denied", "s3://bucket/k/t.jsonl: AccessDenied: no"),
        (refused("NoSuchBucket", ""), "missing", "s3://bucket/k/t.jsonl: NoSuchBucket"),
        (S3UploadFailedError("it failed"), None, "s3://bucket/k/t.jsonl: it failed"),
        (NoCredentialsError(), "credentials", NO_CREDENTIALS),
    ],
)
def test_what_s3_refuses_is_its_own_sentence(error, kind, words):
    with pytest.raises(AwsFailed) as raised:
        list(upload(Client(error), PLACED))
    assert str(raised.value) == words
    if kind:
        assert raised.value.kind == kind


class Broken(BytesIO):
    """An object whose connection breaks off."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def read(self, *_):
        raise self.error


def test_an_object_is_read_whole_or_not_at_all():
    assert read_object(Client(body=BytesIO(b"abc")), "b", "k", "reading it") == b"abc"
    for error in (OSError("reset"), ReadTimeoutError(endpoint_url="x")):
        with pytest.raises(
            AwsFailed, match=r"^reading it: the connection broke off; try"
        ) as raised:
            read_object(Client(body=Broken(error)), "b", "k", "reading it")
        assert raised.value.kind == "network"
