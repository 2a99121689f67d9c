"""What surrounds the decisions: the API server, leader election, logs, metrics, events, status."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from nodewright.config.addresses import Address, HeaderText, ObjectName, ServerUrl
from nodewright.config.model.base import Section
from nodewright.config.values import Bytes, Count, Duration, Name, Positive, PositiveDuration, Switch


class Server(Section):
    """The HTTP endpoints."""

    address: Address = ":8085"
    """Where /metrics and /health-check are served: host:port, or :port for all addresses."""
    profiling: Switch = False
    """Serve /debug/pprof."""
    snapshot: Switch = False
    """Serve /snapshotz."""


class Kube(Section):
    """The connection to the API server."""

    kubeconfig: str = ""
    """The kubeconfig file; empty is the service account of the pod, or else the usual file."""
    server: ServerUrl = ""
    """URL of the API server; overrides the kubeconfig's."""
    qps: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] = 50
    """Requests per second, on average, to change something. As many events."""
    burst: Positive = 100
    """Requests at once."""
    user_agent: HeaderText = "cluster-autoscaler"
    """How calls to clouds and to the API server name their sender."""


class LeaderElection(Section):
    """One of several replicas acts."""

    enabled: Switch = True
    """Act only while holding the lease."""
    lease_duration: PositiveDuration = timedelta(seconds=15)
    """How long others wait after the last renewal before they take the lease."""
    renew_deadline: PositiveDuration = timedelta(seconds=10)
    """How long the holder tries to renew before it gives up."""
    retry_period: PositiveDuration = timedelta(seconds=2)
    """How long to wait between two tries."""
    resource_name: ObjectName = "cluster-autoscaler"
    """The lease's name."""


class Logging(Section):
    """What is written to standard error."""

    verbosity: Count = 0
    """0 is one line per decision; 5 and more add tracebacks of plugins and requests that are tried again."""
    format: Literal["text", "json"] = "text"
    """How a line is written."""


class Metrics(Section):
    """Metrics that are off unless asked for."""

    per_group: Switch = False
    """Sizes and states of every group."""
    node_removal_latency: Switch = False
    """How long nodes take from unneeded to removed."""
    node_skip_time: Switch = False
    """How long nodes were not looked at for removal."""


class Events(Section):
    """Kubernetes events."""

    duplicates: Switch = False
    """Write the same event again within five minutes."""
    nodes: Switch = True
    """Tell on nodes when they become unneeded or needed again, and what keeps them, not only that they go."""


class Status(Section):
    """The ConfigMap that tells the state of the cluster and its groups."""

    write: Switch = True
    """Write it."""
    name: ObjectName = "cluster-autoscaler-status"
    """Its name."""


class Memory(Section):
    """What outlives the process: timers, back-offs, orders and removals under way."""

    store: Literal["configMap", "file", "none"] = "configMap"
    """Where it is kept; with none, each process begins anew."""
    name: ObjectName = "nodewright-memory"
    """The ConfigMap's name, in Nodewright's namespace."""
    path: str = ""
    """The file's path."""


class Record(Section):
    """The file in which decisions are written down."""

    path: str = ""
    """Where it is; empty for none. One JSON document in a line for each loop that decided something."""
    max_size: Bytes = 64 * 2**20
    """When it is larger, it is put aside and another one is begun."""
    keep: Count = 3
    """So many are kept beside it."""


class Shadow(Section):
    """How a dry run compares itself with who acts."""

    patience: PositiveDuration = timedelta(minutes=2)
    """How much earlier or later than we the other may do the same."""


class Scheduling(Section):
    """How closely the simulation follows the cluster's scheduler."""

    config_file: str = ""
    """A KubeSchedulerConfiguration whose filter plugins are taken."""
    csi_nodes: Switch = False
    """Count how many volumes a node can attach."""


class Templates(Section):
    """What a new node of a group is taken to look like."""

    cache_time: Duration = timedelta(hours=87600)
    """How long the picture taken from a real node is kept after the last node of its group went."""
    from_unschedulable: Switch = False
    """Take nodes that are marked unschedulable as if they were not."""
    startup_taints: tuple[Name, ...] = ()
    """Taints that go away while a node starts: it counts as unready as long as it has one."""
    startup_taint_prefixes: tuple[Name, ...] = ()
    """The same for all taints that begin so."""
    status_taints: tuple[Name, ...] = ()
    """Taints that tell a state: new nodes do not have them, and a node with one counts as ready."""


class CheckCapacity(Section):
    """Requests that only ask whether there is room."""

    batch: Switch = False
    """Answer several in one loop."""
    batch_size: Positive = 10
    """At most so many."""
    batch_time: Duration = timedelta(seconds=10)
    """For at most so long."""
    instance: str = ""
    """Answer only those that name this instance."""


class ProvisioningRequests(Section):
    """ProvisioningRequest objects: capacity asked for ahead of pods."""

    enabled: Switch = False
    """Look at them."""
    initial_backoff: Duration = timedelta(minutes=1)
    """How long one that failed is left alone at first."""
    max_backoff: Duration = timedelta(minutes=10)
    """And at most."""
    backoff_cache_size: Count = 1000
    """How many of them are remembered."""
    check_capacity: CheckCapacity = CheckCapacity()
    """Requests that only ask whether there is room."""


class CapacityBuffers(Section):
    """CapacityBuffer objects: spare room kept ready."""

    controller: Switch = False
    """Fill in their status."""
    pod_injection: Switch = False
    """Count their room as pending pods."""
    pod_dry_run: Switch = True
    """Ask the API server what their pods would look like."""
