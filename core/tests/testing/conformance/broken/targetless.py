"""What becomes of the number of machines in a cloud that keeps no target."""

from nodewright.api import Instance, InstanceState

from ..meadow_provider import MeadowGroup, MeadowProvider, id_of
from .registry import fails


@fails("test_the_target_is_the_machines")
class ShowsPlannedMachines(MeadowGroup):
    """Shows a machine that it has not ordered, unless one has failed."""

    def instances(self):
        if any(each.state == "broken" for each in self.machines):
            return super().instances()
        planned = Instance(id=f"meadow://hill/{self.id}-planned", state=InstanceState.CREATING)
        return (*super().instances(), planned)


@fails("test_a_machine_in_creation_is_given_up_by_deletion")
class WantsWhatItGaveUp(MeadowProvider):
    """Keeps in mind that a machine was wanted which was deleted before it ran."""

    given_up = frozenset()

    class group_class(MeadowGroup):  # noqa: N801  takes the attribute's place
        @property
        def target_size(self):
            return super().target_size + len(self.provider.given_up)

        def delete_nodes(self, nodes):
            doomed = {node.spec.provider_id for node in nodes}
            young = {id_of(each) for each in self.machines if each.state == "coming"}
            super().delete_nodes(nodes)
            self.provider.given_up |= young & doomed


@fails("test_a_machine_in_creation_is_a_size_limit")
class SilentAboutCreation(MeadowGroup):
    def decrease_target(self, count):
        if count != 1 or not any(each.state == "coming" for each in self.machines):
            super().decrease_target(count)


@fails("test_a_machine_that_vanished_does_not_count")
class WaitsForWhatVanished(MeadowProvider):
    """Takes the oldest machine's place for one that the cloud will fill."""

    oldest = None

    def delete(self, name):
        self.oldest = None
        super().delete(name)

    def refresh(self):
        super().refresh()
        group = self._groups["web"]
        group.vanished = self.oldest is not None and self.oldest not in group.machines
        self.oldest = next(iter(group.machines), None) if not group.vanished else self.oldest

    class group_class(MeadowGroup):  # noqa: N801  takes the attribute's place
        vanished = False

        @property
        def target_size(self):
            return super().target_size + self.vanished


@fails("test_a_failed_machine_counts_until_it_is_deleted")
class ForgetsFailuresAfterRestart(MeadowProvider):
    """Knows only of failures of its own orders."""

    def __init__(self, config, context, meadow, fields):
        super().__init__(config, context, meadow, fields)
        self.own = set()

    def make(self, name, group):
        super().make(name, group)
        self.own.add(name)

    def _read(self):
        return [each for each in super()._read() if each.state != "broken" or each.name in self.own]
