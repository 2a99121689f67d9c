"""The settings of Nodewright: everything that the YAML file may say, with Cluster Autoscaler's defaults."""

from typing import Literal

from nodewright.config.addresses import NamespaceName
from nodewright.config.model.base import Section
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
from nodewright.config.model.scale_down import (
    Disruption,
    DisruptionBudget,
    DisruptionReason,
    DrainPriority,
    ScaleDown,
    Schedule,
    SoftTaints,
)
from nodewright.config.model.scale_up import Balancing, Proactive, ScaleUp
from nodewright.config.reference import Reference
from nodewright.config.slots import Hooks, PendingPodsSteps, PriceModels, Providers, ScaleDownCandidatesSteps
from nodewright.config.values import Duration, Group, Name, Ratio, Switch, Whole

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
    """The plugins that decide which pods and nodes are looked at."""

    pending_pods: PendingPodsSteps = (
        Reference(name="clear-tpu-requests"),
        Reference(name="filter-expendable"),
        Reference(name="add-returning-pods"),
        Reference(name="filter-schedulable"),
        Reference(name="filter-daemonset-pods"),
    )
    """The plugins that remove pods from the list of those that need nodes, or add pods to it, in order."""
    scale_down_candidates: ScaleDownCandidatesSteps = ()
    """The plugins that remove nodes from the list of candidates for removal, in order."""


class GroupScaleDown(Section):
    """The settings of scaleDown that a group can override."""

    unneeded_time: Duration | None = None
    """How long a node must be unneeded before it is removed."""
    unready_time: Duration | None = None
    """How long an unready node must be unneeded before it is removed."""
    utilization_threshold: Ratio | None = None
    """A node can be unneeded only while pods request less than this fraction of its cpu and memory."""
    gpu_utilization_threshold: Ratio | None = None
    """The same for the GPUs of a node that has GPUs."""
    ignore_daemonsets_utilization: Switch | None = None
    """Do not count DaemonSet pods in a node's utilization."""


class GroupRule(Section):
    """Settings of the groups whose id, or name in a URL, matches. Only the first rule that matches a group applies."""

    match: Name
    """A pattern for the group's name. It may contain *, ? and [abc]."""
    scale_down: GroupScaleDown = GroupScaleDown()
    """The settings of scaleDown that differ for these groups."""
    max_node_provision_time: Duration | None = None
    """How long a new machine may take to become a node."""
    max_node_startup_time: Duration | None = None
    """How long a new node may take to become ready."""
    zero_or_max: Switch | None = None
    """Scale the group between zero and its maximum size, and to no size in between."""
    allow_non_atomic_scale_up_to_max: Switch | None = None
    """With zeroOrMax: let the group grow to its maximum in several steps."""


class Settings(Section):
    """Everything that can be configured."""

    api_version: Literal["nodewright.dev/v1"] = "nodewright.dev/v1"
    """The version of the file format."""
    kind: Literal["Autoscaler"] = "Autoscaler"
    """The kind of the file."""
    cluster: str = ""
    """The name of the cluster. Some providers need it."""
    namespace: NamespaceName = "kube-system"
    """The namespace of Nodewright's ConfigMaps and its lease."""
    seed: Whole = 0
    """The seed of random choices. The same seed and the same cluster give the same decisions."""
    dry_run: Switch = False
    """Change nothing, and report where the autoscaler that acts decides differently. Read at start only."""
    providers: Providers = ()
    """The provider plugins, one for each cloud, account or region, in order."""
    node_groups: tuple[Group, ...] = ()
    """Node groups that are listed by hand, as min:max:name. Most providers can discover theirs."""
    discovery: tuple[Name, ...] = ()
    """Rules by which providers discover node groups, as in --node-group-auto-discovery."""
    prices: PriceModels = ()
    """The plugins that know prices better than the providers. The first one that knows a price counts."""
    loop: Loop = Loop()
    """How often the loop runs, and when the process counts as stuck."""
    scale_up: ScaleUp = ScaleUp()
    """How pending pods lead to new nodes."""
    scale_down: ScaleDown = ScaleDown()
    """How unneeded nodes are removed."""
    processors: Processors = Processors()
    """The plugins that decide which pods and nodes are looked at."""
    limits: Limits = Limits()
    """The minimum and maximum size of the cluster."""
    health: Health = Health()
    """When the cluster or a group counts as unhealthy, and what happens then."""
    groups: tuple[GroupRule, ...] = ()
    """Settings for single node groups. The first rule that matches a group applies to it."""
    hooks: Hooks = ()
    """The plugins that observe, adjust and veto decisions."""
    templates: Templates = Templates()
    """What a new node of a group is expected to look like."""
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
    """Leader election: only one of several replicas acts."""
    logging: Logging = Logging()
    """What is logged to standard error."""
    metrics: Metrics = Metrics()
    """Metrics that are off by default."""
    events: Events = Events()
    """Kubernetes events."""
    status: Status = Status()
    """The ConfigMap with the state of the cluster and its groups."""
    memory: Memory = Memory()
    """Where timers, back-offs, orders and removals are kept while no process runs."""
    record: Record = Record()
    """The file to which decisions are recorded."""
    shadow: Shadow = Shadow()
    """How a dry run is compared with the autoscaler that acts."""
