"""The providers of a configuration: read at the start of each loop."""

import logging
import re
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field, replace
from datetime import timedelta
from operator import methodcaller

from nodewright.api.clock import Clock
from nodewright.api.errors import GroupNotFoundError, NodewrightError, PluginError, ThrottledError
from nodewright.api.group import GroupFacts, GroupOptions, NodeGroup
from nodewright.api.pricing import PricingModel
from nodewright.api.provider import GpuConfig, Provider, ResourceLimits
from nodewright.objects import Node
from nodewright.plugins.error_text import describe, text_of
from nodewright.plugins.facts import ProviderFacts, group_facts, limits_of, provider_facts
from nodewright.plugins.faults import Faults
from nodewright.plugins.isolation import foresee
from nodewright.plugins.pricing import GuardedPricing, layered
from nodewright.plugins.results import instance_of, optional
from nodewright.runtime.pace import Pace

_GROUP_ID = optional(instance_of(str))
_GPU_CONFIG = optional(instance_of(GpuConfig))

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ProviderReport:
    """What all providers reported in one loop."""

    groups: tuple[GroupFacts, ...]
    group_of: Mapping[str, str]
    #: GPUs by the name of the node that has them.
    gpus: Mapping[str, GpuConfig]
    #: GPUs of new nodes by the id of their group.
    group_gpus: Mapping[str, GpuConfig]
    resource_limits: Mapping[str, ResourceLimits]
    balancing_ignored_labels: Mapping[str, frozenset[str]]
    pricing: Mapping[str, PricingModel]
    #: What went wrong, by the name of each provider that could not be read.
    unreadable: Mapping[str, str] = field(default_factory=dict)
    #: Ids of groups whose provider answered a request of an earlier loop.
    outdated: frozenset[str] = frozenset()


@dataclass(kw_only=True)
class _ProviderState:
    """One provider, its thread, and what it reported last."""

    name: str
    provider: Provider
    thread: ThreadPoolExecutor
    refresh: "Future[None] | None" = None
    #: Whether this refresh has missed its deadline.
    late: bool = False
    #: What was wrong in the last loop.
    trouble: str = ""
    #: What its cloud said when it asked for fewer calls than this refresh.
    refusal: str = ""
    said: ProviderFacts = field(default_factory=ProviderFacts)
    facts: tuple[GroupFacts, ...] = ()
    pricing: PricingModel | None = None
    #: Group by the identity of a node that was asked about already.
    known_nodes: dict[tuple[str, str], str | None] = field(default_factory=dict)


class Providers:
    """Reads all providers at the start of a loop, each on its own thread.

    The groups of a provider that fails, or does not answer in time, stay as they were and are marked with the error, so
    that decisions leave them alone. So do those of a provider whose cloud asked for fewer calls, and it is not read
    before the time that the cloud named. For the loop's thread; any thread may call the methods that take the id of a
    group.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider],
        clock: Clock,
        faults: Faults,
        prices: Sequence[PricingModel] = (),
    ) -> None:
        self._clock = clock
        self._faults = faults
        self._prices = prices
        #: When clouds that asked for fewer calls may be asked again.
        self.pace = Pace(clock, faults)
        self._states = [_state(name, provider) for name, provider in providers.items()]

    @property
    def any_readable(self) -> bool:
        """Whether at least one provider could be read the last time, or waits because its cloud asked for that."""
        return not all(state.trouble and not state.refusal for state in self._states)

    def read(self, nodes: Mapping[str, Node], defaults: GroupOptions, timeout: timedelta) -> ProviderReport:
        """Refresh all providers, each within *timeout*, and return what they report about groups and *nodes*."""
        late = [state for state in self._states if state.refresh is not None]
        for state in self._states:
            if state.refresh is None and self.pace.until(state.name) is None:
                state.refresh = state.thread.submit(self._refresh, state, defaults)
        groups: dict[str, GroupFacts] = {}
        group_of: dict[str, str] = {}
        gpus: dict[str, GpuConfig] = {}
        group_gpus: dict[str, GpuConfig] = {}
        for state in self._states:
            error = self._await(state, timeout)
            facts = tuple(replace(known, error=error) for known in state.facts) if error else state.facts
            for each in facts:
                if each.id in groups:
                    self._faults.note(state.name, "groups", _taken(each, groups[each.id]))
                else:
                    groups[each.id] = each
            unknown = [node for node in nodes.values() if state.known_nodes.get(_identity(node)) is None]
            foresee(state.provider, unknown, [node.metadata.labels for node in nodes.values()], readable=not error)
            own = {each.id for each in facts if groups[each.id].provider == state.name}
            self._assign(state, nodes, own, group_of)
            self._ask_for_gpus(state, {name: node.metadata.labels for name, node in nodes.items()}, gpus)
            templates = {each.id: each.template.labels for each in facts if each.template is not None}
            self._ask_for_gpus(state, templates, group_gpus)
        return ProviderReport(
            groups=tuple(groups.values()),
            group_of=group_of,
            gpus=gpus,
            group_gpus=group_gpus,
            resource_limits={state.name: state.said.limits for state in self._states},
            balancing_ignored_labels={state.name: state.said.balancing_ignored_labels for state in self._states},
            pricing={state.name: state.pricing for state in self._states if state.pricing is not None},
            unreadable={state.name: state.trouble for state in self._states if state.trouble},
            outdated=frozenset(each.id for state in late for each in state.facts),
        )

    def add(self, name: str, provider: Provider) -> None:
        """Add a provider that could not be made before."""
        self._states.append(_state(name, provider))

    def resize(self, changes: Mapping[str, int]) -> None:
        """Note by how many nodes groups have grown or shrunk. That counts until their provider is read again."""
        for state in self._states:
            state.facts = tuple(
                facts.grown(changes[facts.id]) if facts.id in changes else facts for facts in state.facts
            )

    def group(self, group_id: str) -> NodeGroup:
        """Return the group to act on; raises `GroupNotFoundError`."""
        return self._state_of(group_id).said.groups[group_id]

    def name_of(self, group_id: str) -> str:
        """Return the name of a group's provider; raises `GroupNotFoundError`."""
        return self._state_of(group_id).name

    def can_increase_atomically(self, group_id: str) -> bool:
        """Return whether `NodeGroup.increase_atomically` may be called; raises `GroupNotFoundError`."""
        return any(facts.id == group_id and facts.atomic for facts in self._state_of(group_id).facts)

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """Return the group that an object names in a cloud's own words; None if it is none that a provider has."""
        for state in self._states:
            ask = methodcaller("resolve", kind, id)
            returns = _one_of(state.said.groups)
            group = self._faults.call(state.name, "resolve", ask, state.provider, default=None, returns=returns)
            if group is not None:
                return group
        return None

    def close(self) -> None:
        """Close all providers. Does not wait for refreshes under way."""
        for state in self._states:
            state.thread.shutdown(wait=False, cancel_futures=True)
            self._faults.call(state.name, "close", methodcaller("close"), state.provider, default=None)

    def _state_of(self, group_id: str) -> _ProviderState:
        for state in self._states:
            if group_id in state.said.groups:
                return state
        raise GroupNotFoundError(f"no provider has a group {group_id!r} any more")

    def _refresh(self, state: _ProviderState, defaults: GroupOptions) -> None:
        with self._faults.calling(state.name, "refresh"):
            state.provider.refresh()
            said = provider_facts(state.provider)
        own = None if said.pricing is None else GuardedPricing(state.name, said.pricing, self._faults)
        pricing = layered([*self._prices, own])
        now = self._clock.now()
        before = {facts.id: facts for facts in state.facts}
        facts = []
        for name in said.groups:
            read = self._facts(state.name, name, said, defaults, before.get(name))
            if pricing is not None and read.template is not None and not read.error:
                price = pricing.node_price(read.template, now, now + timedelta(hours=1))
                read = replace(read, hourly_price=price)
            facts.append(read)
        state.said, state.facts, state.pricing = said, tuple(facts), pricing

    def _facts(
        self, provider: str, name: str, said: ProviderFacts, defaults: GroupOptions, before: GroupFacts | None
    ) -> GroupFacts:
        """Return what a group says of itself. If that can't be used, it stays as it was *before*, with the error.

        Of one that could not be read before either, the limits are kept: people are told of them.
        """
        try:
            with self._faults.calling(provider, f"group {name}"):
                return group_facts(provider, name, said, defaults, before)
        except Exception as error:
            self._faults.note(provider, f"group {name}", error)
            return replace(before or _unread(provider, name, said), error=text_of(error) or type(error).__name__)

    def _await(self, state: _ProviderState, timeout: timedelta) -> str:
        """Wait for a refresh and return what went wrong, empty if nothing did. The next loop asks for a late one.

        If the cloud asked for fewer calls, return until when it is not asked.
        """
        if state.refresh is None:
            return self._trouble(state, self._respite(state))
        error = state.refusal = ""
        try:
            # A refresh that was late once holds up no second loop.
            state.refresh.result(0 if state.late else timeout.total_seconds())
        except ThrottledError as failure:
            state.refusal = describe(failure)
            self.pace.refused(state.name, failure)
            error = self._respite(state)
        except NodewrightError as failure:
            error = text_of(failure) or type(failure).__name__
        except Exception as failure:
            # The refresh may also have ended with a timeout of its own.
            if isinstance(failure, FutureTimeoutError) and not state.refresh.done():
                state.late = True
                return self._trouble(state, f"no answer within {timeout.total_seconds():.0f} s")
            self._faults.note(state.name, "refresh", failure)
            error = f"{type(failure).__name__}: {text_of(failure)}"
        state.refresh, state.late = None, False
        return self._trouble(state, error)

    def _respite(self, state: _ProviderState) -> str:
        """Return until when the provider is left alone, in words."""
        until = self.pace.until(state.name)
        when = "with the next loop" if until is None else f"at {until:%H:%M:%S}"
        said = f" ({state.refusal})" if state.refusal else ""
        return f"{state.name} asked for fewer calls{said}: asked again {when}"

    def _trouble(self, state: _ProviderState, error: str) -> str:
        """Log what is wrong with a provider when that changes, but for numbers and times in it; return *error*."""
        if error and _wordless(error) != _wordless(state.trouble):
            _log.warning("provider %s could not be read, its groups are left alone: %s", state.name, error)
        elif state.trouble and not error:
            _log.info("provider %s can be read again", state.name)
        state.trouble = error
        return error

    def _assign(
        self, state: _ProviderState, nodes: Mapping[str, Node], own: Container[str], group_of: dict[str, str]
    ) -> None:
        """Add the nodes of the provider's *own* groups to *group_of*."""
        returns = _GROUP_ID if state.trouble else _one_of(state.said.groups)
        known: dict[tuple[str, str], str | None] = {}
        for name, node in nodes.items():
            key = _identity(node)
            # Ask again about a node without a group: its group may be discovered later than the node.
            group = state.known_nodes.get(key) or self._faults.call(
                state.name, "group_of", methodcaller("group_of", node), state.provider, default=None, returns=returns
            )
            known[key] = group
            if group is not None and group in own:
                group_of.setdefault(name, group)
        state.known_nodes = known

    def _ask_for_gpus(
        self, state: _ProviderState, labels: Mapping[str, Mapping[str, str]], gpus: dict[str, GpuConfig]
    ) -> None:
        """Add to *gpus* the GPUs that the provider knows by *labels*; both are by the name of a node or a group."""
        label = state.said.gpu_label
        for name, shown in labels.items():
            if label and label in shown and name not in gpus:
                gpu = self._faults.call(
                    state.name,
                    "gpu_config",
                    methodcaller("gpu_config", shown),
                    state.provider,
                    default=None,
                    returns=_GPU_CONFIG,
                )
                if gpu is not None:
                    gpus[name] = gpu


def _state(name: str, provider: Provider) -> _ProviderState:
    return _ProviderState(name=name, provider=provider, thread=ThreadPoolExecutor(1, f"provider-{name}"))


def _unread(provider: str, name: str, said: ProviderFacts) -> GroupFacts:
    """Return what is known of a group that could never be read: its limits, if it tells them."""
    low, high = limits_of(said.groups[name])
    return GroupFacts(id=name, provider=provider, min_size=low, max_size=high, target_size=0)


def _one_of(groups: Container[str]) -> Callable[[object], str | None]:
    def check(result: object) -> str | None:
        group = _GROUP_ID(result)
        if group is not None and group not in groups:
            raise TypeError(f"returned {group!r}, which is none of its groups")
        return group

    return check


def _identity(node: Node) -> tuple[str, str]:
    return node.metadata.uid, node.spec.provider_id


def _wordless(text: str) -> str:
    return re.sub(r"\d+", "", text)


def _taken(group: GroupFacts, other: GroupFacts) -> PluginError:
    message = f"its group {group.id!r} is left out: provider {other.provider} has a group of that name"
    return PluginError(group.provider, message)
