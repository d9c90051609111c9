"""Folders as places of objects. Those of S3 are read on the local AWS."""

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.places import ChangedObject, NoSuchObject, place_of


@pytest.fixture
def place(tmp_path):
    return place_of(str(tmp_path / "run"))


def test_objects_are_listed_by_name(place):
    for name in ("b.jsonl", "a/z.jsonl", "a.jsonl", "a/b/c"):
        place.write(name, name.encode())
    place.write(".hidden", b"")
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
    with pytest.raises(ChangedObject, match="is another object"), place.opened("x", etag):
        place.write("x", b"other")  # while it is read
    with pytest.raises(ChangedObject), place.opened("x", etag):
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
