"""Decisions equal Cluster Autoscaler's wherever its own are firm, but for the exceptions that have a reason."""

import pytest

from tests.parity.comparison import compare
from tests.parity.exceptions import EXCEPTIONS, excuse
from tests.parity.vectors import FOLDER, Vector, families, read, sample

SAMPLE = list(sample())


def unexcused(vector: Vector) -> list[str]:
    return [
        str(result)
        for result in compare(vector)
        if result.difference and not excuse(result.vector, result.iteration, result.field)
    ]


@pytest.mark.parametrize("vector", SAMPLE, ids=lambda vector: vector.name)
def test_the_sample_is_decided_as_by_cluster_autoscaler(vector) -> None:
    assert unexcused(vector) == []


def test_there_is_a_sample_of_every_family() -> None:
    assert {vector.family for vector in SAMPLE} >= set(families())
    assert len(SAMPLE) >= 24


@pytest.mark.skipif(not families(), reason=f"there are no vectors in {FOLDER}: set NODEWRIGHT_VECTORS to their folder")
@pytest.mark.parametrize("family", families())
def test_all_vectors_are_decided_as_by_cluster_autoscaler(family) -> None:
    assert [line for vector in read(family) for line in unexcused(vector)] == []


@pytest.mark.skipif(not families(), reason=f"there are no vectors in {FOLDER}: set NODEWRIGHT_VECTORS to their folder")
def test_no_exception_is_without_a_difference() -> None:
    families_with = {name.rpartition("/")[0] for name, _, _ in EXCEPTIONS}
    wanted = {name for name, _, _ in EXCEPTIONS}
    vectors = [vector for family in families_with for vector in read(family) if vector.name in wanted]
    found = {
        (result.vector, result.iteration, field)
        for vector in vectors
        for result in compare(vector)
        if result.difference
        for field in (result.field, "*")
    }
    assert EXCEPTIONS.keys() <= found
