"""A provider that does all that it should passes the whole suite."""

import pytest
from nodewright.api import PermanentError
from nodewright.testing.conformance import ProviderConformance

from .provider import ShedGroup, ShedProvider
from .run import run
from .shed_cloud import ShedCloud


class TestShed(ProviderConformance):
    @pytest.fixture
    def cloud(self):
        return ShedCloud(ShedProvider)


class RiddleGroup(ShedGroup):
    """A rack of which nobody can tell what its machines look like."""

    def template(self):
        if self.id == "attic":
            raise PermanentError("the racks of the attic hold machines of all sizes: sort them")
        return super().template()


class RiddleProvider(ShedProvider):
    group_class = RiddleGroup


def test_a_group_that_can_not_be_told_of_hinders_no_others():
    assert run(RiddleProvider) == {}
