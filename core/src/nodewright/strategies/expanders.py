"""The expanders that need nothing but the options: ``random``, ``most-pods``, ``least-nodes`` and ``least-waste``."""

from collections.abc import Sequence

from nodewright.api import Expander, ExpanderContext, Option


class Random(Expander):
    """Picks one option; each has its turn, which depends on the seed and on how many options were taken before."""

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return one of *options*."""
        return [context.whose_turn(options)]


class MostPods(Expander):
    """Keeps the options that help the largest number of pods."""

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options that help most."""
        most = max(option.pod_count for option in options)
        return [option for option in options if option.pod_count == most]


class LeastNodes(Expander):
    """Keeps the options that take the smallest number of nodes; one that takes none is no option."""

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options that take fewest."""
        fewest = min((option.nodes for option in options if option.nodes), default=0)
        return [option for option in options if option.nodes and option.nodes == fewest]


class LeastWaste(Expander):
    """Keeps the options with the smallest sum of unused cpu and unused memory, each as a share of what is bought.

    What is bought is the nodes' capacity, including what kubelet and system reserve. Only options that are exactly as
    good as each other tie.
    """

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options that waste least."""
        wastes = [_unused_share(option, "cpu") + _unused_share(option, "memory") for option in options]
        least = min(wastes)
        return [option for option, waste in zip(options, wastes, strict=True) if waste == least]


def _unused_share(option: Option, resource: str) -> float:
    template = option.group.template
    bought = template.capacity.get(resource, 0) * option.nodes if template else 0
    return (bought - option.requested(resource)) / bought if bought else 0.0
