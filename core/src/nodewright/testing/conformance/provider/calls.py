"""Calls: when a provider calls its cloud, and how often."""

import contextlib
import threading
import time
from datetime import timedelta

import pytest

from nodewright.api import Provider
from nodewright.testing.clock import EPOCH
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    CROWD,
    ProviderSuite,
    Restart,
    close_quietly,
    facts,
    needs,
    template_of,
)

#: How many more calls a refresh may take with a crowd of machines: for pages, and for questions once per group.
_PAGES = 15
#: How many providers are made and closed. A thread that all of them share does not count as left over.
_LIVES = 3
#: Seconds that threads get to end.
_MOMENT = 1.0


@needs(Ability.COUNT)
class CallsConformance(ProviderSuite):
    """The cloud is called in `Provider.refresh` and in actions, and nowhere else."""

    def test_a_provider_is_made_without_a_call(self, cloud: Cloud) -> None:
        """A provider does not call the cloud before its first refresh."""
        before = cloud.calls()
        provider = cloud.provider()
        calls = cloud.calls() - before
        close_quietly(provider)
        assert not calls, f"making a provider took {calls} calls of the cloud"

    def test_facts_of_groups_are_no_calls(self, cloud: Cloud, provider: Provider) -> None:
        """Facts of groups are answered from what the last refresh read."""
        before = cloud.calls()
        facts(provider)
        calls = cloud.calls() - before
        assert not calls, f"asking for the facts of all groups took {calls} calls of the cloud"

    def test_facts_of_nodes_are_no_calls(self, cloud: Cloud, provider: Provider) -> None:
        """`group_of` is answered from what the last refresh read, for known nodes and others."""
        nodes = [*cloud.nodes(cloud.group()), cloud.unknown_node(), cloud.foreign_node()]
        before = cloud.calls()
        for node in nodes:
            provider.group_of(node)
        calls = cloud.calls() - before
        assert not calls, f"asking where {len(nodes)} nodes belong took {calls} calls of the cloud"

    def test_facts_of_the_cloud_are_no_calls(self, cloud: Cloud, provider: Provider) -> None:
        """Prices, limits and GPUs are answered from what the last refresh read."""
        before = cloud.calls()
        pricing = provider.pricing()
        for group in provider.groups():
            template = template_of(group)
            if pricing is not None and template is not None:
                pricing.node_price(template, EPOCH, EPOCH + timedelta(hours=1))
        provider.resource_limits()
        provider.gpu_config({provider.gpu_label or "gpu": "any"})
        calls = cloud.calls() - before
        assert not calls, f"asking for prices, limits and GPUs took {calls} calls of the cloud"

    @needs(Ability.POPULATE)
    def test_a_refresh_does_not_call_for_every_machine(self, cloud: Cloud, provider: Provider) -> None:
        """What a refresh costs in calls grows with pages and groups, not with machines."""
        few = _calls_of_refresh(cloud, provider)
        cloud.populate(CROWD)
        provider.refresh()
        many = _calls_of_refresh(cloud, provider)
        assert many <= few + _PAGES, f"a refresh takes {few} calls, with {CROWD} machines more {many}"


class ClosingConformance(ProviderSuite):
    """`Provider.close`."""

    def test_closing_twice_is_no_error(self, cloud: Cloud) -> None:
        """`close` of a provider that is closed already does nothing."""
        provider = cloud.provider()
        provider.refresh()
        provider.close()
        try:
            provider.close()
        except Exception as error:
            pytest.fail(f"the second close raised {error!r}")

    def test_closing_one_leaves_others_alone(self, provider: Provider, restart: Restart) -> None:
        """After a change of configuration the old provider is closed while the new one is at work."""
        close_quietly(restart())
        try:
            provider.refresh()
        except Exception as error:
            pytest.fail(f"another provider of this cloud was closed, and refresh raised {error!r}")

    def test_a_provider_that_never_read_can_be_closed(self, cloud: Cloud) -> None:
        """`close` works before the first refresh: the configuration may change before that."""
        provider = cloud.provider()
        try:
            provider.close()
        except Exception as error:
            pytest.fail(f"close before the first refresh raised {error!r}")

    def test_a_closed_provider_leaves_no_threads(self, cloud: Cloud) -> None:
        """`close` ends all threads of the provider: each change of configuration makes a new provider."""
        _live_and_close(cloud)
        before = set(threading.enumerate())
        for _ in range(_LIVES):
            _live_and_close(cloud)
        left = [thread for thread in threading.enumerate() if thread not in before]
        deadline = time.monotonic() + min(cloud.patience, _MOMENT)
        for thread in left:
            thread.join(max(0.0, deadline - time.monotonic()))
        left = [thread for thread in left if thread.is_alive()]
        assert len(left) < _LIVES, (
            f"{_LIVES} providers were made, refreshed and closed; these threads are left: "
            f"{', '.join(thread.name for thread in left)}"
        )


def _live_and_close(cloud: Cloud) -> None:
    provider = cloud.provider()
    with contextlib.suppress(Exception):
        provider.refresh()
    close_quietly(provider)


def _calls_of_refresh(cloud: Cloud, provider: Provider) -> int:
    before = cloud.calls()
    provider.refresh()
    return cloud.calls() - before
