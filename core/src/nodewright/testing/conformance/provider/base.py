"""The base of the suites for providers: fixtures, requirements and steps that they share."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pytest

from nodewright.api import (
    Capability,
    GroupFacts,
    GroupOptions,
    Node,
    NodeGroup,
    NodeTemplate,
    NodewrightError,
    Provider,
)
from nodewright.testing.builders import a_node
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.suite import Suite, Test, requires
from nodewright.testing.conformance.time_limit import time_limit

#: More machines than come on one page of anything, so that it shows whether pages are read.
CROWD = 150

#: Makes a provider of the cloud under test that has been refreshed, as after a restart.
Restart = Callable[[], Provider]
Error = TypeVar("Error", bound=NodewrightError)


def needs(*abilities: Ability) -> Callable[[Test], Test]:
    """Skip a test unless the cloud under test has all *abilities*."""
    return requires(*map(Can, abilities))


def declares(capability: Capability) -> Callable[[Test], Test]:
    """Skip a test unless the provider declares *capability*."""
    return requires(Declares(capability))


@dataclass(frozen=True)
class Can:
    """The cloud under test has an ability."""

    ability: Ability

    def __call__(self, request: pytest.FixtureRequest) -> str:
        """Say that it has not."""
        cloud: Cloud = request.getfixturevalue("cloud")
        return "" if self.ability in cloud.abilities else f"the cloud under test can't {self.ability}"

    def __str__(self) -> str:
        return f"Ability.{self.ability.name}"


@dataclass(frozen=True)
class Declares:
    """The provider declares a capability."""

    capability: Capability

    def __call__(self, request: pytest.FixtureRequest) -> str:
        """Say that it does not."""
        provider: Provider = request.getfixturevalue("newcomer")
        declared = self.capability in provider.capabilities
        return "" if declared else f"the provider does not declare {self.capability}"

    def __str__(self) -> str:
        return f"Capability.{self.capability.name}"


@dataclass(frozen=True)
class KeepsTarget:
    """The cloud keeps the target itself, or it does not."""

    keeps: bool

    def __call__(self, request: pytest.FixtureRequest) -> str:
        """Say that it is otherwise, and which rules hold instead."""
        cloud: Cloud = request.getfixturevalue("cloud")
        if cloud.keeps_target is self.keeps:
            return ""
        if self.keeps:
            return "the cloud under test keeps no target: the rules of TargetlessConformance hold instead"
        return "the cloud under test keeps a target of its own"

    def __str__(self) -> str:
        return f"Cloud.keeps_target is {self.keeps}"


@dataclass(frozen=True)
class CanKeepWaiting:
    """The cloud can keep orders waiting: those without a machine, or machines in creation if it keeps no target."""

    def __call__(self, request: pytest.FixtureRequest) -> str:
        """Say that it can't."""
        cloud: Cloud = request.getfixturevalue("cloud")
        needed = Ability.STARVE if cloud.keeps_target else Ability.HOLD
        return "" if needed in cloud.abilities else f"the cloud under test can't {needed}"

    def __str__(self) -> str:
        return f"Ability.{Ability.STARVE.name}, or Ability.{Ability.HOLD.name} without Cloud.keeps_target"


class ProviderSuite(Suite):
    """Base of the suites for providers: a subclass overrides the fixture ``cloud``."""

    @pytest.fixture
    def cloud(self) -> Iterator[Cloud]:
        """The cloud under test."""
        raise NotImplementedError("override the fixture `cloud`: it yields your Cloud and tidies up after the test")

    @pytest.fixture(autouse=True)
    def _ends(self, cloud: Cloud, request: pytest.FixtureRequest) -> Iterator[None]:
        """Give up tests that do not end, and after some of these the rest."""
        advice = (
            "(`Cloud.longest`): the provider waits for something that does not come, in the line where this was "
            "raised; give every call of the cloud a deadline"
        )
        with time_limit(cloud.longest, request.config.stash, advice):
            yield

    @pytest.fixture
    def restart(self, cloud: Cloud, _ends: None) -> Iterator[Restart]:
        """Makes providers that have been refreshed; closes them after the test."""
        born: list[Provider] = []

        def make() -> Provider:
            provider = cloud.provider()
            born.append(provider)
            provider.refresh()
            return provider

        yield make
        for provider in born:
            close_quietly(provider)

    @pytest.fixture
    def newcomer(self, cloud: Cloud, _ends: None) -> Iterator[Provider]:
        """A provider that has not read anything yet."""
        provider = cloud.provider()
        yield provider
        close_quietly(provider)

    @pytest.fixture
    def provider(self, newcomer: Provider) -> Provider:
        """A provider that has read the cloud once."""
        newcomer.refresh()
        return newcomer

    @pytest.fixture
    def group(self, cloud: Cloud, provider: Provider) -> NodeGroup:
        """The group under test, as that provider has read it."""
        return group_of(provider, cloud.group())


@contextlib.contextmanager
def raising(error: type[Error], action: str) -> Iterator[list[Error]]:
    """Fail the test unless *action*, which is what is done inside, raises *error*; it is then in the list."""
    raised: list[Error] = []
    try:
        yield raised
    except error as expected:
        raised.append(expected)
        return
    except Exception as other:
        pytest.fail(f"{action} raised {other!r}: let it raise {error.__name__}")
    pytest.fail(f"{action} raised nothing: let it raise {error.__name__}")


def close_quietly(provider: Provider) -> None:
    """Close a provider; whether that works has tests of its own."""
    with contextlib.suppress(Exception):
        provider.close()


def group_of(provider: Provider, name: str) -> NodeGroup:
    """The group with that id, as of the provider's last refresh; fails the test if it is not there."""
    for group in provider.groups():
        if group.id == name:
            return group
    there = ", ".join(group.id for group in provider.groups()) or "none"
    pytest.fail(f"groups() shows no group {name!r}, which the cloud has; it shows: {there}")


def reread(provider: Provider, group: NodeGroup) -> NodeGroup:
    """The same group after another refresh."""
    provider.refresh()
    return group_of(provider, group.id)


def has_room(cloud: Cloud, group: NodeGroup, count: int) -> int:
    """Return what the cloud is asked for; skip the test if the group can't grow by *count*."""
    size = cloud.target(group.id)
    if size + count > group.max_size:
        pytest.skip(f"group {group.id} has no room for {count} more machines: {size} of {group.max_size}")
    return size


def has_atomic_growth(group: NodeGroup) -> None:
    """Skip the test if the group does not grow atomically, though others of its provider do."""
    if not group.atomic:
        pytest.skip(f"group {group.id} can't grow atomically: `atomic` is False")


def with_spare(cloud: Cloud, provider: Provider, count: int) -> tuple[NodeGroup, Sequence[Node]]:
    """The group under test with *count* machines more than its minimum, or more, at rest; and its nodes."""
    group = group_of(provider, cloud.group())
    missing = group.min_size + count - cloud.target(group.id)
    if missing > 0:
        size = has_room(cloud, group, missing)
        if Ability.RESIZE in cloud.abilities:
            cloud.resize(group.id, size + missing)
        else:
            group.increase(missing)
            cloud.settle()
        group = reread(provider, group)
    return group, cloud.nodes(group.id)


def at_minimum(cloud: Cloud, provider: Provider) -> tuple[NodeGroup, Sequence[Node]]:
    """The group under test with as few machines as it may have, at rest, but at least one; and its nodes."""
    group = group_of(provider, cloud.group())
    if group.min_size < 1:
        pytest.skip(f"group {group.id} has no minimum that deletions could pass: give it one of 1 or more")
    if cloud.target(group.id) > group.min_size:
        if Ability.RESIZE not in cloud.abilities:
            pytest.skip(f"group {group.id} has more machines than its minimum, and the cloud can't {Ability.RESIZE}")
        cloud.resize(group.id, group.min_size)
        group = reread(provider, group)
    return group, cloud.nodes(group.id)


def unregistered(instance: str) -> Node:
    """The node that the core passes for a machine that never became one: only its id is known."""
    return a_node(instance, provider_id=instance)


def machine_of(node: Node) -> str:
    """The id of a node's machine."""
    return node.spec.provider_id


def facts(provider: Provider) -> list[GroupFacts]:
    """The facts of all groups of a provider, as the core reads them."""
    from_zero = Capability.SCALE_FROM_ZERO in provider.capabilities
    return [_facts_of(group, from_zero=from_zero) for group in provider.groups()]


def template_of(group: NodeGroup) -> NodeTemplate | None:
    """The group's template, if it has one; None also if it raises, as such a group does not affect others."""
    with contextlib.suppress(NodewrightError):
        return group.template()
    return None


def _facts_of(group: NodeGroup, *, from_zero: bool) -> GroupFacts:
    """The facts of a group. If one raises, the core leaves the group alone with the error; so does this."""
    try:
        return GroupFacts(
            id=group.id,
            provider="",
            min_size=group.min_size,
            max_size=group.max_size,
            target_size=group.target_size,
            instances=tuple(group.instances()),
            template=group.template() if from_zero else None,
            options=group.options(GroupOptions()),
            pools=tuple(group.pools()),
            quotas=group.quotas(),
            available=group.available(),
            errors=tuple(group.errors()),
            pause=group.pause(),
            atomic=group.atomic,
        )
    except NodewrightError as error:
        return GroupFacts(id=group.id, provider="", min_size=0, max_size=0, target_size=0, error=str(error))
