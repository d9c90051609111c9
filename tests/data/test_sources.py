"""Downloads are held to what was pinned, over a real server on loopback."""

import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from reward_functions import RewardError
from reward_functions.data import public, sources
from reward_functions.data.sources import DownloadFailed, PublicFile, fetched

CONTENT = b'{"question": "What is 1 + 1?", "answer": "It is 2.\\n#### 2"}\n' * 2_000


class Home(BaseHTTPRequestHandler):
    def do_GET(self):
        self.asked.append(self.path)
        content, promised = self.files.get(self.path, (None, 0))
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(promised))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *arguments):
        pass


@pytest.fixture
def home(monkeypatch):
    """A public home on loopback: (address, what is there by path, what was asked for)."""
    monkeypatch.setenv("no_proxy", "*")

    class Here(Home):
        files, asked = {}, []

    with ThreadingHTTPServer(("127.0.0.1", 0), Here) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", Here.files, Here.asked
        server.shutdown()
        thread.join()


def offer(home, content=CONTENT, promised=None, path="/data/test.jsonl"):
    home[1][path] = (content, len(content) if promised is None else promised)


def pinned(home, digest=sha256(CONTENT).hexdigest()):  # noqa: B008
    return PublicFile(f"{home[0]}data/", "test.jsonl", digest)


def test_a_file_that_is_what_was_pinned_is_kept_and_not_asked_for_again(home, tmp_path):
    offer(home)
    reported = []
    path = fetched(pinned(home), tmp_path, progress=reported.append)
    assert path.read_bytes() == CONTENT
    assert sum(reported) == len(CONTENT)
    assert fetched(pinned(home), tmp_path) == path
    assert home[2] == ["/data/test.jsonl"]


def test_another_content_is_refused_and_nothing_of_it_is_kept(home, tmp_path):
    offer(home, CONTENT.replace(b"2", b"3"))
    with pytest.raises(DownloadFailed, match="this is another file, and nothing of it is used"):
        fetched(pinned(home), tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_download_that_was_tampered_with_in_the_cache_is_made_again(home, tmp_path):
    offer(home)
    fetched(pinned(home), tmp_path).write_bytes(b"other")
    assert fetched(pinned(home), tmp_path).read_bytes() == CONTENT
    assert len(home[2]) == 2


def test_a_file_cut_short_is_refused(home, tmp_path):
    offer(home, CONTENT[:1000], promised=len(CONTENT))
    with pytest.raises(DownloadFailed, match="cut short"):
        fetched(pinned(home, None), tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_that_is_not_there_says_what_to_do(home, tmp_path):
    with pytest.raises(DownloadFailed, match=r"404 .*; give what you have with --source PATH"):
        fetched(pinned(home), tmp_path)


def test_a_file_without_end_is_refused(home, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_BYTES", 1000)
    offer(home)
    with pytest.raises(DownloadFailed, match="more than 1,000 bytes"):
        fetched(pinned(home), tmp_path)


@pytest.mark.parametrize("base", ["file:///etc/", "ftp://127.0.0.1/", "data/"])
def test_only_web_addresses_are_opened(base, tmp_path):
    with pytest.raises(DownloadFailed, match="downloads are by https or http"):
        fetched(PublicFile(base, "passwd", None), tmp_path)


def test_without_a_network_the_message_says_what_to_do(reward, tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with ThreadingHTTPServer(("127.0.0.1", 0), Home) as server:
        closed = f"http://127.0.0.1:{server.server_port}"  # nobody listens there afterwards
    ran = reward("data", "prepare", "gsm8k", "--out", tmp_path / "out", "--mirror", closed)
    assert ran.exit_code == 2
    assert f"{closed}/train.jsonl: cannot be reached (" in ran.stderr
    assert "without a network, give what you have with --source PATH" in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_mirror_serves_what_was_pinned(reward, home, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    digest = sha256(CONTENT).hexdigest()
    pinned = {"home": "http://127.0.0.1:1/", "files": {"train.jsonl": digest, "test.jsonl": digest}}
    monkeypatch.setitem(public._TABLE, "gsm8k", public._TABLE["gsm8k"] | pinned)
    offer(home, path="/m/train.jsonl")
    offer(home, path="/m/test.jsonl")
    ran = reward("data", "prepare", "gsm8k", "--out", tmp_path / "out", "--mirror", f"{home[0]}m")
    assert ran.exit_code == 0, ran.stderr
    assert home[2] == ["/m/train.jsonl", "/m/test.jsonl"]
    assert (tmp_path / "out" / "test.jsonl").read_text().count("\n") == 1  # the same row again


def test_a_file_nobody_published_a_checksum_of_is_reported_with_its_own(
    reward, home, records, tmp_path, monkeypatch
):
    import json

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    content = json.dumps([records["pandalm"]()]).encode()
    offer(home, content, path="/testset-v1.json")
    ran = reward("data", "prepare", "pandalm", "--out", tmp_path / "out", "--mirror", home[0])
    assert ran.exit_code == 0, ran.stderr
    assert "testset-v1.json: no checksum is published" in ran.stderr
    assert sha256(content).hexdigest() in ran.stderr


@pytest.mark.parametrize("dataset", ["bfcl", "finqa", "gsm8k", "ifeval", "math", "pandalm"])
def test_what_is_pinned_is_a_revision_and_a_checksum(dataset):
    for file in public.public_files(dataset):
        assert file.base.startswith("https://")
        assert file.base.endswith("/")
        assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
        revisions = [part for part in file.base.split("/") if len(part) == 40]
        assert [len(bytes.fromhex(part)) for part in revisions] == [20] * (dataset != "math")
        assert revisions or file.sha256


def test_a_failed_download_is_an_error_a_user_can_act_on():
    assert issubclass(DownloadFailed, RewardError)
