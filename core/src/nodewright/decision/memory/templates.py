"""What was learnt of groups' nodes, for when a group has none."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Self

from nodewright.api.template import NodeTemplate, TemplateDifference
from nodewright.decision.memory.slices import Shedding, Slice


@dataclass(frozen=True, kw_only=True)
class KnownTemplate:
    """What a group's nodes were seen to be like."""

    #: Fingerprint of the provider's template, empty if it has none.
    promised: str = ""
    #: Since when it has been this one; None if it was when the group was first seen.
    promised_since: datetime | None = None
    #: Taken from a node of the group.
    likeness: NodeTemplate | None = None
    #: When the last node that could be a model went; None while there is one.
    gone_since: datetime | None = None
    #: What is not as the provider's template says.
    differences: tuple[TemplateDifference, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TemplateMemory(Slice):
    """What groups' nodes were like. Owned by the stage `templates`."""

    #: By group.
    templates: dict[str, KnownTemplate] = field(default_factory=dict)

    #: They are learnt again from the groups' next nodes.
    sheds: ClassVar[tuple[Shedding, ...]] = (Shedding(cost=50, what="templates", take=lambda _: TemplateMemory()),)

    def seen(self, templates: dict[str, KnownTemplate]) -> Self:
        """Return the memory with these *templates*; the same one if nothing was learnt."""
        return self if templates == self.templates else replace(self, templates=templates)

    def without_times(self) -> Self:
        """Keep all: what nodes are like does not depend on the time."""
        return self
