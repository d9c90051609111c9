"""No test fails because the machine is busy."""

import ast
import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parent

LIMIT = re.compile(r"process_time\(|assert (time\.)?(monotonic|perf_counter|time)\(\) - \w+ <")
"""What asks for a test's seconds."""


def test_an_example_of_a_property_may_take_as_long_as_it_needs():
    @settings(max_examples=1)
    @given(st.none())
    def of_any_property(_):
        """Nothing."""

    made = of_any_property._hypothesis_internal_use_settings
    assert made.deadline is None
    assert HealthCheck.too_slow in made.suppress_health_check


def test_no_property_has_a_deadline_of_its_own():
    timed = [
        f"{path.relative_to(TESTS)}:{node.lineno}"
        for path in sorted(TESTS.rglob("test_*.py"))
        if "hypothesis" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"settings", "limits"}
        for option in node.keywords
        if option.arg == "deadline" and ast.unparse(option.value) != "None"
    ]
    assert timed == []


def test_seconds_have_no_limit():
    """A busy machine takes more of them, and of a processor a slow one: see `tests/growth.py`."""
    timed = [
        str(path.relative_to(TESTS))
        for path in sorted(TESTS.rglob("test_*.py"))
        if path.name != Path(__file__).name and LIMIT.search(path.read_text(encoding="utf-8"))
    ]
    assert timed == []
