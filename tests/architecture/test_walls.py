"""Who may import whom, and how large a room may be, read from the sources."""

import ast
import sys
from functools import cache

import pytest

from reward_functions.cdk.artifact import closure
from tests.architecture.rooms import PACKAGE, ROOMS, ROOT, files, lines_of, row_of
from tests.architecture.sources import nodes

RUNTIME = {
    *("core", "quantities", "extraction", "symbolic", "finqa", "verifiers", "judge_runtime"),
    *("judges", "shapers", "serving"),
}
"""The rows that the zip of a reward holds."""

NAMING = {
    PACKAGE / "core" / "registry.py",
    PACKAGE / "cdk" / "artifact" / "closure.py",
    PACKAGE / "rollouts" / "episode" / "scoring.py",
}
"""They walk the folders of rewards, and the imports of others, by their names."""

INNER = {
    # The same within a room. What lies in a room beside its folders has its place in the order.
    "symbolic": {
        "budget": set(),
        "verdict": set(),
        "expr": {"budget"},
        "parsing": {"budget", "expr"},
        "exact": {"budget", "expr"},
        "numeric": {"budget", "verdict", "expr", "exact"},
        "compare": {"budget", "verdict", "expr", "parsing", "exact", "numeric"},
        "cas": {"budget", "verdict", "expr", "exact", "numeric", "compare"},
        "tiers": {"budget", "verdict", "expr", "parsing", "exact", "compare", "cas"},
        "equality": {"verdict", "parsing", "compare", "cas", "tiers"},
        "__init__": {"budget", "verdict", "equality"},
    },
    "judge_runtime": {
        "__init__": set(),
        "config": set(),
        "aws": set(),
        "attack_corpus": set(),
        "material": set(),
        "prefilter": {"material"},
        "rate_limit": set(),
        "prompting": set(),
        "scores": {"prompting"},
        "rubric_file": {"prompting"},
        "structured_output": {"config"},
        "usage": {"config"},
        "cache": {"config", "aws"},
        "verdict_store": {"config", "cache"},
        "config_reading": {"config"},
        "backends": {"config", "aws", "structured_output", "usage"},
        "wrappers": {"config", "rate_limit", "usage", "cache"},
        "pipeline": {
            *("config", "rate_limit", "usage", "cache", "verdict_store", "backends", "wrappers"),
        },
        "panel": {
            *("config", "aws", "usage", "prompting", "cache", "verdict_store"),
            "pipeline",
        },
    },
    "extraction": {
        "latex_groups": set(),
        "reasoning": set(),
        "truncation": {"reasoning"},
        "markup": set(),
        "cues": set(),
        "formula_context": set(),
        "invisible": {"latex_groups"},
        "json_answer": set(),
        "text_metrics": set(),
        "choices": {"markup", "cues"},
        "visible": {"reasoning", "json_answer", "invisible", "choices"},
        "prompt_formulas": {"cues"},
        "prompt_facts": {"cues"},
        "candidates": {"latex_groups", "markup", "cues", "prompt_facts"},
        "option_sets": {"markup", "cues", "candidates", "choices"},
        "answer": {"candidates"},
        "tool_call_forms": set(),
        "tool_schemas": set(),
        "called_tools": {"tool_call_forms", "truncation"},
        "scores": {"truncation", "answer"},
        "selection": {"cues", "formula_context", "prompt_facts", "candidates", "answer"},
        "__init__": set(),
    },
    "rollouts": {
        "request": set(),
        "record": {"request"},
        "report": {"request", "record"},
        "episode": {"request", "record", "report"},
        "serve": {"request", "record", "report", "episode"},
        "policy": {"request", "record", "report", "episode"},
        "collect": {"request", "serve"},
        "compat": {
            # The names of other toolkits, on all of the above.
            *("request", "record", "report", "episode", "serve", "policy", "collect"),
        },
        # What users import: the names of a folder of `policy` or `record`, on one line.
        **{name: {"policy"} for name in ("agents", "httpx", "langchain", "openai", "strands")},
        "relay": {"record"},
        "servers": {"serve"},
        "__init__": {"request", "record", "report", "episode", "serve", "policy", "collect"},
        "drive": {
            # A row of the walls of its own.
            *("request", "record", "report", "episode", "serve", "policy", "collect"),
        },
    },
    "cdk": {
        "artifact": set(),
        "policies": set(),
        "limits": {"policies"},
        "model": {"artifact", "policies", "limits"},
        "constructs": {"artifact", "policies", "limits", "model"},
        "app": {"artifact", "policies", "limits", "model", "constructs"},
        "custodian": set(),
        "__init__": {"constructs"},
    },
    "finqa": {
        "syntax": set(),
        "phrases": set(),
        "cues": {"phrases"},
        "parser": {"syntax"},
        "executor": {"syntax"},
        "equality": {"syntax"},
        "program": {"syntax", "cues", "parser", "executor", "equality"},
        "question": {"cues"},
        "yesno": {"syntax", "cues"},
        "final": {"cues", "yesno"},
        "numbers": {"syntax", "cues"},
        "renderings": {"syntax", "cues", "numbers"},
        "claims": {"cues"},
        "values": {"syntax", "cues", "numbers", "renderings", "claims"},
        "agreement": {"syntax", "question", "values"},
        "reference": {"program", "agreement"},
        "reference_shapes": {"question", "agreement", "reference"},
        "comparison": {"syntax", "agreement"},
        "outcome": {"syntax", "question", "yesno", "values", "agreement", "comparison"},
        "__init__": set(),
    },
}


TYPES_OF = {"cdk": "model"}
"""The part of a room whose types every other part may name, none of which is imported at run time:
a stage is data, and what is made of it takes it whole."""


@cache
def for_types(path):
    """The statements of a file that type checkers alone execute."""
    return {
        id(statement)
        for node in nodes(path)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
    }


@cache
def imported(path, *, types=True):
    """The modules of this project that a file imports or names in a string, wherever it does."""
    found = []
    for node in nodes(path):
        if not types and id(node) in for_types(path):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [node.value] if node.value in MODULES and path not in NAMING else []
        elif isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return found


def counted(path, room):
    """What a file imports, less the types that every part of its room may name."""
    types = f"reward_functions.{room}.{TYPES_OF.get(room)}."
    return {
        *imported(path, types=False),
        *(name for name in imported(path) if not name.startswith(types)),
    }


def modules():
    """(dotted name, path) of every module of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts if parts[-1] != "__init__" else parts[:-1]), path


MODULES = dict(modules())


def crossings(depth, prefix):
    """(importing part, imported part, example) between the parts `depth` levels below the root."""
    for name, path in MODULES.items():
        if not name.startswith(prefix):
            continue
        here = [*name.split("."), "__init__"][depth]
        room = prefix.rpartition(".")[2]
        for module in counted(path, room):
            known = module in MODULES or module.rpartition(".")[0] in MODULES
            if known and module.startswith(prefix + "."):
                there = module.split(".")[depth]
                if there != here and there in INNER[room]:
                    yield here, there, f"{name} imports {module}"


@pytest.mark.parametrize("row", ROOMS)
def test_a_room_imports_only_the_rooms_before_it(row):
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in files()[row]
        for module in imported(path)
        if module.startswith("reward_functions.")
        and (other := row_of(module.removeprefix("reward_functions.")))
        and other != row
        and other not in ROOMS[row].imports
    ]
    assert not wrong


def test_every_folder_is_a_room():
    folders = {path.name for path in PACKAGE.iterdir() if any(path.rglob("*.py"))}
    assert folders == {row.partition(".")[0] for row in ROOMS}
    assert [path.name for path in PACKAGE.glob("*.py")] == ["__init__.py"]


def test_nobody_imports_the_command_line():
    assert not [row for row in ROOMS if "cli" in ROOMS[row].imports]


def test_the_doubles_are_imported_by_the_command_line_alone():
    assert [row for row in ROOMS if "local" in ROOMS[row].imports] == ["cli"]


def test_the_zip_holds_the_runtime_rooms_alone():
    below = {row for row in ROOMS if closure.row(f"reward_functions.{row}") not in closure.LAPTOP}
    assert below == RUNTIME


def test_what_is_carried_is_said_of_rows_of_the_walls_and_a_folder_is_carried_where_its_room_is():
    carriers = [closure.REWARDS, closure.FUNCTIONS, closure.SHARDS, closure.NOBODY]
    for row, carrier in closure.ROWS.items():
        assert row == "reward_functions" or row.removeprefix("reward_functions.") in ROOMS
        around = closure.ROWS[closure.row(row.rpartition(".")[0] or row)]
        assert carriers.index(around) <= carriers.index(carrier)


def test_the_row_of_a_module_is_the_longest_that_it_lies_below():
    rows = {"rollouts": set(), "rollouts.drive": set(), "rollouts.driver": set()}
    for name, row in {
        "rollouts": "rollouts",
        "rollouts.drives.x": "rollouts",
        "rollouts.drive": "rollouts.drive",
        "rollouts.drive.x.y": "rollouts.drive",
        "rollouts.driver.x": "rollouts.driver",
        "": None,
    }.items():
        assert row_of(name, rows) == row


@pytest.mark.parametrize("row", ROOMS)
def test_a_room_stays_within_its_budget(row):
    """Files may be long; a room that grows past its lines needs a better idea, or a new budget."""
    counted = [lines_of(path) for path in files()[row]]
    lines = sum(len(code) for code, _ in counted)
    imports = sum(len(code & imports) for code, imports in counted)
    assert lines <= ROOMS[row].lines
    assert imports <= lines * ROOMS[row].import_share / 100


def test_the_sentence_of_a_room_is_short():
    assert [row for row in ROOMS if len(ROOMS[row].what.split()) > 12] == []


@pytest.mark.parametrize(("room", "part"), [(room, part) for room in INNER for part in INNER[room]])
def test_a_part_of_a_room_imports_only_the_parts_before_it(room, part):
    wrong = [
        example
        for here, there, example in crossings(2, f"reward_functions.{room}")
        if here == part and there not in INNER[room][part]
    ]
    assert not wrong


@pytest.mark.parametrize("room", INNER)
def test_every_part_of_a_room_has_its_place(room):
    inside = (
        path  # a folder that a move left holds compiled files alone
        for path in (PACKAGE / room).iterdir()
        if path.suffix == ".py" or any(path.rglob("*.py"))
    )
    assert {path.stem for path in inside} - {"__pycache__"} == INNER[room].keys()


@pytest.mark.parametrize(
    "order",
    [{row: ROOMS[row].imports for row in ROOMS}, *INNER.values()],
    ids=["rooms", *INNER],
)
def test_the_order_has_no_circle(order):
    seen = set()
    for part, allowed in order.items():
        assert allowed <= seen, f"{part} may import what stands after it"
        seen.add(part)


def test_the_deployment_takes_settings_of_judges_and_nothing_that_asks():
    wrong = [
        module
        for name, path in MODULES.items()
        if name.startswith("reward_functions.cdk")
        for module in imported(path)
        if module.startswith("reward_functions.judge_runtime.")
        and "config" not in module.split(".")
    ]
    assert not wrong


def test_the_command_line_takes_nothing_of_the_deployment_that_synthesises():
    left = [
        module
        for name, path in MODULES.items()
        if name.startswith("reward_functions.cli")
        for module in imported(path)
        if module.startswith("reward_functions.cdk.") and module in MODULES
    ]
    assert left
    seen = set()
    while left:
        name = left.pop()
        seen.add(name)
        modules = imported(MODULES[name])
        assert not {module.partition(".")[0] for module in modules} & {"aws_cdk", "constructs"}
        cdk = (module for module in modules if module.startswith("reward_functions.cdk."))
        left += [module for module in cdk if module in MODULES and module not in seen]


def graph(room):
    """The modules of a room, each with those of the room that it imports, for types as well."""
    inside = {name for name in MODULES if name.startswith(f"reward_functions.{room}.")}
    return {name: inside & counted(MODULES[name], room) - {name} for name in inside}


def test_the_page_kit_knows_nothing_of_what_it_shows():
    """Tables and charts are made of figures; no page needs a package but that of its template."""
    known = ("reward_functions.reports.pages", "reward_functions.reports.sheets")
    allowed = sys.stdlib_module_names | {"jinja2"}
    kit = {name: path for name, path in MODULES.items() if name.startswith(known)}
    assert len(kit) > len(known)
    wrong = [
        f"{name} imports {module}"
        for name, path in kit.items()
        for module in imported(path)
        if not module.startswith(known) and module.partition(".")[0] not in allowed
    ]
    assert not wrong


@pytest.mark.parametrize("room", ROOMS)
def test_no_two_modules_of_a_room_import_each_other(room):
    imports = graph(room)
    assert imports
    assert not [
        (name, other) for name in imports for other in imports[name] if name in imports[other]
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_the_imports_of_a_room_have_no_circle(room):
    left = graph(room)
    while free := {name for name in left if not left[name] & left.keys()}:
        left = {name: left[name] for name in left.keys() - free}
    assert not left


@pytest.mark.parametrize("top", ["helpers", "infra", "tests"])
def test_the_package_never_imports_what_only_the_checkout_has(top):
    wrong = [
        f"{name} imports {module}"
        for name, path in MODULES.items()
        for module in imported(path)
        if module.partition(".")[0] == top
    ]
    assert not wrong


@pytest.mark.parametrize(
    "path", sorted((ROOT / "helpers").glob("*.py")), ids=lambda path: path.stem
)
def test_helpers_import_public_modules(path):
    ours = [module for module in imported(path) if module.startswith("reward_functions")]
    assert not [module for module in ours if any(part[0] == "_" for part in module.split("."))]
