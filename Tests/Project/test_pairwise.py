"""The pairwise selection covers all pairs, and so does the part of the matrix that runs by default."""

import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "EndToEnd"))

import test_matrix  # noqa: E402
from pairwise import covering, pairs  # noqa: E402


def test_all_pairs_of_a_product_are_covered():
    cases = list(itertools.product("ab", "cd", "ef"))
    # Four cases are the optimum: any two values share one of them.
    assert covering(cases) == [("a", "c", "e"), ("a", "d", "f"), ("b", "c", "f"), ("b", "d", "e")]
    assert covering(reversed(cases)) != covering(cases)


def test_a_pair_of_a_single_legal_case_is_covered():
    cases = list(itertools.product("ab", "cd")) + [("x", "c"), ("b", "y")]
    assert set(covering(cases)) == set(cases)
    assert covering([]) == []


def test_pairs_differ_by_position():
    assert pairs("aab") == {((0, "a"), (1, "a")), ((0, "a"), (2, "b")), ((1, "a"), (2, "b"))}


def test_the_default_matrix_covers_each_legal_pair():
    legal, chosen = test_matrix.ALL_CELLS, test_matrix.PAIRWISE_CELLS
    assert set(chosen) < set(legal) and len(chosen) < 60
    assert set().union(*map(pairs, chosen)) == set().union(*map(pairs, legal))


def test_the_matrix_has_each_legal_combination():
    """A slip in the table of servers removes no combination unnoticed."""
    cells = test_matrix.ALL_CELLS
    assert len(cells) == len(set(cells)) == 2 * 4 * (3 * 2 + 2 * 5 * 2 + 2 * 2 * 5 * 2 * 2)
    compressions = {"identity", "gzip", "zstd", "br", "snappy", "deflate"}
    values = {
        "kind": set(test_matrix.KINDS), "compression": compressions, "http": {"1.1", "2"},
        "security": set(test_matrix.SECURITIES), "outcome": {"ok", "fail"},
    }  # fmt: skip
    for field, expected in values.items():
        assert {getattr(cell, field) for cell in cells} == expected
