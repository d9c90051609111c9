"""Where each page stands: the sections of the sidebar, and the pages below a page.

A page is named by its path in the repository without its ending; `reference/` is generated. `FRONT`
is the front page of the site.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT: Final = Path(__file__).parents[2]

FRONT: Final = "README"

REWARDS: Final = "reference/rewards"
COMMANDS: Final = "reference/commands"
PYTHON: Final = "reference/python"


class Section(NamedTuple):
    """A heading of the sidebar and its pages.

    Args:
        caption: the heading.
        pages: in order.
        folder: a pattern of notebooks, which follow by name; empty for none.
    """

    caption: str
    pages: tuple[str, ...] = ()
    folder: str = ""


WAYS: Final[Mapping[str, tuple[str, ...]]] = {
    "With an AWS account": (
        "docs/how-to/bedrock",
        "docs/write-your-own-reward",
        "docs/how-to/explain-a-score",
        "docs/how-to/evaluate",
        "docs/how-to/sagemaker",
    ),
    "With a trainer of your own": (
        "docs/trainers",
        "docs/write-your-own-reward",
        "docs/how-to/audit-in-ci",
        "docs/how-to/explain-a-score",
        "docs/how-to/export",
    ),
    "For a platform": (
        "docs/how-to/deploy",
        "docs/how-to/rights",
        "docs/how-to/company-account",
        "docs/how-to/ci",
        "docs/how-to/operate",
    ),
    "With judges": (
        "docs/how-to/judge",
        "docs/how-to/local-judge",
        "docs/calibrate",
        "docs/how-to/explain-a-score",
    ),
}
"""The pages of the first hour, by the way in that the README offers: at most five short ones."""


def _ways_in() -> Iterator[Section]:
    """A section for each way; a page that two ways share stands in the first."""
    placed: set[str] = set()
    for caption, pages in WAYS.items():
        yield Section(caption, tuple(page for page in pages if page not in placed))
        placed.update(pages)


SECTIONS: Final = (
    Section("Tutorial", ("docs/tutorial",)),
    *_ways_in(),
    Section(
        "How to",
        (
            "docs/install",
            "docs/how-to/init",
            "docs/how-to/view",
            "docs/composites",
            "docs/how-to/multi-turn",
            "docs/how-to/deferred-rewards",
            "docs/how-to/one-import-line",
            "docs/how-to/token-traces",
            "docs/how-to/agentcore",
            "docs/how-to/collect-rollouts",
            "docs/how-to/score-any-size",
            "docs/long-runs",
            "docs/how-to/your-repository",
            "docs/how-to/cold-starts",
        ),
    ),
    Section("Notebooks", folder="notebooks/*.ipynb"),
    Section(
        "Reference",
        (
            REWARDS,
            COMMANDS,
            PYTHON,
            "docs/contract",
            "docs/evaluation-events",
            "docs/math",
            "docs/finqa",
            "docs/answer-text",
            "docs/json-fields",
            "docs/tool-calls",
            "docs/sql-result",
            "docs/instructions",
            "docs/rules",
            "docs/scoreboard",
            "docs/audit",
            "docs/judges",
            "docs/data",
            "docs/public-data",
            "docs/trainers-reference",
            "docs/deploy",
            "docs/jobs",
            "docs/rehearsal",
            "docs/rollouts",
            "docs/trajectories",
            "docs/relay",
            "docs/agents/index",
            "docs/agents/strands",
            "docs/agents/langchain",
            "docs/agents/openai",
            "docs/agents/serving",
            "docs/agents/agentcore-app",
            "docs/agents/telemetry",
            "docs/agents/bad-input",
            "docs/troubleshooting",
            "docs/glossary",
        ),
    ),
    Section(
        "Explanation",
        (
            "docs/explanation/not-half",
            "docs/explanation/pinned-versions",
            "docs/explanation/per-turn-normalisation",
            "docs/explanation/retokenising-drifts",
            "docs/adr/README",
        ),
    ),
    Section("Project", ("CHANGELOG", "CONTRIBUTING", "SECURITY")),
)

BELOW: Final[Mapping[str, str]] = {"docs/adr/README": "docs/adr/[0-9]*.md"}
"""Pages of the repository that have pages below them, by pattern."""


class MissingPage(Exception):
    """The navigation names a page that is not there."""


def matching(pattern: str) -> list[str]:
    """The pages whose files match a pattern, by name.

    Raises:
        MissingPage: there is none.
    """
    found = sorted(str(path.relative_to(ROOT).with_suffix("")) for path in ROOT.glob(pattern))
    if not found:
        raise MissingPage(f"docs/site/navigation.py: no file matches {pattern}")
    return found


def pages_of(section: Section) -> list[str]:
    """The pages of a section, its folder's after the others."""
    return [*section.pages, *(matching(section.folder) if section.folder else ())]


def repository_pages() -> Iterator[str]:
    """Every page that is written by hand, once for each place that it has."""
    yield FRONT
    for section in SECTIONS:
        for page in pages_of(section):
            if not page.startswith("reference/"):
                yield page
                yield from matching(BELOW[page]) if page in BELOW else ()
