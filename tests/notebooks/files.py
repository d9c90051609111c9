"""Notebooks as files: read, compared and written so that equal content is equal bytes.

An output is a dict of nbformat 4. Here the outputs of a cell are in one normal form, whichever
runner made them: streams of one name that follow each other are one, a line that was written over
shows its end alone, an image of several lines is one string.
"""

import json
from pathlib import Path

from tests.notebooks.removals import removed

ROOT = Path(__file__).parents[2]

FOLDER = ROOT / "notebooks"

ALONE = ("00_", "06_", "08_", "10_")
"""Notebooks that call no AWS, by how their names begin."""

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""Of every notebook: which Python ran it is nobody's business."""


def notebooks():
    """Their paths, in the order of their numbers."""
    return sorted(FOLDER.glob("[0-9][0-9]_*.ipynb"))


def read(path):
    """A notebook; the sources of its cells are strings."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def code_cells(notebook):
    """The cells that run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def normal(outputs):
    """The outputs of a cell in their normal form."""
    found = []
    for output in outputs:
        if output["output_type"] == "stream":
            text = "".join(output["text"])
            if found and found[-1].get("name") == output["name"]:
                found[-1]["text"] += text
            else:
                found.append({"output_type": "stream", "name": output["name"], "text": text})
        elif output["output_type"] == "error":
            found.append({key: output[key] for key in ("output_type", "ename", "evalue")})
        else:
            data = {kind: "".join(value) for kind, value in output["data"].items()}
            found.append({"output_type": output["output_type"], "data": data})
    for output in found:
        if "text" in output:
            output["text"] = "\n".join(_overwritten(line) for line in output["text"].split("\n"))
    return found


def _overwritten(line):
    """What a line shows that was begun again at its left edge."""
    return line.rpartition("\r")[2].rstrip()


def comparable(outputs):
    """The outputs of a cell without what may differ."""
    return json.loads(removed(json.dumps(normal(outputs), ensure_ascii=False)))


def with_outputs(notebook, made):
    """A notebook with the outputs of a run, as it is kept.

    Args:
        notebook: as it was read.
        made: the outputs of each code cell.
    """
    runs = iter(enumerate(made, 1))
    cells = []
    for at, cell in enumerate(notebook["cells"]):
        kept = {"cell_type": cell["cell_type"], "id": f"cell-{at:02}", "metadata": {}}
        if cell["cell_type"] == "code":
            number, outputs = next(runs)
            kept |= {"execution_count": number, "outputs": _kept(outputs, number)}
        cells.append(kept | {"source": cell["source"].splitlines(keepends=True)})
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def _kept(outputs, number):
    """Outputs as nbformat has them."""
    found = []
    for output in normal(outputs):
        if output["output_type"] == "stream":
            found.append(output | {"text": output["text"].splitlines(keepends=True)})
            continue
        data = {kind: text.splitlines(keepends=True) for kind, text in output["data"].items()}
        more = {"execution_count": number} if output["output_type"] == "execute_result" else {}
        found.append(output | {"data": data, "metadata": {}} | more)
    return found


def write(path, notebook, made):
    """Keep a run, where it differs in more than may differ; returns whether it did.

    Args:
        path: of the notebook.
        notebook: as it was read.
        made: the outputs of each code cell.
    """
    committed = [comparable(cell["outputs"]) for cell in code_cells(notebook)]
    if committed == [comparable(outputs) for outputs in made]:
        made = [cell["outputs"] for cell in code_cells(notebook)]
    text = json.dumps(with_outputs(notebook, made), indent=1, ensure_ascii=False) + "\n"
    if path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True
