"""Limits on the total of all machines."""

from collections.abc import Mapping

from nodewright.api import ResourceLimits, parse_resources

from nodewright_fake.settings import Quantity, Settings


class Bounds(Settings):
    """The least and the most of one resource."""

    min: Quantity | None = None
    max: Quantity | None = None


def resource_limits(bounds: Mapping[str, Bounds]) -> ResourceLimits:
    """Return bounds by resource name or accelerator type as the contract has them."""
    return ResourceLimits(
        minimum=parse_resources({name: bound.min for name, bound in bounds.items() if bound.min is not None}),
        maximum=parse_resources({name: bound.max for name, bound in bounds.items() if bound.max is not None}),
    )
