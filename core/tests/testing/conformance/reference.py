"""The suite, run on whatever provider for the shed the plugin `UnderTest` of this pytest run names."""

import pytest
from nodewright.testing.conformance import ProviderConformance

from .shed_cloud import ShedCloud


class TestShed(ProviderConformance):
    @pytest.fixture
    def cloud(self, request):
        return ShedCloud(request.config.pluginmanager.get_plugin("under-test").subject)
