"""Places of objects: a folder on disk, and one below an address of S3, on the local AWS."""

from uuid import uuid4

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.places import ChangedObject, NoSuchObject, place_of


@pytest.fixture
def bucket(local_aws, root_session, monkeypatch):
    """The address of an empty bucket, which this environment can reach."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    name = f"places-{uuid4().hex[:12]}"
    local_aws.client("s3").create_bucket(Bucket=name)
    return f"s3://{name}"


@pytest.fixture(params=["folder", "s3"])
def place(request, tmp_path):
    if request.param == "folder":
        return place_of(str(tmp_path / "run"))
    return place_of(f"{request.getfixturevalue('bucket')}/run one")


def test_objects_are_listed_by_name(place):
    for name in ("b.jsonl", "a/z.jsonl", "a.jsonl", "a/b/c"):
        place.write(name, name.encode())
    assert [each.name for each in place.objects()] == ["a.jsonl", "a/b/c", "a/z.jsonl", "b.jsonl"]
    assert [each.name for each in place.objects("a/")] == ["a/b/c", "a/z.jsonl"]
    assert place.read("a/b/c") == b"a/b/c"


def test_a_place_that_is_not_there_is_empty(place):
    assert list(place.objects()) == []
    assert place.found("x") is None
    with pytest.raises(NoSuchObject, match="there is no x"):
        place.read("x")


def test_what_fails_while_it_is_written_leaves_what_was_there(place):
    place.write("x", b"before")

    def written():
        with place.writing("x") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written()
    assert place.read("x") == b"before"
    assert [each.name for each in place.objects()] == ["x"]


def test_an_object_that_changed_is_refused(place):
    place.write("x", b"one")
    etag = place.found("x").etag
    with place.opened("x", etag) as stream:
        assert stream.read() == b"one"

    def read():
        with place.opened("x", etag) as stream:
            place.write("x", b"other")
            stream.read()

    with pytest.raises(ChangedObject, match="is another object"):
        read()
    with pytest.raises(ChangedObject, match="is another object"), place.opened("x", etag):
        pass


def test_deleting_what_is_gone_is_no_error(place):
    place.write("x", b"")
    place.delete("x")
    place.delete("x")
    assert place.found("x") is None


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("s3://bucket/in/rows/", "s3://bucket/in/rows"),
        ("s3://bucket/in put=1", "s3://bucket/in put=1"),
        ("/data/run", "/data/run"),
        ("/data/../run/", "/run"),
    ],
)
def test_an_address_is_that_of_its_place(text, address):
    assert place_of(text).address == address


@pytest.mark.parametrize("text", ["", "s3://", "s3://B/x", "s3:///x", "s3://a/x"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ConfigurationError):
        place_of(text)


def test_what_is_not_whole_yet_is_no_object_of_a_folder(tmp_path):
    place = place_of(str(tmp_path))
    with place.writing("x") as stream:
        stream.write(b"half")
        assert list(place.objects()) == []


def test_an_object_is_read_in_pieces_from_anywhere(bucket, monkeypatch):
    monkeypatch.setattr("reward_functions.scoring.places.PIECE", 16)
    place = place_of(bucket)
    content = b"".join(b"line %d\n" % at for at in range(50))
    with place.writing("rows/of a run.jsonl") as stream:
        stream.write(content)
    found = place.found("rows/of a run.jsonl")
    assert found.size == len(content)
    with place.opened(found.name, found.etag) as stream:
        stream.seek(100)
        assert list(stream) == content[100:].splitlines(keepends=True)
        assert stream.seek(-7, 2) == len(content) - 7
        assert stream.read() == content[-7:]


@pytest.mark.parametrize(
    "gone", ["s3://no-such-bucket-anywhere/in", "s3://no-such-bucket-anywhere"]
)
def test_a_bucket_that_is_not_there_is_a_sentence(gone, bucket):
    with pytest.raises(AwsFailed, match="no-such-bucket"):
        list(place_of(gone).objects())
