"""The one registry of reason codes: events, metrics, status and command line all print these."""

from enum import StrEnum


class Reason(StrEnum):
    """Why something was decided. The value is the code; `text` says it in words."""

    text: str

    def __new__(cls, code: str, text: str) -> "Reason":
        """Keep the words beside the code."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.text = text
        return member

    # pods
    FITS = "Fits", "fits on a node that is there or on its way"
    HELPED = "Helped", "a group grows for it"
    TOO_YOUNG = "TooYoung", "younger than the new-pod delay"
    JUST_CREATED = "JustCreated", "all pods that wait have only just come, and more may follow"
    EXPENDABLE = "Expendable", "its priority is below the cutoff of expendable pods"
    DAEMON = "DaemonSetPod", "a DaemonSet pod comes with its node and brings none"
    FILTERED = "FilteredByProcessor", "taken off the list by a processor"
    NO_GROUP_FITS = "NoGroupFits", "fits on a new node of no group"
    ALL_OR_NOTHING = "AllOrNothing", "not all pods would fit, and they are of use all together only"
    WAITING = "WaitingForCapacity", "would fit a group that can't take it in this loop"

    # pod against node (texts are kube-scheduler's)
    NODE_UNSCHEDULABLE = "NodeUnschedulable", "node(s) were unschedulable"
    NODE_NAME = "NodeName", "node(s) didn't match the requested node name"
    TAINT = "TaintToleration", "node(s) had untolerated taint(s)"
    NODE_AFFINITY = "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"
    PORTS = "NodePorts", "node(s) didn't have free ports for the requested pod ports"
    RESOURCES = "NodeResourcesFit", "Insufficient resources"
    VOLUME_RESTRICTIONS = "VolumeRestrictions", "node(s) had no available disk"
    VOLUME_IN_USE = (
        "VolumeInUse",
        (
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
            "already in-use by another pod"
        ),
    )
    VOLUME_LIMITS = "NodeVolumeLimits", "node(s) exceed max volume count"
    VOLUME_BINDING = "VolumeBinding", "node(s) didn't find available persistent volumes to bind"
    VOLUME_NODE_AFFINITY = "VolumeNodeAffinity", "node(s) didn't match PersistentVolume's node affinity"
    VOLUME_MISSING = "VolumeMissing", "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    VOLUME_CLAIM = "VolumeClaim", "a claim of the pod can't be used"
    VOLUME_ZONE = "VolumeZone", "node(s) had no available volume zone"
    SPREAD = "PodTopologySpread", "node(s) didn't match pod topology spread constraints"
    AFFINITY = "InterPodAffinity", "node(s) didn't match pod affinity rules"
    ANTI_AFFINITY = "InterPodAntiAffinity", "node(s) didn't match pod anti-affinity rules"
    EXISTING_ANTI_AFFINITY = "ExistingAntiAffinity", "node(s) didn't satisfy existing pods anti-affinity rules"

    # groups and options
    CHOSEN = "Chosen", "chosen"
    NOT_CHOSEN = "NotChosen", "another option was better"
    NO_HELP = "NoHelp", "no pending pod would fit"
    GROUP_AT_MAX = "MaxSizeReached", "max node group size reached"
    GROUP_UNHEALTHY = "NotReadyForScaleUp", "not ready for scale-up"
    GROUP_BACKED_OFF = "BackedOff", "in backoff after failed scale-up"
    POOL_DRY = "PoolBackedOff", "draws from a capacity pool that ran dry"
    GROUP_BELOW_MIN = "BelowMinSize", "below its minimum size"
    GROUP_NO_TEMPLATE = "NoTemplate", "nobody can tell what a new node looks like"
    GROUP_FAULTY = "ProviderError", "its provider could not be read"
    LIMIT_NODES = "MaxNodesTotalReached", "max total nodes in cluster reached"
    LIMIT_RESOURCES = "ResourceLimitReached", "exceeded quota"
    OUT_OF_TIME = "OutOfTime", "the time for estimates was used up"
    NO_SCALE_FROM_ZERO = "NoScaleFromZero", "scale-up of an empty cluster is off"
    VETOED = "Vetoed", "a plugin vetoed it"
    STRATEGY_FAILED = "StrategyFailed", "a plugin failed while it was estimated"

    # the whole loop
    CLUSTER_UNHEALTHY = "ClusterUnhealthy", "nothing grows or goes while so many nodes are unready"
    SIZES_CORRECTED = "SizesCorrected", "sizes that the cloud never reached were taken back, the next loop goes on"

    # nodes
    NEEDED = "NotUnderutilized", "its utilization is above the threshold"
    EMPTY = "Empty", "nothing runs on it that would have to move"
    MOVABLE = "Movable", "all its pods fit elsewhere"
    NO_PLACE = "NoPlaceToMovePods", "a pod fits nowhere else"
    BLOCKED_BY_POD = "BlockedByPod", "a pod must not be moved"
    BLOCKED_ON_COMPLETION = "BlockedByOnCompletionPod", "waits for a pod to complete"
    NOT_LONG_ENOUGH = "NotUnneededLongEnough", "not unneeded for long enough"
    GROUP_AT_MIN = "NodeGroupMinSizeReached", "its group is at its minimum size"
    NOT_OURS = "NotAutoscaled", "belongs to no group"
    SCALE_DOWN_DISABLED = "ScaleDownDisabledAnnotation", "scale-down is disabled by annotation"
    BEING_DELETED = "CurrentlyBeingDeleted", "is being deleted"
    NOT_STARTED = "NotStarted", "is still starting"
    COOLING_DOWN = "ScaleDownInCooldown", "scale-down pauses after a recent change"
    NOT_WHOLE = "AtomicScaleDownFailed", "its group is used whole or not at all, and not all of its nodes can go"
    BUDGET = "RemovalBudgetReached", "as many nodes as allowed are being removed"
    NOT_EXAMINED = "NotExamined", "there was no time to look at it in this loop"
    RECENTLY_UNREMOVABLE = "RecentlyUnremovable", "could not be removed a short while ago"

    SCALE_DOWN_UNREADY_DISABLED = "ScaleDownUnreadyDisabled", "is not ready, and removal of such nodes is off"
    DRAINED = "Drained", "its pods have left"
    REMOVAL_FAILED = "ScaleDownFailed", "its removal failed"
    LEFTOVER = "ClusterAutoscalerCleanup", "was marked for deletion by an earlier life that did not finish"

    # instances
    NEVER_REGISTERED = "Unregistered", "did not become a node in time"
    CREATE_FAILED = "CreateFailed", "the cloud could not make it"
    UNMET_TARGET = "UnmetTarget", "the cloud did not deliver in time"
