"""The settings of Nodewright: what the YAML file may say, with Cluster Autoscaler's defaults."""

from typing import Literal

from nodewright.config.addresses import NamespaceName
from nodewright.config.model.base import Section
from nodewright.config.model.disruption import Disruption, DisruptionBudget, DisruptionReason, Schedule
from nodewright.config.model.groups import GroupRule, GroupScaleDown
from nodewright.config.model.health import BackoffSettings, Health, Loop
from nodewright.config.model.limits import CpuLimit, GpuLimit, Limits, MemoryLimit, NodeLimit
from nodewright.config.model.process import (
    CapacityBuffers,
    CheckCapacity,
    Events,
    Kube,
    LeaderElection,
    Logging,
    Memory,
    Metrics,
    ProvisioningRequests,
    Record,
    Scheduling,
    Server,
    Shadow,
    Status,
    Templates,
)
from nodewright.config.model.scale_down import DrainPriority, ScaleDown, SoftTaints
from nodewright.config.model.scale_up import Balancing, Proactive, ScaleUp
from nodewright.config.reference import Reference
from nodewright.config.values import (
    Group,
    Hooks,
    Name,
    PendingPodsSteps,
    PriceModels,
    Providers,
    ScaleDownCandidatesSteps,
    Switch,
    Whole,
)

__all__ = [
    "BackoffSettings",
    "Balancing",
    "CapacityBuffers",
    "CheckCapacity",
    "CpuLimit",
    "Disruption",
    "DisruptionBudget",
    "DisruptionReason",
    "DrainPriority",
    "Events",
    "GpuLimit",
    "GroupRule",
    "GroupScaleDown",
    "Health",
    "Kube",
    "LeaderElection",
    "Limits",
    "Logging",
    "Loop",
    "Memory",
    "MemoryLimit",
    "Metrics",
    "NodeLimit",
    "Proactive",
    "Processors",
    "ProvisioningRequests",
    "Record",
    "Reference",
    "ScaleDown",
    "ScaleUp",
    "Schedule",
    "Scheduling",
    "Section",
    "Server",
    "Settings",
    "Shadow",
    "SoftTaints",
    "Status",
    "Templates",
]


class Processors(Section):
    """The steps that narrow down what is decided about."""

    pending_pods: PendingPodsSteps = (
        Reference(name="clear-tpu-requests"),
        Reference(name="filter-expendable"),
        Reference(name="add-returning-pods"),
        Reference(name="filter-schedulable"),
        Reference(name="filter-daemonset-pods"),
    )
    """The plugins that take pods off the list of those that need nodes, or add to it, in order."""
    scale_down_candidates: ScaleDownCandidatesSteps = ()
    """The plugins that take nodes off the list of those looked at for removal, in order."""


class Settings(Section):
    """Everything that can be configured."""

    api_version: Literal["nodewright.dev/v1"] = "nodewright.dev/v1"
    """The version of this format."""
    kind: Literal["Autoscaler"] = "Autoscaler"
    """What this file is."""
    cluster: str = ""
    """The cluster's name, for providers that need it."""
    namespace: NamespaceName = "kube-system"
    """Where Nodewright's ConfigMaps and its lease are."""
    seed: Whole = 0
    """Where chance begins: the same seed and the same cluster give the same decisions."""
    dry_run: Switch = False
    """Act on nothing, and tell where another autoscaler does something else; holds from start to end."""
    providers: Providers = ()
    """The plugins that know the clouds, in order."""
    node_groups: tuple[Group, ...] = ()
    """Node groups by hand, as min:max:name; most providers find theirs."""
    discovery: tuple[Name, ...] = ()
    """Rules by which a provider finds its node groups, as in --node-group-auto-discovery."""
    prices: PriceModels = ()
    """The plugins that know prices better than the providers, in order."""
    loop: Loop = Loop()
    """How often it is decided."""
    scale_up: ScaleUp = ScaleUp()
    """How pending pods bring nodes."""
    scale_down: ScaleDown = ScaleDown()
    """How nodes that are not needed go away."""
    processors: Processors = Processors()
    """The steps that narrow down what is decided about."""
    limits: Limits = Limits()
    """How large the cluster may get, and how small."""
    health: Health = Health()
    """When the cluster or a group is not well."""
    groups: tuple[GroupRule, ...] = ()
    """Settings for single node groups; the first rule that matches is taken."""
    hooks: Hooks = ()
    """The plugins that watch, adjust and veto."""
    templates: Templates = Templates()
    """What a new node of a group is taken to look like."""
    scheduling: Scheduling = Scheduling()
    """How closely the simulation follows the cluster's scheduler."""
    provisioning_requests: ProvisioningRequests = ProvisioningRequests()
    """ProvisioningRequest objects."""
    capacity_buffers: CapacityBuffers = CapacityBuffers()
    """CapacityBuffer objects."""
    server: Server = Server()
    """The HTTP endpoints."""
    kube: Kube = Kube()
    """The connection to the API server."""
    leader_election: LeaderElection = LeaderElection()
    """One of several replicas acts."""
    logging: Logging = Logging()
    """What is written to standard error."""
    metrics: Metrics = Metrics()
    """Metrics that are off unless asked for."""
    events: Events = Events()
    """Kubernetes events."""
    status: Status = Status()
    """The ConfigMap that tells the state."""
    memory: Memory = Memory()
    """What outlives the process."""
    record: Record = Record()
    """The file in which decisions are written down."""
    shadow: Shadow = Shadow()
    """How a dry run compares itself with who acts."""
