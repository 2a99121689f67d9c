"""Each test of the suite is failed by a provider that does one thing wrong, and by no other test's provider."""

import pytest
from nodewright.testing.conformance import ProviderConformance

from .broken import BROKEN, MORE
from .run import run

TESTS = sorted(name for name in dir(ProviderConformance) if name.startswith("test_"))


@pytest.mark.parametrize("test", TESTS)
def test_a_broken_provider_fails_its_test_and_no_other(test) -> None:
    assert test in BROKEN, f"write a provider that fails {test} and no other test"
    assert run(BROKEN[test]).keys() == {test}


@pytest.mark.parametrize(("test", "broken"), MORE)
def test_a_rule_may_be_broken_in_other_ways(test, broken) -> None:
    assert run(broken).keys() == {test}


def test_every_broken_provider_is_for_a_test_that_there_is() -> None:
    assert sorted(BROKEN) == TESTS
