"""`tool_calls` beside BFCL's own AST checker, on BFCL's rows and on each with one change.

    git clone https://github.com/ShishirPatil/gorilla      # read here at 6ea57973
    python -m tests.oracle.bfcl gorilla/berkeley-function-call-leaderboard/bfcl_eval

Nothing of it is part of the project: the checker runs from its own file. Verdicts of November 2026
that differ, of all, for `simple_python` (400 rows), `parallel` (200), and `multiple` with
`parallel_multiple` (400). A plus: we pay; a minus: BFCL does.

| change to the right calls | differ | of | because |
| --- | --- | --- | --- |
| none | 0, 0, +2 | 400, 200, 400 | (a) |
| reversed | –, +1, +2 | –, 200, 200 | it keeps the first call that fits; (a) |
| what may be left out is | +2, +1, +2 | 400, 200, 400 | (b) |
| an argument left out | +1, +1, +1 | 970, 1310, 1913 | the wanted value is the schema's default |
| … that may be | +2, +1, +5 | 173, 173, 224 | (b), and 3 of (a) |
| integer as float | +436, +768, +742 | 443, 776, 774 | JSON has one number |
| float as integer | +19, 0, +11 | 31, 11, 141 | the same, in lists; 6 of (a) |
| float and 1e-12 | +100, +110, +234 | 103, 110, 239 | nobody meant the sixteenth digit |
| 0 and 1 as booleans | 0, -4, 0 | 39, 60, 42 | to Python False is in [0] |
| text in capitals | -586, -633, -1166 | 702, 731, 1310 | it sets case aside; +2 of (a) |
| text with a point behind | -692, -730, -1289 | 702, 731, 1310 | it strips `,./-_*^` and spaces |
| text without marks | -222, -260, -516 | 702, 731, 1310 | the same; +3 of (a) |
| an argument swapped | –, 0, -2 | –, 614, 156 | the two differ in `*`, which it strips |

(a) It refuses its own answers to `parallel_multiple_12` and `_26`, which have arguments that its
schemas lack. (b) Its answers let arguments be left out that its schemas require.

None differs for a call twice, dropped or of another name; for an argument more; for an integer or a
float and 1; for an integer as text; for a boolean as another or as 0 or 1; for a text and "x" or as
null. In all 8,546 of 33,215 differ; without case, marks and the number's form it is 27.
"""

import importlib.util
import json
import sys
from collections import Counter
from copy import deepcopy
from enum import Enum
from pathlib import Path
from types import ModuleType, SimpleNamespace

from reward_functions import get
from reward_functions.core.types import FunctionCall, Message, Sample
from reward_functions.data.public import outcomes_of

CATEGORIES = (("simple_python",), ("parallel",), ("multiple", "parallel_multiple"))
MARKS = str.maketrans("", "", " -,")


class Language(Enum):
    """What the checker imports of its own package, as little as it needs."""

    PYTHON = "python"
    JAVA = "java"
    JAVASCRIPT = "javascript"


class Models(dict):
    """Every model takes no points in names."""

    def __getitem__(self, name):
        return SimpleNamespace(underscore_to_dot=True)


def checker(folder):
    """BFCL's `ast_checker`, from its own file, without the package around it."""
    stubs = {
        "constants.enums": {"Language": Language},
        "constants.model_config": {"MODEL_CONFIG_MAPPING": Models()},
        "constants.type_mappings": {"JAVA_TYPE_CONVERSION": {}, "JS_TYPE_CONVERSION": {}},
        "eval_checker.ast_eval.type_convertor.java_type_converter": {"java_type_converter": None},
        "eval_checker.ast_eval.type_convertor.js_type_converter": {"js_type_converter": None},
    }
    for name, held in stubs.items():
        parts = f"bfcl_eval.{name}".split(".")
        for end in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:end]), ModuleType(parts[end - 1]))
        vars(sys.modules[".".join(parts)]).update(held)
    place = folder / "eval_checker" / "ast_eval" / "ast_checker.py"
    spec = importlib.util.spec_from_file_location("ast_checker", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ast_checker


def right(value):
    """The first of the alternatives of a reference, what has none left out."""
    if isinstance(value, dict) and "any_of" in value:
        return right(value["any_of"][0])
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if not empty(each)}
        return {key: right(each) for key, each in kept.items()}
    return [right(each) for each in value] if isinstance(value, list) else value


def empty(value):
    return isinstance(value, dict) and value.get("any_of") == []


def optional(value):
    return isinstance(value, dict) and value.get("optional") is True


def leaves(value, place=()):
    """(keys, value) of what is no object and no list."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        if isinstance(each, dict | list):
            yield from leaves(each, (*place, key))
        else:
            yield (*place, key), each


def put(calls, at, place, value):
    """The calls with another value in one place."""
    changed = deepcopy(calls)
    inner = changed[at][1]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


CHANGES = {
    bool: {"bool as number": int, "bool other": lambda each: not each},
    int: {"int as float": float, "int as text": str, "int and 1": lambda each: each + 1},
    float: {
        "float and 1e-12": lambda each: each * (1 + 1e-12),
        "float and 1": lambda each: each + 1,
    },
    str: {
        "text in capitals": str.upper,
        "text with a point behind": lambda each: f"{each}.",
        "text without marks": lambda each: each.translate(MARKS),
        "text and x": lambda each: f"{each}x",
        "text as null": lambda _: None,
    },
}


def changes(value):
    """(kind, another value)."""
    for kind, change in CHANGES.get(type(value), {}).items():
        yield kind, change(value)
    if type(value) is int and value in (0, 1):
        yield "int as bool", bool(value)
    if type(value) is float and value.is_integer():
        yield "float as int", int(value)


def variants(gold):
    """(kind, calls): the right ones, and those with one change."""
    calls = [(call["name"], right(call["arguments"])) for call in gold]
    (name, first), *others = calls
    yield "none", calls
    yield (
        "optional left out",
        [
            (
                call,
                {key: each for key, each in given.items() if not optional(own["arguments"][key])},
            )
            for (call, given), own in zip(calls, gold, strict=True)
        ],
    )
    if others:
        yield "reversed", calls[::-1]
    yield "a call twice", [*calls, calls[0]]
    yield "a call dropped", others
    yield "an argument more", [(name, first | {"zzz": 1}), *others]
    yield "another name", [(f"{name}x", first), *others]
    for at, (_, given) in enumerate(calls):
        for place, value in leaves(given):
            for kind, other in changes(value):
                yield kind, put(calls, at, place, other)
        for key in given:
            without = deepcopy(calls)
            del without[at][1][key]
            may = " that may be" if optional(gold[at]["arguments"][key]) else ""
            yield f"an argument left out{may}", without
    for at, ((one, given), (two, following)) in enumerate(zip(calls, others, strict=False)):
        for key in given.keys() & following.keys() if one == two else ():
            if given[key] != following[key]:
                swapped = put(calls, at, (key,), following[key])
                yield "an argument swapped", put(swapped, at + 1, (key,), given[key])


def paid(row, calls):
    written = tuple(FunctionCall(name, json.dumps(given)) for name, given in calls)
    turns = (Message("user", "?"), Message("assistant", "", written))
    one = Sample(id="a", messages=turns, reference=row.reference, metadata=row.metadata)
    return get("tool_calls")(one).value == 1.0


def main(folder):
    """Print how many verdicts differ, by what was changed."""
    check = checker(folder)
    rows = {row.id: row for row in outcomes_of("bfcl", [folder / "data"])}
    for categories in CATEGORIES:
        counts, differing = Counter(), Counter()
        for category in categories:
            files = (f"BFCL_v4_{category}.json", f"possible_answer/BFCL_v4_{category}.json")
            lines = ((folder / "data" / file).read_text().splitlines() for file in files)
            for question, answer in zip(*lines, strict=True):
                asked, truth = json.loads(question), json.loads(answer)["ground_truth"]
                row = rows[f"bfcl-{asked['id']}"]
                for kind, calls in variants(row.reference["tool_calls"]):
                    given = [{name: arguments} for name, arguments in calls]
                    function = asked["function"]
                    theirs = check(function, given, truth, Language.PYTHON, category, "m")["valid"]
                    counts[kind] += 1
                    differing[kind, "refused" if theirs else "paid"] += theirs != paid(row, calls)
        print(f"{categories}: {differing.total():,} of {counts.total():,} verdicts differ")
        for (kind, ours), count in sorted(differing.items()):
            if count:
                print(f"  {kind}: {count:,} of {counts[kind]:,} are {ours} here")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
