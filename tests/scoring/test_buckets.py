"""A place in S3 by a stand-in for its client: what is asked again, and what each refusal means."""

from io import BytesIO

import pytest
from botocore.exceptions import ClientError

from reward_functions.aws.failures import AwsFailed
from reward_functions.scoring.places import ATTEMPTS, Bucket, ChangedObject, NoSuchObject, Object

FOUND = Object("rows.jsonl", 10, "etag")


class Body(BytesIO):
    """The content of an answer, whose connection may break off."""

    def __init__(self, content, broken):
        super().__init__(content)
        self.broken = broken

    def read(self, *size):
        if self.broken:
            raise ConnectionError("broke off")
        return super().read(*size)


class Client:
    """Answers with an error of these codes in turn, and then with what is there."""

    def __init__(self, *codes):
        self.codes, self.asked = list(codes), []

    def _do(self, name, answer, **given):
        self.asked.append((name, given))
        code = self.codes.pop(0) if self.codes else None
        if code and code != "broken":
            raise ClientError({"Error": {"Code": code, "Message": "no"}}, name)
        return answer(code == "broken")

    def get_object(self, **given):
        return self._do("get", lambda broken: {"Body": Body(b"content", broken)}, **given)

    def put_object(self, **given):
        return self._do("put", lambda _: {}, **given)

    def head_object(self, **given):
        return self._do("head", lambda _: {"ContentLength": 7, "ETag": '"e"'}, **given)


@pytest.fixture
def bucket(monkeypatch):
    def made(*codes):
        found = Bucket("bucket", "run")
        monkeypatch.setattr(Bucket, "client", Client(*codes))
        return found

    return made


def test_a_piece_is_asked_for_by_its_range_and_its_etag(bucket):
    place = bucket()
    assert place.piece(FOUND, 3, 4) == b"content"
    ((_, asked),) = place.client.asked
    assert asked == {"Bucket": "bucket", "Key": "run/rows.jsonl", "Range": "bytes=3-6",
                     "IfMatch": '"etag"'}  # fmt: skip


@pytest.mark.parametrize("times", [1, ATTEMPTS - 1, ATTEMPTS])
def test_a_piece_whose_connection_breaks_off_is_asked_for_again(bucket, times):
    place = bucket(*["broken"] * times)
    if times < ATTEMPTS:
        assert place.piece(FOUND, 0, 1) == b"content"
    else:
        with pytest.raises(AwsFailed, match="broke off"):
            place.piece(FOUND, 0, 1)
    assert len(place.client.asked) == min(times + 1, ATTEMPTS)


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("PreconditionFailed", ChangedObject, "rows.jsonl"),
        ("412", ChangedObject, "rows.jsonl"),
        ("AccessDenied", AwsFailed, "not allowed|denied|no"),
    ],
)
def test_a_piece_of_another_object_is_not_asked_for_again(bucket, code, error, words):
    place = bucket(code)
    with pytest.raises(error, match=words):
        place.piece(FOUND, 0, 1)
    assert len(place.client.asked) == 1


@pytest.mark.parametrize(
    ("code", "error"), [("NoSuchKey", NoSuchObject), ("AccessDenied", AwsFailed)]
)
def test_what_is_not_there_is_another_thing_than_what_may_not_be_read(bucket, code, error):
    with pytest.raises(error) as raised:
        bucket(code).read("x")
    assert isinstance(raised.value, NoSuchObject) == (code == "NoSuchKey")
    assert bucket().read("x") == b"content"


@pytest.mark.parametrize(
    ("code", "found"),
    [(None, True), ("404", None), ("NoSuchKey", None), ("AccessDenied", AwsFailed)],
)
def test_an_object_is_found_or_is_not_there(bucket, code, found):
    place = bucket(*[code] if code else [])
    if found is AwsFailed:
        with pytest.raises(AwsFailed):
            place.found("a/x")
    else:
        assert place.found("a/x") == (Object("a/x", 7, "e") if found else None)


@pytest.mark.parametrize(
    ("code", "created"),
    [(None, True), ("PreconditionFailed", False), ("412", False), ("AccessDenied", AwsFailed)],
)
def test_an_object_is_created_once(bucket, code, created):
    place = bucket(*[code] if code else [])
    if created is AwsFailed:
        with pytest.raises(AwsFailed):
            place.create("x", b"1")
    else:
        assert place.create("x", b"1") is created
    assert place.client.asked[0][1]["IfNoneMatch"] == "*"
