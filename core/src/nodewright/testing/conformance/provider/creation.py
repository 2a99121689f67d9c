"""Groups that Nodewright creates by itself."""

import contextlib

import pytest

from nodewright.api import Capability, NodeGroup, NodewrightError, Provider, Taint
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    Restart,
    declares,
    group_of,
    has_room,
    needs,
    raising,
)

_TAINT = Taint(key="conformance", value="yes", effect="NoSchedule")


@declares(Capability.CREATE_GROUPS)
class ProposalConformance(ProviderSuite):
    """`Provider.propose_group`."""

    def test_a_proposed_group_is_not_there_yet(self, cloud: Cloud, provider: Provider) -> None:
        """`exists` is False until `create`, and `groups` does not show it."""
        group = _propose(cloud, provider)
        assert not group.exists, f"group {group.id} was only proposed, but its exists is True"
        ids = [each.id for each in provider.groups()]
        assert group.id not in ids, f"group {group.id} was only proposed, groups() shows {ids}"

    def test_a_proposed_group_shows_what_was_wished_for(self, cloud: Cloud, provider: Provider) -> None:
        """The template of a proposed group has the labels and taints that were asked for."""
        template = _propose(cloud, provider).template()
        assert template is not None, "template() of a proposed group is None"
        labels, taints = dict(template.labels), list(map(str, template.taints))
        assert labels.get("conformance") == "yes", f"label conformance=yes was wished for, the template has {labels}"
        assert str(_TAINT) in taints, f"taint {_TAINT} was wished for, the template has {taints}"

    @needs(Ability.COUNT)
    def test_a_proposal_is_no_call(self, cloud: Cloud, provider: Provider) -> None:
        """A proposal and its template are made from what the last refresh read."""
        before = cloud.calls()
        _propose(cloud, provider).template()
        calls = cloud.calls() - before
        assert not calls, f"proposing a group took {calls} calls of the cloud"


@declares(Capability.CREATE_GROUPS)
@needs(Ability.CREATE_GROUPS)
class CreationConformance(ProviderSuite):
    """`NodeGroup.create` and `NodeGroup.delete`."""

    def test_a_group_is_created(self, cloud: Cloud, provider: Provider) -> None:
        """After `create` and a refresh, `groups` shows a group under the id that was proposed, and it exists."""
        created = _create(cloud, provider)
        assert group_of(provider, created).exists, f"group {created} was created, but its exists is False"

    def test_a_created_group_is_known_as_one(self, cloud: Cloud, provider: Provider, restart: Restart) -> None:
        """`autoprovisioned` is True for a group that Nodewright created, after a restart as well."""
        created = _create(cloud, provider)
        assert group_of(restart(), created).autoprovisioned, f"group {created} is not autoprovisioned after a restart"

    @needs(Ability.ADD_GROUP)
    def test_a_group_of_somebody_else_is_not_taken_for_a_created_one(self, cloud: Cloud, provider: Provider) -> None:
        """`autoprovisioned` is False for a group that Nodewright did not create: it would be deleted when empty."""
        added = cloud.add_group()
        provider.refresh()
        wrong = [group.id for group in provider.groups() if group.id == added and group.autoprovisioned]
        assert not wrong, f"somebody else made group {added}, but its autoprovisioned is True"

    def test_an_empty_group_is_deleted(self, cloud: Cloud, provider: Provider) -> None:
        """`delete` removes an empty group that Nodewright created."""
        created = _create(cloud, provider)
        group_of(provider, created).delete()
        provider.refresh()
        ids = [group.id for group in provider.groups()]
        assert created not in ids, f"group {created} was deleted, after a refresh groups() shows {ids}"

    def test_a_group_with_machines_is_not_deleted(self, cloud: Cloud, provider: Provider) -> None:
        """`delete` raises for a group that is asked for machines, and leaves it alone."""
        created = _create(cloud, provider)
        group = group_of(provider, created)
        has_room(cloud, group, 1)
        group.increase(1)
        cloud.settle()
        provider.refresh()
        with contextlib.suppress(NodewrightError):
            group_of(provider, created).delete()
        provider.refresh()
        ids = [group.id for group in provider.groups()]
        assert created in ids, f"group {created} had a machine and was deleted"

    def test_a_group_of_somebody_else_is_not_deleted(self, group: NodeGroup) -> None:
        """`delete` raises for a group that Nodewright did not create."""
        if group.autoprovisioned:
            pytest.skip(f"group {group.id} was created by Nodewright")
        with raising(NodewrightError, "delete of a group that somebody else made"):
            group.delete()


def _propose(cloud: Cloud, provider: Provider) -> NodeGroup:
    return provider.propose_group(
        cloud.machine_type(provider), labels={"conformance": "yes"}, taints=[_TAINT], resources={}
    )


def _create(cloud: Cloud, provider: Provider) -> str:
    group = _propose(cloud, provider)
    group.create()
    provider.refresh()
    return group.id
