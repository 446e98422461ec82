"""500 files of public repositories that protoc 36.2 compiles, and all 694 that it refuses. RPCURL_CORPUS names the directory, which
has a folder OWNER+NAME for each repository. The files are none of this project, so that it has only their names and digests, and
those of the descriptors of protoc. `scripts/compare-protoc --pin Tests/EndToEnd/corpus DIRECTORY` writes these."""

import os
import tempfile
from argparse import Namespace
from pathlib import Path

import pytest
from harness import RPCURL
from protoc_oracle import compare, runner

HERE = Path(__file__).resolve().parent / "corpus"
CORPUS = Path(os.environ.get("RPCURL_CORPUS") or "/nowhere")
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="RPCURL_CORPUS names no directory with .proto files of repositories")


def pinned(list_name):
    """The digest of each file of a list, and what is expected of it, by its path."""
    lines = (HERE / list_name).read_text().splitlines()
    return {path: (digest, expected) for digest, expected, path in (line.split(" ", 2) for line in lines)}


@pytest.fixture(scope="module")
def files():
    """The directories of imports of each file and its name there, by its path."""
    with tempfile.TemporaryDirectory() as links:
        groups = compare.groups(CORPUS.resolve(), Namespace(folder=None, sample=None), Path(links))
        found = {}
        for roots, names in groups.items():
            for name in names:
                found[str(compare.source_of(roots, name).resolve().relative_to(CORPUS.resolve()))] = (roots, name)
        yield found


def unchanged(files, expected):
    """The files of a list, of which all must be there as they were."""
    changed = [path for path, (digest, _) in expected.items() if path not in files or compare.digest((CORPUS / path).read_bytes()) != digest]
    assert changed == []
    return {path: files[path] for path in expected}


def digests(comparison, roots, names):
    """The digests of the descriptors of files, which are compiled in one run where no two of them declare one name."""
    status, text, data = comparison.runner.own(roots, names)
    if status and len(names) > 1:
        half = len(names) // 2
        return digests(comparison, roots, names[:half]) | digests(comparison, roots, names[half:])
    assert status == 0, text
    found = compare.files_of(data)
    return {name: comparison.digest(name, found) for name in names}


def test_descriptors_are_those_of_protoc(files):
    expected = pinned("accepted.txt")
    assert len(expected) == 500
    groups = {}
    for path, (roots, name) in unchanged(files, expected).items():
        groups.setdefault(roots, []).append((path, name))
    comparison = compare.Comparison(runner(RPCURL))
    different = []
    for roots, members in groups.items():
        found = digests(comparison, roots, [name for _, name in members])
        different += [path for path, name in members if found[name] != expected[path][1]]
    assert different == []


def test_refused_files_are_refused_at_the_same_line(files):
    expected = pinned("refused.txt")
    run = runner(RPCURL)
    different = []
    for path, (roots, name) in unchanged(files, expected).items():
        status, text, _ = run.own(roots, [name])
        verdict = expected[path][1]
        # A missing import that only options need is a warning. An orderly end is 3, for schemas.
        if verdict == "import":
            is_same = status in (0, 3)
        else:
            is_same = status == 3 and verdict in ("-", compare.place_of(text, name))
        if not is_same:
            different.append((path, verdict, status, text[:200]))
    assert different == []
