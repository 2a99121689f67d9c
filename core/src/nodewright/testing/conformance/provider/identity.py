"""Identity: the ids of groups and machines, and which node belongs to which group."""

import pytest

from nodewright.api import InstanceState, NodeGroup, Provider
from nodewright.testing.builders import a_node
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    Restart,
    group_of,
    has_room,
    machine_of,
    needs,
)


class IdentityConformance(ProviderSuite):
    """`NodeGroup.id`, `Instance.id` and `Provider.group_of`."""

    def test_every_group_has_an_id_of_its_own(self, provider: Provider) -> None:
        """No two groups have the same id."""
        ids = [group.id for group in provider.groups()]
        assert len(set(ids)) == len(ids), f"groups() shows ids more than once: {sorted(ids)}"

    def test_groups_keep_their_order(self, provider: Provider) -> None:
        """Groups come in the same order after every refresh."""
        before = [group.id for group in provider.groups()]
        provider.refresh()
        after = [group.id for group in provider.groups()]
        assert after == before, f"groups() showed {before}, and after another refresh {after}"

    @needs(Ability.OTHER_GROUP, Ability.RESIZE)
    def test_groups_keep_their_order_when_one_outgrows_another(self, cloud: Cloud, provider: Provider) -> None:
        """The order of groups does not depend on their sizes: ties between groups go by it."""
        names = (cloud.group(), cloud.other_group())
        provider.refresh()
        small, large = sorted((group_of(provider, name) for name in names), key=lambda group: group.target_size)
        ahead = large.target_size - small.target_size + 1
        cloud.resize(small.id, has_room(cloud, small, ahead) + ahead)
        provider.refresh()
        before = [group.id for group in provider.groups()]
        cloud.resize(large.id, has_room(cloud, large, 2) + 2)
        provider.refresh()
        after = [group.id for group in provider.groups()]
        assert after == before, f"groups() showed {before}, and after group {large.id} was resized {after}"

    def test_groups_are_the_same_after_a_restart(self, provider: Provider, restart: Restart) -> None:
        """A new provider shows the same ids of groups in the same order: memory and settings refer to them."""
        before = [group.id for group in provider.groups()]
        after = [group.id for group in restart().groups()]
        assert after == before, f"groups() shows {before}, and after a restart {after}"

    def test_every_machine_is_shown_once(self, provider: Provider) -> None:
        """No machine is shown twice, in one group or in two."""
        ids = [instance.id for group in provider.groups() for instance in group.instances()]
        twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
        assert not twice, f"instances() shows machines more than once: {twice}"

    def test_machines_are_the_same_after_a_restart(self, group: NodeGroup, restart: Restart) -> None:
        """A new provider shows the same ids of machines."""
        before = {instance.id for instance in group.instances()}
        [again] = [each for each in restart().groups() if each.id == group.id]
        after = {instance.id for instance in again.instances()}
        assert after == before, f"instances() shows {sorted(before)}, and after a restart {sorted(after)}"

    @needs(Ability.TRUTH)
    def test_machines_are_named_like_their_nodes(self, cloud: Cloud, provider: Provider) -> None:
        """`Instance.id` is the provider ID of the node that the machine becomes, letter by letter."""
        for group in provider.groups():
            shown = {instance.id for instance in group.instances()}
            missing = sorted({machine_of(node) for node in cloud.nodes(group.id)} - shown)
            assert not missing, f"nodes of group {group.id} have provider IDs {missing}, instances() shows {shown}"

    def test_a_node_belongs_to_the_group_of_its_machine(self, cloud: Cloud, provider: Provider) -> None:
        """`group_of` tells the group of every node whose machine the last refresh has seen."""
        for group in provider.groups():
            for instance in group.instances():
                if instance.state is InstanceState.RUNNING:
                    told = provider.group_of(cloud.node(instance.id))
                    assert told == group.id, f"group_of tells {told!r} for {instance.id}, which is of {group.id}"

    def test_a_node_goes_by_its_provider_id(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """`group_of` is None for a node that shares only its name, or the end of its provider ID, with one of ours."""
        for instance in group.instances():
            node = cloud.node(instance.id)
            double = a_node(node.name, provider_id=f"elsewhere:///{instance.id.rpartition('/')[2]}")
            told = provider.group_of(double)
            assert told is None, (
                f"group_of tells {told!r} for {machine_of(double)} of another cloud, whose node is called {node.name} "
                f"as that of {instance.id}"
            )

    def test_a_node_of_another_cloud_belongs_to_no_group(self, cloud: Cloud, provider: Provider) -> None:
        """`group_of` is None for a node whose provider ID has another cloud's form."""
        node = cloud.foreign_node()
        told = provider.group_of(node)
        assert told is None, f"group_of tells {told!r} for {machine_of(node)}, which is of another cloud"

    def test_a_node_without_a_provider_id_belongs_to_no_group(self, provider: Provider) -> None:
        """`group_of` is None, and no error, for a node that has no provider ID (yet)."""
        told = provider.group_of(a_node("nameless", provider_id=""))
        assert told is None, f"group_of tells {told!r} for a node without provider ID and labels"

    def test_a_machine_that_never_was_belongs_to_no_group(self, cloud: Cloud, provider: Provider) -> None:
        """`group_of` goes by the machines that are there, not by what an id looks like."""
        node = cloud.unknown_node()
        told = provider.group_of(node)
        assert told is None, f"group_of tells {told!r} for {machine_of(node)}, but there is no such machine"

    def test_an_object_that_names_a_group_is_resolved(self, cloud: Cloud, provider: Provider) -> None:
        """`resolve` tells the group of an object that names one in the cloud's own words."""
        references = cloud.references()
        if not references:
            pytest.skip("the cloud under test can't tell which objects name groups")
        for (kind, id_), group in references.items():
            told = provider.resolve(kind, id_)
            assert told == group, f"resolve tells {told!r} for {kind} {id_}, which names group {group}"

    def test_an_object_of_an_unknown_kind_names_no_group(self, provider: Provider) -> None:
        """`resolve` is None for a kind that the provider does not know, even with the id of a group."""
        for group in provider.groups():
            told = provider.resolve("SomethingElse", group.id)
            assert told is None, f"resolve tells {told!r} for an object of a kind that nobody knows"
