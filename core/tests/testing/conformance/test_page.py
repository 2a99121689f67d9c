"""The documentation lists the rules that the suites check."""

from pathlib import Path

import pytest
from nodewright.testing.conformance import ProviderConformance
from nodewright.testing.conformance.page import conformance_page, rule_names

PAGE = Path(__file__).parents[4] / "docs" / "conformance.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == conformance_page(), (
        "run: python -m nodewright.testing.conformance.page > docs/conformance.md"
    )


@pytest.mark.parametrize("test", rule_names(ProviderConformance))
def test_a_rule_of_providers_is_one_sentence(test) -> None:
    sentence = getattr(ProviderConformance, test).__doc__
    assert sentence.endswith(".")
    assert f"- **{test.removeprefix('test_').replace('_', ' ')}**: {' '.join(sentence.split())}" in conformance_page()
