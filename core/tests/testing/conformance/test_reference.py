"""A provider that does all that it should passes the whole suite."""

import pytest
from nodewright.testing.conformance import ProviderConformance

from .provider import ShedProvider
from .shed_cloud import ShedCloud


class TestShed(ProviderConformance):
    @pytest.fixture
    def cloud(self):
        return ShedCloud(ShedProvider)
