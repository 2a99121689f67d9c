"""The provider suite with a cloud from outside; collected by `nodewright.testing.conformance.live.run` only."""

from collections.abc import Iterator

import pytest

from nodewright.testing.conformance import Cloud, ProviderConformance
from nodewright.testing.conformance.live.cloud import LiveCloud


class TestProvider(ProviderConformance):
    """The suite, against a live account."""

    @pytest.fixture
    def cloud(self, live_cloud: LiveCloud) -> Iterator[Cloud]:
        """The account; what a test has changed is set back after it."""
        live_cloud.prepare()
        yield live_cloud
        live_cloud.restore()
