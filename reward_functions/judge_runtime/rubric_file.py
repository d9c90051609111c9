"""A rubric: small criteria in a TOML or JSON file, each decided by itself.

    version = 1
    task = "a summary of the text in the prompt"

    [[criteria]]
    id = "faithful"
    text = "Nothing in the summary contradicts the text or is missing from it."
    weight = 3
    gate = true

The reward is the weighted mean of the criteria, and 0 where a criterion with `gate` failed. A
criterion is `yes_no`, or a `scale` with `choices` from worst to best, spaced evenly from 0 to 1.
With `evidence` the judge must quote the response for any choice but the worst, and the quotation
must occur in it.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.asking import VerdictField
from reward_functions.core.errors import BadJudge
from reward_functions.core.jsons import unique_names
from reward_functions.core.means import weighted_mean
from reward_functions.core.spec import Example
from reward_functions.core.suggest import did_you_mean
from reward_functions.judge_runtime.prompting import RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping

SHIPPED: Final = Path(__file__).parents[1] / "judges" / "rubrics"
"""The folder of the rubrics that ship with the judge `rubric`."""

YES_NO: Final = ("no", "yes")

MAX_CRITERIA: Final = 30
"""Criteria of one rubric; split more of them into several rewards."""

PER_CALL: Final = 10
"""Criteria of one call. Models lose track of long lists, and an answer has a limit of tokens."""

MAX_WEIGHT: Final = 1_000_000

_ID: Final = re.compile(r"[a-z][a-z0-9_]{0,40}")
_CRITERION: Final = {"id", "text", "weight", "kind", "choices", "gate", "evidence"}
_RUBRIC: Final = {"version", "task", "reference", "material", "criteria", "examples"}
_MATERIAL: Final = {"name", "keys"}


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question about a response.

    Args:
        id: the name of its field in the verdict.
        text: the condition.
        weight: in the mean.
        choices: worst first; of `yes_no`, no and yes.
        gate: whether its worst choice makes the score 0.
        evidence: whether any other choice needs a quotation of the response.
    """

    id: str
    text: str
    weight: float
    choices: tuple[str, ...]
    gate: bool
    evidence: bool

    def value(self, choice: str) -> float:
        """0 for the worst, 1 for the best."""
        return self.choices.index(choice) / (len(self.choices) - 1)

    @property
    def fields(self) -> tuple[VerdictField, ...]:
        """Of the verdict: the quotation, the reason, the decision."""
        reason = VerdictField(f"{self.id}_reason", f"one or two sentences about {self.id}")
        decision = VerdictField(self.id, self.text, self.choices)
        if not self.evidence:
            return reason, decision
        about = (
            f"the words of the response that show it, copied exactly; empty for {self.choices[0]!r}"
        )
        return VerdictField(f"{self.id}_quote", about, supports=self.id), reason, decision


@dataclass(frozen=True, slots=True)
class Rubric:
    """A rubric file.

    Args:
        task: what the response is meant to be.
        criteria: in the order of the questions.
        reference: whether the judge sees the reference.
        material: the name of a string of the data set that the judge sees, "" for none.
        keys: where that string may be.
        examples: worked examples, as `Example` takes them.
        digest: a hash of the file's content.
    """

    task: str
    criteria: tuple[Criterion, ...]
    reference: Literal["none", "optional", "required"]
    material: str
    keys: tuple[str, ...]
    examples: tuple[Mapping[str, Any], ...]
    digest: str

    def text(self, criteria: tuple[Criterion, ...]) -> str:
        """The criteria as the prompt lists them."""
        return "\n".join(
            f"- `{each.id}` ({' / '.join(each.choices)}): {each.text}" for each in criteria
        )

    @property
    def calls(self) -> tuple[tuple[Criterion, ...], ...]:
        """The criteria of each call."""
        starts = range(0, len(self.criteria), PER_CALL)
        return tuple(self.criteria[start : start + PER_CALL] for start in starts)

    def score(self, choices: Mapping[str, str]) -> tuple[float, str]:
        """The score of the choices, 0 to 1, and a summary of them."""
        summary = ", ".join(f"{each.id} {choices[each.id]}" for each in self.criteria)
        failed = [
            each.id for each in self.criteria if each.gate and not each.value(choices[each.id])
        ]
        if failed:
            return 0.0, f"the gate {failed[0]} failed; {summary}"
        values = [each.value(choices[each.id]) for each in self.criteria]
        return weighted_mean(values, [each.weight for each in self.criteria]), summary


@lru_cache(maxsize=64)
def rubric_of(name: str) -> Rubric:
    """A rubric by its name among those shipped, or by the path of a `.toml` or `.json` file.

    Raises:
        BadJudge: the rubric is missing, or the file is not a valid rubric; the message names the
            problem.
    """
    path = Path(name)
    if path.suffix in (".toml", ".json"):
        file: Any = path
    else:
        file = SHIPPED.joinpath(f"{name}.toml")
        if not re.fullmatch(r"[a-z_]+", name) or not file.is_file():
            listed = sorted(each.name.removesuffix(".toml") for each in SHIPPED.iterdir())
            raise BadJudge(
                f"no rubric is called {name!r}{did_you_mean(name, listed)}; your own is a file "
                "that ends in .toml or .json"
            )
    try:
        content = file.read_text(encoding="utf-8")
        data = _parsed(content, path)
    except (OSError, ValueError, RecursionError) as error:
        raise BadJudge(f"the rubric {name} cannot be read: {error}") from None
    return _rubric(name, data, sha256(content.encode()).hexdigest())


def examples_of(name: str, parameter: str) -> list[Example]:
    """The worked examples of a shipped rubric, for the reward with a parameter that names it."""
    return [
        Example(parameters={parameter: name}, **example) for example in rubric_of(name).examples
    ]


def _rubric(name: str, data: Any, digest: str) -> Rubric:
    _require(isinstance(data, dict), name, "it is no table")
    _known(data, _RUBRIC, name)
    _require(data.get("version") == 1, name, "it does not say version = 1")
    _require(isinstance(data.get("task", ""), str), name, "its task is no text")
    listed = data.get("criteria")
    _require(isinstance(listed, list) and bool(listed), name, "it has no criteria")
    _require(len(listed) <= MAX_CRITERIA, name, f"it has more than {MAX_CRITERIA} criteria")
    criteria = tuple(_criterion(name, each) for each in listed)
    names = [field.name for each in criteria for field in each.fields]
    _require(len(set(names)) == len(names), name, "two criteria have the same id")
    taken = ", ".join(sorted(RESERVED & set(names)))
    _require(not taken, name, f"every verdict has a field of its own called {taken}")
    _require(sum(each.weight for each in criteria) > 0, name, "its weights add up to nothing")
    worked = data.get("examples", [])
    tables = isinstance(worked, list) and all(isinstance(each, dict) for each in worked)
    _require(tables, name, "its examples are no tables")
    reference = data.get("reference", "none")
    _require(reference in ("none", "optional", "required"), name, "its reference is unknown")
    material = data.get("material", {"name": "", "keys": []})
    _require(isinstance(material, dict), name, "its material is no table")
    _known(material, _MATERIAL, name)
    keys = material.get("keys", [])
    _require(
        isinstance(material.get("name", ""), str)
        and isinstance(keys, list)
        and all(isinstance(key, str) for key in keys)
        and bool(material.get("name")) == bool(keys),
        name,
        "its material has no name, or no list of keys",
    )
    return Rubric(
        task=data.get("task", ""),
        criteria=criteria,
        reference=reference,
        material=material.get("name", ""),
        keys=tuple(keys),
        examples=tuple(worked),
        digest=digest,
    )


def _criterion(name: str, data: Any) -> Criterion:
    _require(isinstance(data, dict), name, "a criterion is no table")
    given = data.get("id")
    _require(
        isinstance(given, str) and bool(_ID.fullmatch(given)), name, f"the id {given!r} is none"
    )
    where = f"{name}, {given}"
    _known(data, _CRITERION, where)
    text = data.get("text")
    _require(isinstance(text, str) and bool(text.strip()), where, "it has no text")
    weight = data.get("weight", 1)
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    legal = number and 0 <= weight <= MAX_WEIGHT
    _require(legal, where, f"its weight is no number from 0 to {MAX_WEIGHT:,}")
    kind = data.get("kind", "yes_no")
    _require(kind in ("yes_no", "scale"), where, f"the kind {kind!r} is neither yes_no nor scale")
    choices = data.get("choices", YES_NO)
    _require(
        (kind == "scale") == ("choices" in data), where, "a scale has choices, and only a scale"
    )
    _require(
        isinstance(choices, list | tuple)
        and len(choices) > 1
        and all(isinstance(each, str) and each.strip() for each in choices)
        and len(set(choices)) == len(choices),
        where,
        "its choices are no two or more different texts",
    )
    for flag in ("gate", "evidence"):
        _require(
            isinstance(data.get(flag, False), bool), where, f"{flag} is neither true nor false"
        )
    return Criterion(
        id=given,
        text=text.strip(),
        weight=float(weight),
        choices=tuple(choices),
        gate=data.get("gate", False),
        evidence=data.get("evidence", False),
    )


def _parsed(content: str, path: Path) -> Any:
    if path.suffix == ".json":
        return json.loads(content, object_pairs_hook=unique_names)
    return tomllib.loads(content)


def _known(data: Mapping[str, Any], names: set[str], where: str) -> None:
    unknown = sorted(data.keys() - names)
    if unknown:
        guess = did_you_mean(unknown[0], sorted(names))
        raise BadJudge(f"the rubric {where}: {unknown[0]!r} is unknown{guess}")


def _require(holds: bool, where: str, problem: str) -> None:  # noqa: FBT001
    if not holds:
        raise BadJudge(f"the rubric {where}: {problem}")
