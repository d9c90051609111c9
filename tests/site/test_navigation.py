"""Every page of the documentation has one place in the site, and no page asks for the network."""

import re
import runpy
from collections import Counter

import pytest

from docs.site import gather, llms, navigation
from tests import generated

ROOT = generated.ROOT
SITE = ROOT / "docs" / "site"


def test_every_page_is_named_once():
    named = Counter(navigation.repository_pages())
    pages = {str(page.relative_to(ROOT).with_suffix("")) for page in generated.pages()}
    notebooks = {
        str(page.relative_to(ROOT).with_suffix("")) for page in ROOT.glob("notebooks/*.ipynb")
    }
    assert named == Counter(pages | notebooks)


def test_a_pattern_that_matches_nothing_is_no_empty_menu():
    with pytest.raises(navigation.MissingPage, match="no file matches"):
        navigation.matching("docs/*.rst")


def test_every_section_has_a_caption_of_its_own():
    captions = [section.caption for section in navigation.SECTIONS]
    assert len(set(captions)) == len(captions)
    assert all(captions)


@pytest.fixture(scope="module")
def gathered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "source"
    gather.gather(folder)
    return folder


def test_every_page_of_the_menu_is_gathered(gathered):
    for path in gathered.rglob("*.md"):
        for menu in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(), re.DOTALL):
            for page in re.findall(r"^(?:.* <)?/([^>\n]+)>?$", menu, re.MULTILINE):
                assert (gathered / f"{page}.md").is_file(), f"{path.name} names {page}"


def test_every_gathered_page_is_in_a_menu(gathered):
    text = "\n".join(path.read_text() for path in gathered.rglob("*.md"))
    named = set(re.findall(r"^(?:.* <)?/([^>\s]+)>?$", text, re.MULTILINE))
    pages = {str(path.relative_to(gathered).with_suffix("")) for path in gathered.rglob("*.md")}
    assert pages - {gather.INDEX} <= named


def test_the_descriptions_of_pictures_stand_on_one_line(gathered):
    for path in gathered.rglob("*.md"):
        prose = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        assert not re.search(r"!\[[^\]]*[\n`][^\]]*\]\(", prose), path.name


def test_what_the_theme_is_given_stands_beside_the_pages():
    settings = runpy.run_path(str(SITE / "conf.py"))
    assert settings["html_css_files"] == ["site.css"]
    assert not settings.keys() & {"html_js_files", "html_baseurl", "html_use_opensearch"}
    assert not re.search(r"://|@import|url\(", (SITE / "static" / "site.css").read_text())


LISTED = re.compile(r"^- \[(?P<title>.+?)\]\((?P<address>\S+)\): (?P<what>.+)$", re.MULTILINE)


def lines_of(listing):
    return [found.groupdict() for found in LISTED.finditer(listing)]


def test_the_list_for_models_has_a_line_for_each_page_and_its_links_lead_to_files():
    listing = llms.of_the_repository()
    assert re.match(r"# .+\n\n> .+\n\n## ", listing)
    pages = [page for section in navigation.SECTIONS for page in navigation.pages_of(section)]
    lines = lines_of(listing)
    assert len(lines) == sum(not page.startswith("reference/") for page in pages)
    assert not [each for each in lines if not (ROOT / "docs" / each["address"]).is_file()]


def test_the_list_of_the_site_leads_to_its_pages_the_reference_with_them(gathered):
    addresses = {each["address"] for each in lines_of((gathered / llms.NAME).read_text())}
    assert "reference/rewards.html" in addresses
    assert not [each for each in addresses if not (gathered / each).with_suffix(".md").is_file()]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("# A `b`\n\nOne [two](three.md).\nMore.\n\nNot this.", "One two. More."),
        ("# A\n\n<!-- not run: it installs -->\n\n```sh\nls\n```\n\nWords.", "Words."),
        ("# A\n\n![A picture](a.svg)\n\n> **Cost.** Much.\n\n- an item\n\nWords.", "Words."),
        (f"# A\n\nShort. {'Long ' * 60}end.", "Short."),
        ("# A\n\nWords. They lead to code:\n\n```sh\nls\n```", "Words."),
        ("# A\n\n| a |\n| --- |\n", ""),
    ],
)
def test_a_page_is_summed_up_by_its_first_words(page, expected):
    assert llms.summary(page) == expected


def test_the_policy_names_no_host():
    (policy,) = re.findall(
        r"POLICY: Final = \((.*?)\n\)", (SITE / "source_pages.py").read_text(), re.DOTALL
    )
    assert "default-src 'none'" in policy
    assert not re.search(r"https?:|\*|unsafe-eval|connect-src", policy)
