"""The one script of a page, in node, with as much of a document as it asks for."""

import json
import shutil
import subprocess

import pytest

from reward_functions.reports.pages.page import script

DOCUMENT = """
const row = () => ({ cells: [{ textContent: "a" }], textContent: "a" });
const seen = { sorted: 0, filtered: 0 };
const made = () => ({ append() {}, addEventListener() {}, before() {} });
const table = ({ linked, rows }) => ({
  tBodies: [{ rows: Array.from({ length: rows }, row) }],
  tHead: {
    querySelector: (wanted) => (wanted === "a" && linked ? {} : null),
    rows: [{ cells: [{ ...row().cells[0], classList: { contains: () => false },
      replaceChildren: () => seen.sorted++ }] }],
  },
  parentElement: { before: () => seen.filtered++ },
});
globalThis.document = {
  createElement: made,
  querySelectorAll: (name) => (name === "table" ? [table(given)] : []),
};
"""

SORTED = {
    # a table: whether the script sorts it, and whether it filters it
    "few rows": ({"linked": False, "rows": 3}, [0, 0]),
    "some rows": ({"linked": False, "rows": 4}, [1, 0]),
    "many rows": ({"linked": False, "rows": 11}, [1, 1]),
    "a server sorts it": ({"linked": True, "rows": 200}, [0, 0]),
}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_table_is_sorted_here_unless_a_server_does():
    code = "".join(
        f"{{ const given = {json.dumps(given)}; {DOCUMENT}{script()}\n"
        "console.log(JSON.stringify([seen.sorted, seen.filtered])); }\n"
        for given, _ in SORTED.values()
    )
    done = subprocess.run(["node", "-"], input=code, capture_output=True, text=True, check=True)
    expected = [each for _, each in SORTED.values()]
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected
