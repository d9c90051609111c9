"""`reward new`: a reward to start from, and a test that passes before the first edit."""

from __future__ import annotations

import builtins
import keyword
import re
from contextlib import suppress
from pathlib import Path
from shlex import quote
from string import Template
from typing import Annotated, Final

import typer

TAKEN: Final = frozenset({"assert_score", "reference_text", "reward_function"})
"""Names the written files use for something else."""

REWARD: Final = Template('''\
"""${title}: what this reward pays for, in one sentence."""

from __future__ import annotations

from reward_functions import Evidence, Example, Sample, Score, reward_function
from reward_functions.core.references import reference_text


@reward_function(${qualified}
    version=1,
    oracle=lambda sample: reference_text(sample.reference),
    examples=[
        Example("full", response="Let me think.\\nParis", reference="Paris", score=1.0),
        Example("floor", response="Lyon", reference="Paris", score=0.0),
        Example("floor", response="paris", reference="Paris", score=0.0, knobs={"strict": True}),
        Example(
            "gaming",
            response="Paris\\nLyon\\nRome",
            reference="Paris",
            score=0.0,
            why="a list of every answer is no answer",
        ),
    ],
)
def ${stem}(sample: Sample, *, strict: bool = False) -> Score:
    """The last line of the response is the reference.

    Reference: a text, or an object that holds one under `answer`. Scale: 1.0 or 0.0.

    Args:
        sample: the response and its reference.
        strict: whether the case of letters counts.

    Raises:
        BadReference: there is no reference, or it is empty.
    """
    reference = reference_text(sample.reference).strip()
    answer = sample.response.strip().rpartition("\\n")[2].strip()
    if not answer:
        return Score(0.0, reason="the response is empty")
    same = answer == reference or (not strict and answer.casefold() == reference.casefold())
    return Score(
        1.0 if same else 0.0,
        answer=answer,
        reason="the last line is the reference" if same else "the last line is another text",
        evidence=Evidence("the last line", answer, reference),
    )
''')

TEST: Final = Template('''\
"""${title}: the scores that matter, and everything that is demanded of any reward."""

from __future__ import annotations

import pytest
from reward_functions.testing import CONTRACT, assert_score

from ${module} import ${stem}


def test_the_last_line_is_the_answer() -> None:
    assert_score(${stem}, response="Lyon?\\nParis", reference="Paris", expected=1.0)


@pytest.mark.parametrize("holds", CONTRACT.values(), ids=CONTRACT)
def test_the_contract(holds) -> None:
    holds(${stem})
''')

NEXT: Final = Template("""\
Wrote ${reward} and ${test}. Try:

  reward check ${reward}
  reward explain ${reward} --response Paris --reference paris
  reward score ${reward} responses.jsonl${pytest}
  pytest ${test}

Rewards of a package are found by name once its pyproject.toml says so, and the function declares
the same name, @reward_function(name="${name}", …):

  [project.entry-points."reward_functions"]
  "${name}" = "${module}:${stem}"
""")


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Such as length, or acme.length.")],
    *,
    into: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder to write to; made where it is missing.")
    ] = Path(),
) -> None:
    """Write a reward with worked examples, and its test, which needs pytest."""
    from importlib.util import find_spec

    from helpers.cli._console import output
    from reward_functions.core.errors import ConfigurationError

    stem = _stem(name)
    reward, test = into / f"{stem}.py", into / f"test_{stem}.py"
    for path in (reward, test):
        if path.exists():
            raise ConfigurationError(f"{path} exists; it is not overwritten")
    words = {
        "name": name if "." in name else f"acme.{stem}",
        "stem": stem,
        "title": stem.replace("_", " ").capitalize(),
        "qualified": f'\n    name="{name}",' if "." in name else "",
        "module": ".".join([*_packages(into), stem]),
        "pytest": "" if find_spec("pytest") else "\n  pip install pytest",
        "reward": quote(str(reward) if into.parts else f"./{reward}"),
        "test": quote(str(test)),
    }
    into.mkdir(parents=True, exist_ok=True)
    reward.write_text(REWARD.substitute(words), encoding="utf-8")
    test.write_text(TEST.substitute(words), encoding="utf-8")
    output().out(NEXT.substitute(words), end="")


def _stem(name: str) -> str:
    """The name of the file and the function.

    Raises:
        ConfigurationError: it is no reward name, it is taken, or means something else in Python.
    """
    from importlib.util import find_spec

    from reward_functions import get
    from reward_functions.core.errors import ConfigurationError, UnknownReward
    from reward_functions.core.spec import NAME

    if not NAME.fullmatch(name):
        raise ConfigurationError(f"{name!r} is no reward name{_nearest(name)}")
    stem = name.rpartition(".")[2]
    if "." not in name:
        with suppress(UnknownReward):
            raise ConfigurationError(f"{get(name).name!r} is a reward already; choose another name")
    if keyword.iskeyword(stem) or hasattr(builtins, stem) or stem in TAKEN:
        raise ConfigurationError(f"{stem!r} means something else in Python; choose another name")
    if find_spec(stem):
        raise ConfigurationError(
            f"{stem!r} is an installed module, which a test would import instead; choose another"
        )
    return stem


def _nearest(name: str) -> str:
    from reward_functions.core.spec import NAME

    near = re.sub(r"[^a-z0-9_.]+", "_", name.lower()).strip("_.")
    rule = ": lower case letters, digits and underscores, such as length or acme.length"
    return f". Did you mean {near!r}?" if NAME.fullmatch(near) else rule


def _packages(folder: Path) -> list[str]:
    """The packages a folder is in, outermost first: a test imports through them."""
    folder = folder.resolve()
    if not (folder / "__init__.py").exists():
        return []
    return [*_packages(folder.parent), folder.name]
