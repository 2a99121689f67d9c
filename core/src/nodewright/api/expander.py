"""Expanders: which of several ways to grow is taken."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import ClassVar

from nodewright.api.notice import Notice
from nodewright.api.option import Option, PodSet
from nodewright.api.plugin import Plugin
from nodewright.api.pricing import PricingModel
from nodewright.api.simulation import Simulation
from nodewright.objects.frozen import freeze_fields


@dataclass(frozen=True, kw_only=True)
class ExpanderContext:
    """What an expander may know besides the options."""

    now: datetime
    #: The only source of chance. It is seeded, so that the same decision chooses the same when it is made again.
    random: Random
    #: Counts the options that were taken, from the seed on; see `whose_turn`.
    turn: int = 0
    #: Nodes in the cluster now, those on their way included.
    cluster_size: int
    #: How many nodes the cluster may gain, over all groups; None: as many as the groups may.
    room: int | None = None
    #: All pods that wait, helped by an option or not.
    pending: Sequence[PodSet] = ()
    #: Prices by the name of the provider that has them. They never raise: an unknown price is None.
    pricing: Mapping[str, PricingModel]
    #: The cluster with upcoming nodes, to try things out in forks.
    simulation: Simulation
    #: Data by name of the ConfigMaps that `Expander.config_map` asks for; a missing ConfigMap is not in it.
    config_maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: What the expanders reported so far.
    notices: list[Notice] = field(default_factory=list)

    def __post_init__(self) -> None:
        freeze_fields(self, "pending", "pricing", "config_maps")

    def whose_turn(self, options: Sequence[Option]) -> Option:
        """Return one of *options*, which are equally good; in the long run each is returned as often as any other."""
        return sorted(options, key=lambda option: option.group.id)[self.turn % len(options)]

    def notice(self, reason: str, message: str, *, config_map: str = "", warning: bool = True) -> None:
        """Report something: it becomes part of the decision, a log line and, as a *warning*, an event.

        It is logged again only when it, or the ConfigMap that it is about, has changed.
        """
        if not isinstance(reason, str) or not isinstance(message, str):
            raise TypeError(f"a notice is made of text, not of {reason!r} and {message!r}")
        self.notices.append(Notice(reason=reason, message=message, config_map=config_map, warning=warning))


class Expander(Plugin):
    """Narrows options down. The chain in YAML runs until one is left; if several are left, chance decides.

    Called on the loop's thread while a decision is made. Must be pure: same input, same answer; no I/O. An expander
    that needs I/O declares `asks_outside`. A search may read a clock for one thing, to stop at a limit of time, and
    reports with `ExpanderContext.notice` that it was cut short: the same decision, made again, measures the time anew
    and may come out differently then.
    After an exception the chain goes on as if this expander had kept all options.
    """

    #: Whether `best` asks a service outside, which may answer differently the next time. It may then do I/O and block,
    #: but only for seconds, up to a deadline of its own: the loop waits. What it returns, or that it raised, is
    #: recorded in `Decision.answers`, and a decision that is made again takes it from there. After an exception, the
    #: same decision does not ask again. `plan` must not ask.
    asks_outside: ClassVar[bool] = False

    @property
    def config_map(self) -> str:
        """Name of a ConfigMap in the autoscaler's namespace that this expander wants to read; none by default.

        Asked once, when a configuration takes effect. The core watches the ConfigMap and nothing else of its kind;
        its data are in `ExpanderContext.config_maps`.
        """
        return ""

    def plan(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option] | None:
        """Return several options to take together, in place of a choice among *options*; None (the default): choose.

        Called before `best`, with the same arguments. If there is a plan, `best` is not called and the chain ends.

        Each option of a plan is of a group in *options* (a group may have several) and helps pods of *options* or of
        `ExpanderContext.pending`, each pod once. In all, a group takes no more nodes than its option has, or its
        option's limit if that is more; a group that is used whole takes exactly the nodes of its option.

        The core adds the nodes of each option in simulation and places its pods on them, set by set and first fit. Then
        it tries the pods that are left again, option by option, as long as more of them find a place: what is spread
        over options rises in all of them together. What holds is taken; pods without a place are left to the next
        round. If the configuration limits how many groups grow in one loop, the first ones are taken.
        """
        return None

    @abstractmethod
    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return those of *options* that are best, in their order; ties are left to the next expander.

        The first expander of the chain is asked even about a single option; the others are given at least two.
        An empty answer means that none is acceptable: no scale-up in this loop.
        """
