from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nodewright.testing.distributions import Distributions


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Install a throw-away distribution; see `Distributions.install`."""
    with Distributions(tmp_path) as distributions:
        yield distributions.install
