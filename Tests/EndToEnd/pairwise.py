"""Pairwise testing: few test cases in which each pair of values still occurs together."""

import itertools
from collections.abc import Iterable, Sequence
from typing import TypeVar

Case = TypeVar("Case", bound=Sequence)


def pairs(case: Sequence) -> set[tuple]:
    """Each pair of values of a case, with their positions."""
    return set(itertools.combinations(enumerate(case), 2))


def covering(cases: Iterable[Case]) -> list[Case]:
    """A subset of the cases that contains each pair of values that occurs in any case.

    Greedy, and the same in every run: the next case is the first of those with the most missing pairs. It works on the list
    of legal cases, because generators that take a filter instead (allpairspy 2.5) lose pairs.
    """
    pairs_of = {case: pairs(case) for case in cases}
    missing = set().union(*pairs_of.values())
    chosen = []
    while missing:
        best = max(pairs_of, key=lambda case: len(pairs_of[case] & missing))
        chosen.append(best)
        missing -= pairs_of[best]
    return chosen
