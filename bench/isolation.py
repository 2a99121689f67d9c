"""What it costs a loop that a provider runs in a process of its own.

Clock times: two processes are at work, and the loop waits for the other one. Loops with and without take turns.
"""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from nodewright.api import GroupOptions, Node, Provider, ProviderContext
from nodewright.plugins import Faults, Registry
from nodewright.runtime.clock import SystemClock
from nodewright.runtime.providers import ProviderReport, Providers
from nodewright.testing import a_node
from nodewright.testing.distributions import Distributions

from bench.measure import Case, Figure, duration

_GROUPS, _MACHINES = 200, 75
_LOOPS = 30
#: A cloud with prices, in which every twentieth group has changed whenever it is read.
_PROVIDER = f"""
    from nodewright.api import Capability, NodeGroup, PricingModel, Provider
    from nodewright.testing import a_template, an_instance

    class Rack(NodeGroup):
        def __init__(self, number):
            self.number = number
            self.id = f"group-{{number}}"
            self.machines = [an_instance(f"many://group-{{number}}/{{each}}") for each in range({_MACHINES})]
            self.shown = a_template(cpu=f"{{1 + number % 64}}", labels={{"group": self.id}})

        id = ""
        min_size = 0
        max_size = 1000
        target_size = property(lambda self: len(self.machines))
        instances = lambda self: list(self.machines)
        template = lambda self: self.shown
        increase = delete_nodes = decrease_target = lambda self, given: None

    class List(PricingModel):
        node_price = lambda self, template, start, end: template.capacity["cpu"] / 1e5
        pod_price = lambda self, pod, start, end: None

    class Many(Provider):
        api_version = 1
        capabilities = frozenset({{Capability.SCALE_FROM_ZERO, Capability.PRICES}})

        def __init__(self, config, context):
            super().__init__(config, context)
            self.racks = [Rack(number) for number in range({_GROUPS})]
            self.reads = 0

        def refresh(self):
            self.reads += 1
            for rack in self.racks[self.reads % 20 :: 20]:
                rack.machines.append(an_instance(f"many://{{rack.id}}/{{self.reads}}"))

        def groups(self):
            return self.racks

        def group_of(self, node):
            return node.spec.provider_id.split("/")[2]

        def pricing(self):
            return List()
"""


def _nodes() -> dict[str, Node]:
    names = [(f"group-{group}", each) for group in range(_GROUPS) for each in range(_MACHINES)]
    return {f"{group}-{each}": a_node(f"{group}-{each}", provider_id=f"many://{group}/{each}") for group, each in names}


def _loops() -> Figure:
    with ExitStack() as stack:
        installed = stack.enter_context(Distributions(Path(stack.enter_context(TemporaryDirectory()))))
        installed.install("many", {"providers/many": "Many"}, _PROVIDER)
        registry, clock = Registry(), SystemClock()
        context = ProviderContext(clock=clock)
        here = registry.create("providers", "many", {}, context)
        apart = registry.create_apart("providers", "many", {}, context)
        assert isinstance(here, Provider)
        assert isinstance(apart, Provider)
        nodes = _nodes()

        def reading(provider: Provider) -> Callable[[], tuple[float, ProviderReport]]:
            providers = Providers({"many": provider}, clock, Faults(clock))
            stack.callback(providers.close)

            def read() -> tuple[float, ProviderReport]:
                began = perf_counter()
                report = providers.read(nodes, GroupOptions(), timedelta(minutes=1))
                return perf_counter() - began, report

            return read

        ours, theirs = reading(here), reading(apart)
        (first_here, _), (first_apart, _) = ours(), theirs()
        pairs = [(ours(), theirs()) for _ in range(_LOOPS)]
    wrong = (
        ["a loop saw something else"]
        if any(a.groups != b.groups or a.group_of != b.group_of for (_, a), (_, b) in pairs)
        else []
    )
    extra = median(b - a for (a, _), (b, _) in pairs)
    with_it, without = median(b for _, (b, _) in pairs), median(a for (a, _), _ in pairs)
    return Figure(
        seconds=extra,
        wrong=wrong,
        note=f"{duration(with_it)} instead of {duration(without)} a loop; "
        f"the first, with {len(nodes)} new nodes, {duration(first_apart)} instead of {duration(first_here)}",
    )


CASES = [Case(name="isolation 200 groups", run=_loops, bar=0.05)]
