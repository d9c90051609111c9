"""The same as files: relative links alone, and nothing that asks a server."""

import re

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.view.bundle import write_bundle
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


def test_a_folder_of_others_is_left_as_it_is(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(ConfigurationError, match="holds mine: name a folder of its own"):
        write_bundle(tmp_path, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]
