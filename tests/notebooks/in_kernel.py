"""The cells of a notebook in a kernel of their own, as Jupyter runs them; in `.venv/notebooks`."""

from subprocess import DEVNULL

import nbformat
from nbclient import NotebookClient

SECONDS = 300
"""Of a cell."""


def ran(notebook, folder):
    """Run a notebook from its first cell to its last.

    Args:
        notebook: as `files.read` returns it.
        folder: the kernel's own.

    Returns:
        the outputs of each code cell.

    Raises:
        CellExecutionError: a cell failed.
    """
    run = nbformat.from_dict(notebook | {"nbformat": 4, "nbformat_minor": 5})
    NotebookClient(
        run,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).execute(stderr=DEVNULL)  # the kernel's own words; what a cell writes comes by another way
    return [cell["outputs"] for cell in run["cells"] if cell["cell_type"] == "code"]
