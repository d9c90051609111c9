"""Who may import whom: the rooms of the project and their order, read from the imports."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

from reward_functions.cdk import closure
from tests.architecture.sources import nodes

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "reward_functions"
NAMING = {
    PACKAGE / "core" / "registry.py",
    PACKAGE / "cdk" / "closure.py",
    PACKAGE / "rollouts" / "scoring" / "sources.py",
}
"""They walk the folders of rewards, and the imports of others, by their names."""

LANGUAGE = {"core", "quantities", "extraction"}
DOUBLES = {
    # AWS, agents' hosts and judges on this machine: leaves, on which no product code stands.
    "agentcore_double",
    "laptop",
    "local_aws",
    "local_runtime",
    "loopback_service",
    "runtime_double",
    "scripted_judge",
    "training_double",
}
RUNTIME = LANGUAGE | {
    *("symbolic", "finqa", "verifiers", "judge_runtime", "judges", "shapers", "serving"),
}
ROOMS = {
    # A row is a room, or a folder of one with a place of its own: "rollouts.drive". It may import
    # itself and the rows named here, which stand above it in this table.
    "core": set(),
    "quantities": {"core"},
    "extraction": {"core", "quantities"},
    "symbolic": {"core", "quantities"},
    "finqa": LANGUAGE,
    "verifiers": {*LANGUAGE, "symbolic", "finqa"},
    "judge_runtime": LANGUAGE,
    "judges": {*LANGUAGE, "verifiers", "judge_runtime"},
    "shapers": LANGUAGE,
    "serving": {"core", "symbolic", "judge_runtime"},
    "rollouts": {"core"},
    "feedback": {"core", "serving", "rollouts"},
    "adapters": {"core", "serving"},
    "testing": {"core", "serving"},
    "tools": {*RUNTIME, "rollouts", "feedback", "adapters", "testing"},
    "cdk": {"core", "judge_runtime", "serving", "rollouts", "feedback"},
    "scoring": {"core", "judge_runtime", "serving", "tools"},
    # `reward lock` reads cdk.json and resolves as a synthesis does; it starts no Node.
    "cli": {*RUNTIME, "rollouts", "feedback", "adapters", "testing", "tools", "cdk", "scoring"},
}
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
        "prefilter": set(),
        "sanitize": set(),
        "rate_limit": set(),
        "aggregation": set(),
        "prompting": {"sanitize"},
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
            *("config", "aws", "usage", "aggregation", "prompting", "cache", "verdict_store"),
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
        "choices": {"markup", "cues"},
        "visible": {"reasoning", "json_answer", "invisible", "choices"},
        "prompt_formulas": {"cues"},
        "prompt_facts": {"cues"},
        "candidates": {"latex_groups", "markup", "cues", "prompt_facts"},
        "option_sets": {"markup", "cues", "candidates", "choices"},
        "answer": {"candidates"},
        "scores": {"truncation", "answer"},
        "selection": {"cues", "formula_context", "prompt_facts", "candidates", "answer"},
        "__init__": set(),
    },
    "rollouts": {
        "intents": set(),
        "outcomes": set(),
        "spans": set(),
        "telemetry": {"spans"},
        "threads": set(),
        "clock": set(),
        "s3": set(),
        "file_locks": set(),
        "errors": {"outcomes"},
        "background": {"errors", "clock"},
        "contract": {"errors"},
        "outbox": {"intents", "outcomes", "errors", "clock"},
        "rewards": {"errors"},
        "scoring": {"errors", "contract"},
        "trajectories": {"errors", "s3", "file_locks", "clock"},
        "exchange": {"errors", "rewards", "trajectories"},
        "context": {"errors", "contract"},
        "endpoints": {"errors", "contract"},
        "deferred": {"errors", "contract", "scoring", "s3"},
        "headers": {"contract", "context"},
        "transports": {"intents", "errors", "endpoints", "headers"},
        "settings": {"intents", "trajectories", "transports", "deferred"},
        "reporting": {
            *("intents", "outcomes", "errors", "contract", "outbox", "rewards", "endpoints"),
            *("transports", "settings", "spans", "telemetry", "clock"),
        },
        "episodes": {
            *("intents", "threads", "errors", "background", "contract", "outbox", "rewards"),
            *("scoring", "context", "endpoints", "headers", "transports", "settings", "reporting"),
            *("deferred", "trajectories", "spans", "clock"),
        },
        "servers": {"errors", "background", "contract", "outbox", "clock"},
        "relay": {"errors", "headers", "servers", "trajectories"},
        "agentcore": {
            *("threads", "errors", "background", "rewards", "scoring", "deferred", "episodes"),
            *("servers", "s3", "file_locks", "clock"),
        },
        "collection": {"threads", "file_locks", "errors", "rewards", "endpoints", "agentcore"},
        "policy": {
            *("errors", "contract", "context", "endpoints", "headers", "transports", "episodes"),
            *("trajectories", "spans"),
        },
        "httpx": {"errors", "headers", "episodes", "policy"},
        "boto3_events": {"errors", "context", "headers", "episodes", "policy"},
        "openai": {
            *("errors", "contract", "context", "endpoints", "headers", "episodes", "policy"),
            *("trajectories", "httpx"),
        },
        "agents": {"errors", "episodes", "trajectories", "policy", "httpx", "openai"},
        "strands": {
            *("errors", "contract", "context", "headers", "episodes", "trajectories"),
            *("policy", "httpx", "openai"),
        },
        "langchain": {
            *("errors", "contract", "context", "endpoints", "headers", "episodes"),
            *("trajectories", "policy", "httpx", "openai"),
        },
        "pooling": {"errors", "episodes"},
        "compat": {
            # The names of other toolkits, on all of the above.
            *("outcomes", "errors", "contract", "rewards", "context", "endpoints", "headers"),
            *("transports", "settings", "reporting", "episodes", "strands"),
            *("scoring", "exchange", "policy", "trajectories", "collection", "agentcore"),
        },
        "__init__": {
            *("errors", "contract", "scoring", "context", "headers", "transports", "settings"),
            *("reporting", "episodes", "servers", "deferred", "relay", "agentcore"),
            *("trajectories", "boto3_events", "pooling", "exchange"),
            "collection",
        },
    },
    "finqa": {
        "syntax": set(),
        "cues": set(),
        "value": set(),
        "parser": {"syntax"},
        "executor": {"syntax"},
        "program": {"syntax", "parser", "executor"},
        "equality": {"syntax"},
        "stated_program": {"syntax", "cues", "parser", "equality"},
        "question": {"cues"},
        "rules": set(),
        "yesno": {"cues", "value"},
        "final": {"cues", "yesno"},
        "numbers": {"cues", "value"},
        "direction": {"cues", "value"},
        "renderings": {"cues", "value", "numbers", "direction"},
        "claims": {"cues"},
        "values": {"cues", "value", "numbers", "direction", "renderings", "claims"},
        "agreement": {"value", "question", "values"},
        "reference": {"program", "agreement"},
        "reference_shapes": {"question", "agreement", "reference"},
        "comparison": {"syntax", "value", "agreement"},
        "outcome": {"value", "question", "rules", "yesno", "values", "agreement", "comparison"},
        "__init__": set(),
    },
}


@cache
def imported(path):
    """The modules of this project that a file imports or names in a string, wherever it does."""
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [node.value] if node.value in MODULES and path not in NAMING else []
        elif isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return found


def modules():
    """(dotted name, path) of every module of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts if parts[-1] != "__init__" else parts[:-1]), path


MODULES = dict(modules())


def row_of(module, rows=ROOMS):
    """The longest row that a module of ours lies below; "" of the package itself."""
    inside = module.removeprefix("reward_functions").removeprefix(".")
    while inside and inside not in rows:
        inside = inside.rpartition(".")[0]
    return inside


def between_rows():
    """(importing row, imported row, example)."""
    for name, path in MODULES.items():
        for module in imported(path):
            if module in MODULES or module.rpartition(".")[0] in MODULES:
                here, there = row_of(name), row_of(module)
                if here and there and there != here:
                    yield here, there, f"{name} imports {module}"


def crossings(room):
    """(importing part, imported part, example) between the parts of a room."""
    prefix = f"reward_functions.{room}"
    for name, path in MODULES.items():
        if not name.startswith(prefix):
            continue
        here = [*name.split("."), "__init__"][2]
        for module in imported(path):
            known = module in MODULES or module.rpartition(".")[0] in MODULES
            if known and module.startswith(prefix + "."):
                there = module.split(".")[2]
                if there != here and there in INNER[room]:
                    yield here, there, f"{name} imports {module}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_the_rooms_before_it(room):
    wrong = [
        example
        for here, there, example in between_rows()
        if here == room and there not in ROOMS[room]
    ]
    assert not wrong


def test_every_folder_is_a_room():
    folders = {path.name for path in PACKAGE.iterdir() if any(path.rglob("*.py"))}
    assert folders == {row.partition(".")[0] for row in ROOMS}
    assert {row for row in ROOMS if not (PACKAGE / row.replace(".", "/")).is_dir()} == set()
    assert [path.name for path in PACKAGE.glob("*.py")] == ["__init__.py"]


def test_the_zip_holds_the_runtime_rooms_alone():
    below = {row for row in ROOMS if closure.row(f"reward_functions.{row}") not in closure.LAPTOP}
    assert below == RUNTIME


def test_what_is_carried_is_said_of_rows_of_the_walls_and_a_folder_is_carried_where_its_room_is():
    carriers = [closure.REWARDS, closure.FUNCTIONS, closure.NOBODY]
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
        "": "",
    }.items():
        assert row_of(f"reward_functions.{name}".rstrip("."), rows) == row


def is_double(module):
    """Whether a dotted name is of a double, or of what lies in one."""
    return module.startswith("reward_functions.tools.") and module.split(".")[2] in DOUBLES


def test_only_the_command_line_imports_a_double():
    """What product code needs of one lies outside of them: a real job runs no simulator."""
    assert {name.split(".")[2] for name in MODULES if is_double(name)} == DOUBLES
    wrong = [
        f"{name} imports {module}"
        for name, path in MODULES.items()
        if not name.startswith("reward_functions.cli") and not is_double(name)
        for module in imported(path)
        if is_double(module)
    ]
    assert not wrong


@pytest.mark.parametrize(("room", "part"), [(room, part) for room in INNER for part in INNER[room]])
def test_a_part_of_a_room_imports_only_the_parts_before_it(room, part):
    wrong = [
        example
        for here, there, example in crossings(room)
        if here == part and there not in INNER[room][part]
    ]
    assert not wrong


@pytest.mark.parametrize("room", INNER)
def test_every_part_of_a_room_has_its_place(room):
    inside = (path for path in (PACKAGE / room).iterdir() if path.suffix == ".py" or path.is_dir())
    assert {path.stem for path in inside} - {"__pycache__"} == INNER[room].keys()


@pytest.mark.parametrize("order", [ROOMS, *INNER.values()], ids=["rooms", *INNER])
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
    return {name: inside & set(imported(MODULES[name])) - {name} for name in inside}


def test_the_page_kit_knows_nothing_of_what_it_shows():
    """Whoever has figures makes tables and charts of them; no page needs another package."""
    known = ("reward_functions.tools.pages", "reward_functions.tools.sheets")
    kit = {name: path for name, path in MODULES.items() if name.startswith(known)}
    assert len(kit) > len(known)
    wrong = [
        f"{name} imports {module}"
        for name, path in kit.items()
        for module in imported(path)
        if not module.startswith(known) and module.partition(".")[0] not in sys.stdlib_module_names
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
