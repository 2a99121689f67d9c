"""Instance types by name."""

from collections.abc import Iterable

from nodewright.api import Clock

from nodewright_aws.calls import Calls
from nodewright_aws.shapes.shape import Shape, parse_shape


class Catalogue:
    """Knows the instance types that it was asked for. Safe to read from any thread."""

    def __init__(self, aws: Calls, clock: Clock, *, static: bool) -> None:
        self._aws = aws
        self._clock = clock
        self._static = static
        self._shapes: dict[str, Shape] = {}

    def refresh(self, names: Iterable[str]) -> None:
        """Learn about those of *names* that are not known or not known any more. The only place that calls AWS."""
        wanted = sorted(set(names) - self._shapes.keys())
        if self._static or not wanted:
            return
        for body in self._aws.call("ec2", "describe_instance_types", InstanceTypes=wanted)["InstanceTypes"]:
            shape = parse_shape(body)
            self._shapes[shape.name] = shape

    def get(self, name: str) -> Shape | None:
        """The type of that *name*, or None if nobody knows it. Never calls AWS."""
        return self._shapes.get(name)
