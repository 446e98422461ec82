"""The examples in the documentation of `Interceptor` are code that the unit tests compile and run."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_examples_of_interceptors_are_tested():
    documented = (ROOT / "Sources/Chain/Stages/StagedInterceptor.swift").read_text()
    tested = re.sub(r"^ +", "", (ROOT / "Tests/ChainTests/ExampleTests.swift").read_text(), flags=re.M)
    blocks = re.findall(r"^/// ```swift\n(.*?)^/// ```\n", documented, re.S | re.M)
    examples = [re.sub(r"^/// *", "", block, flags=re.M) for block in blocks]
    assert len(examples) == 3
    assert [example for example in examples if example not in tested] == []
