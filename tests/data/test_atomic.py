"""Files take their names together, when all of them are complete, or nothing is changed."""

import os

import pytest

from reward_functions.data import atomic
from reward_functions.data.atomic import Together, replaced


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_files_take_their_names_together(tmp_path):
    with Together() as files:
        files.opened(tmp_path / "a").write("1")
        files.opened(tmp_path / "b").write("2")
        assert not {"a", "b"} & set(content(tmp_path))
    assert content(tmp_path) == {"a": "1", "b": "2"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_what_was_there_before(error, tmp_path):
    (tmp_path / "a").write_text("before")

    def write():
        with Together() as files:
            files.folder(tmp_path / "new" / "deep")
            files.opened(tmp_path / "a").write("1")
            files.opened(tmp_path / "new" / "deep" / "b").write("2")
            raise error

    with pytest.raises(error):
        write()
    assert content(tmp_path) == {"a": "before"}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_in_the_place_of_a_file_is_found_out_before_anything_takes_its_name(tmp_path):
    (tmp_path / "b").mkdir()

    def write():
        with Together() as files:
            files.opened(tmp_path / "a").write("1")
            files.opened(tmp_path / "b")

    with pytest.raises(IsADirectoryError):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_file_in_the_place_of_a_folder_is_no_folder(tmp_path):
    (tmp_path / "a").write_text("")
    with Together() as files, pytest.raises(NotADirectoryError):
        files.folder(tmp_path / "a")


def test_a_folder_somebody_else_has_used_meanwhile_stays(tmp_path):
    def write():
        with Together() as files:
            (files.folder(tmp_path / "new") / "theirs").write_text("x")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        write()
    assert content(tmp_path / "new") == {"theirs": "x"}


def test_one_file_is_replaced_once_it_is_complete(tmp_path):
    path = tmp_path / "a"
    path.write_text("before")
    with replaced(path) as stream:
        stream.write("after")
        assert path.read_text() == "before"
    assert content(tmp_path) == {"a": "after"}


def test_an_interrupt_as_soon_as_the_file_is_there_leaves_nothing(tmp_path, monkeypatch):
    """Nobody has noted the stream yet."""

    def made_and_interrupted(path, *_, **__):
        path.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "opened", made_and_interrupted)
    with pytest.raises(KeyboardInterrupt), replaced(tmp_path / "out"):
        raise AssertionError("it is never written to")
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_is_not_there_is_said_of_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "x.svg"
    with pytest.raises(FileNotFoundError) as missing, Together() as files:
        files.opened(path)
    assert missing.value.filename == str(path)


def test_a_device_is_written_to_and_never_replaced(tmp_path):
    """`-o /dev/null` of root would otherwise make a file of it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with Together() as files:
            files.opened(pipe).write("text")
        assert (os.read(reader, 10), pipe.is_fifo()) == (b"text", True)
    finally:
        os.close(reader)
