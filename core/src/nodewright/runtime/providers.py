"""The providers of a configuration, and what they say in each loop."""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nodewright.api.clock import Clock
from nodewright.api.errors import GroupNotFoundError, NodewrightError, PluginError
from nodewright.api.group import GroupFacts, GroupOptions, NodeGroup
from nodewright.api.pricing import PricingModel
from nodewright.api.provider import Capability, GpuConfig, Provider, ResourceLimits
from nodewright.objects import Node
from nodewright.plugins.faults import Faults
from nodewright.plugins.pricing import layered
from nodewright.plugins.results import instance_of, optional

_GROUP_ID = optional(instance_of(str))
_GPU_CONFIG = optional(instance_of(GpuConfig))

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ProviderReport:
    """What all providers said in one loop."""

    groups: tuple[GroupFacts, ...]
    group_of: Mapping[str, str]
    #: GPUs by the name of the node that has them.
    gpus: Mapping[str, GpuConfig]
    #: GPUs of new nodes by the id of their group.
    group_gpus: Mapping[str, GpuConfig]
    resource_limits: Mapping[str, ResourceLimits]
    balancing_ignored_labels: Mapping[str, frozenset[str]]
    pricing: Mapping[str, PricingModel]
    #: Groups of providers whose answer was asked for in an earlier loop, by id.
    outdated: frozenset[str] = frozenset()


@dataclass(kw_only=True)
class _Seat:
    """One provider, its own thread, and what it said last."""

    name: str
    provider: Provider
    thread: ThreadPoolExecutor
    refresh: "Future[None] | None" = None
    #: Whether that refresh has missed its deadline.
    late: bool = False
    #: What was wrong in the last loop.
    trouble: str = ""
    groups: dict[str, NodeGroup] = field(default_factory=dict)
    facts: tuple[GroupFacts, ...] = ()
    pricing: PricingModel | None = None
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    #: Group by the identity of a node that was asked about already.
    known_nodes: dict[tuple[str, str], str | None] = field(default_factory=dict)


class Providers:
    """Reads all providers at the start of a loop, each on its own thread.

    A provider that fails, or does not answer in time, keeps its groups as they were, marked with the error: decisions
    leave them alone. Methods are for the loop's thread; any thread may call those that take the id of a group.
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
        self._seats = [
            _Seat(name=name, provider=provider, thread=ThreadPoolExecutor(1, f"provider-{name}"))
            for name, provider in providers.items()
        ]

    @property
    def sighted(self) -> bool:
        """Whether at least one of them could be read the last time, or there is none."""
        return not self._seats or not all(seat.trouble for seat in self._seats)

    def read(self, nodes: Mapping[str, Node], defaults: GroupOptions, timeout: timedelta) -> ProviderReport:
        """Refresh all providers and return what they say about their groups and about *nodes*."""
        late = [seat for seat in self._seats if seat.refresh is not None]
        for seat in self._seats:
            if seat.refresh is None:
                seat.refresh = seat.thread.submit(self._refresh, seat, defaults)
        groups: dict[str, GroupFacts] = {}
        group_of: dict[str, str] = {}
        gpus: dict[str, GpuConfig] = {}
        group_gpus: dict[str, GpuConfig] = {}
        for seat in self._seats:
            error = self._await(seat, timeout)
            facts = tuple(replace(known, error=error) for known in seat.facts) if error else seat.facts
            for each in facts:
                if each.id in groups:
                    self._faults.note(seat.name, "groups", _taken(each, groups[each.id]))
                else:
                    groups[each.id] = each
            self._assign(seat, nodes, group_of)
            self._ask_for_gpus(seat, {name: node.metadata.labels for name, node in nodes.items()}, gpus)
            templates = {each.id: each.template.labels for each in facts if each.template is not None}
            self._ask_for_gpus(seat, templates, group_gpus)
        return ProviderReport(
            groups=tuple(groups.values()),
            group_of=group_of,
            gpus=gpus,
            group_gpus=group_gpus,
            resource_limits={seat.name: seat.limits for seat in self._seats},
            balancing_ignored_labels={seat.name: seat.provider.balancing_ignored_labels for seat in self._seats},
            pricing={seat.name: seat.pricing for seat in self._seats if seat.pricing is not None},
            outdated=frozenset(each.id for seat in late for each in seat.facts),
        )

    def resize(self, changes: Mapping[str, int]) -> None:
        """Note how much larger, or smaller, groups were made: so they count until their provider is read again."""
        for seat in self._seats:
            seat.facts = tuple(
                replace(facts, target_size=facts.target_size + changes.get(facts.id, 0)) for facts in seat.facts
            )

    def group(self, group_id: str) -> NodeGroup:
        """Return the group to act on; raises `GroupNotFoundError`."""
        return self._seat(group_id).groups[group_id]

    def name_of(self, group_id: str) -> str:
        """Return the name of a group's provider; raises `GroupNotFoundError`."""
        return self._seat(group_id).name

    def can_increase_atomically(self, group_id: str) -> bool:
        """Tell whether `NodeGroup.increase_atomically` may be called; raises `GroupNotFoundError`."""
        return Capability.ATOMIC_INCREASE in self._seat(group_id).provider.capabilities

    def close(self) -> None:
        """Let go of all providers."""
        for seat in self._seats:
            seat.thread.shutdown(wait=False, cancel_futures=True)
            self._faults.call(seat.name, "close", seat.provider.close, default=None)

    def _seat(self, group_id: str) -> _Seat:
        for seat in self._seats:
            if group_id in seat.groups:
                return seat
        raise GroupNotFoundError(f"no provider has a group {group_id!r} any more")

    def _refresh(self, seat: _Seat, defaults: GroupOptions) -> None:
        provider = seat.provider
        provider.refresh()
        own = provider.pricing() if Capability.PRICES in provider.capabilities else None
        pricing = layered([*self._prices, own])
        limits = provider.resource_limits()
        groups = {group.id: group for group in provider.groups()}
        now = self._clock.now()
        facts = tuple(self._facts(seat, group, pricing, defaults, now) for group in groups.values())
        seat.groups, seat.facts, seat.pricing, seat.limits = groups, facts, pricing, limits

    def _facts(
        self, seat: _Seat, group: NodeGroup, pricing: PricingModel | None, defaults: GroupOptions, now: datetime
    ) -> GroupFacts:
        abilities = seat.provider.capabilities
        try:
            template = group.template() if Capability.SCALE_FROM_ZERO in abilities else None
            facts = GroupFacts(
                id=group.id,
                provider=seat.name,
                min_size=group.min_size,
                max_size=group.max_size,
                target_size=group.target_size,
                instances=tuple(group.instances()),
                template=template,
                options=group.options(defaults),
                pools=tuple(group.pools()),
                exists=group.exists,
                autoprovisioned=group.autoprovisioned,
                atomic=Capability.ATOMIC_INCREASE in abilities,
                force_delete=Capability.FORCE_DELETE in abilities,
            )
        except Exception as error:
            self._faults.note(seat.name, f"group {group.id}", error)
            known = next((known for known in seat.facts if known.id == group.id), None)
            empty = GroupFacts(id=group.id, provider=seat.name, min_size=0, max_size=0, target_size=0)
            return replace(known or empty, error=str(error) or type(error).__name__)
        if pricing is None or template is None:
            return facts
        price = self._faults.call(
            seat.name, "node_price", pricing.node_price, template, now, now + timedelta(hours=1), default=None
        )
        return replace(facts, hourly_price=price)

    def _await(self, seat: _Seat, timeout: timedelta) -> str:
        """Wait for a refresh; return what went wrong, or nothing. One that is late is looked for again next loop."""
        assert seat.refresh is not None
        error = ""
        try:
            # Who was late once keeps nobody waiting a second time.
            seat.refresh.result(0 if seat.late else timeout.total_seconds())
        except NodewrightError as failure:
            error = str(failure)
        except Exception as failure:
            # A refresh may also end with a timeout of its own.
            if isinstance(failure, FutureTimeoutError) and not seat.refresh.done():
                seat.late = True
                return self._trouble(seat, f"no answer within {timeout.total_seconds():.0f} s")
            self._faults.note(seat.name, "refresh", failure)
            error = f"{type(failure).__name__}: {failure}"
        seat.refresh, seat.late = None, False
        return self._trouble(seat, error)

    def _trouble(self, seat: _Seat, error: str) -> str:
        """Log what is wrong with a provider when that changes."""
        if error and error != seat.trouble:
            _log.warning("provider %s could not be read, its groups are left alone: %s", seat.name, error)
        elif seat.trouble and not error:
            _log.info("provider %s can be read again", seat.name)
        seat.trouble = error
        return error

    def _assign(self, seat: _Seat, nodes: Mapping[str, Node], group_of: dict[str, str]) -> None:
        known: dict[tuple[str, str], str | None] = {}
        for name, node in nodes.items():
            key = (node.metadata.uid, node.spec.provider_id)
            # A node without a group is asked about again: its group may be discovered later than the node.
            group = seat.known_nodes.get(key) or self._faults.call(
                seat.name, "group_of", seat.provider.group_of, node, default=None, returns=_GROUP_ID
            )
            known[key] = group
            if group is not None:
                group_of.setdefault(name, group)
        seat.known_nodes = known

    def _ask_for_gpus(self, seat: _Seat, labels: Mapping[str, Mapping[str, str]], gpus: dict[str, GpuConfig]) -> None:
        """Add to *gpus* what those have that the provider can tell by their *labels*; both are by name."""
        provider = seat.provider
        for name, shown in labels.items():
            if provider.gpu_label and provider.gpu_label in shown and name not in gpus:
                gpu = self._faults.call(
                    seat.name, "gpu_config", provider.gpu_config, shown, default=None, returns=_GPU_CONFIG
                )
                if gpu is not None:
                    gpus[name] = gpu


def _taken(group: GroupFacts, other: GroupFacts) -> PluginError:
    message = f"its group {group.id!r} is left out: provider {other.provider} has one of that name"
    return PluginError(group.provider, message)
