"""Declarations, and who is who."""

from dataclasses import replace

from nodewright.api import PluginConfig
from pydantic import ConfigDict

from ..provider import ShedGroup, ShedProvider
from .registry import fails


@fails("test_capabilities_are_known_ones")
class CanFly(ShedProvider):
    capabilities = frozenset({*ShedProvider.capabilities, "fly"})


@fails("test_the_contract_is_this_one")
class FromAnotherTime(ShedProvider):
    api_version = 99


class AnythingGoes(PluginConfig):
    model_config = ConfigDict(extra="ignore")


@fails("test_an_unknown_setting_is_a_mistake")
class TakesAnySetting(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(AnythingGoes(), context, shed)


@fails("test_every_group_has_an_id_of_its_own")
class ShowsAGroupTwice(ShedProvider):
    def groups(self):
        groups = super().groups()
        return groups + groups[-1:]


@fails("test_groups_keep_their_order")
class ShufflesGroups(ShedProvider):
    refreshes = 0

    def refresh(self):
        super().refresh()
        self.refreshes += 1

    def groups(self):
        return super().groups()[:: -1 if self.refreshes == 1 else 1]


@fails("test_groups_keep_their_order_when_one_outgrows_another")
class SmallGroupsFirst(ShedProvider):
    def groups(self):
        return sorted(super().groups(), key=lambda group: (group.target_size, group.id))


@fails("test_groups_are_the_same_after_a_restart")
class NewOrderAfterRestart(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        shed.starts = getattr(shed, "starts", 0) + 1
        self.start = shed.starts

    def groups(self):
        return super().groups()[:: 1 if self.start % 2 else -1]


@fails("test_every_machine_is_shown_once")
class ShowsAMachineTwice(ShedGroup):
    def instances(self):
        instances = super().instances()
        return instances + instances[:1] if self.id == "gpu" else instances


@fails("test_machines_are_the_same_after_a_restart")
class NewIdsAfterRestart(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        shed.starts = getattr(shed, "starts", 0) + 1
        self.group_class = ShedGroup if shed.starts % 2 or shed.healed else OtherIds

    group_class = ShedGroup


class OtherIds(ShedGroup):
    def instances(self):
        return [replace(each, id=each.id.upper()) for each in super().instances()]


@fails("test_machines_are_named_like_their_nodes")
class ShortIds(ShedProvider):
    def group_of(self, node):
        return "gpu" if node.spec.provider_id.startswith("gpu-") else super().group_of(node)

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def instances(self):
            short = self.id == "gpu"
            return [replace(each, id=each.id.rpartition("/")[2] if short else each.id) for each in super().instances()]


@fails("test_a_node_belongs_to_the_group_of_its_machine")
class KnowsNobody(ShedProvider):
    def group_of(self, node):
        return None


@fails("test_a_node_of_another_cloud_belongs_to_no_group")
class TakesEverybody(ShedProvider):
    def group_of(self, node):
        return "web" if node.name == "elsewhere" else super().group_of(node)


@fails("test_a_node_without_a_provider_id_belongs_to_no_group")
class NeedsAProviderId(ShedProvider):
    def group_of(self, node):
        _, name = node.spec.provider_id.split("://")
        return super().group_of(node) if name else None


@fails("test_a_machine_that_never_was_belongs_to_no_group")
class GoesByThePrefix(ShedProvider):
    def group_of(self, node):
        name = node.spec.provider_id.removeprefix("shed://garden/").rpartition("-")[0]
        return name if name in self._groups else None


@fails("test_a_node_goes_by_its_provider_id")
class GoesByTheName(ShedProvider):
    def group_of(self, node):
        owners = {id_.rpartition("/")[2]: name for id_, name in self._owners.items()}
        return owners.get(node.name) if super().group_of(node) is None else super().group_of(node)
