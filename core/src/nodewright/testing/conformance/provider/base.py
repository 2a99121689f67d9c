"""What the tests of providers and node groups have in common."""

from collections.abc import Callable, Iterator

import pytest

from nodewright.api import Capability, NodeGroup, Provider
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.suite import Requirement, Suite, Test, requires

#: Makes a provider of the cloud under test that has been refreshed, as after a restart.
Restart = Callable[[], Provider]


def needs(*abilities: Ability) -> Callable[[Test], Test]:
    """Skip a test unless the cloud under test has all *abilities*."""
    return requires(*map(_has, abilities))


def declares(capability: Capability) -> Callable[[Test], Test]:
    """Skip a test unless the provider declares *capability*."""

    def check(request: pytest.FixtureRequest) -> str:
        provider: Provider = request.getfixturevalue("newcomer")
        return "" if capability in provider.capabilities else f"the provider does not declare {capability}"

    return requires(check)


def _has(ability: Ability) -> Requirement:
    def check(request: pytest.FixtureRequest) -> str:
        cloud: Cloud = request.getfixturevalue("cloud")
        return "" if ability in cloud.abilities else f"the cloud under test can't {ability}"

    return check


class ProviderSuite(Suite):
    """Base of the suites for providers: a subclass overrides the fixture ``cloud``."""

    @pytest.fixture
    def cloud(self) -> Iterator[Cloud]:
        """The cloud under test."""
        raise NotImplementedError("override the fixture `cloud`: it yields your Cloud and tidies up after the test")

    @pytest.fixture
    def restart(self, cloud: Cloud) -> Iterator[Restart]:
        """Makes providers that have been refreshed; closes them after the test."""
        born: list[Provider] = []

        def make() -> Provider:
            provider = cloud.provider()
            born.append(provider)
            provider.refresh()
            return provider

        yield make
        for provider in born:
            provider.close()

    @pytest.fixture
    def newcomer(self, cloud: Cloud) -> Iterator[Provider]:
        """A provider that has not read anything yet."""
        provider = cloud.provider()
        yield provider
        provider.close()

    @pytest.fixture
    def provider(self, newcomer: Provider) -> Provider:
        """A provider that has read the cloud once."""
        newcomer.refresh()
        return newcomer

    @pytest.fixture
    def group(self, cloud: Cloud, provider: Provider) -> NodeGroup:
        """The group under test, as that provider has read it."""
        return group_of(provider, cloud.group())


def group_of(provider: Provider, name: str) -> NodeGroup:
    """The group with that id, as of the provider's last refresh; fails the test if it is not there."""
    for group in provider.groups():
        if group.id == name:
            return group
    there = ", ".join(group.id for group in provider.groups()) or "none"
    pytest.fail(f"groups() shows no group {name!r}, which the cloud has; it shows: {there}")


def has_room(group: NodeGroup, count: int) -> NodeGroup:
    """Return *group*; skip the test if it can't grow by *count*."""
    if group.target_size + count > group.max_size:
        pytest.skip(f"group {group.id} has no room for {count} more machines: {group.target_size} of {group.max_size}")
    return group
