"""Small sets of options for tests of expanders, and the contexts that go with them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from nodewright.api import Expander, ExpanderContext, NodeTemplate, Option, Pod, PricingModel
from nodewright.plugins.results import all_of, optional
from nodewright.testing.builders import a_group, a_node, a_pod, a_template, an_option, pods_like
from nodewright.testing.conformance.strategy import answered
from nodewright.testing.contexts import a_simulation, an_expander_context

WEB = pods_like(a_pod("web", cpu="500m", memory="1Gi"), 6)
DATABASE = pods_like(a_pod("database", cpu="2", memory="4Gi", owner="StatefulSet/database"), 2)


class ByCpu(PricingModel):
    """Five cents for a CPU and hour, of nodes and pods alike."""

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """By what the node has."""
        return _price(template.capacity.get("cpu", 0), start, end)

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """By what the pod asks for."""
        return _price(pod.requests.get("cpu", 0), start, end)


class Unknown(PricingModel):
    """Knows no price."""

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return no price."""
        return None

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return no price."""
        return None


def ways_to_grow() -> list[Option]:
    """Three groups that could each serve all pods, of nodes that differ in size, zone and price."""
    return [
        _way("small", cpu="2", memory="8Gi", zone="eu-a", price=0.10, nodes=4),
        _way("large", cpu="8", memory="32Gi", zone="eu-b", price=0.35, nodes=1),
        _way("spot", cpu="4", memory="16Gi", zone="eu-c", price=0.08, nodes=2),
    ]


def twins() -> list[Option]:
    """Two options with nothing to choose between but the names of their groups."""
    return [_way(f"twin-{name}", cpu="4", memory="16Gi", zone="eu-a", price=0.2, nodes=2) for name in ("a", "b")]


def at_price(price: float | None, options: Sequence[Option]) -> list[Option]:
    """The same options, of groups with this *price*."""
    return [replace(option, group=replace(option.group, hourly_price=price)) for option in options]


def with_template(template: NodeTemplate | None, option: Option) -> Option:
    """The same option, of a group with this *template*."""
    return replace(option, group=replace(option.group, template=template))


def whole(option: Option) -> Option:
    """The same option, of a group that is used whole or not at all."""
    options = replace(option.group.options, zero_or_max_node_scaling=True)
    return replace(option, group=replace(option.group, options=options, max_size=option.nodes), limit=option.nodes)


def a_context(
    *,
    seed: int = 0,
    room: int | None = 20,
    pricing: Mapping[str, PricingModel] | None = None,
    config_maps: Mapping[str, Mapping[str, str]] | None = None,
) -> ExpanderContext:
    """The context of `ways_to_grow`: a cluster with one full node, prices, and all pods that wait."""
    return an_expander_context(
        seed=seed,
        room=room,
        pricing={"fake": ByCpu()} if pricing is None else pricing,
        config_maps=config_maps,
        pending=[WEB, DATABASE],
        simulation=a_simulation(
            nodes=[a_node("node-1", cpu="2", memory="4Gi")],
            pods=[a_pod("cache", cpu="1900m", memory="3Gi", node="node-1")],
        ),
    )


@contextmanager
def asked(context: ExpanderContext) -> Iterator[ExpanderContext]:
    """Give *context* as the core does: what an expander tries in the simulation is forgotten afterwards."""
    with context.simulation.fork():
        yield context


def best(expander: Expander, options: Sequence[Option], context: ExpanderContext | None = None) -> list[Option]:
    """Ask *expander* for the best of *options*."""
    with asked(context or a_context()) as given:
        answer = expander.best(list(options), given)
    return list(answered("best", all_of(Option, options), answer))


def plan(expander: Expander, options: Sequence[Option], context: ExpanderContext | None = None) -> list[Option] | None:
    """Ask *expander* for a plan."""
    with asked(context or a_context()) as given:
        answer = expander.plan(list(options), given)
    made = answered("plan", optional(all_of(Option, options)), answer)
    return None if made is None else list(made)


def names(options: Sequence[Option]) -> list[str]:
    """The groups of *options*, for messages and comparisons."""
    return [option.group.id for option in options]


def _way(name: str, *, cpu: str, memory: str, zone: str, price: float, nodes: int) -> Option:
    template = a_template(cpu=cpu, memory=memory, zone=zone, instance_type=f"type-{cpu}-{memory}")
    group = a_group(name, size=1, max_size=9, template=template, price=price)
    return an_option(group, nodes=nodes, pods=[WEB, DATABASE], limit=8)


def _price(milli_cpu: int, start: datetime, end: datetime) -> float:
    return milli_cpu / 1000 * 0.05 * (end - start).total_seconds() / 3600
