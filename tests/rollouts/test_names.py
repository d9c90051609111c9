"""What `reward_functions.rollouts` exports: found by editors, and loaded when it is used."""

import subprocess
import sys

import pytest

from reward_functions import rollouts

ALLOWED = {"reward_functions", "boto3", "botocore", "s3transfer", "jmespath", "urllib3"}
"""And boto3's own `dateutil` and `six`, which it needs itself."""

LOADED = """
import sys
before = set(sys.modules)
from reward_functions.rollouts import {names}
new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(new - sys.stdlib_module_names))
"""

BLOCKED = {
    "not installed": "import sys; sys.modules['boto3'] = None",
    "not found": (
        "import importlib.util as util; find = util.find_spec; "
        "util.find_spec = lambda name, *rest: None if name == 'boto3' else find(name, *rest)"
    ),
}


def printed(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n")[:-1]


def test_every_name_is_found_and_has_one_home():
    homes = [name for names in rollouts.HOMES.values() for name in names.split()]
    assert sorted(homes) == sorted(rollouts.__all__)
    assert set(rollouts.__all__) <= set(dir(rollouts))
    everything = {}
    exec("from reward_functions.rollouts import *", everything)
    assert set(rollouts.__all__) <= everything.keys()


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'rollout_handlr'"):
        _ = rollouts.rollout_handlr


def test_a_handler_a_client_and_a_server_load_boto3_and_the_standard_library_alone():
    (loaded,) = printed(LOADED.format(names="rollout_handler, RolloutFeedbackClient, RolloutApp"))
    assert set(loaded.split()) <= {*ALLOWED, "dateutil", "six"}


PURE = """
import importlib, pkgutil, sys
sys.modules["boto3"] = sys.modules["botocore"] = None
for part in ("report", "record", "request"):
    room = importlib.import_module(f"reward_functions.rollouts.{part}")
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        if module.name != "reward_functions.rollouts.record.telemetry":  # of another extra
            importlib.import_module(module.name)
print("all of them")
"""


def test_what_reports_records_and_reads_requests_is_imported_without_boto3():
    assert printed(PURE) == ["all of them"]


@pytest.mark.parametrize("block", BLOCKED.values(), ids=BLOCKED)
def test_where_boto3_is_missing_one_sentence_says_what_to_install(block):
    used = "from reward_functions.rollouts import RolloutApp"
    tried = f"try: {used}\nexcept ImportError as error: print(error)"
    (sentence,) = printed(f"{block}\n{tried}")
    assert sentence == (
        "reward_functions.rollouts needs AWS's SDK, boto3: pip install 'reward-functions[rollouts]'"
    )


@pytest.mark.parametrize("block", BLOCKED.values(), ids=BLOCKED)
def test_where_boto3_is_missing_what_only_computes_is_there(block):
    names = sorted(
        name
        for module, all_of_it in rollouts.HOMES.items()
        if module.startswith(rollouts.PURE)
        for name in all_of_it.split()
    )
    assert {"Trajectory", "token_rows", "joined", "read_request"} <= set(names)
    used = f"from reward_functions.rollouts import {', '.join(names)}"
    later = "from reward_functions.rollouts.record.exchange import advantages"
    assert printed(f"{block}\n{used}\n{later}\nprint('here')") == ["here"]
