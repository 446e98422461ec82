"""The .proto files of installed packages, and those that are built in: rpcurl makes the descriptors of protoc of them, with source
positions, and what it writes of them as .proto files again has the same descriptors."""

import pytest
from harness import ROOT, RPCURL, VENV
from protoc_oracle import INCLUDE, compare, runner

BUILT_IN = ROOT / "Sources" / "Protobuf" / "WellKnown"
PACKAGES = next(VENV.glob("lib/python3*/site-packages"))
TESTS = ROOT / "Tests"


def below(root, *folders):
    """The names of the files below folders of a directory of imports."""
    return sorted(str(path.relative_to(root)) for folder in folders or [""] for path in (root / folder).rglob("*.proto"))


# The directories of imports, and the names of files.
GROUPS = [
    ([INCLUDE], below(INCLUDE)),
    # googleapis-common-protos
    ([PACKAGES], below(PACKAGES, "google")),
    ([BUILT_IN / "common", BUILT_IN / "protos", BUILT_IN / "options"], below(BUILT_IN / "common")),
    ([TESTS / "Schemas"], below(TESTS / "Schemas")),
    ([TESTS / "ProtobufSupport" / "protos"], below(TESTS / "ProtobufSupport" / "protos")),
    ([TESTS / "EndToEnd" / "describe"], below(TESTS / "EndToEnd" / "describe")),
    ([TESTS / "Servers"], below(TESTS / "Servers")),
]


@pytest.mark.parametrize("written", [False, True], ids=["compiled", "written"])
def test_descriptors_are_those_of_protoc(written):
    comparison = compare.Comparison(runner(RPCURL, written))
    for roots, names in GROUPS:
        comparison.batch(roots, names)
    assert comparison.differences == [] and comparison.refused == {}
    assert len(comparison.accepted) == sum(len(names) for _, names in GROUPS) > 150
