"""Random affinity, anti-affinity, spread and what they select."""

from nodewright.objects import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement
from nodewright.objects.affinity import Affinity, NodeAffinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint

from .dice import Dice
from .mix import Mix
from .names import APPS, NAMESPACES, NODE_LINES, POD_INDEX, POD_LINES, TOPOLOGY_KEYS

_NAMESPACE_SELECTORS = (
    LabelSelector(match_labels={"tier": "apps"}),
    LabelSelector(),
    LabelSelector(match_expressions=(Requirement(key="team", operator="NotIn", values=("a",)),)),
)


def random_affinity(dice: Dice, mix: Mix, app: str) -> Affinity | None:
    """What a pod labelled *app* wants near it and what not; None if it doesn't care."""
    nodes = _node_affinity(dice) if dice.chance(mix.node_affinity // 3) else None
    near = _pod_affinity(dice, app) if dice.chance(mix.affinity) else None
    far = _pod_affinity(dice, app) if dice.chance(mix.anti_affinity) else None
    if nodes is None and near is None and far is None:
        return None
    return Affinity(node_affinity=nodes, pod_affinity=near, pod_anti_affinity=far)


def random_spread(dice: Dice, mix: Mix, app: str) -> tuple[TopologySpreadConstraint, ...]:
    """One or two spread constraints over different keys, or none."""
    if not dice.chance(mix.spread):
        return ()
    return tuple(_spread(dice, app, key) for key in dice.some(TOPOLOGY_KEYS, 2))


def _spread(dice: Dice, app: str, key: str) -> TopologySpreadConstraint:
    soft = dice.chance(8)
    selector = _selector(dice, app)
    return TopologySpreadConstraint(
        max_skew=dice.pick((1, 1, 2, 3)),
        topology_key=key,
        when_unsatisfiable="ScheduleAnyway" if soft else "DoNotSchedule",
        label_selector=selector,
        min_domains=dice.number(1, 4) if not soft and dice.chance(25) else None,
        node_affinity_policy=dice.pick(("Honor", "Honor", "Ignore")),
        node_taints_policy=dice.pick(("Ignore", "Honor")),
        match_label_keys=_label_keys(dice, selector),
    )


def _pod_affinity(dice: Dice, app: str) -> PodAffinity:
    return PodAffinity(required=tuple(_term(dice, app) for _ in range(dice.pick((1, 1, 2)))))


def _term(dice: Dice, app: str) -> PodAffinityTerm:
    selector = _selector(dice, app)
    return PodAffinityTerm(
        topology_key=dice.pick(TOPOLOGY_KEYS),
        label_selector=selector,
        namespaces=dice.some(tuple(NAMESPACES), 2) if dice.chance(25) else (),
        namespace_selector=dice.pick(_NAMESPACE_SELECTORS) if dice.chance(25) else None,
        match_label_keys=_label_keys(dice, selector),
        mismatch_label_keys=_label_keys(dice, selector) if dice.chance(50) else (),
    )


def _selector(dice: Dice, app: str) -> LabelSelector | None:
    """Mostly pods like itself, sometimes others, everything or nothing."""
    if dice.chance(5):
        return None
    if dice.chance(5):
        return LabelSelector()
    if dice.chance(15):
        return LabelSelector(match_expressions=dice.some(POD_LINES, 2))
    return LabelSelector(match_labels={"app": dice.pick((app, app, *APPS))})


def _label_keys(dice: Dice, selector: LabelSelector | None) -> tuple[str, ...]:
    """Keys beside a selector, which the API server takes only if there is one."""
    return (dice.pick(("version", "version", POD_INDEX)),) if selector is not None and dice.chance(15) else ()


def _node_affinity(dice: Dice) -> NodeAffinity:
    return NodeAffinity(
        required=NodeSelector(node_selector_terms=tuple(_node_term(dice) for _ in range(dice.pick((1, 1, 2)))))
    )


def _node_term(dice: Dice) -> NodeSelectorTerm:
    by_name = Requirement(
        key="metadata.name", operator=dice.pick(("In", "NotIn")), values=(f"node-{dice.number(0, 3)}",)
    )
    if dice.chance(10):
        return NodeSelectorTerm(match_fields=(by_name,))
    if dice.chance(4):
        return NodeSelectorTerm()
    lines = dice.some(NODE_LINES, 2)
    return NodeSelectorTerm(match_expressions=lines, match_fields=(by_name,) if dice.chance(10) else ())
