"""Faults of the cloud, and the errors that providers must raise for them."""

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence

import pytest

from nodewright.api import (
    AccessDeniedError,
    Capability,
    InstanceState,
    Node,
    NodeGroup,
    NodewrightError,
    Provider,
    TemporaryError,
    ThrottledError,
)
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    facts,
    group_of,
    has_atomic_growth,
    has_room,
    machine_of,
    needs,
    raising,
    reread,
    with_spare,
)
from nodewright.testing.conformance.provider.machines import starved

#: Actions that are rarer than growth and deletion, and what a provider has to declare for them.
_RARE = {
    "decrease_target": None,
    "increase_atomically": Capability.ATOMIC_INCREASE,
    "force_delete_nodes": Capability.FORCE_DELETE,
}


class RefreshFaultConformance(ProviderSuite):
    """Errors of `Provider.refresh`."""

    @needs(Ability.THROTTLE)
    def test_a_refresh_that_is_throttled_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`refresh` raises `ThrottledError` when the cloud asks for fewer calls."""
        cloud.throttle()
        with raising(ThrottledError, "refresh that is throttled"):
            provider.refresh()

    @needs(Ability.DENY)
    def test_a_refresh_that_is_denied_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`refresh` raises `AccessDeniedError` when credentials are missing, expired or lack a right."""
        cloud.deny()
        with raising(AccessDeniedError, "refresh without a right"):
            provider.refresh()

    @needs(Ability.DENY)
    def test_a_first_refresh_that_is_denied_says_so(self, cloud: Cloud, newcomer: Provider) -> None:
        """`refresh` raises `AccessDeniedError` when there were no credentials from the start."""
        cloud.deny()
        with raising(AccessDeniedError, "a first refresh without a right"):
            newcomer.refresh()

    @needs(Ability.DENY)
    def test_a_denial_says_what_is_missing(self, cloud: Cloud, provider: Provider) -> None:
        """The message of an `AccessDeniedError` is not empty."""
        cloud.deny()
        message = _error_of(provider.refresh)
        assert message.strip(), "refresh without a right says nothing: raise AccessDeniedError that names the right"

    @needs(Ability.CUT)
    def test_a_refresh_of_a_cloud_that_is_not_there_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`refresh` raises `TemporaryError`, such as `CloudUnavailableError`, when the cloud does not answer."""
        cloud.cut()
        with raising(TemporaryError, "refresh when the cloud does not answer"):
            provider.refresh()

    @needs(Ability.CUT)
    def test_a_first_refresh_of_a_cloud_that_is_not_there_says_so(self, cloud: Cloud, newcomer: Provider) -> None:
        """`refresh` raises `TemporaryError` when the cloud has never answered: that is no configuration mistake."""
        cloud.cut()
        with raising(TemporaryError, "a first refresh when the cloud does not answer"):
            newcomer.refresh()

    def test_secrets_are_kept(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """Facts, errors with their causes, and the log never show credentials, whatever goes wrong."""
        secrets = cloud.secrets()
        if not secrets:
            pytest.skip("the cloud under test can't tell secrets")
        said = {
            "the group's repr": repr(group),
            "the provider's repr": repr(provider),
            "the facts of groups": repr(facts(provider)),
        }
        log = _Log()
        faults = {Ability.THROTTLE: cloud.throttle, Ability.DENY: cloud.deny, Ability.CUT: cloud.cut}
        with log.open():
            said["the error of refresh"] = _all_errors_of(provider.refresh)
            for ability, begin in faults.items():
                if ability in cloud.abilities:
                    begin()
                    said[f"the error of refresh, if you {ability}"] = _all_errors_of(provider.refresh)
                    if Ability.CHANGE in cloud.abilities:
                        said[f"the error of increase, if you {ability}"] = _all_errors_of(lambda: group.increase(1))
                    cloud.heal()
            if Ability.CHANGE in cloud.abilities:
                said |= _said_of_failures(cloud, provider, group)
        said["the log"] = "\n".join(log.lines)
        leaks = [where for where, text in said.items() if any(secret in text for secret in secrets)]
        assert not leaks, f"a secret of the configuration shows in {', '.join(leaks)}"


@needs(Ability.CHANGE)
class ActionFaultConformance(ProviderSuite):
    """Errors of actions."""

    @needs(Ability.THROTTLE)
    def test_an_order_that_is_throttled_says_so(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` raises `ThrottledError` when the cloud asks for fewer calls."""
        has_room(cloud, group, 1)
        cloud.throttle()
        with raising(ThrottledError, "increase that is throttled"):
            group.increase(1)

    @needs(Ability.THROTTLE)
    def test_an_order_that_is_throttled_is_given_up(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """An order that raised is not sent later: the next loop decides anew."""
        before = has_room(cloud, group, 1)
        cloud.throttle()
        with contextlib.suppress(NodewrightError):
            group.increase(1)
        cloud.heal()
        provider.refresh()
        after = cloud.target(group.id)
        assert after == before, f"increase raised, but later the cloud's target went from {before} to {after}"
        told = group_of(provider, group.id).target_size
        assert told == before, f"increase raised, the cloud is asked for {before}, but target_size is {told}"

    @needs(Ability.DENY)
    def test_an_order_that_is_denied_says_so(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` raises `AccessDeniedError` when credentials are missing, expired or lack a right."""
        has_room(cloud, group, 1)
        cloud.deny()
        with raising(AccessDeniedError, "increase without a right"):
            group.increase(1)

    @needs(Ability.CUT)
    def test_an_order_to_a_cloud_that_is_not_there_says_so(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` raises `TemporaryError`, such as `CloudUnavailableError`, when the cloud does not answer."""
        has_room(cloud, group, 1)
        cloud.cut()
        with raising(TemporaryError, "increase when the cloud does not answer"):
            group.increase(1)

    @needs(Ability.THROTTLE)
    def test_a_deletion_that_is_throttled_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `ThrottledError` when the cloud asks for fewer calls."""
        group, nodes = with_spare(cloud, provider, 1)
        cloud.throttle()
        with raising(ThrottledError, "delete_nodes that is throttled"):
            group.delete_nodes(nodes[:1])

    @needs(Ability.THROTTLE)
    def test_a_deletion_that_is_throttled_can_be_repeated(self, cloud: Cloud, provider: Provider) -> None:
        """The same `delete_nodes` once more deletes the machine: what the cloud refused was not done."""
        group, nodes = _refused_deletion(cloud, provider)
        group.delete_nodes(nodes)
        cloud.settle()
        left = cloud.machines(group.id)
        machine = machine_of(nodes[0])
        assert machine not in left, f"deleting {machine} was throttled, and repeated later; it is still there"

    @needs(Ability.THROTTLE)
    def test_a_machine_that_was_not_deleted_is_running(self, cloud: Cloud, provider: Provider) -> None:
        """A machine that `delete_nodes` raised for is shown as it is, not as it was meant to be."""
        group, nodes = _refused_deletion(cloud, provider)
        states = {each.id: each.state for each in group.instances()}
        told = states.get(machine_of(nodes[0]))
        assert told is InstanceState.RUNNING, (
            f"deleting {machine_of(nodes[0])} was throttled, so that it runs; instances() shows it as {told}"
        )

    @needs(Ability.DENY)
    def test_a_deletion_that_is_denied_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `AccessDeniedError` when credentials are missing, expired or lack a right."""
        group, nodes = with_spare(cloud, provider, 1)
        cloud.deny()
        with raising(AccessDeniedError, "delete_nodes without a right"):
            group.delete_nodes(nodes[:1])

    @needs(Ability.CUT)
    def test_a_deletion_in_a_cloud_that_is_not_there_says_so(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `TemporaryError`, such as `CloudUnavailableError`, when the cloud does not answer."""
        group, nodes = with_spare(cloud, provider, 1)
        cloud.cut()
        with raising(TemporaryError, "delete_nodes when the cloud does not answer"):
            group.delete_nodes(nodes[:1])


@needs(Ability.CHANGE)
class OtherActionFaultConformance(ProviderSuite):
    """Errors of actions that are rarer, by the same rules."""

    @needs(Ability.THROTTLE)
    @pytest.mark.parametrize("action", list(_RARE))
    def test_a_rare_action_that_is_throttled_says_so(self, cloud: Cloud, provider: Provider, action: str) -> None:
        """`decrease_target`, `increase_atomically` and `force_delete_nodes` raise `ThrottledError` as well."""
        act = _rare(action, cloud, provider)
        cloud.throttle()
        with raising(ThrottledError, f"{action} that is throttled"):
            act()

    @needs(Ability.DENY)
    @pytest.mark.parametrize("action", list(_RARE))
    def test_a_rare_action_that_is_denied_says_so(self, cloud: Cloud, provider: Provider, action: str) -> None:
        """`decrease_target`, `increase_atomically` and `force_delete_nodes` raise `AccessDeniedError` as well."""
        act = _rare(action, cloud, provider)
        cloud.deny()
        with raising(AccessDeniedError, f"{action} without a right"):
            act()

    @needs(Ability.CUT)
    @pytest.mark.parametrize("action", list(_RARE))
    def test_a_rare_action_in_a_cloud_that_is_not_there_says_so(
        self, cloud: Cloud, provider: Provider, action: str
    ) -> None:
        """`decrease_target`, `increase_atomically` and `force_delete_nodes` raise `TemporaryError` as well."""
        act = _rare(action, cloud, provider)
        cloud.cut()
        with raising(TemporaryError, f"{action} when the cloud does not answer"):
            act()


def _refused_deletion(cloud: Cloud, provider: Provider) -> tuple[NodeGroup, Sequence[Node]]:
    """The group under test after a deletion that was throttled, and the node that it was about."""
    group, nodes = with_spare(cloud, provider, 1)
    cloud.throttle()
    with contextlib.suppress(NodewrightError):
        group.delete_nodes(nodes[:1])
    cloud.heal()
    return reread(provider, group), nodes[:1]


def _rare(action: str, cloud: Cloud, provider: Provider) -> Callable[[], None]:
    """What does *action* in a way that the cloud would accept; skip the test if the provider or the cloud can't."""
    capability = _RARE[action]
    if capability is not None and capability not in provider.capabilities:
        pytest.skip(f"the provider does not declare {capability}")
    if action == "decrease_target":
        if not cloud.keeps_target:
            pytest.skip("the cloud under test keeps no target: there is nothing that decrease_target asks of it")
        if Ability.STARVE not in cloud.abilities:
            pytest.skip(f"the cloud under test can't {Ability.STARVE}")
        starving, _ = starved(cloud, provider, 1)
        return lambda: starving.decrease_target(1)
    group, nodes = with_spare(cloud, provider, 1)
    if action == "force_delete_nodes":
        return lambda: group.force_delete_nodes(nodes[:1])
    has_room(cloud, group, 1)
    has_atomic_growth(group)
    return lambda: group.increase_atomically(1)


def _said_of_failures(cloud: Cloud, provider: Provider, group: NodeGroup) -> dict[str, str]:
    """What the provider says of an order that is refused and of one that fails later, if the cloud can do that."""
    said: dict[str, str] = {}
    for why in sorted(cloud.refusals)[:1]:
        cloud.refuse(group.id, why)
        said["the error of increase that the cloud refuses"] = _all_errors_of(lambda: group.increase(1))
        cloud.heal()
    for why in sorted(cloud.failures)[:1]:
        cloud.fail(group.id, why)
        with contextlib.suppress(Exception):
            group.increase(1)
            cloud.settle()
            provider.refresh()
        said["the facts of groups with a failed order"] = repr(facts(provider))
        cloud.heal()
    return said


def _error_of(action: Callable[[], None]) -> str:
    """What *action* says when it fails; nothing if it does not, which is for other tests to report."""
    try:
        action()
    except Exception as error:
        return str(error)
    return ""


def _all_errors_of(action: Callable[[], None]) -> str:
    """What *action* says when it fails, with all that this was raised from; nothing if it does not."""
    try:
        action()
    except Exception as error:
        return "\n".join(map(str, _chain(error)))
    return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """All errors in a traceback of *error*, without lines of code: those of a double may contain secrets."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


class _Log(logging.Handler):
    """What the provider writes."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line, and those of the error that it tells of."""
        self.lines.append(record.getMessage())
        if record.exc_info:
            self.lines.extend(map(str, _chain(record.exc_info[1])))

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Keep what is written in the ``with`` block."""
        root = logging.getLogger()
        level = root.level
        root.addHandler(self)
        root.setLevel(logging.INFO)
        try:
            yield
        finally:
            root.removeHandler(self)
            root.setLevel(level)
