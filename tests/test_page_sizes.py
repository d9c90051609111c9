"""Pages that a reader takes in whole stay as short as they are."""

import re
from pathlib import Path

import pytest

from tests import generated

ROOT = Path(__file__).parents[1]

WHOLE = {"docs/glossary.md": 1500}
"""Words at most, code and outputs counted."""

WRITTEN = {"README.md": 1300, "CONTRIBUTING.md": 3000, "docs/judges.md": 1900}
"""Words at most, without code, comments and generated parts."""

NOT_WRITTEN = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$|<!--.*?-->", re.DOTALL | re.MULTILINE)


def written(text):
    """The words of a page that a person wrote to be read."""
    return NOT_WRITTEN.sub("\n", generated.PART.sub("", text)).split()


@pytest.mark.parametrize(("page", "most"), WHOLE.items(), ids=WHOLE.keys())
def test_a_page_that_is_read_at_a_stretch_is_short(page, most):
    assert len((ROOT / page).read_text().split()) <= most


@pytest.mark.parametrize(("page", "most"), WRITTEN.items(), ids=WRITTEN.keys())
def test_a_page_to_look_things_up_in_has_few_words_of_its_own(page, most):
    assert len(written((ROOT / page).read_text())) <= most


def test_code_and_generated_parts_are_no_words_of_a_page():
    page = (
        "One two.\n\n```sh\nls a b\n```\n\n<!-- make docs: x -->\n\n| a |\n\n<!-- end: x -->\nthree"
    )
    assert written(page) == ["One", "two.", "three"]
