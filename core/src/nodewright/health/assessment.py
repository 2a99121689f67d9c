"""The assessment that every decision starts with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nodewright.api.decision import DeleteInstances, Shrink
from nodewright.api.group import GroupFacts
from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.health.backoff import TIMEOUT, back_off, remembered
from nodewright.health.census import Census, take_census
from nodewright.health.readiness import is_ready
from nodewright.memory import Backoff, Memory, ScaleUpRequest
from nodewright.objects import Node
from nodewright.policy import Policy
from nodewright.world import World


@dataclass(frozen=True, kw_only=True)
class GroupHealth:
    """One group, as it is now."""

    facts: GroupFacts
    #: Its nodes that simulation counts on.
    nodes: tuple[str, ...] = ()
    #: Nodes that were ordered and are not usable yet, those that are starting included.
    upcoming: int = 0
    #: Names of the nodes that are starting.
    starting: tuple[str, ...] = ()
    #: Why the group can't grow now, if so.
    blocked: Verdict | None = None


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """All groups, what has to be cleaned up in them, and what to remember of them."""

    groups: tuple[GroupHealth, ...]
    delete: tuple[DeleteInstances, ...]
    shrink: tuple[Shrink, ...]
    memory: Memory

    @property
    def starting(self) -> frozenset[str]:
        """Names of all nodes that are starting."""
        return frozenset(name for group in self.groups for name in group.starting)


def assess(world: World, memory: Memory, policy: Policy, now: datetime) -> Assessment:
    """Return how every group is at *now*. Groups that could not be read are left as they are."""
    assessor = _Assessor(world, memory, policy, now)
    groups = tuple(
        assessor.frozen(facts, nodes) if facts.error else assessor.examine(facts, nodes)
        for facts, nodes in _nodes_by_group(world)
    )
    return Assessment(
        groups=groups,
        delete=tuple(assessor.delete),
        shrink=tuple(assessor.shrink),
        memory=replace(
            memory,
            backoffs=assessor.backoffs,
            requests=assessor.requests,
            unregistered_since=assessor.unregistered_since,
        ),
    )


class _Assessor:
    """Goes from group to group and gathers what is to be done and remembered."""

    def __init__(self, world: World, memory: Memory, policy: Policy, now: datetime) -> None:
        self._world = world
        self._policy = policy
        self._settings = policy.settings.health.backoff
        self._now = now
        self._seen = memory.unregistered_since
        self.backoffs = remembered(memory.backoffs, self._settings, now)
        self.requests = dict(memory.requests)
        self.unregistered_since: dict[str, datetime] = {}
        self.delete: list[DeleteInstances] = []
        self.shrink: list[Shrink] = []
        for outcome in world.outcomes:
            # After any other failure the order may have been taken all the same: the group's size will tell.
            if outcome.action == "grow" and not outcome.ok and not outcome.temporary:
                self._back_off(outcome.target, outcome.cause or _unknown(outcome.error))

    def frozen(self, facts: GroupFacts, nodes: Sequence[Node]) -> GroupHealth:
        """Leave the group as it is; what it was asked for is waited for as long as if it could be read."""
        known = {instance.id for instance in facts.instances}
        self.unregistered_since |= {key: since for key, since in self._seen.items() if key in known}
        options = self._policy.options_of(facts)
        census = take_census(facts, nodes, options, self._seen, self._now, self._is_ready)
        request = self.requests.get(facts.id)
        awaited = request is not None and request.ours and self._now - request.at <= options.max_node_provision_time
        return GroupHealth(
            facts=facts,
            nodes=census.settled,
            upcoming=len(census.starting) + (census.missing if awaited else 0),
            starting=census.starting,
            blocked=Verdict(reason=Reason.GROUP_FAULTY, detail=facts.error),
        )

    def examine(self, facts: GroupFacts, nodes: Sequence[Node]) -> GroupHealth:
        options = self._policy.options_of(facts)
        census = take_census(facts, nodes, options, self._seen, self._now, self._is_ready)
        self.unregistered_since |= census.unregistered_since
        self._clear_failed(facts, census)
        self._clear_overdue(facts, census)
        missing = census.missing
        request = self._follow_request(facts, missing)
        if request and census.unmet and self._now - request.at > options.max_node_provision_time:
            self._give_up(facts, census.unmet)
            missing -= census.unmet
        elif request and not request.ours:
            missing -= census.unmet
        backoff = self._running_backoff(facts)
        return GroupHealth(
            facts=facts,
            nodes=census.settled,
            # What a backed-off group was asked for may never come: only machines that are there already are waited for.
            upcoming=len(census.starting) + max(0, min(missing, census.missing - census.unmet) if backoff else missing),
            starting=census.starting,
            blocked=_blocked(facts, backoff),
        )

    def _is_ready(self, node: Node) -> bool:
        return is_ready(node, self._world, self._policy.settings.templates)

    def _clear_failed(self, facts: GroupFacts, census: Census) -> None:
        if census.failed:
            cause = census.failed[0].error or _unknown("")
            detail = f"{cause.code}: {cause.message}" if cause.message else cause.code
            failed = [instance.id for instance in census.failed]
            self._delete(facts, failed, Verdict(reason=Reason.CREATE_FAILED, detail=detail))
            self._back_off(facts.id, cause)

    def _clear_overdue(self, facts: GroupFacts, census: Census) -> None:
        if census.overdue:
            self._delete(facts, census.overdue, Verdict(reason=Reason.NEVER_REGISTERED))
            self._back_off(facts.id, TIMEOUT)

    def _delete(self, facts: GroupFacts, instances: Sequence[str], verdict: Verdict) -> None:
        """Delete as many machines as the group's minimum allows; those that never came count for it, too."""
        going = sum(len(delete.instances) for delete in self.delete if delete.group == facts.id)
        allowed = facts.target_size - facts.min_size - going
        if allowed > 0:
            chosen = tuple(instances[:allowed])
            self.delete.append(DeleteInstances(group=facts.id, instances=chosen, verdict=verdict))

    def _follow_request(self, facts: GroupFacts, missing: int) -> ScaleUpRequest | None:
        """Keep, adopt or close the group's open request; one that we don't remember counts from now."""
        if not missing:
            self.requests.pop(facts.id, None)
        elif facts.id not in self.requests:
            self.requests[facts.id] = ScaleUpRequest(at=self._now, count=missing, ours=False)
        return self.requests.get(facts.id)

    def _give_up(self, facts: GroupFacts, unmet: int) -> None:
        self.shrink.append(Shrink(group=facts.id, count=unmet, verdict=Verdict(reason=Reason.UNMET_TARGET)))
        self.requests.pop(facts.id, None)
        self._back_off(facts.id, TIMEOUT)

    def _back_off(self, group: str, cause: InstanceError) -> None:
        self.backoffs[group] = back_off(self.backoffs.get(group), cause, self._settings, self._now)

    def _running_backoff(self, facts: GroupFacts) -> Backoff | None:
        backoff = self.backoffs.get(facts.id)
        return backoff if backoff is not None and self._now < backoff.until else None


def _nodes_by_group(world: World) -> list[tuple[GroupFacts, list[Node]]]:
    nodes: dict[str, list[Node]] = {facts.id: [] for facts in world.groups}
    for name, node in world.cluster.nodes.items():
        group = world.group_of.get(name)
        if group in nodes:
            nodes[group].append(node)
    return [(facts, nodes[facts.id]) for facts in world.groups]


def _unknown(message: str) -> InstanceError:
    return InstanceError(error_class=ErrorClass.OTHER, code="cloudProviderError", message=message)


def _blocked(facts: GroupFacts, backoff: Backoff | None) -> Verdict | None:
    if backoff is not None:
        return Verdict(reason=Reason.GROUP_BACKED_OFF, detail=f"{backoff.code}, until {backoff.until:%H:%M:%S}")
    if facts.target_size >= facts.max_size:
        return Verdict(reason=Reason.GROUP_AT_MAX, detail=f"{facts.target_size} of {facts.max_size}")
    if facts.template is None:
        return Verdict(reason=Reason.GROUP_NO_TEMPLATE)
    return None
