"""The chain of drain rules: it says what draining its node means for one pod."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from nodewright.api.drain_rule import ControllerFacts, DrainContext, DrainSettings, PodFate
from nodewright.cluster import Cluster, PodRow
from nodewright.config.model import ScaleDown
from nodewright.decision.policy import Policy
from nodewright.objects import Controller, DaemonSet, Pod
from nodewright.objects.pod import MIRROR
from nodewright.plugins.results import pod_fate


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What the chain says about a pod."""

    #: What happens to it, or why it keeps its node.
    fate: PodFate | str
    #: Whether all pods of its class and controller get the same answer in this loop while budgets last.
    shared: bool


class DrainChain:
    """The rules that YAML names, asked in order until one has an opinion."""

    def __init__(self, cluster: Cluster, policy: Policy, now: datetime) -> None:
        self._controllers = cluster.controllers
        self._rules = tuple(policy.drain_rules.items())
        self._faults = policy.faults
        self._settings = _settings(policy.settings.scale_down)
        self._now = now

    def ask(self, row: PodRow, budgets: Sequence[str], spent: Sequence[str]) -> Judgement:
        """Return what the rules say about the pod. *budgets* cover it; those *spent* allow no eviction."""
        pod = _pod(row)
        context = DrainContext(
            now=self._now,
            settings=self._settings,
            controller=self._controller(row),
            budgets=budgets,
            spent_budgets=spent,
        )
        shared = True
        for name, rule in self._rules:
            try:
                with self._faults.calling(name, "judge"):
                    shared = shared and not rule.varies(pod, context)
                    said = pod_fate(rule.judge(pod, context))
            except Exception as error:
                self._faults.note(name, "judge", error)
                return Judgement(fate=f"drain rule {name} failed", shared=False)
            if said is not None:
                return Judgement(fate=said, shared=shared)
        return Judgement(fate=PodFate.MOVES, shared=shared)

    def _controller(self, row: PodRow) -> ControllerFacts | None:
        owner = row.owner
        if owner is None or owner.kind not in self._controllers.seen:
            return None
        found = self._controllers.find(owner.kind, f"{row.pod_class.namespace}/{owner.name}")
        return ControllerFacts(exists=found is not None, replicas=_replicas(found))


def _replicas(controller: Controller | DaemonSet | None) -> int | None:
    return controller.spec.replicas if isinstance(controller, Controller) else None


def _pod(row: PodRow) -> Pod:
    """Return the pod as it runs: its class's pod, with its own name, times and labels."""
    model = row.pod_class.pod
    meta = model.metadata
    tells = row.pod_class.annotations.tells
    annotations = {key: value for key, value in meta.annotations.items() if tells(key) or key == MIRROR}
    own = replace(
        meta,
        name=row.name,
        uid=row.uid,
        labels={**meta.labels, **dict(row.telling)} if row.telling else meta.labels,
        annotations=annotations,
        owner_references=() if row.owner is None else (row.owner,),
        creation_timestamp=row.created,
        deletion_timestamp=row.deleted,
    )
    return replace(
        model,
        metadata=own,
        spec=replace(model.spec, node_name=row.node),
        status=replace(model.status, phase="Succeeded" if row.finished else "Running"),
    )


def _settings(settings: ScaleDown) -> DrainSettings:
    return DrainSettings(
        skip_system_pods=settings.skip_system_pods,
        system_pods_block_for=settings.system_pods_block_for,
        skip_local_storage=settings.skip_local_storage,
        skip_custom_controller_pods=settings.skip_custom_controller_pods,
        min_replicas=settings.min_replicas,
    )
