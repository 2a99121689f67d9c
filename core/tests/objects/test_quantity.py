"""Quantities are exact integers, rounded up as Kubernetes does."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nodewright.objects import (
    Container,
    Pod,
    PodSpec,
    ResourceRequirements,
    format_resource,
    parse_quantity,
    parse_resources,
)

SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
SMALL = {"m": Fraction(1, 10**3), "u": Fraction(1, 10**6), "n": Fraction(1, 10**9)}


@pytest.mark.parametrize(
    ("text", "units", "milli"),
    [
        ("1", 1, 1000),
        ("250m", 1, 250),
        ("1.5Gi", 1610612736, 1610612736000),
        ("1e3", 1000, 1000000),
        ("1E3", 1000, 1000000),
        ("1E", 10**18, 10**21),
        ("100u", 1, 1),
        ("-1.5", -2, -1500),
        ("+.5", 1, 500),
        ("5.", 5, 5000),
        ("0", 0, 0),
    ],
)
def test_quantities_are_read_as_kubernetes_reads_them(text, units, milli) -> None:
    assert parse_quantity(text) == units
    assert parse_quantity(text, scale=3) == milli


@pytest.mark.parametrize("text", ["", ".", "Gi", "1 Gi", "1GiB", "1,5", "1e", "0x10", "1.2.3", "--1", "1kk"])
def test_anything_else_is_refused_with_what_is_allowed(text) -> None:
    with pytest.raises(ValueError, match="is not a quantity: write a number with an optional suffix"):
        parse_quantity(text)


@given(st.integers(0, 10**9), st.integers(0, 999), st.sampled_from([*SUFFIXES, *SMALL]))
def test_no_amount_is_ever_rounded_down(whole, thousandths, suffix) -> None:
    exact = (whole + Fraction(thousandths, 1000)) * Fraction((SUFFIXES | SMALL)[suffix])
    assert 0 <= parse_quantity(f"{whole}.{thousandths:03}{suffix}") - exact < 1


def test_a_resource_list_names_the_resource_that_is_wrong() -> None:
    with pytest.raises(ValueError, match="memory: 'lots' is not a quantity"):
        parse_resources({"cpu": "1", "memory": "lots"})


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 4000, "4"),
        ("memory", 2**34, "16Gi"),
        ("memory", 1000, "1000"),
        ("pods", 110, "110"),
    ],
)
def test_amounts_are_written_as_people_write_them(name, amount, text) -> None:
    assert format_resource(name, amount) == text


def test_amounts_beyond_what_anything_has_stay_within_64_bits() -> None:
    wanted = parse_resources({"cpu": "10E", "memory": "1e999999999", "pods": "-99999Ei"})
    assert wanted == {"cpu": 2**53, "memory": 2**53, "pods": -(2**53)}


def test_what_a_pod_takes_is_no_more_than_anything_has_and_no_less_than_nothing() -> None:
    huge = Container(name="huge", resources=ResourceRequirements(requests={"cpu": "10E", "memory": "-1"}))
    assert Pod(spec=PodSpec(containers=(huge,) * 9)).requests == {"cpu": 2**53, "memory": 0, "pods": 1}
