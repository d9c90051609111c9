"""How the project speaks: what tires a reader, counted in pages, docstrings and messages.

    python -m tests.language                  words and findings of each page, findings of the code
    python -m tests.language jobs.md data     every finding of the files whose path holds a word

A sentence is what stands between full stops, a cell of a table, or an item of a list. Code blocks,
generated parts and headings are no prose: their texts come from tables, whose own code is counted.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.architecture.sources import nodes, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]

LONGEST: Final = 35
"""Words of a sentence."""

WORDS: Final = {
    "as there": r"\bas there\b",
    "Nothing, where": r"\bNothing, where\b",
    "behind": r"\bbehind\b",
    "whoever": r"\b[Ww](?:ho|hat)ever\b",
    "is none": r"\b(?:is|are) none\b(?! of)",
}
"""Turns of phrase that a reader has to read twice, by pattern."""

SUBJECT: Final = re.compile(r"(?:Who|Whoever|What|Whatever|Which)\s")
"""Begins a sentence whose subject is a clause, unless it asks or is a label of a few words."""

LABEL: Final = 4
"""Words of the longest label, such as "What to do"."""

_GENERATED: Final = re.compile(r"<!-- make docs: (\S+) -->\n.*?<!-- end: \1 -->", re.DOTALL)
_FENCE: Final = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_BLOCKS: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.) )")
_ENDS: Final = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\[(])")
_SECTION: Final = re.compile(r"^(?:Args|Returns|Raises|Yields|Attributes):$", re.MULTILINE)
_ENTRY: Final = re.compile(r"\n(?=\s+\w+: )|\n(?=.*\S {2,}\S)")
"""Parts the entries of a docstring, and the lines of a list in columns."""
_DRAWN: Final = re.compile(r"^.*[│├└─].*$", re.MULTILINE)


class Finding(NamedTuple):
    """A sentence that tires, and why."""

    where: str
    why: str
    sentence: str


def prose(page: str) -> str:
    """A page without its code blocks, comments and generated parts."""
    for pattern in (_GENERATED, _FENCE, _COMMENT):
        page = pattern.sub("\n\n", page)
    return page


def words(page: Path) -> int:
    """The words of a page's prose."""
    return len(prose(page.read_text()).split())


def sentences(text: str) -> Iterator[str]:
    """The sentences of some prose, with `CODE` for code and without the addresses of links."""
    for block in _BLOCKS.split(text):
        if block.lstrip().startswith("#"):
            continue
        line = " ".join(re.sub(r"`[^`]*`", "CODE", block).split())
        for cell in line.split(" | ") if line.startswith("|") else [line]:
            bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"^[>\-|\s]+|\*| *\|$", "", cell))
            yield from filter(None, map(str.strip, _ENDS.split(bare)))


def faults(sentence: str) -> Iterator[str]:
    """What is wrong with a sentence."""
    count = len(sentence.split())
    if count > LONGEST:
        yield "long"
    if count > LABEL and SUBJECT.match(sentence) and not sentence.rstrip("*_)").endswith("?"):
        yield "relative"
    yield from (name for name, pattern in WORDS.items() if re.search(pattern, sentence))


def of_pages() -> list[Path]:
    """The pages by hand, but decisions and the history."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    pages = [page for page in found if page.parent.name != "adr" and "site" not in page.parts]
    return [*pages, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]


def in_page(page: Path) -> list[Finding]:
    """The findings of a page."""
    return _findings(str(page.relative_to(ROOT)), prose(page.read_text()))


def docstrings(module: ast.Module) -> Iterator[tuple[str, str]]:
    """The public docstrings of a module, its own first, by name."""
    yield "module", ast.get_docstring(module) or ""
    yield from _inside(module)


def _inside(node: ast.AST) -> Iterator[tuple[str, str]]:
    for each in ast.iter_child_nodes(node):
        named = isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if named and not each.name.startswith("_"):
            yield each.name, ast.get_docstring(each) or ""
            if isinstance(each, ast.ClassDef):
                yield from _inside(each)


def in_docstrings(file: Path) -> list[Finding]:
    """The findings of the public docstrings of a file."""
    place = str(file.relative_to(ROOT))
    return [
        finding
        for name, text in docstrings(tree(file))
        for part in _SECTION.split(_DRAWN.sub("", text))
        for entry in _ENTRY.split(part)
        for finding in _findings(f"{place}: {name}", re.sub(r"^\s+\w+: ", "", entry))
    ]


def in_messages(file: Path) -> list[Finding]:
    """The turns of phrase of `WORDS` in the strings of a file that are no docstrings."""
    documents = {
        id(node.value)
        for node in nodes(file)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    place = str(file.relative_to(ROOT))
    return [
        Finding(f"{place}:{node.lineno}", name, node.value)
        for node in nodes(file)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documents
        and " " in node.value
        for name in faults(node.value)
        if name in WORDS
    ]


def of_code() -> list[Path]:
    """The modules of the package whose names are public."""
    return [
        file
        for file in sorted((ROOT / "reward_functions").rglob("*.py"))
        if not any(part.startswith("_") and part != "__init__.py" for part in file.parts)
    ]


def _findings(place: str, text: str) -> list[Finding]:
    return [Finding(place, why, each) for each in sentences(text) for why in faults(each)]


def main(*asked: str) -> None:
    """Print the counts, or the findings of what is asked for."""
    pages, code = of_pages(), of_code()
    found = {page: in_page(page) for page in pages}
    inside = {file: [*in_docstrings(file), *in_messages(file)] for file in code}
    if asked:
        for file, findings in (found | inside).items():
            if any(each in str(file) for each in asked):
                print(
                    *(f"{each.where}: {each.why}: {each.sentence}" for each in findings), sep="\n"
                )
        return
    for page in pages:
        print(f"{words(page):6,} words  {len(found[page]):4} findings  {page.relative_to(ROOT)}")
    docs = sum(words(page) for page in pages if page.is_relative_to(ROOT / "docs"))
    print(f"{docs:6,} words of prose below docs/")
    for name, each in (("pages", found), ("code", inside)):
        print(name, Counter(finding.why for findings in each.values() for finding in findings))


if __name__ == "__main__":
    main(*sys.argv[1:])
