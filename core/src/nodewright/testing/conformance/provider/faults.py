"""What comes of a cloud that refuses to answer."""

import contextlib
from collections.abc import Callable

import pytest

from nodewright.api import AccessDeniedError, NodeGroup, NodewrightError, Provider, TemporaryError, ThrottledError
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import ProviderSuite, has_room, needs, with_spare


class RefreshFaultConformance(ProviderSuite):
    """Errors of `Provider.refresh`."""

    @needs(Ability.THROTTLE)
    def test_a_refresh_that_is_throttled_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`refresh` raises `ThrottledError` when the cloud asks for fewer calls."""
        cloud.throttle()
        with pytest.raises(ThrottledError):
            provider.refresh()

    @needs(Ability.DENY)
    def test_a_refresh_that_is_denied_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`refresh` raises `AccessDeniedError` when credentials are missing, expired or lack a right."""
        cloud.deny()
        with pytest.raises(AccessDeniedError):
            provider.refresh()

    @needs(Ability.DENY)
    def test_a_denial_says_what_is_missing(self, cloud: Cloud, provider: Provider) -> None:
        """The message of an `AccessDeniedError` tells people something."""
        cloud.deny()
        message = _error_of(provider.refresh)
        assert message.strip(), "the AccessDeniedError of refresh has no message: name the right that is missing"

    @needs(Ability.CUT)
    def test_a_refresh_of_a_cloud_that_is_not_there_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`refresh` raises `TemporaryError`, such as `CloudUnavailableError`, when nobody answers."""
        cloud.cut()
        with pytest.raises(TemporaryError):
            provider.refresh()

    @needs(Ability.DENY)
    def test_secrets_are_kept(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """Descriptions and errors show nothing of the provider's credentials."""
        secrets = cloud.secrets()
        if not secrets:
            pytest.skip("the cloud under test can't tell secrets")
        said = [group.describe(), repr(group), repr(provider)]
        cloud.deny()
        said.append(_error_of(provider.refresh))
        leaks = [text for text in said if any(secret in text for secret in secrets)]
        assert not leaks, f"a secret of the configuration shows in {len(leaks)} of description, repr and error"


@needs(Ability.CHANGE)
class ActionFaultConformance(ProviderSuite):
    """Errors of actions."""

    @needs(Ability.THROTTLE)
    def test_an_order_that_is_throttled_says_so(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` raises `ThrottledError` when the cloud asks for fewer calls."""
        has_room(cloud, group, 1)
        cloud.throttle()
        with pytest.raises(ThrottledError):
            group.increase(1)

    @needs(Ability.THROTTLE)
    def test_an_order_that_is_throttled_is_given_up(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """An order that raised is not given later: the next loop decides anew."""
        before = has_room(cloud, group, 1)
        cloud.throttle()
        with contextlib.suppress(NodewrightError):
            group.increase(1)
        cloud.heal()
        provider.refresh()
        after = cloud.target(group.id)
        assert after == before, f"increase raised, but later the cloud's target went from {before} to {after}"

    @needs(Ability.DENY)
    def test_an_order_that_is_denied_says_so(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` raises `AccessDeniedError` when credentials are missing, expired or lack a right."""
        has_room(cloud, group, 1)
        cloud.deny()
        with pytest.raises(AccessDeniedError):
            group.increase(1)

    @needs(Ability.CUT)
    def test_an_order_to_a_cloud_that_is_not_there_says_so(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` raises `TemporaryError`, such as `CloudUnavailableError`, when nobody answers."""
        has_room(cloud, group, 1)
        cloud.cut()
        with pytest.raises(TemporaryError):
            group.increase(1)

    @needs(Ability.THROTTLE)
    def test_a_deletion_that_is_throttled_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `ThrottledError` when the cloud asks for fewer calls."""
        group, nodes = with_spare(cloud, provider, 1)
        cloud.throttle()
        with pytest.raises(ThrottledError):
            group.delete_nodes(nodes[:1])

    @needs(Ability.DENY)
    def test_a_deletion_that_is_denied_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `AccessDeniedError` when credentials are missing, expired or lack a right."""
        group, nodes = with_spare(cloud, provider, 1)
        cloud.deny()
        with pytest.raises(AccessDeniedError):
            group.delete_nodes(nodes[:1])

    @needs(Ability.CUT)
    def test_a_deletion_in_a_cloud_that_is_not_there_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `TemporaryError`, such as `CloudUnavailableError`, when nobody answers."""
        group, nodes = with_spare(cloud, provider, 1)
        cloud.cut()
        with pytest.raises(TemporaryError):
            group.delete_nodes(nodes[:1])


def _error_of(action: Callable[[], None]) -> str:
    try:
        action()
    except Exception as error:
        return str(error)
    pytest.fail("refresh raised nothing, though all rights were taken away")
