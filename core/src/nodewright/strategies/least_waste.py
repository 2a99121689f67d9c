"""Expander ``least-waste``: the option whose new nodes are filled best."""

from collections.abc import Sequence

from nodewright.api import Expander, ExpanderContext, Option


class LeastWaste(Expander):
    """Keeps the options with the smallest sum of unused cpu and unused memory, each as a share of what is bought."""

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options that waste least."""
        least = min(_waste(option) for option in options)
        return [option for option in options if _waste(option) == least]


def _waste(option: Option) -> float:
    return sum(_unused_share(option, resource) for resource in ("cpu", "memory"))


def _unused_share(option: Option, resource: str) -> float:
    template = option.group.template
    bought = template.capacity.get(resource, 0) * option.nodes if template else 0
    return (bought - option.requested(resource)) / bought if bought else 0.0
