"""The page on clouds without a target size shows a provider that passes the suite."""

import inspect
from pathlib import Path
from textwrap import dedent

import pytest

from .meadow_provider import MeadowGroup, MeadowProvider

PAGE = Path(__file__).parents[4] / "docs" / "clouds-without-target-size.md"


@pytest.mark.parametrize(
    "shown",
    [MeadowGroup.increase, MeadowGroup.decrease_target, MeadowProvider.undo, MeadowProvider._read],
    ids=lambda shown: shown.__name__,
)
def test_the_page_shows_the_provider_that_passes(shown) -> None:
    assert dedent(inspect.getsource(shown)) in PAGE.read_text()
