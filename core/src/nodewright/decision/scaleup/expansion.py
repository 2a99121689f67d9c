"""The expansion: options are taken one after the other until none helps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

from nodewright.api.decision import Grow, OptionVerdict
from nodewright.api.expander import ExpanderContext
from nodewright.api.group import GroupFacts
from nodewright.api.option import Option, PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.demand.intentions import kind_of
from nodewright.decision.health import GroupHealth
from nodewright.decision.limits import Limits
from nodewright.decision.memory import Intention
from nodewright.decision.policy import Policy
from nodewright.decision.scaleup.balancing import spread
from nodewright.decision.scaleup.choice import Choice, Chooser
from nodewright.decision.scaleup.gangs import gang_of
from nodewright.decision.scaleup.options import OptionFinder, Options
from nodewright.objects.frozen import frozen
from nodewright.scheduling import ClusterSimulation
from nodewright.strategies.packing import place_well


@dataclass(kw_only=True)
class _Growth:
    """How one group grows."""

    facts: GroupFacts
    why: str
    nodes: list[str] = field(default_factory=list)
    pods: list[str] = field(default_factory=list)
    #: Whether fewer machines than these would be useless.
    whole: bool = False

    @cached_property
    def helped(self) -> Verdict:
        """The verdict on the pods that it helps."""
        return Verdict(reason=Reason.HELPED, detail=self.facts.id)

    def action(self) -> Grow:
        """Return the action that carries it out."""
        return Grow(
            group=self.facts.id,
            count=len(self.nodes),
            from_size=self.facts.target_size,
            pods=tuple(self.pods),
            atomic=self.facts.atomic and (self.whole or self.facts.options.in_one_piece),
            verdict=Verdict(reason=Reason.CHOSEN, detail=self.why),
        )


class Expansion:
    """The state of a scale-up in progress. It works in a fork of the simulation, where it carries out what it takes."""

    def __init__(
        self,
        groups: Sequence[GroupHealth],
        simulation: ClusterSimulation,
        finder: OptionFinder,
        chooser: Chooser,
        limits: Limits,
        context: ExpanderContext,
        policy: Policy,
    ) -> None:
        self._groups = {group.facts.id: group.facts for group in groups}
        self._blocked = {group.facts.id: group.blocked for group in groups if group.blocked is not None}
        self._simulation = simulation
        self._finder = finder
        self._chooser = chooser
        self._limits = limits
        self._context = context
        self._policy = policy
        self._growth: dict[str, _Growth] = {}
        #: Group by node that was ordered.
        self._home: dict[str, str] = {}
        self._found = Options(options=(), groups={}, refusals={})
        #: How many options were taken.
        self.taken = 0
        self.pods: dict[str, Verdict] = {}
        #: Why pods fit no new node of groups; of pods that have a place by now, only what still holds.
        self.rejections: dict[str, dict[str, Verdict]] = {}
        self._closed: Mapping[str, Verdict] = {}
        self.options: list[OptionVerdict] = []
        self.intentions: list[Intention] = []

    @property
    def helped(self) -> frozenset[str]:
        """The pods that have a place or will have one."""
        served = (Reason.HELPED, Reason.FITS)
        return frozenset(key for key, verdict in self.pods.items() if verdict.reason in served)

    @property
    def groups(self) -> dict[str, Verdict]:
        """Why groups took no part."""
        return {group: verdict for group, verdict in self._closed.items() if group not in self._growth}

    @property
    def grow(self) -> tuple[Grow, ...]:
        """The actions, in the order in which groups were first taken."""
        return tuple(growth.action() for growth in self._growth.values())

    def serve(self, sets: Sequence[PodSet]) -> None:
        """Take the best option for *sets* of pods, again and again until none helps or the time is over."""
        settings = self._policy.settings.scale_up
        begun = self._policy.stopwatch()
        for number in count(1):
            most = settings.options_per_loop - self.taken if settings.options_per_loop else None
            helped = self._take_best(sets, number, most)
            sets = [rest for pods in sets if (rest := pods.without(helped))] if helped else sets
            late = self._policy.stopwatch() - begun > settings.time_budget.total_seconds()
            if (
                not helped
                or not sets
                or late
                or (settings.options_per_loop and self.taken >= settings.options_per_loop)
            ):
                break
            sets = self._place_anywhere(sets)
        for pods in sets:
            self.pods.update(dict.fromkeys(pods.keys, self._still_waiting(pods)))

    def _take_best(self, sets: Sequence[PodSet], number: int, most: int | None) -> set[str]:
        """Take the best option, or all of a plan, and return the pods that this helps."""
        groups = tuple(self._groups.values())
        while True:
            with self._policy.timings.time("scaleUp:estimate"):
                found = self._finder.find(groups, self._blocked, sets)
            self._note(found, sets)
            offered = self._policy.hooks.adjust_options(found.options)
            context = replace(self._context, room=self._limits.room, pending=sets, turn=self._context.turn + self.taken)
            choice = self._chooser.choose(offered, context, most=most)
            judged = [_judge(option, choice, offered, number) for option in found.options]
            # A plan already says which groups it is spread over.
            wanted = [replace(option, similar=()) for option in choice.taken] if choice.planned_by else choice.taken
            helped = self._take(wanted, _why(choice, len(offered), self._policy))
            self.taken += len({option.group.id for option in choice.taken})
            if helped or not choice.taken:
                self.options += judged
                return helped
            # The estimate was too good: other options may do better, and are judged again.
            no_help = Verdict(reason=Reason.NO_HELP)
            self._blocked.update({option.group.id: no_help for option in choice.taken})
            self.options += [replace(each, verdict=no_help) for each in judged if each.verdict.reason is Reason.CHOSEN]

    def _note(self, found: Options, sets: Sequence[PodSet]) -> None:
        if not self.taken:
            # The reason at the beginning says more than that the group has become full in this scale-up.
            self._closed = found.groups
        self._found = found
        for pods in sets:
            reasons = frozen(
                {
                    group: refusals[pods.keys[0]]
                    for group, refusals in found.refusals.items()
                    if pods.keys[0] in refusals
                }
            )
            self.rejections.update(dict.fromkeys(pods.keys, reasons))

    def _take(self, options: Sequence[Option], why: str) -> set[str]:
        """Carry out *options* in simulation and return the pods that they really help."""
        placed: dict[str, str] = {}
        ordered: list[str] = []
        left: list[tuple[PodSet, Sequence[str]]] = []
        for option in options:
            fresh = self._order(option, why)
            ordered += fresh
            left += self._carry_out(option, fresh, placed) if fresh else ()
        # Pods with spread constraints need their count to rise in all groups together.
        before = 0
        while left and len(placed) > before and len({self._home[name] for name in ordered}) > 1:
            before = len(placed)
            left = self._place(left, placed)
        used = set(placed.values())
        kept = {self._home[name] for name in used if self._is_whole(self._home[name])}
        self._give_up([name for name in ordered if name not in used and self._home[name] not in kept])
        return set(placed)

    def _carry_out(
        self, option: Option, fresh: Sequence[str], placed: dict[str, str]
    ) -> list[tuple[PodSet, Sequence[str]]]:
        """Place the pods of *option* on its nodes, add them to *placed*, and return the rest."""
        found = place_well(self._simulation, option.pods, fresh)
        return self._note_placed([(pods, fresh) for pods in option.pods], found, placed)

    def _place(
        self, wanted: Sequence[tuple[PodSet, Sequence[str]]], placed: dict[str, str]
    ) -> list[tuple[PodSet, Sequence[str]]]:
        """Place each set of pods on its nodes, add it to *placed*, and return the rest."""
        return self._note_placed(wanted, [self._simulation.place(pods, on=nodes) for pods, nodes in wanted], placed)

    def _note_placed(
        self,
        wanted: Sequence[tuple[PodSet, Sequence[str]]],
        found: Sequence[Mapping[str, str]],
        placed: dict[str, str],
    ) -> list[tuple[PodSet, Sequence[str]]]:
        """Note the node that each pod of *wanted* got, add it to *placed*, and return the rest."""
        rest = []
        for (pods, nodes), here in zip(wanted, found, strict=True):
            self._help(pods, here)
            placed.update(here)
            if (waiting := pods.without(here)) is not None:
                rest.append((waiting, nodes))
        return rest

    def _order(self, option: Option, why: str) -> list[str]:
        """Add the nodes of *option* and return their names."""
        fresh: list[str] = []
        for id_, number in self._shares(option).items():
            facts = self._groups[id_]
            growth = self._growth.setdefault(id_, _Growth(facts=facts, why=why))
            names = self._simulation.add_nodes(facts, number)
            growth.nodes += names
            fresh += names
            self._home.update(dict.fromkeys(names, id_))
            self._groups[id_] = facts.grown(number)
        return fresh

    def _shares(self, option: Option) -> dict[str, int]:
        """Return how many nodes each group gets within the limits, and count them."""
        chosen = self._groups[option.group.id]
        if self._is_whole(chosen.id):
            if self._limits.objection(chosen, option.nodes) is not None:
                return {}
            self._limits.take(chosen, option.nodes)
            return {chosen.id: option.nodes}
        number = self._limits.allowed(chosen, option.nodes)
        groups = [chosen, *(self._groups[id_] for id_ in option.similar)]

        def count_one(facts: GroupFacts) -> bool:
            allowed = self._limits.allowed(facts, 1) > 0
            if allowed:
                self._limits.take(facts, 1)
            return allowed

        return spread(number, groups, count_one)

    def _is_whole(self, id_: str) -> bool:
        return self._groups[id_].options.zero_or_max_node_scaling

    def _give_up(self, idle: Sequence[str]) -> None:
        """Take back nodes that are *idle*."""
        for name in idle:
            id_ = self._home[name]
            facts = self._groups[id_]
            self._simulation.remove_nodes([name])
            self._limits.take(facts, -1)
            self._groups[id_] = facts.grown(-1)
            growth = self._growth[id_]
            growth.nodes.remove(name)
            if not growth.nodes:
                del self._growth[id_]

    def _place_anywhere(self, sets: Sequence[PodSet]) -> list[PodSet]:
        """Place pods on any node that has room by now, and return the rest."""
        left = []
        for pods in sets:
            placed = self._simulation.place(pods)
            self._help(pods, placed)
            # Groups were asked before the last option was taken, which changed the answer.
            for key in placed:
                self.rejections.pop(key, None)
            rest = pods.without(placed) if placed else pods
            if rest is not None:
                left.append(rest)
        return left

    def _help(self, pods: PodSet, placed: Mapping[str, str]) -> None:
        by_group: dict[str, int] = {}
        gang = gang_of(pods)
        for key, name in placed.items():
            group = self._home.get(name)
            if group is None:
                self.pods[key] = Verdict(reason=Reason.FITS)
            else:
                growth = self._growth[group]
                growth.whole = growth.whole or bool(gang)
                self.pods[key] = growth.helped
                growth.pods.append(key)
                by_group[group] = by_group.get(group, 0) + 1
        if by_group:
            kind = kind_of(pods.pod, self._simulation.cluster.pod_classes.of(pods.pod))
            self.intentions += [Intention(group=group, kind=kind, count=count) for group, count in by_group.items()]

    def _still_waiting(self, pods: PodSet) -> Verdict:
        """Return why *pods* still wait."""
        open_to = [group for group in self._groups if pods.keys[0] not in self._found.refusals.get(group, {})]
        if not open_to:
            return Verdict(reason=Reason.NO_GROUP_FITS)
        obstacles = {verdict for group in open_to if (verdict := self._found.groups.get(group)) is not None}
        reasons = {verdict.reason for verdict in obstacles}
        if len(reasons) == 1 and (only := reasons.pop()) in (Reason.LIMIT_NODES, Reason.LIMIT_RESOURCES):
            return Verdict(reason=only, detail="; ".join(sorted({verdict.detail for verdict in obstacles} - {""})))
        return Verdict(reason=Reason.WAITING)


def _judge(option: Option, choice: Choice, offered: Sequence[Option], number: int) -> OptionVerdict:
    taken = [each for each in choice.taken if each.group.id == option.group.id]
    nodes, pods = option.nodes, option.pod_count
    if taken:
        nodes, pods = sum(each.nodes for each in taken), sum(each.pod_count for each in taken)
        verdict = Verdict(reason=Reason.CHOSEN)
    elif all(each.group.id != option.group.id for each in offered):
        verdict = Verdict(reason=Reason.FILTERED, detail="a hook")
    else:
        verdict = choice.refused.get(option.group.id, Verdict(reason=Reason.NOT_CHOSEN))
    return OptionVerdict(group=option.group.id, nodes=nodes, pods=pods, round=number, verdict=verdict)


def _why(choice: Choice, options: int, policy: Policy) -> str:
    if choice.planned_by:
        return f"part of the plan of {choice.planned_by} for {options} options"
    if options == 1:
        return "the only option"
    took_part = [name for name in policy.expanders if name not in choice.failed]
    failed = f" ({', '.join(choice.failed)} failed)" if choice.failed else ""
    return f"best of {options} options by {', '.join(took_part) or 'chance'}{failed}"
