"""Refreshes."""

from dataclasses import replace

from nodewright.api import CloudUnavailableError, PermanentError

from ..provider import ShedGroup, ShedPrices, ShedProvider, translated
from .registry import fails


class Touches(ShedGroup):
    """Notes what its provider was told to do."""

    def increase(self, count):
        self.provider.touched.add(self.id)
        super().increase(count)

    def delete_nodes(self, nodes):
        self.provider.touched.add(self.id)
        self.provider.deleted |= {node.spec.provider_id for node in nodes}
        super().delete_nodes(nodes)


class Notes(ShedProvider):
    """Has a memory for what it was told to do."""

    group_class = Touches

    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.touched = set()
        self.deleted = set()


@fails("test_refresh_sees_a_group_that_somebody_resized", until_healed=True)
class SeesOnlyOwnChanges(Notes):
    def refresh(self):
        before = self._groups
        super().refresh()
        for name in before.keys() & self._groups.keys() - self.touched:
            rack = self._groups[name].rack
            if all(machine.state != "idle" for machine in rack.machines):
                self._groups[name].rack = replace(rack, wanted=before[name].rack.wanted)


@fails("test_refresh_sees_a_group_that_somebody_set_back")
class KeepsToItsOrders(ShedProvider):
    """Takes the size of before its last order for an answer that is late, however long ago that was."""

    last = None

    def ordered(self, rack):
        super().ordered(rack)
        before = self._groups[rack.name].rack
        self.last = (before, rack) if rack.wanted > before.wanted else None

    def _newest(self, rack):
        rack = super()._newest(rack)
        if self.last and not self.shed.healed and (self.last[0].name, self.last[0].wanted) == (rack.name, rack.wanted):
            return replace(rack, wanted=self.last[1].wanted)
        return rack


@fails("test_refresh_sees_that_a_machine_vanished")
class ForgetsOnlyWhatItDeleted(Notes):
    def refresh(self):
        before = {name: {each.id: each for each in group.instances()} for name, group in self._groups.items()}
        super().refresh()
        for name in before.keys() & self._groups.keys():
            self._groups[name].before = [each for id_, each in before[name].items() if id_ not in self.deleted]

    class group_class(Touches):  # noqa: N801  takes the attribute's place
        before = ()

        def instances(self):
            return tuple({each.id: each for each in (*self.before, *super().instances())}.values())


@fails("test_refresh_finds_a_new_group")
class FindsNothingNew(ShedProvider):
    """Looks for groups where new machines are."""

    def refresh(self):
        known = self._groups.keys()
        super().refresh()
        if known:
            groups = self._groups.items()
            self._groups = {name: group for name, group in groups if name in known or group.rack.machines}


@fails("test_refresh_forgets_a_group_that_is_gone")
class ForgetsNoGroup(ShedProvider):
    def refresh(self):
        before = self._groups
        super().refresh()
        self._groups = {**before, **self._groups}


@fails("test_an_action_on_a_group_that_is_gone_does_not_find_it")
class TakesGoneForWrong(ShedGroup):
    def increase(self, count):
        if self.id not in self.shed.racks:
            raise PermanentError(f"there is something wrong with {self.id}")
        super().increase(count)


@fails("test_a_refresh_changes_nothing")
class TidiesUp(ShedProvider):
    """Takes machines away that nobody seems to need: those of a group without a minimum that it has seen before."""

    def refresh(self):
        before = self._groups
        super().refresh()
        for group in self._groups.values():
            if group.id == "gpu" and "gpu" in before:
                self.shed.set("gpu", 0)


@fails("test_a_failed_refresh_leaves_the_facts_alone")
class ShowsNothingWhenBlind(ShedProvider):
    def refresh(self):
        before = self.shed.calls
        try:
            super().refresh()
        except Exception:
            if self.shed.calls == before + 1:
                self._groups = {}
            raise


@fails("test_a_failed_refresh_leaves_nodes_in_their_groups")
class KnowsNobodyWhenBlind(ShedProvider):
    def refresh(self):
        self._owners = {}
        super().refresh()


@fails("test_a_refresh_that_fails_half_way_leaves_the_facts_alone")
class TakesWhatItGets(ShedProvider):
    def refresh(self):
        with translated():
            racks = self.shed.read()
            self._groups = {name: self.group_class(self, self._newest(rack)) for name, rack in racks.items()}
            self._prices = ShedPrices(self.shed.read_prices())
        self._owners = {each.id: name for name, group in self._groups.items() for each in group.instances()}


@fails("test_refresh_recovers")
class NeverRecovers(ShedProvider):
    sick = None

    def refresh(self):
        if self.sick:
            raise self.sick
        try:
            super().refresh()
        except Exception as error:
            self.sick = error
            raise


@fails("test_a_refresh_that_reads_a_part_loses_nothing")
class TakesSilenceForNothing(ShedProvider):
    """Shows no racks, and says nothing of it, when the second question is not answered."""

    def refresh(self):
        before = self.shed.calls
        try:
            super().refresh()
        except CloudUnavailableError:
            if self.shed.calls == before + 1:
                raise
            self._groups, self._owners = {}, {}
