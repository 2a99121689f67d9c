"""The table is whole, its defaults are those of the settings, and every target exists."""

import pytest
from nodewright.config.document import load
from nodewright.config.flag_table import FLAGS, GROUPS, REMOVED
from nodewright.config.flags import parse_flags
from nodewright.config.model import Settings
from nodewright.config.paths import PLANNED, all_settings, allowed_keys

#: Cluster Autoscaler 1.37, the one flag that is newer, leader election, logging.
CLUSTER_AUTOSCALER = """
address cloud-provider cloud-config cluster-name namespace kubernetes kubeconfig kube-api-content-type kube-client-qps
kube-client-burst user-agent regional record-duplicated-events profiling debugging-snapshot-enabled
emit-per-nodegroup-metrics write-status-configmap status-config-map-name

scan-interval frequent-loops-enabled max-inactivity max-failing-time max-startup-time max-total-unready-percentage
ok-total-unready-count max-node-provision-time max-node-startup-time initial-node-group-backoff-duration
max-node-group-backoff-duration node-group-backoff-reset-timeout force-delete-unregistered-nodes
force-delete-failed-nodes enable-graceful-degradation pending-pods-batching-timeout cluster-snapshot-parallelism
predicate-parallelism scheduler-config-file scheduler-verbosity enable-inter-pod-affinity-hostname-fast-path

nodes node-group-auto-discovery node-info-cache-expire-time scale-from-unschedulable startup-taint
startup-taint-prefix status-taint ignore-taint async-node-groups

estimator expander grpc-expander-url grpc-expander-cert balance-similar-node-groups balancing-ignore-label
balancing-label memory-difference-ratio max-free-difference-ratio max-allocatable-difference-ratio
max-nodes-per-scaleup max-nodegroup-binpacking-duration max-binpacking-time fastpath-binpacking-enabled
parallel-scale-up salvo-scale-up salvo-scale-up-budget scale-up-from-zero new-pod-scale-up-delay
expendable-pods-priority-cutoff enforce-node-group-min-size force-ds bypassed-scheduler-names
allowed-scheduler-names scaleup-simulation-for-skipped-node-groups-enabled enable-proactive-scaleup
pod-injection-limit

max-nodes-total cores-total memory-total gpu-total capacity-quotas-enabled

scale-down-enabled scale-down-unready-enabled scale-down-delay-after-add scale-down-delay-after-delete
scale-down-delay-after-failure scale-down-delay-type-local scale-down-unneeded-time scale-down-unready-time
scale-down-utilization-threshold scale-down-gpu-utilization-threshold ignore-daemonsets-utilization
ignore-mirror-pods-utilization scale-down-simulation-timeout unremovable-node-recheck-timeout
scale-down-non-empty-candidates-count scale-down-candidates-pool-ratio scale-down-candidates-pool-min-count
max-scale-down-parallelism max-drain-parallelism max-graceful-termination-sec drain-priority-config
max-pod-eviction-time node-deletion-delay-timeout node-deletion-batcher-interval node-delete-delay-after-taint
dynamic-node-delete-delay-after-taint-enabled cordon-node-before-terminating daemonset-eviction-for-empty-nodes
daemonset-eviction-for-occupied-nodes skip-nodes-with-system-pods blocking-system-pod-distruption-timeout
skip-nodes-with-local-storage skip-nodes-with-custom-controller-pods min-replica-count max-bulk-soft-taint-count
max-bulk-soft-taint-time node-deletion-candidate-ttl node-removal-latency-tracking-enabled
max-node-skip-eval-time-tracker-enabled

enable-provisioning-requests provisioning-request-initial-backoff-time provisioning-request-max-backoff-time
provisioning-request-max-backoff-cache-size check-capacity-batch-processing
check-capacity-provisioning-request-max-batch-size check-capacity-provisioning-request-batch-timebox
check-capacity-processor-instance

capacity-buffer-controller-enabled capacity-buffer-pod-injection-enabled capacity-buffer-pod-dry-run-enabled
enable-dynamic-resource-allocation enable-csi-node-aware-scheduling

aws-use-static-instance-list gce-concurrent-refreshes gce-mig-instances-min-refresh-wait-time
bulk-mig-instances-listing-enabled clusterapi-cloud-config-authoritative

leader-elect leader-elect-lease-duration leader-elect-renew-deadline leader-elect-retry-period
leader-elect-resource-lock leader-elect-resource-name leader-elect-resource-namespace

v vmodule logtostderr alsologtostderr stderrthreshold legacy-stderr-threshold-behavior log-dir log-file
log-file-max-size add-dir-header skip-headers skip-log-headers one-output log-backtrace-at log-flush-frequency
logging-format log-text-split-stream log-text-info-buffer-size log-json-split-stream log-json-info-buffer-size
feature-gates
"""

#: Their defaults are not those of YAML, or are not written there as the flag writes them.
OTHERWISE = (
    "cloud-provider",
    "kube-client-burst",
    "kube-client-qps",
    "max-graceful-termination-sec",
    "parallel-scale-up",
)


def test_the_table_has_exactly_the_flags_of_cluster_autoscaler() -> None:
    assert sorted(FLAGS) == sorted(CLUSTER_AUTOSCALER.split())
    assert len(FLAGS) == sum(len(flags) for flags in GROUPS.values())
    assert not set(REMOVED) & set(FLAGS)


@pytest.mark.parametrize("name", [name for name in FLAGS if name not in OTHERWISE])
def test_a_flag_with_its_default_changes_nothing_and_warns_of_nothing(name) -> None:
    flag = FLAGS[name]
    given = [f"--{name}={flag.default}"] if flag.default or flag.type not in ("list", "slice") else []
    loaded = load(flags=parse_flags(given))
    assert loaded.settings == Settings()
    assert loaded.warnings == ()


def test_five_defaults_are_not_those_of_yaml_or_written_otherwise_there() -> None:
    kube = load(flags=parse_flags(["--kube-client-qps=5", "--kube-client-burst=10"])).settings.kube
    assert (kube.qps, kube.burst) == (5, 10)
    assert (Settings().kube.qps, Settings().kube.burst) == (50, 100)
    assert load(flags=parse_flags(["--parallel-scale-up=false"])).settings.scale_up.parallel is False
    assert Settings().scale_up.parallel is True
    assert load(flags=parse_flags(["--max-graceful-termination-sec=600"])).settings == Settings()
    assert load(flags=parse_flags(["--cloud-provider=gce"])).settings.providers[0].name == "gce"


def test_every_flag_does_something_or_says_why_not() -> None:
    for flag in FLAGS.values():
        assert [bool(flag.sets), bool(flag.plugin), bool(flag.instead)].count(True) == 1, flag.name


def test_every_target_and_every_planned_setting_exists() -> None:
    for path in (*(flag.sets for flag in FLAGS.values() if flag.sets), *PLANNED):
        *section, key = path.split(".")
        assert key in allowed_keys(Settings, tuple(section)), path


def test_every_setting_that_is_not_ours_alone_has_a_flag() -> None:
    """What Cluster Autoscaler does not have is written here, so that a flag can't be forgotten."""
    ours = {
        "apiVersion",
        "kind",
        "seed",
        "memory.store",
        "memory.name",
        "memory.path",
        "loop.actionTimeout",
        "loop.refreshTimeout",
        "scaleUp.optionsPerLoop",
        "scaleDown.drainRules",
        "scaleDown.disruption.budgets",
        "scaleDown.disruption.minSaving",
        "scaleDown.disruption.maxEvictionsPerHour",
        "processors.pendingPods",
        "processors.scaleDownCandidates",
        "events.nodes",
        "scaleDown.consolidation.enabled",
        "scaleDown.consolidation.threshold",
        "scaleDown.consolidation.minSavingPercentage",
        "scaleDown.consolidation.after",
        "scaleDown.consolidation.maxUnderway",
        "scaleDown.consolidation.maxNodes",
        "scaleDown.consolidation.searchTime",
        "scaleDown.consolidation.recheck",
        "scaleDown.consolidation.reserve",
        "groups",
        "hooks",
        "prices",
        "dryRun",
        "record.path",
        "record.maxSize",
        "record.keep",
        "shadow.patience",
    }
    targets = {flag.sets for flag in FLAGS.values() if flag.sets}
    without = {
        setting.name
        for setting in all_settings()
        if setting.name not in targets and setting.name.rpartition(".")[0] not in targets
    }
    assert without == ours
