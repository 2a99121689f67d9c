"""The stand-in of a provider: each loop, it has all facts of all groups from one answer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, ClassVar

from nodewright.api import (
    GpuConfig,
    GroupNotFoundError,
    GroupOptions,
    Instance,
    InstanceError,
    Node,
    NodeGroup,
    NodeTemplate,
    Pause,
    Pod,
    PricingModel,
    Provider,
    ProviderContext,
    ResourceLimits,
)
from nodewright.plugins.isolation.failures import error_of, failure_of
from nodewright.plugins.isolation.process import PluginProcess, ProcessError
from nodewright.plugins.isolation.servants import Attempt
from nodewright.plugins.isolation.stand_ins import CALL_SECONDS, IsolatedConfig, StandIn

#: A price that was told with the facts is believed for so long: that of an hour from then hardly changes.
_PRICE_HOLDS = timedelta(minutes=10)
_HOUR = timedelta(hours=1)
#: Notes a fault of the plugin in a place.
Note = Callable[[str, Exception], None]


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """What the provider told in one refresh."""

    at: datetime
    defaults: GroupOptions
    pricing: Attempt = (True, None)
    limits: Attempt = (True, ResourceLimits())
    groups: Attempt = (True, ())
    facts: Mapping[str, Mapping[str, Attempt]] = field(default_factory=dict)


class IsolatedProvider(StandIn, Provider):
    """Stands for a provider. Facts are those of the last `refresh`; an action is one call."""

    #: Notes what no exception tells the core to be a fault: that the process ended while the cloud was asked.
    note: ClassVar[tuple[Note]]

    def __init__(
        self, config: IsolatedConfig, context: ProviderContext, *, process: PluginProcess | None = None
    ) -> None:
        self.context = context
        super().__init__(config, context, process=process)
        #: The defaults that the core is expected to ask for the next time.
        self._defaults = GroupOptions()
        self._reading = _Reading(at=context.clock.now(), defaults=self._defaults)
        self._foreseen: dict[int, tuple[Node, Attempt]] = {}
        self._foreseen_gpus: dict[int, tuple[Mapping[str, str], Attempt]] = {}
        self._options_lock = Lock()
        self._refresh_seconds = context.refresh_timeout.total_seconds()
        self._action_seconds = context.action_timeout.total_seconds()

    def refresh(self) -> None:
        """Have the plugin read its cloud, and take over all facts that have changed."""
        now, defaults = self.context.clock.now(), self._defaults
        told = self.watched("refresh", "refresh", now, defaults, seconds=self._refresh_seconds)
        known = self._reading.facts
        changed = told.pop("facts")
        fine, ids = told["groups"]
        facts = {name: {**known.get(name, {}), **changed.get(name, {})} for name in ids} if fine else known
        self._reading = _Reading(at=now, defaults=defaults, facts=facts, **told)
        self._foreseen_gpus = {
            id(template.labels): (template.labels, each["gpu"])
            for each in facts.values()
            if "gpu" in each and isinstance(template := each["template"][1], NodeTemplate)
        }

    def groups(self) -> Sequence[NodeGroup]:
        """Return the groups as of the last refresh."""
        return [IsolatedGroup(name, self) for name in _value(self._reading.groups)]

    def group_of(self, node: Node) -> str | None:
        """Return the group of *node*."""
        known, answer = self._foreseen.pop(id(node), (None, None))
        if known is node and answer is not None:
            group: str | None = _value(answer)
            return group
        self.foresee([node], ())
        return self.group_of(node)

    def foresee(self, nodes: Iterable[Node], labels: Iterable[Mapping[str, str]], *, readable: bool = True) -> None:
        """Ask at once what the core is about to ask: the groups of *nodes*, and the GPUs of nodes with *labels*.

        What can't be answered is raised when it is asked for. If the cloud is not *readable*, nothing is known.
        """
        asked = list(nodes)
        shown = [each for each in labels if self.gpu_label and self.gpu_label in each]
        if not asked and not shown:
            return
        answer: Attempt = True, None
        found, gpus = [answer] * len(asked), [answer] * len(shown)
        try:
            if readable:
                found, gpus = self._process.call("place", asked, shown, seconds=CALL_SECONDS)
        except Exception as error:
            answer = False, failure_of(error)
            found, gpus = [answer] * len(asked), [answer] * len(shown)
        self._foreseen = {id(node): (node, each) for node, each in zip(asked, found, strict=True)}
        self._foreseen_gpus |= {id(each): (each, gpu) for each, gpu in zip(shown, gpus, strict=True)}

    def pricing(self) -> PricingModel | None:
        """Return the prices as of the last refresh."""
        currency = _value(self._reading.pricing)
        return None if currency is None else _Prices(currency, self._reading, self)

    def resource_limits(self) -> ResourceLimits:
        """Return the limits as of the last refresh."""
        limits: ResourceLimits = _value(self._reading.limits)
        return limits

    def gpu_config(self, labels: Mapping[str, str]) -> GpuConfig | None:
        """Return how the GPUs of a node with *labels* are named."""
        known, answer = self._foreseen_gpus.get(id(labels), (None, None))
        gpu: GpuConfig | None = _value(answer) if known is labels and answer else self._ask("gpu_config", labels)
        return gpu

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """Return the group that an object names."""
        group: str | None = self._ask("resolve", kind, id)
        return group

    def fact(self, group: str, name: str) -> Any:
        """Return the fact *name* of a group, or raise what the plugin raised when it was asked."""
        facts = self._reading.facts.get(group)
        if facts is None:
            raise GroupNotFoundError(f"the provider has no group {group!r} any more")
        return _value(facts[name])

    def options_of(self, group: str, defaults: GroupOptions) -> GroupOptions:
        """Return the options of a group under *defaults*."""
        with self._options_lock:
            reading, self._defaults = self._reading, defaults
            if reading.defaults != defaults:
                options = self._ask("options", defaults)
                facts = {name: {**each, "options": options[name]} for name, each in reading.facts.items()}
                self._reading = _Reading(**{**vars(reading), "defaults": defaults, "facts": facts})
        options_of_group: GroupOptions = self.fact(group, "options")
        return options_of_group

    def act(self, group: str, action: str, *arguments: object) -> None:
        """Have the plugin do *action* to a group."""
        self.watched(action, "act", group, action, *arguments, seconds=self._action_seconds)

    def watched(self, where: str, method: str, *arguments: object, seconds: float) -> Any:
        """Call *method*; that its process ended is a fault of the plugin *where* it happened."""
        try:
            return self._process.call(method, *arguments, seconds=seconds)
        except ProcessError as error:
            self.note[0](where, error)
            raise

    def price(self, method: str, *arguments: object) -> float | None:
        """Ask the plugin's pricing model."""
        price: float | None = self._ask(method, *arguments)
        return price


class IsolatedGroup(NodeGroup):
    """Stands for a group of a provider."""

    def __init__(self, name: str, provider: IsolatedProvider) -> None:
        self._name = name
        self._provider = provider

    @property
    def id(self) -> str:
        """The group's name."""
        return self._name

    @property
    def min_size(self) -> int:
        """Fewest machines."""
        size: int = self._provider.fact(self._name, "min_size")
        return size

    @property
    def max_size(self) -> int:
        """Most machines."""
        size: int = self._provider.fact(self._name, "max_size")
        return size

    @property
    def target_size(self) -> int:
        """How many machines the cloud is asked for."""
        size: int = self._provider.fact(self._name, "target_size")
        return size

    def instances(self) -> Sequence[Instance]:
        """Return every machine."""
        instances: Sequence[Instance] = self._provider.fact(self._name, "instances")
        return instances

    def template(self) -> NodeTemplate | None:
        """Return what a new node looks like."""
        template: NodeTemplate | None = self._provider.fact(self._name, "template")
        return template

    def pools(self) -> Sequence[str]:
        """Return the capacity pools."""
        pools: Sequence[str] = self._provider.fact(self._name, "pools")
        return pools

    def quotas(self) -> Mapping[str, int]:
        """Return what a new machine takes of quotas."""
        quotas: Mapping[str, int] = self._provider.fact(self._name, "quotas")
        return quotas

    def available(self) -> int | None:
        """Return how many more machines the cloud could deliver."""
        count: int | None = self._provider.fact(self._name, "available")
        return count

    def errors(self) -> Sequence[InstanceError]:
        """Return why machines do not come."""
        errors: Sequence[InstanceError] = self._provider.fact(self._name, "errors")
        return errors

    def pause(self) -> Pause | None:
        """Return why the group must be left alone."""
        pause: Pause | None = self._provider.fact(self._name, "pause")
        return pause

    @property
    def atomic(self) -> bool:
        """Whether machines can be ordered all or none."""
        can: bool = self._provider.fact(self._name, "atomic")
        return can

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """Return *defaults* with the group's own settings."""
        return self._provider.options_of(self._name, defaults)

    def increase(self, count: int) -> None:
        """Ask for more machines."""
        self._provider.act(self._name, "increase", count)

    def increase_atomically(self, count: int) -> None:
        """Ask for more machines, all or none."""
        self._provider.act(self._name, "increase_atomically", count)

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete machines."""
        self._provider.act(self._name, "delete_nodes", nodes)

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete machines, whatever their state."""
        self._provider.act(self._name, "force_delete_nodes", nodes)

    def decrease_target(self, count: int) -> None:
        """Give up machines that have not come."""
        self._provider.act(self._name, "decrease_target", count)


class _Prices(PricingModel):
    """Stands for a provider's pricing model; knows what the templates of its groups cost in the next hour."""

    def __init__(self, currency: str, reading: _Reading, provider: IsolatedProvider) -> None:
        self.currency = currency
        self._at = reading.at
        self._provider = provider
        self._known = {
            id(each["template"][1]): (each["template"][1], each["price"])
            for each in reading.facts.values()
            if "price" in each
        }

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return the price of a node."""
        known, price = self._known.get(id(template), (None, None))
        if known is template and price and end - start == _HOUR and timedelta(0) <= start - self._at < _PRICE_HOLDS:
            told: float | None = _value(price)
            return told
        return self._provider.price("node_price", template, start, end)

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return the price of a pod."""
        return self._provider.price("pod_price", pod, start, end)


def _value(attempt: Attempt) -> Any:
    """Return the value, or raise what the plugin raised instead."""
    fine, value = attempt
    if fine:
        return value
    raise error_of(value)


def foresee(provider: Provider, nodes: Iterable[Node], labels: Iterable[Mapping[str, str]], *, readable: bool) -> None:
    """Let an isolated *provider* ask at once what it is about to be asked one by one.

    One that is not *readable* is not asked: the loop's thread must not wait for it.
    """
    if isinstance(provider, IsolatedProvider):
        provider.foresee(nodes, labels, readable=readable)
