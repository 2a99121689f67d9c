"""Expander ``least-waste``: the option whose new nodes are filled best."""

from collections.abc import Sequence

from nodewright.api import Expander, ExpanderContext, Option


class LeastWaste(Expander):
    """Keeps the options with the smallest sum of unused cpu and unused memory, each as a share of what is bought.

    What is bought is the nodes' capacity, with what kubelet and system reserve. Only options that are exactly as good
    as each other tie.
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
