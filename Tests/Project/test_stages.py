"""A stage that interceptors observe is named in few files: the others derive what they need from the table of stages.

The stage here is `attempt_end`. The row of CONTRIBUTING.md for a new stage has exactly these files.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 8
STAGE = re.compile(r"\b(?:attemptEnd|attempt_end|ATTEMPT_END)\b")
SOURCES = {".swift", ".c", ".h", ".rs", ".py", ".js"}


def test_a_stage_is_named_in_the_files_of_its_row():
    files = [file for folder in ("Sources", "Plugins") for file in (ROOT / folder).rglob("*") if file.suffix in SOURCES and not file.is_symlink()]
    named = {str(file.relative_to(ROOT)) for file in files if STAGE.search(file.read_text())}
    [row] = [line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("| a stage that plugins and scripts observe ")]
    _, _, folder, names, others, *_ = (re.findall(r"`([^`]+)`", cell) for cell in row.split("|"))
    listed = {f"{folder[0]}/{name}" for name in names} | {name for name in others if "/" in name and "." in name}
    assert named == listed
    assert len(named) <= LIMIT
