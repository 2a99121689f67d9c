"""A provider that does all that it should passes the whole suite."""

from dataclasses import replace

import pytest
from nodewright.api import CloudUnavailableError, PermanentError
from nodewright.testing.conformance import ProviderConformance
from nodewright.testing.conformance.provider.templates import TemplateConformance

from .meadow_cloud import MeadowCloud
from .meadow_provider import MeadowGroup, MeadowProvider, id_of
from .provider import ShedGroup, ShedProvider
from .run import run
from .shed_cloud import ShedCloud


class TestShed(ProviderConformance):
    @pytest.fixture
    def cloud(self):
        return ShedCloud(ShedProvider)


class TestMeadow(ProviderConformance):
    @pytest.fixture
    def cloud(self):
        return MeadowCloud(MeadowProvider)


class UndoingGroup(ShedGroup):
    """Takes an order back that got no answer, and raises."""

    def increase(self, count):
        rack, unsure = self.shed.racks.get(self.id), self.shed.lost
        try:
            super().increase(count)
        except CloudUnavailableError:
            if unsure:
                self.shed.set(self.id, rack.wanted)
                self.shed.work()
            raise


class UndoingProvider(ShedProvider):
    group_class = UndoingGroup


def test_an_order_without_an_answer_may_be_undone() -> None:
    assert run(UndoingProvider) == {}


class RiddleGroup(ShedGroup):
    """A rack of which nobody can tell what its machines look like."""

    def template(self):
        if self.id == "attic":
            raise PermanentError("the racks of the attic hold machines of all sizes: sort them")
        return super().template()


class RiddleProvider(ShedProvider):
    group_class = RiddleGroup


def test_a_group_that_can_not_be_told_of_hinders_no_others() -> None:
    assert run(RiddleProvider) == {}


class Mixed(ShedGroup):
    """Launches either of two types, so that its template has the label of neither."""

    def pools(self):
        return ("shed/pi", "shed/mac/spot")

    def template(self):
        template = super().template()
        labels = {key: value for key, value in template.labels.items() if "instance-type" not in key}
        return replace(template, labels=labels)


def test_a_group_of_several_types_need_not_name_one() -> None:
    class MixedShed(ShedProvider):
        group_class = Mixed

    provider = ShedCloud(MixedShed).provider()
    provider.refresh()
    TemplateConformance().test_templates_show_the_well_known_labels(provider)


class ForgetfulGroup(MeadowGroup):
    """Shows a machine no more as soon as its deletion was accepted, without waiting for a refresh."""

    def _delete(self, nodes, least):
        try:
            super()._delete(nodes, least)
        finally:
            self.machines = [each for each in self.machines if id_of(each) not in self.provider.gone()]


class ForgetfulProvider(MeadowProvider):
    group_class = ForgetfulGroup

    def gone(self):
        return {f"meadow://hill/{name}" for name in self._deleted}


def test_a_machine_that_is_being_deleted_may_be_left_out_at_once() -> None:
    assert run(ForgetfulProvider) == {}
