"""The suite, run on whatever provider the plugin `UnderTest` of this pytest run names: for the shed or the meadow."""

import pytest
from nodewright.testing.conformance import ProviderConformance

from .meadow_cloud import MeadowCloud
from .meadow_provider import MeadowProvider
from .shed_cloud import ShedCloud


class TestShed(ProviderConformance):
    @pytest.fixture
    def cloud(self, request):
        subject = request.config.pluginmanager.get_plugin("under-test").subject
        return MeadowCloud(subject) if issubclass(subject, MeadowProvider) else ShedCloud(subject)
