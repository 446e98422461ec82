"""The table of docs/PACKAGES.md says what CI runs and what is run before a release, as the Makefile does. Nothing is in neither."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What tests nothing, or runs what other targets test.
OTHERS = set(
    "help demo test quick test-all unit-test http3-libcurl echo-server debian-rust debian-go grpc-swift grpcurl spark release libcurl plugins servers bench"
    " bench-async bench-plots counts format docs api docs-api site schemas install uninstall clean packages dist deb rpm release-check release-files".split()
)
# A part of the end-to-end tests, each case of which `make test-all` runs.
OTHERS |= {"fault-matrix"}
SKIPPED_BY_CHOICE = {"Tests/EndToEnd/test_instructions.py"}


def rules() -> dict[str, tuple[str, bool]]:
    """What each target needs and runs, and whether `make help` shows it."""
    text = "".join((ROOT / path).read_text() for path in ("Makefile", "scripts/packages/packages.mk"))
    found: dict[str, tuple[str, bool]] = {}
    for name, head, recipe in re.findall(r"^([a-z][a-z0-9-]*):(?!=)(?! export)(.*)\n((?:\t.*\n)*)", text, re.M):
        needed, shown, _ = head.partition("##")
        calls = " ".join(re.findall(r"\$\((?:MAKE|STEP)\)(.*)", recipe))
        found[name] = (f"{needed} {calls} {found.get(name, ('', False))[0]}", bool(shown))
    return found


def reached(words: str, strict: bool) -> set[str]:
    """The targets among some words, and those that they need."""
    known, names, queue = rules(), set(), words.split()
    while queue:
        name = queue.pop()
        if name in known and name not in names:
            names.add(name)
            needed = re.sub(r"\$\(if \$\(RPCURL_STRICT\),([\w-]+),([\w-]+)\)", r"\1" if strict else r"\2", known[name][0])
            queue += re.findall(r"[a-z][a-z0-9-]*", needed)
    return names


def table() -> dict[str, tuple[bool, bool]]:
    """Whether CI and the check of a release run each target or file."""
    text = (ROOT / "docs" / "PACKAGES.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| (yes|no) \| (yes|no) \|$", text, re.M)
    return {name: (ci == "yes", release == "yes") for names, ci, release in rows for name in re.findall(r"`([^`]+)`", names)}


def in_ci() -> set[str]:
    return reached(" ".join(re.findall(r"^make (.*)$", (ROOT / ".ci" / "run").read_text(), re.M)), strict=True)


def test_targets_run_where_the_table_says():
    ci, release = in_ci(), reached("release-check", strict=False)
    assert {"test", "end-to-end-test", "sanitize"} <= ci and {"test-all", "plain-unit-test", "package-test"} <= release
    targets = {name: where for name, where in table().items() if "/" not in name}
    assert targets == {name: (name in ci, name in release) for name in targets}


def test_nothing_is_in_neither():
    assert [name for name, where in table().items() if not any(where)] == []
    shown = {name for name, (_, is_shown) in rules().items() if is_shown}
    assert shown - OTHERS - set(table()) == set()


def test_files_that_make_test_leaves_out_are_in_the_table():
    ignored = re.findall(r"^FOREIGN := (.*)$", (ROOT / "Makefile").read_text(), re.M)[0].split()
    only_release = {f"Tests/EndToEnd/test_{name}.py" for name in ignored}
    packages = (ROOT / "Tests" / "Packages").glob("test_*.py")
    only_release |= {str(file.relative_to(ROOT)) for file in packages if "pytestmark = pytest.mark.skipif(not ALL_TESTS" in file.read_text()}
    files = {name: where for name, where in table().items() if "/" in name}
    assert files == dict.fromkeys(only_release, (False, True)) | dict.fromkeys(SKIPPED_BY_CHOICE, (True, False))
    assert all((ROOT / name).is_file() for name in files)


def test_a_step_of_the_check_that_fails_is_in_the_report(tmp_path):
    """The steps after it run, and the check fails at its end."""
    report = tmp_path / "build/report.txt"
    for command in ("false", "true"):
        done = subprocess.run([ROOT / "scripts/packages/release-step", report, command], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout == report.read_text().splitlines(keepends=True)[-1]
    assert re.fullmatch(r"FAILED   0 min \d\d s  false\npassed   0 min \d\d s  true\n", report.read_text())
    assert "\t@! grep -q ^FAILED $(CHECKED)\n" in (ROOT / "scripts/packages/packages.mk").read_text()
