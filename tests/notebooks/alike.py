"""A notebook that is run here makes the outputs that are committed."""

from tests.notebooks import files, in_process


def assert_alike(path):
    """Run a notebook in this process, and compare, cell by cell, what it shows.

    Raises:
        AssertionError: a cell shows something else; `make notebooks` keeps what it shows now.
    """
    cells = files.code_cells(files.read(path))
    for number, (cell, made) in enumerate(
        zip(cells, in_process.ran([cell["source"] for cell in cells]), strict=True), 1
    ):
        committed = files.comparable(cell["outputs"])
        here = files.comparable(made)
        told = "\n".join(_differences(committed, here))
        assert here == committed, f"{path.name}, cell {number} (make notebooks):\n{told}"


def _differences(committed, made):
    """The lines of text that only one of the two has."""
    before, after = (
        [
            line
            for output in outputs
            for text in (output.get("text", ""), output.get("data", {}).get("text/plain", ""))
            for line in text.splitlines()
        ]
        for outputs in (committed, made)
    )
    yield from (f"- {line}" for line in before if line not in after)
    yield from (f"+ {line}" for line in after if line not in before)
