"""Interventions: what others do to groups and machines that the core has to know of."""

from nodewright.api import InstanceState, NodeGroup, Provider
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import ProviderSuite, Restart, group_of, machine_of, needs, reread


class PauseConformance(ProviderSuite):
    """`NodeGroup.pause`."""

    def test_a_group_that_nobody_paused_is_free(self, group: NodeGroup) -> None:
        """`pause` is None for the group that tests may resize."""
        pause = group.pause()
        assert pause is None, f"pause() of group {group.id} says {pause}, but nobody has paused it"

    @needs(Ability.PAUSE)
    def test_a_paused_group_says_why(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """`pause` has words for a group that somebody else steers or has paused, and the group can be read."""
        cloud.pause(group.id)
        pause = reread(provider, group).pause()
        assert pause is not None, f"group {group.id} is paused, pause() says nothing"
        assert pause.why.strip(), f"group {group.id} is paused, pause() does not say why: {pause}"

    @needs(Ability.PAUSE)
    def test_a_pause_ends(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """`pause` is None again after the pause."""
        cloud.pause(group.id)
        group = reread(provider, group)
        cloud.heal()
        pause = reread(provider, group).pause()
        assert pause is None, f"group {group.id} is not paused any more, pause() still says {pause}"


class IncarnationConformance(ProviderSuite):
    """`Instance.incarnation`, and machines that are stopped."""

    def test_a_machine_keeps_its_incarnation(self, provider: Provider, group: NodeGroup, restart: Restart) -> None:
        """A machine has the same incarnation after a refresh and after a restart, if it is told both times."""
        before = _incarnations(group)
        for again in (reread(provider, group), group_of(restart(), group.id)):
            after = _incarnations(again)
            changed = {id_: (known, after[id_]) for id_, known in before.items() if after.get(id_, known) != known}
            assert not changed, f"machines were left as they are, but their incarnations changed: {changed}"

    @needs(Ability.REMAKE)
    def test_a_machine_made_anew_is_another_one(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """A machine that the cloud made anew under the id of an earlier one has another incarnation than that."""
        before = _incarnations(group)
        machine = machine_of(cloud.remake(group.id))
        after = _incarnations(reread(provider, group))
        assert machine not in before or after.get(machine) not in ("", None, before[machine]), (
            f"machine {machine} was made anew, its incarnation was {before[machine]!r} and is {after.get(machine)!r}"
        )

    @needs(Ability.STOP)
    def test_a_machine_that_is_stopped_is_not_counted(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """A machine that the cloud has stopped, and asks for no more, is shown in state Stopped, or not at all."""
        machine = machine_of(cloud.stop(group.id))
        shown = {each.id: each.state for each in reread(provider, group).instances()}
        state = shown.get(machine, InstanceState.STOPPED)
        assert state is InstanceState.STOPPED, f"machine {machine} is stopped, but shown as {state}"

    @needs(Ability.STOP)
    def test_the_target_does_not_count_machines_that_are_stopped(
        self, cloud: Cloud, provider: Provider, group: NodeGroup
    ) -> None:
        """`target_size` is without the machines that the cloud has stopped."""
        cloud.stop(group.id)
        told, wanted = reread(provider, group).target_size, cloud.target(group.id)
        assert told == wanted, f"a machine was stopped, the cloud is asked for {wanted} others, target_size is {told}"


def _incarnations(group: NodeGroup) -> dict[str, str]:
    return {instance.id: instance.incarnation for instance in group.instances() if instance.incarnation}
