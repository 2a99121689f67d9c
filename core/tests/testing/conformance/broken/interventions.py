"""What others do to groups and machines."""

from dataclasses import replace

from nodewright.api import InstanceState, Pause

from ..provider import ShedGroup, ShedProvider
from .registry import also_fails, fails


@fails("test_a_group_that_nobody_paused_is_free")
class RestsForever(ShedGroup):
    def pause(self):
        return super().pause() or (None if self.shed.healed else Pause(why="it is Sunday"))


@fails("test_a_paused_group_says_why")
class KeepsItToItself(ShedGroup):
    def pause(self):
        return None


@also_fails("test_a_paused_group_says_why")
class HasNoWords(ShedGroup):
    def pause(self):
        return super().pause() and Pause(why=" ")


@fails("test_a_pause_ends")
class RemembersThePause(ShedProvider):
    def refresh(self):
        before = {name: group.rack.closed for name, group in self._groups.items()}
        super().refresh()
        for name, group in self._groups.items():
            group.rack = replace(group.rack, closed=group.rack.closed or before.get(name, ""))


@fails("test_a_machine_keeps_its_incarnation")
class CountsFromItsOwnStart(ShedGroup):
    def _instance(self, machine):
        shown = super()._instance(machine)
        return replace(shown, incarnation=f"{id(self.provider)}-{shown.incarnation}")


@fails("test_a_machine_made_anew_is_another_one")
class SeesNoDifference(ShedGroup):
    def _instance(self, machine):
        return replace(super()._instance(machine), incarnation="1")


@fails("test_a_machine_that_is_stopped_is_not_counted")
class TakesIdleForBusy(ShedGroup):
    def _instance(self, machine):
        shown = super()._instance(machine)
        return replace(shown, state=InstanceState.RUNNING) if shown.state is InstanceState.STOPPED else shown


@fails("test_the_target_does_not_count_machines_that_are_stopped")
class WantsIdleOnesAsWell(ShedGroup):
    @property
    def target_size(self):
        return super().target_size + sum(machine.state == "idle" for machine in self.rack.machines)


@fails("test_an_object_that_names_a_group_is_resolved")
class KnowsNoOtherNames(ShedProvider):
    def resolve(self, kind, id):  # noqa: A002  as in the contract
        return None


@fails("test_an_object_of_an_unknown_kind_names_no_group")
class LooksAtTheIdAlone(ShedProvider):
    def resolve(self, kind, id):  # noqa: A002  as in the contract
        return id if id in self._groups else None
