"""Deletions."""

from dataclasses import replace

from nodewright.api import ForeignNodeError, PermanentError, SizeLimitError, TemporaryError
from nodewright.testing import a_node

from ..provider import ShedGroup, id_of, translated
from .registry import fails


def ids(nodes):
    return [node.spec.provider_id for node in nodes]


@fails("test_the_machine_that_was_asked_for_is_deleted")
class DeletesTheOldest(ShedGroup):
    def delete_nodes(self, nodes):
        states = {id_of(self.id, each): each.state for each in self.rack.machines}
        running = [id_ for id_, state in states.items() if state == "up"]
        if len(nodes) == 1 and states.get(*ids(nodes)) == "up" and len(self.rack.machines) == 3:
            nodes = [a_node(provider_id=running[0])]
        super().delete_nodes(nodes)


@fails("test_a_deletion_lowers_the_target")
class LetsTheCloudReplace(ShedGroup):
    def delete_nodes(self, nodes):
        wanted = self.shed.racks[self.id].wanted
        super().delete_nodes(nodes)
        if len(set(ids(nodes))) > 1 and all(each.state == "up" for each in self.rack.machines):
            self.shed.set(self.id, wanted)


@fails("test_a_deletion_is_seen_in_the_target", until_healed=True)
class TargetWithWhatGoes(ShedGroup):
    @property
    def target_size(self):
        going = 0 if self.shed.late else sum(each.state == "going" for each in self.rack.machines)
        return super().target_size + going


@fails("test_the_minimum_holds_against_what_somebody_else_did")
class KeepsTheMinimumOfTheLastRefresh(ShedGroup):
    def delete_nodes(self, nodes):
        if self.shed.racks[self.id].wanted < self.rack.wanted == self.min_size + 1 and not self.touched:
            self._scrap(nodes, 0)
        else:
            super().delete_nodes(nodes)

    @property
    def touched(self):
        return any(each.state == "going" for each in self.shed.racks[self.id].machines)


@fails("test_a_machine_that_is_gone_holds_up_no_other")
class StopsAtTheFirstThatIsGone(ShedGroup):
    def delete_nodes(self, nodes):
        going = {id_of(self.id, each) for each in self.shed.racks[self.id].machines if each.state == "going"}
        if len(nodes) == 1 or going.isdisjoint(ids(nodes)) or self.part:
            super().delete_nodes(nodes)

    @property
    def part(self):
        """Whether it has been read since then, as after a deletion in part."""
        return any(each.state == "going" for each in self.rack.machines)


@fails("test_several_machines_are_deleted_at_once")
class DeletesOneOfSeveral(ShedGroup):
    def delete_nodes(self, nodes):
        before = self.shed.racks[self.id]
        super().delete_nodes(nodes)
        if len(set(ids(nodes))) > 1 and self.shed.racks[self.id].wanted == before.wanted - len(nodes):
            spared = before.machines[1].number
            machines = [
                replace(each, state="up") if each.number == spared else each
                for each in self.shed.racks[self.id].machines
            ]
            self.shed.racks[self.id] = replace(self.shed.racks[self.id], machines=tuple(machines))


@fails("test_a_deletion_keeps_what_somebody_else_ordered")
class SetsWhatItRead(ShedGroup):
    def delete_nodes(self, nodes):
        meanwhile = self.shed.racks[self.id].wanted - self.rack.wanted
        super().delete_nodes(nodes)
        if meanwhile > 0:
            self.shed.set(self.id, self.rack.wanted - len(nodes))


@fails("test_a_node_of_another_group_is_foreign")
class TakesOtherGroupsNodes(ShedGroup):
    def delete_nodes(self, nodes):
        if any(self.provider.group_of(node) not in (self.id, None) for node in nodes):
            raise PermanentError("this node is none of mine")
        super().delete_nodes(nodes)


@fails("test_a_node_of_another_cloud_is_foreign")
class PassesOverOtherClouds(ShedGroup):
    def delete_nodes(self, nodes):
        if len(nodes) == 1 and not nodes[0].spec.provider_id.startswith("shed://"):
            return
        super().delete_nodes(nodes)


@fails("test_nothing_is_deleted_with_a_foreign_node")
class LooksAtOneAfterTheOther(ShedGroup):
    def delete_nodes(self, nodes):
        foreign = [node for node in nodes if not node.spec.provider_id.startswith("shed://")]
        if foreign and len(nodes) > 1:
            super().delete_nodes(nodes[:1])
        super().delete_nodes(foreign or nodes)


@fails("test_a_deletion_below_the_minimum_is_a_size_limit")
class SaysItInOtherWords(ShedGroup):
    def delete_nodes(self, nodes):
        try:
            super().delete_nodes(nodes)
        except SizeLimitError as error:
            raise PermanentError(str(error)) from error


@fails("test_nothing_is_deleted_below_the_minimum")
class StopsAtTheMinimum(ShedGroup):
    def delete_nodes(self, nodes):
        try:
            super().delete_nodes(nodes)
        except SizeLimitError:
            super().delete_nodes(nodes[: self.rack.wanted - self.min_size])
            raise


@fails("test_a_machine_that_never_was_is_not_counted")
class CountsWhatNeverWas(ShedGroup):
    def delete_nodes(self, nodes):
        super().delete_nodes(nodes)
        if any(id_.endswith("-999999") for id_ in ids(nodes)):
            self.shed.set(self.id, self.rack.wanted - 1)


@fails("test_deleting_twice_is_no_error")
class RefusesWhatIsGoing(ShedGroup):
    def delete_nodes(self, nodes):
        going = {id_of(self.id, each) for each in self.shed.racks[self.id].machines if each.state == "going"}
        if len(nodes) == 1 and going.issuperset(ids(nodes)) and not self.reread:
            raise PermanentError("it is going already")
        super().delete_nodes(nodes)

    @property
    def reread(self):
        return any(machine.state == "going" for machine in self.rack.machines)


@fails("test_deleting_twice_lowers_the_target_once")
class CountsEachTime(ShedGroup):
    def delete_nodes(self, nodes):
        wanted = self.shed.racks[self.id].wanted
        super().delete_nodes(nodes)
        again = self.shed.racks[self.id].wanted == wanted
        if again and not self.reread and any(each.state == "going" for each in self.shed.racks[self.id].machines):
            self.shed.set(self.id, wanted - 1)

    @property
    def reread(self):
        return any(machine.state == "going" for machine in self.rack.machines)


@fails("test_a_node_that_is_named_twice_counts_once")
class CountsNames(ShedGroup):
    def delete_nodes(self, nodes):
        super().delete_nodes(nodes)
        twice = len(nodes) - len(set(ids(nodes)))
        if twice:
            self.shed.set(self.id, self.shed.racks[self.id].wanted - twice)


@fails("test_deleting_a_machine_that_is_gone_is_no_error")
class TakesGoneForForeign(ShedGroup):
    def delete_nodes(self, nodes):
        if {self.provider.group_of(node) for node in nodes} == {None}:
            raise ForeignNodeError(f"these are none of {self.id}")
        super().delete_nodes(nodes)


@fails("test_a_machine_that_never_registered_is_deleted")
class GoesByTheName(ShedGroup):
    def delete_nodes(self, nodes):
        up = {id_of(self.id, each) for each in self.rack.machines if each.state == "up"}
        super().delete_nodes([node for node in nodes if node.name not in up])


@fails("test_a_machine_in_creation_is_deleted")
class DeletesOnlyWhatRuns(ShedGroup):
    def delete_nodes(self, nodes):
        coming = {id_of(self.id, each) for each in self.rack.machines if each.state == "coming"}
        super().delete_nodes([node for node in nodes if node.spec.provider_id not in coming])


@fails("test_a_failed_order_is_taken_back")
class KeepsFailedOrders(ShedGroup):
    def delete_nodes(self, nodes):
        wanted = self.shed.racks[self.id].wanted
        super().delete_nodes(nodes)
        broken = {id_of(self.id, each) for each in self.rack.machines if each.state == "broken"}
        if broken & set(ids(nodes)):
            self.shed.racks[self.id] = replace(self.shed.racks[self.id], wanted=wanted)


@fails("test_a_forced_deletion_passes_the_minimum")
class ForcesNothing(ShedGroup):
    def force_delete_nodes(self, nodes):
        self.delete_nodes(nodes)


@fails("test_a_forced_deletion_lowers_the_target")
class ForcesAndReplaces(ShedGroup):
    def force_delete_nodes(self, nodes):
        wanted = self.shed.racks[self.id].wanted
        super().force_delete_nodes(nodes)
        self.shed.set(self.id, wanted)


@fails("test_a_forced_deletion_of_a_foreign_node_is_refused")
class ForcesForeigners(ShedGroup):
    def force_delete_nodes(self, nodes):
        super().force_delete_nodes([node for node in nodes if node.spec.provider_id.startswith("shed://")])


@fails("test_a_deletion_in_part_is_an_error")
class SilentAboutTheRest(ShedGroup):
    def delete_nodes(self, nodes):
        try:
            super().delete_nodes(nodes)
        except TemporaryError:
            if self.shed.deletable is None:
                raise


@fails("test_a_deletion_in_part_lowers_the_target_by_that_part")
class LowersTheTargetAtTheEnd(ShedGroup):
    """Lets the cloud replace what was deleted, until all is."""

    def delete_nodes(self, nodes):
        owed, self.provider.owed = getattr(self.provider, "owed", 0), 0
        try:
            super().delete_nodes(nodes)
        except TemporaryError:
            if self.shed.deletable is not None:
                self.provider.owed = self.shed.deletable
                self.shed.set(self.id, self.shed.racks[self.id].wanted + self.shed.deletable)
            raise
        if owed:
            self.shed.set(self.id, self.shed.racks[self.id].wanted - owed)


@fails("test_a_deletion_in_part_can_be_repeated")
class CountsTheRestTwice(ShedGroup):
    def delete_nodes(self, nodes):
        super().delete_nodes(nodes)
        if len(nodes) > 1 and any(machine.state == "going" for machine in self.rack.machines):
            with translated(self):
                self.shed.set(self.id, self.shed.racks[self.id].wanted - 1)
