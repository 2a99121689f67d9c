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


@dataclass(frozen=True, kw_only=True)
class ExpanderContext:
    """What an expander may know besides the options."""

    now: datetime
    #: The only source of chance: seeded, so that a replay chooses the same.
    random: Random
    #: Counts the options that were taken, from the seed on; see `whose_turn`.
    turn: int = 0
    #: Nodes in the cluster now, those on their way included.
    cluster_size: int
    #: How many nodes the cluster may gain, over all groups; None: as many as the groups may.
    room: int | None = None
    #: All pods that wait, helped by an option or not.
    pending: Sequence[PodSet] = ()
    #: Prices by provider name, where it has them. They never raise: what they can't tell is None.
    pricing: Mapping[str, PricingModel]
    #: The cluster with upcoming nodes, to try things out in forks.
    simulation: Simulation
    #: Data of the ConfigMaps that expanders ask for with `Expander.config_map`, by name; one that is missing is not
    #: in it.
    config_maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: What the expanders had to tell so far.
    notices: list[Notice] = field(default_factory=list)

    def whose_turn(self, options: Sequence[Option]) -> Option:
        """Return one of *options* that are equally good; in the long run, each as often as any other."""
        return sorted(options, key=lambda option: option.group.id)[self.turn % len(options)]

    def notice(self, reason: str, message: str, *, config_map: str = "", warning: bool = True) -> None:
        """Tell people something: it becomes part of the decision, a log line and, as a *warning*, an event.

        It is told again only when it, or the ConfigMap that it is about, has changed.
        """
        self.notices.append(Notice(reason=reason, message=message, config_map=config_map, warning=warning))


class Expander(Plugin):
    """Narrows options down; the chain in YAML runs until one is left, then chance decides.

    Called on the loop's thread while a decision is made. Must be pure: same input, same answer; no I/O, no clock. One
    that can't do without says so in `asks_outside`.
    An exception makes the chain go on as if this expander had kept all options.
    """

    #: Whether `best` asks somebody outside, who may answer differently the next time. It may do I/O and block then, up
    #: to a deadline of its own that is a matter of seconds, as the loop waits. What it returns, or that it raised, is
    #: recorded in `Decision.answers`, and a decision that is made again takes it from there. One that raised is not
    #: asked again by the same decision. `plan` must not ask.
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

        Called before `best`, with the same arguments; if there is a plan, `best` is not called and the chain ends. Each
        option of a plan is of a group in *options* (a group may have several) and helps pods of *options* or of
        `ExpanderContext.pending`, each pod once; in all, a group takes no more nodes than its option has, or its
        option's limit if that is more, and one that is used whole takes exactly those of its option. The core adds the
        nodes of each option in simulation and puts its pods onto them, set by set and first fit; then it tries those
        that are left again, option by option, as long as more find a place: what is spread over options rises in all of
        them together. It takes what holds; pods that found no place are left to the next round. Where the configuration
        limits how many groups grow in one loop, the first ones are taken.
        """
        return None

    @abstractmethod
    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return those of *options* that are best, in their order; ties are left to the next expander.

        The first expander of the chain is asked even if there is only one option; the others are given at least two.
        An empty answer means that none is acceptable: no scale-up in this loop.
        """
