"""Machines and their states."""

from dataclasses import replace

from nodewright.api import ErrorClass, Instance, InstanceError, InstanceState

from ..provider import ShedGroup, ShedProvider
from .registry import fails


@fails("test_machines_that_run_are_running", until_healed=True)
class NotReadyAtFirst(ShedProvider):
    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def __init__(self, provider, rack, **more):
            super().__init__(provider, rack, **more)
            self.first = not provider.groups()

        def instances(self):
            state = {"state": InstanceState.CREATING} if self.first else {}
            instances = super().instances()
            return [each if each.state is InstanceState.DELETING else replace(each, **state) for each in instances]


@fails("test_all_of_many_machines_are_shown")
class ReadsTheFirstPage(ShedGroup):
    def instances(self):
        return super().instances()[:100]


@fails("test_a_machine_in_creation_is_creating", until_healed=True)
class RunsAtOnce(ShedGroup):
    def instances(self):
        return [each if each.error else replace(each, state=self.state(each)) for each in super().instances()]

    def state(self, instance):
        coming = instance.state is InstanceState.CREATING
        return InstanceState.RUNNING if coming else instance.state


@fails("test_a_machine_that_has_come_is_running")
class StaysInCreation(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.young = set()

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def instances(self):
            instances = super().instances()
            young = {each.id for each in instances if each.state is InstanceState.CREATING and not each.error}
            self.provider.young |= young
            return [self.as_first_seen(each) for each in instances]

        def as_first_seen(self, instance):
            return replace(instance, state=InstanceState.CREATING) if instance.id in self.provider.young else instance

    def refresh(self):
        super().refresh()
        for group in self.groups():
            group.instances()


@fails("test_a_machine_that_is_deleted_is_not_running", until_healed=True)
class RunsToTheEnd(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.seen = set()

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def instances(self):
            instances = super().instances()
            self.provider.seen |= {each.id for each in instances if each.state is InstanceState.RUNNING}
            return [self.as_first_seen(each) for each in instances]

        def as_first_seen(self, instance):
            ran = instance.id in self.provider.seen and instance.state is InstanceState.DELETING and not self.shed.late
            return replace(instance, state=InstanceState.RUNNING) if ran else instance

    def refresh(self):
        super().refresh()
        for group in self.groups():
            group.instances()


@fails("test_a_machine_that_is_deleted_is_not_running_after_a_restart", until_healed=True)
class KnowsOnlyItsOwnDeletions(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.deleted = set()

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def delete_nodes(self, nodes):
            self.provider.deleted |= {node.spec.provider_id for node in nodes}
            super().delete_nodes(nodes)

        def instances(self):
            return [self.as_known(each) for each in super().instances()]

        def as_known(self, instance):
            forgotten = instance.state is InstanceState.DELETING and instance.id not in self.provider.deleted
            return replace(instance, state=InstanceState.RUNNING) if forgotten else instance


@fails("test_a_machine_that_is_gone_is_not_shown")
class DeletesForever(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.going = {}

    def refresh(self):
        super().refresh()
        for group in self._groups.values():
            group.instances()

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def instances(self):
            instances = super().instances()
            for each in instances:
                if each.state is InstanceState.DELETING:
                    self.provider.going[each.id] = (self.id, each)
            there = {each.id for each in instances}
            going = [each for rack, each in self.provider.going.values() if rack == self.id and each.id not in there]
            return (*instances, *going)


class TellsOtherwise(ShedGroup):
    """A group that tells something else of failed machines."""

    def instances(self):
        return [self.told(each) if each.error else each for each in super().instances()]

    def told(self, instance):
        return replace(instance, error=replace(instance.error, **self.change(instance)))


@fails("test_a_failed_order_tells_why")
class TellsNoClass(TellsOtherwise):
    def change(self, instance):
        return {"error_class": ErrorClass.OTHER}


@fails("test_a_failed_order_is_creating")
class FailsInStateRunning(TellsOtherwise):
    def told(self, instance):
        return replace(instance, state=InstanceState.RUNNING)


@fails("test_every_failed_machine_is_shown")
class OneFailureStandsForAll(ShedGroup):
    def instances(self):
        instances = super().instances()
        failed = [each for each in instances if each.error]
        return [each for each in instances if each not in failed[1:]]


@fails("test_a_failed_machine_keeps_its_id")
class NumbersFailuresAnew(ShedProvider):
    refreshes = 0

    def refresh(self):
        super().refresh()
        self.refreshes += 1
        for group in self.groups():
            group.refreshes = self.refreshes

    class group_class(TellsOtherwise):  # noqa: N801  takes the attribute's place
        def told(self, instance):
            several = sum(machine.state == "broken" for machine in self.rack.machines) > 1
            return replace(instance, id=f"{instance.id}-{self.refreshes}") if several else instance


@fails("test_the_code_of_a_failure_is_the_same_for_all")
class CodesWithIds(TellsOtherwise):
    def change(self, instance):
        return {"code": f"{instance.error.code} {instance.id}"}


@fails("test_a_stock_out_names_a_pool_of_the_group")
class PoolOfAnotherName(TellsOtherwise):
    def change(self, instance):
        return {"pool": "everywhere"}


@fails("test_what_came_of_an_order_filled_in_part_is_running")
class WaitsForTheWholeOrder(ShedGroup):
    def instances(self):
        machines = super().instances()
        return machines[:-1] if self.shed.stock == 0 else machines


@fails("test_no_more_machines_failed_than_are_missing")
class FailsTheWholeOrder(ShedGroup):
    def instances(self):
        error = InstanceError(error_class=ErrorClass.STOCK_OUT, code="SoldOut")
        failed = [
            Instance(id=f"shed://garden/{self.id}-failed-{number}", state=InstanceState.CREATING, error=error)
            for number in range(2 if self.shed.stock == 0 else 0)
        ]
        return (*super().instances(), *failed)


@fails("test_an_old_failure_does_not_stick")
class NeverForgives(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.failed = {}

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def instances(self):
            instances = super().instances()
            codes = [each.error.code for each in instances if each.error]
            if codes:
                self.provider.failed[self.id] = codes[0], len(instances)
            code, size = self.provider.failed.get(self.id, ("", 0))
            if codes or not code or len(instances) < size:
                return instances
            error = InstanceError(error_class=ErrorClass.OTHER, code=code)
            return (*instances[:-1], replace(instances[-1], state=InstanceState.CREATING, error=error))
