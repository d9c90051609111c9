"""Everything that Sphinx reads, in one folder that mirrors the repository.

Links between pages stay as they are written, because each page stands where it stands on GitHub.
The README is the front page: it alone gets another name, and the sidebar.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Final

from docs.site import commands, llms, notebooks, python_api, rewards
from docs.site.markdown import toctree
from docs.site.navigation import (
    BELOW,
    FRONT,
    PYTHON,
    ROOT,
    SECTIONS,
    MissingPage,
    matching,
    pages_of,
    repository_pages,
)

if TYPE_CHECKING:
    from pathlib import Path

INDEX: Final = "index"
"""What a browser opens: the name of the front page in the site."""

_PICTURE: Final = re.compile(r"!\[([^\]]*)\](?=\()")


def gather(folder: Path) -> None:
    """Write the site's sources.

    Args:
        folder: is made anew.

    Raises:
        MissingPage: the navigation names a page that is not there.
        BadNotebook: a notebook cannot be shown.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for page in repository_pages():
        _copy(page, folder)
    shutil.copytree(ROOT / "docs" / "images", folder / "docs" / "images")
    for pages in (rewards.pages(), commands.pages(), python_api.pages()):
        for page, text in pages.items():
            below = [other for other in pages if other.startswith(f"{page}/")]
            shorten = "reward_functions." if page == PYTHON else ""
            sidebar = toctree(below, shorten=shorten) if below else ""
            _write(folder / f"{page}.md", text, sidebar)
    listed = llms.listing(
        lambda page: (folder / f"{_named(page)}.md").read_text(),
        lambda page: f"{_named(page)}.html",
    )
    _write(folder / llms.NAME, listed)


def _copy(page: str, folder: Path) -> None:
    """A page of the repository, with the sidebar that hangs below it."""
    notebook, markdown = ROOT / f"{page}.ipynb", ROOT / f"{page}.md"
    if notebook.exists():
        shown = notebooks.page(notebook)
        _write(folder / f"{page}.md", shown.text)
        for name, content in shown.files.items():
            (folder / page).with_name(name).write_bytes(content)
    elif markdown.exists():
        _write(folder / f"{_named(page)}.md", _described(markdown.read_text()), _sidebar(page))
    else:
        raise MissingPage(f"docs/site/navigation.py names {page}, which is not there")


def _named(page: str) -> str:
    """What a page is called in the site."""
    return INDEX if page == FRONT else page


def _described(text: str) -> str:
    """Pictures described on one line and without code, which MyST would run together or drop."""
    return _PICTURE.sub(lambda found: f"![{' '.join(found[1].replace('`', '').split())}]", text)


def _sidebar(page: str) -> str:
    if page == FRONT:
        return "\n\n".join(toctree(pages_of(section), section.caption) for section in SECTIONS)
    return toctree(matching(BELOW[page])) if page in BELOW else ""


def _write(path: Path, *parts: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part.rstrip() for part in parts if part) + "\n")
