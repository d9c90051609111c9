"""The same as files: relative links alone, and nothing that asks a server."""

import re
import shutil
from base64 import b64encode
from hashlib import sha256

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.reports.pages.page import Page, policy, script
from reward_functions.view.bundle import MARK, write_bundle
from tests.view import made

ROW = '{"id": "r", "aggregate_reward_score": 1.0, "metrics_list": []}\n'


def links(path):
    return re.findall(r'(?:href|src|action)="([^"#]+)"', path.read_text())


def test_every_link_leads_to_a_file_of_the_bundle(tmp_path):
    (tmp_path / "results").mkdir()
    out = tmp_path / "out"
    assert write_bundle(made.everything(tmp_path / "results"), out) == 12
    pages = [out / "index.html", *(out / "pages").iterdir()]
    assert len(pages) == 13
    reached = {(page.parent / link).resolve() for page in pages for link in links(page)}
    assert reached == {page.resolve() for page in pages}
    for page in pages:
        text = page.read_text()
        assert "<form" not in text
        assert text.count("<script") == made.OWN_SCRIPTS
        assert made.SCRIPT not in text


def test_rows_are_pages_up_to_a_number(tmp_path):
    (tmp_path / "s.jsonl").write_text(ROW * 170)
    out = tmp_path / "out"
    write_bundle(tmp_path, out, 100)
    first, second = sorted((out / "pages").iterdir(), key=lambda page: len(page.name))
    assert "Rows 1 to 50 of 170." in first.read_text()
    assert "Rows 51 to 100 of 170. Further rows are not in this bundle." in second.read_text()
    assert links(second)[-1] == first.name


def test_a_bundle_is_written_anew_and_is_no_result_of_itself(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(ROW)
    out = tmp_path / "out"
    assert write_bundle(tmp_path, out) == 2
    (tmp_path / "b").unlink()
    assert write_bundle(tmp_path, out) == 1
    assert len([*(out / "pages").iterdir()]) == 1


OF_OTHERS = {
    # what stands in the folder: what is said
    "a website": ({"index.html": "mine", "pages/about.html": "mine"}, "index.html, of no earlier"),
    "pages without a list": ({"pages/about.html": "mine"}, "pages, of no earlier bundle"),
    "another file": ({"index.html": MARK, "mine": "mine"}, "mine: name a folder of its own"),
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_files_of_others_are_neither_replaced_nor_removed(tmp_path, name):
    files, said = OF_OTHERS[name]
    (tmp_path / "s.jsonl").write_text(ROW)
    out = tmp_path / "out"
    for each, text in files.items():
        (out / each).parent.mkdir(parents=True, exist_ok=True)
        (out / each).write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        write_bundle(tmp_path, out)
    left = [each for each in out.rglob("*") if each.is_file()]
    assert {each.relative_to(out).as_posix(): each.read_text() for each in left} == files


@pytest.mark.parametrize("name", ["pages", "index.html"])
def test_a_bundle_does_not_follow_links(tmp_path, name):
    (tmp_path / "s.jsonl").write_text(ROW)
    other, out = tmp_path / "other", tmp_path / "out"
    write_bundle(tmp_path, out)
    other.mkdir()
    (other / "keep.html").write_text("precious")
    shutil.rmtree(out / name) if name == "pages" else (out / name).unlink()
    (out / name).symlink_to(other if name == "pages" else other / "keep.html")
    with pytest.raises(ConfigurationError, match=f"holds {name}: name a folder of its own"):
        write_bundle(tmp_path, out)
    assert (other / "keep.html").read_text() == "precious"
    assert len([*other.iterdir()]) == 1


def test_a_page_of_nobody_stays_beside_those_of_a_bundle(tmp_path):
    (tmp_path / "s.jsonl").write_text(ROW)
    out = tmp_path / "out"
    write_bundle(tmp_path, out)
    (out / "pages" / "mine.html").write_text("mine")
    (tmp_path / "s.jsonl").rename(tmp_path / "t.jsonl")
    write_bundle(tmp_path, out)
    assert sorted(each.name[:2] for each in (out / "pages").iterdir()) == ["mi", "t."]


KIT = Page("Theirs").html()
THEIRS = "<script>alert(document.domain)</script>"
OWN = KIT.replace(script(), "alert(1)").replace(
    policy(),
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"
    f"{b64encode(sha256(b'alert(1)').digest()).decode()}'",
)
HOSTILE = {
    # a page: whether it is one of this project
    "a policy in a comment": (f"<!-- {policy()} {KIT[:300]} -->{THEIRS}</html>", False),
    "something above it": (f"<!-- -->{KIT}", False),
    "another script": (KIT.replace("</main>", f"{THEIRS}</main>"), True),
    "another address": (KIT.replace("</main>", "<META http-equiv=refresh content=0></main>"), True),
    "an address for the viewport": (
        KIT.replace('<meta name="viewport" ', '<meta http-equiv="refresh" '),
        False,
    ),
    "an address in the viewport": (
        KIT.replace('<meta name="viewport" ', '<meta name="viewport" http-equiv="refresh" '),
        False,
    ),
    "a form": (KIT.replace("</main>", '<form action="//evil"></main>'), True),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_of_somebody_else_is_not_copied(tmp_path, name):
    html, listed = HOSTILE[name]
    (tmp_path / "evil.html").write_text(html)
    out = tmp_path / "out"
    assert write_bundle(tmp_path, out) == listed
    text = "".join(each.read_text() for each in out.rglob("*.html"))
    assert ("no page of this project has: open it alone" in text) == listed
    for each in ("alert", "refresh", "//evil"):
        assert each not in text


def test_a_page_of_an_earlier_version_is_copied(tmp_path):
    html = KIT.replace(policy(), policy().partition("; script")[0])
    (tmp_path / "page.html").write_text(html)
    assert write_bundle(tmp_path, tmp_path / "out") == 1
    (page,) = (tmp_path / "out" / "pages").iterdir()
    assert "<h1>Theirs</h1>" in page.read_text()


def test_a_script_that_a_page_allows_itself_does_not_run_in_a_bundle(tmp_path):
    assert "alert(1)" in OWN
    (tmp_path / "evil.html").write_text(OWN)
    write_bundle(tmp_path, tmp_path / "out")
    (page,) = (tmp_path / "out" / "pages").iterdir()
    policies = re.findall(
        r'<meta http-equiv="Content-Security-Policy" content="([^"]+)"', page.read_text()
    )
    assert policies[0].startswith(policy())
    assert page.read_text().index(policy()) < page.read_text().index("alert(1)")


def test_a_folder_of_others_is_left_as_it_is(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(ConfigurationError, match="holds mine: name a folder of its own"):
        write_bundle(tmp_path, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]
