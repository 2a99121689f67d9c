"""The page on clouds without a target size shows the provider that passes the suite: in parts, and as a whole."""

import inspect
from pathlib import Path
from textwrap import dedent

import pytest

from . import meadow_provider
from .meadow_provider import MeadowGroup, MeadowProvider

PAGE = (Path(__file__).parents[4] / "docs" / "clouds-without-target-size.md").read_text()


@pytest.mark.parametrize(
    "shown",
    [
        MeadowGroup.increase,
        MeadowGroup.decrease_target,
        MeadowProvider.make,
        MeadowProvider.delete,
        MeadowProvider.undo,
        MeadowProvider._read,
    ],
    ids=lambda shown: shown.__name__,
)
def test_the_page_shows_the_provider_that_passes(shown) -> None:
    code = dedent(inspect.getsource(shown))
    assert f"\n{code}" in PAGE


def test_the_page_shows_the_whole_provider() -> None:
    code = inspect.getsource(meadow_provider)
    assert f"```python\n{code}```\n" in PAGE
