"""Run the notebooks in examples/ in a kernel and keep what their cells put out.

    python scripts/notebooks.py

Needs nbclient and ipykernel. tests/view/test_notebook_examples.py holds the outputs that are kept
against new ones.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def execute(file: Path) -> Any:
    """The notebook with fresh outputs, run in an empty folder; times and the like are left out."""
    import nbclient
    import nbformat

    notebook = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources=resources, record_timing=False
        ).execute()
    language = notebook.metadata.get("language_info", {}).get("name", "python")
    notebook.metadata["language_info"] = {"name": language}  # not which Python it was
    return notebook


if __name__ == "__main__":
    import nbformat

    for path in sorted(EXAMPLES.rglob("*.ipynb")):
        nbformat.write(execute(path), path)
        print(f"wrote {path}")
