"""The one time that packages contain."""

import os
import re
import subprocess
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def epoch() -> int:
    """SOURCE_DATE_EPOCH, or the time of the last commit, or that of the newest release of the changelog."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    git = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True
    )  # fmt: skip
    if git.returncode == 0:
        return int(git.stdout)
    release = re.search(r"^## \[.*\] - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    day = release[1] if release else "1980-01-01"
    return int(datetime.fromisoformat(day).replace(tzinfo=timezone.utc).timestamp())


def utc() -> datetime:
    return datetime.fromtimestamp(epoch(), timezone.utc)


def iso() -> str:
    return utc().strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc2822() -> str:
    return format_datetime(utc())
