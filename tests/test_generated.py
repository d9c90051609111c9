"""The documentation says what the code does: parts, outputs, links, versions, metrics."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import redirect_stdout
from inspect import getsource
from io import StringIO

import pytest

from reward_functions import specs
from reward_functions.serving import observability
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from tests import generated

ROOT = generated.ROOT
PAGES = generated.pages()
README = ROOT / "README.md"
CONTRACT = ROOT / "docs" / "contract.md"

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|href|srcset)=\"([^\"]+)\"")


def name_of(page):
    return str(page.relative_to(ROOT))


def prose(page):
    """A page without its code, where brackets are no links."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]+`", "code", text)


def anchors(page):
    """The anchors GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_generated_part_is_current(page):
    assert page.read_text() == generated.renewed(page.read_text()), "run make docs"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_marker_is_half_of_a_part(page):
    text = page.read_text()
    parts = len(generated.PART.findall(text))
    assert text.count("<!-- make docs: ") == text.count("<!-- end: ") == parts


def test_every_part_stands_somewhere():
    shown = {name for page in PAGES for _, name, _ in generated.PART.findall(page.read_text())}
    assert shown == generated.PARTS.keys()


def test_every_picture_is_made_by_code_and_current():
    made = generated.pictures()
    assert set((ROOT / "docs").rglob("*.svg")) == made.keys()
    for file, picture in made.items():
        assert file.read_text() == picture, f"{name_of(file)}: run make docs"


def test_every_list_of_pages_is_current():
    for file, text in generated.lists().items():
        assert file.read_text() == text, f"{name_of(file)}: run make docs"


@pytest.mark.parametrize("picture", sorted((ROOT / "docs").rglob("*.svg")), ids=name_of)
def test_a_picture_fetches_nothing_and_runs_nothing(picture):
    text = picture.read_text()
    assert not re.search(r"<script|<image|@import|@font-face|url\((?!#|\"?#)", text)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_leads_somewhere(page):
    for groups in LINK.findall(prose(page)):
        target, _, anchor = "".join(groups).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        found = (page.parent / target).resolve() if target else page
        assert found.exists(), f"{name_of(page)} links to {target}"
        if anchor:
            assert anchor in anchors(found), f"{name_of(page)} links to {target}#{anchor}"


@pytest.mark.parametrize("at", range(len(generated.python_blocks(README))))
def test_the_examples_of_the_readme_run(at):
    assert generated.run(generated.python_blocks(README)[at])


def test_the_first_example_has_eight_lines():
    assert len(generated.python_blocks(README)[0].splitlines()) == 8


def test_the_readme_is_short():
    written_by_hand = generated.PART.sub("", README.read_text())
    assert len(written_by_hand.splitlines()) <= 190


def shown(pattern):
    """What a pattern finds on all pages, and the pages that have it."""
    found = {page: set(re.findall(pattern, page.read_text())) for page in PAGES}
    return set().union(*found.values()), {name_of(page) for page in found if found[page]}


def test_the_command_line_to_install_is_the_pinned_one():
    pinned = json.loads((ROOT / "package.json").read_text())["devDependencies"]["aws-cdk"]
    versions, where = shown(r"npm install --save-dev --save-exact aws-cdk@([\w.]+\w)")
    assert versions == {pinned}
    assert where == {
        f"docs/{name}.md" for name in ("deploy", "how-to/deploy", "how-to/your-repository")
    }


def test_the_wheel_that_a_ci_installs_has_this_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions, _ = shown(r"reward_functions-([\w.]+)-py3-none-any\.whl")
    assert versions == {project["version"]}


def test_every_version_of_a_reward_is_in_the_changelog():
    scores = (ROOT / "CHANGELOG.md").read_text()
    for name, spec in specs().items():
        if "." not in name:
            assert f"| `{name}` | {spec.version} |" in scores


def emitted():
    """Name and unit of every metric of an ordinary batch."""
    written = StringIO()
    with redirect_stdout(written):
        bind(LambdaSettings(name="gsm8k", service="metrics"))(generated.BATCH)
    lines = map(json.loads, written.getvalue().splitlines())
    (metrics,) = [line["_aws"] for line in lines if "_aws" in line]
    (directive,) = metrics["CloudWatchMetrics"]
    assert {"service", "reward"} == set(*directive["Dimensions"])
    return {metric["Name"]: metric["Unit"] for metric in directive["Metrics"]}


def test_the_contract_lists_the_metrics_there_are():
    section = CONTRACT.read_text().partition("## Metrics and logs")[2].partition("\n## ")[0]
    listed = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE))
    rare = {"metrics_dropped": "Count"}
    assert listed == emitted() | rare
    assert all(f'"{name}"' in getsource(observability) for name in listed)
