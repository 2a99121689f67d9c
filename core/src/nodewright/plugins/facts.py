"""Facts: what a provider says of itself and of its groups, checked as it is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nodewright.api import Capability, GroupFacts, GroupOptions, NodeGroup, PricingModel, Provider, ResourceLimits
from nodewright.plugins.plain_values import ShapeError
from nodewright.plugins.results import instance_of, optional, sequence_of, whole_number, words
from nodewright.plugins.shapes import Shape, check_of

T = TypeVar("T")

_FACTS = Shape(GroupFacts)
_GROUPS = sequence_of(NodeGroup)
_LIMITS = instance_of(ResourceLimits)
_PRICING = optional(instance_of(PricingModel))


@dataclass(frozen=True, kw_only=True)
class ProviderFacts:
    """What a provider says of itself. All of it is read-only, but for the groups."""

    capabilities: frozenset[Capability] = frozenset()
    gpu_label: str = ""
    balancing_ignored_labels: frozenset[str] = frozenset()
    pricing: PricingModel | None = None
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    #: By id, in the provider's order.
    groups: Mapping[str, NodeGroup] = field(default_factory=dict)
    #: Ids that more than one group has: nobody can tell which is meant.
    shared_ids: frozenset[str] = frozenset()


def provider_facts(provider: Provider) -> ProviderFacts:
    """Read what *provider* says of itself. For its own thread.

    Raises what the provider raises, and a `TypeError` that names the method or attribute that breaks the contract.
    """
    capabilities: frozenset[Capability] = _attribute(provider, "capabilities", frozenset[Capability])
    groups: dict[str, NodeGroup] = {}
    shared = set()
    pricing = _answer("pricing", provider.pricing, _PRICING) if Capability.PRICES in capabilities else None
    limits = _answer("resource_limits", provider.resource_limits, _LIMITS)
    for number, group in enumerate(_answer("groups", provider.groups, _GROUPS)):
        name = _id(group, number)
        if name in groups:
            shared.add(name)
        groups.setdefault(name, group)
    return ProviderFacts(
        capabilities=capabilities,
        gpu_label=_attribute(provider, "gpu_label", str),
        balancing_ignored_labels=_attribute(provider, "balancing_ignored_labels", frozenset[str]),
        pricing=pricing,
        limits=limits,
        groups=groups,
        shared_ids=frozenset(shared),
    )


def group_facts(
    provider: str, name: str, said: ProviderFacts, defaults: GroupOptions, before: GroupFacts | None
) -> GroupFacts:
    """Read what the group *name* of *provider*, which *said* the rest, says of itself; all of it is read-only.

    Raises what the group raises, and a `TypeError` that names the field that breaks the contract. Parts that are the
    same objects as *before* are not checked again. For the provider's own thread.
    """
    if name in said.shared_ids:
        raise TypeError(f"groups() returned more than one group with the id {name!r}")
    group = said.groups[name]
    facts = GroupFacts(
        id=name,
        provider=provider,
        min_size=group.min_size,
        max_size=group.max_size,
        target_size=group.target_size,
        # The check makes tuples.
        instances=group.instances(),  # type: ignore[arg-type]
        template=group.template() if Capability.SCALE_FROM_ZERO in said.capabilities else None,
        options=group.options(defaults),
        pools=group.pools(),  # type: ignore[arg-type]
        quotas=group.quotas(),
        available=group.available(),
        errors=group.errors(),  # type: ignore[arg-type]
        pause=group.pause(),
        atomic=Capability.ATOMIC_INCREASE in said.capabilities and group.atomic,
        force_delete=Capability.FORCE_DELETE in said.capabilities,
    )
    try:
        checked: GroupFacts = _FACTS(facts, _FACTS.trust([before] if before else ()))
    except ShapeError as error:
        raise TypeError(str(error)) from None
    if checked.min_size > checked.max_size:
        raise ValueError(f"min_size is {checked.min_size}, above max_size, which is {checked.max_size}")
    return checked


def limits_of(group: NodeGroup) -> tuple[int, int]:
    """Return the minimum and the maximum of a *group* that can't be read; both are 0 if they can't be used either."""
    try:
        low, high = whole_number(group.min_size), whole_number(group.max_size)
    except Exception:  # a group can raise anything; that it can't be read is known by now
        return 0, 0
    return (low, high) if low <= high else (0, 0)


def _attribute(provider: Provider, name: str, hint: Any) -> Any:
    try:
        return check_of(hint)(getattr(provider, name))
    except ShapeError as error:
        raise TypeError(str(error.under(name))) from None


def _answer(method: str, ask: Callable[[], object], check: Callable[[object], T]) -> T:
    answer = ask()
    try:
        return check(answer)
    except TypeError as error:
        raise TypeError(f"{method}() {error}") from None


def _id(group: NodeGroup, number: int) -> str:
    said: object = group.id
    try:
        return words(said)
    except TypeError:
        raise TypeError(
            f"groups() returned a group, at place {number}, whose id is {said!r} instead of a name"
        ) from None
