"""Everything around the decisions: the API server, leader election, logs, metrics, events, status."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from nodewright.config.addresses import Address, HeaderText, ObjectName, ServerUrl
from nodewright.config.model.base import Section
from nodewright.config.values import Bytes, Count, Duration, Name, Positive, PositiveDuration, Switch


class Server(Section):
    """The HTTP endpoints."""

    address: Address = ":8085"
    """The address of /metrics and /health-check: host:port, or :port for all addresses."""
    profiling: Switch = False
    """Serve /debug/pprof."""
    snapshot: Switch = False
    """Serve /snapshotz."""


class Kube(Section):
    """The connection to the API server."""

    kubeconfig: str = ""
    """The kubeconfig file. If empty, the pod's service account is used, and outside of a pod the default file."""
    server: ServerUrl = ""
    """The URL of the API server. It overrides the one in the kubeconfig."""
    qps: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] = 50
    """The average number of changes per second. Events have a limit of their own, of the same size."""
    burst: Positive = 100
    """The number of requests that may be sent at once."""
    user_agent: HeaderText = "cluster-autoscaler"
    """The User-Agent header of calls to clouds and to the API server."""


class LeaderElection(Section):
    """Leader election: only one of several replicas acts."""

    enabled: Switch = True
    """Act only while holding the lease."""
    lease_duration: PositiveDuration = timedelta(seconds=15)
    """How long other replicas wait after the last renewal before they take the lease."""
    renew_deadline: PositiveDuration = timedelta(seconds=10)
    """How long the holder tries to renew the lease before it gives up."""
    retry_period: PositiveDuration = timedelta(seconds=2)
    """How long to wait between two attempts."""
    resource_name: ObjectName = "cluster-autoscaler"
    """The name of the lease."""


class Logging(Section):
    """What is logged to standard error."""

    verbosity: Count = 0
    """0 logs one line per decision. 5 and more add tracebacks of plugins and requests that are retried."""
    format: Literal["text", "json"] = "text"
    """The format of a line."""


class Metrics(Section):
    """Metrics that are off by default."""

    per_group: Switch = False
    """The size and the state of every group."""
    node_removal_latency: Switch = False
    """How long it takes from a node becoming unneeded to its removal."""
    node_skip_time: Switch = False
    """How long scale-down has skipped nodes."""


class Events(Section):
    """Kubernetes events."""

    duplicates: Switch = False
    """Write an event even if the same one was written less than five minutes ago."""
    nodes: Switch = True
    """Also write events on nodes that become unneeded or needed again, and on those that something blocks."""


class Status(Section):
    """The ConfigMap with the state of the cluster and its groups."""

    write: Switch = True
    """Whether the ConfigMap is written."""
    name: ObjectName = "cluster-autoscaler-status"
    """The name of the ConfigMap."""


class Memory(Section):
    """Where timers, back-offs, orders and removals are kept while no process runs."""

    store: Literal["configMap", "file", "none"] = "configMap"
    """Where memory is stored. With none, each process starts without memory."""
    name: ObjectName = "nodewright-memory"
    """The name of the ConfigMap, in Nodewright's namespace."""
    path: str = ""
    """The path of the file, if store is file."""


class Record(Section):
    """The file to which decisions are recorded."""

    path: str = ""
    """The path of the file. If empty, nothing is recorded. Each loop that decides something adds one line of JSON."""
    max_size: Bytes = 64 * 2**20
    """A file that grows beyond this size is set aside, and a new one is started."""
    keep: Count = 3
    """How many files that were set aside are kept."""


class Shadow(Section):
    """How a dry run is compared with the autoscaler that acts."""

    patience: PositiveDuration = timedelta(minutes=2)
    """How much earlier or later the other autoscaler may do the same thing."""


class Scheduling(Section):
    """How closely the simulation follows the cluster's scheduler."""

    config_file: str = ""
    """A KubeSchedulerConfiguration file. Its filter plugins are used."""
    csi_nodes: Switch = False
    """Respect the number of volumes that a node can attach."""


class Templates(Section):
    """What a new node of a group is expected to look like."""

    cache_time: Duration = timedelta(hours=87600)
    """How long the template taken from a real node is kept after the last node of its group is gone."""
    from_unschedulable: Switch = False
    """Ignore that a node is marked unschedulable if it serves as the template of its group."""
    startup_taints: tuple[Name, ...] = ()
    """Taints that disappear while a node starts. A node that has one counts as unready."""
    startup_taint_prefixes: tuple[Name, ...] = ()
    """The same for all taints that begin with one of these prefixes."""
    status_taints: tuple[Name, ...] = ()
    """Taints that only report a state. New nodes do not have them, and a node with one still counts as ready."""


class CheckCapacity(Section):
    """Requests that only ask whether capacity exists."""

    batch: Switch = False
    """Answer several requests in one loop."""
    batch_size: Positive = 10
    """The maximum number of requests in one loop."""
    batch_time: Duration = timedelta(seconds=10)
    """How long one loop may spend on them."""
    instance: str = ""
    """Answer only requests that name this instance."""


class ProvisioningRequests(Section):
    """ProvisioningRequest objects: requests for capacity before the pods exist."""

    enabled: Switch = False
    """Whether these objects are read."""
    initial_backoff: Duration = timedelta(minutes=1)
    """How long a request is left alone after its first failure."""
    max_backoff: Duration = timedelta(minutes=10)
    """The longest time that a request is left alone after a failure."""
    backoff_cache_size: Count = 1000
    """How many requests that failed are remembered."""
    check_capacity: CheckCapacity = CheckCapacity()
    """Requests that only ask whether capacity exists."""


class CapacityBuffers(Section):
    """CapacityBuffer objects: spare capacity that is kept ready."""

    controller: Switch = False
    """Write the status of these objects."""
    pod_injection: Switch = False
    """Treat the capacity that they ask for as pending pods."""
    pod_dry_run: Switch = True
    """Ask the API server, by a dry run, what their pods would look like."""
