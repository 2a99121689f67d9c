"""Reasons: the one registry of the codes that events, metrics, status and command line print."""

from enum import StrEnum


class Reason(StrEnum):
    """Why something was decided. The value is the code, and `text` says it in words.

    `advice` says what would let the node go; it is empty where nothing needs to be done, or nothing can be.
    `nodewright.explain.advice` fills in the words in braces: pod, group, minimum, threshold, until, budgets.
    """

    text: str
    advice: str

    def __new__(cls, code: str, text: str, advice: str = "") -> "Reason":
        """Keep the words with the code."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.text = text
        member.advice = advice
        return member

    # pods
    FITS = "Fits", "fits on a node that is there or on its way"
    HELPED = "Helped", "a group grows for it"
    TOO_YOUNG = "TooYoung", "younger than the new-pod delay"
    JUST_CREATED = "JustCreated", "all waiting pods are new, and more may follow"
    EXPENDABLE = "Expendable", "its priority is below the cutoff of expendable pods"
    DAEMON = "DaemonSetPod", "a DaemonSet pod comes with its node and needs no other"
    FILTERED = "FilteredByProcessor", "taken off the list by a processor"
    NO_GROUP_FITS = "NoGroupFits", "fits on a new node of no group"
    ALL_OR_NOTHING = "AllOrNothing", "not all pods would fit, and they are of use only together"
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
    POOL_DRY = "PoolBackedOff", "takes its machines from a capacity pool that is empty"
    QUOTA_FULL = "QuotaBackedOff", "its machines take too much of a quota that is used up"
    NONE_AVAILABLE = "NoneAvailable", "its cloud has too few machines left"
    GROUP_PAUSED = "Paused", "the group is left alone"
    GROUP_THROTTLED = "Throttled", "its cloud asked for fewer calls"
    GROUP_BELOW_MIN = "BelowMinSize", "below its minimum size"
    CONSOLIDATION = "Consolidation", "replaces more expensive nodes"
    GROUP_NO_TEMPLATE = "NoTemplate", "what a new node looks like is not known"
    GROUP_FAULTY = "ProviderError", "it could not be read"
    LIMIT_NODES = "MaxNodesTotalReached", "max total nodes in cluster reached"
    LIMIT_RESOURCES = "ResourceLimitReached", "exceeded quota"
    OUT_OF_TIME = "OutOfTime", "the time for estimates was used up"
    NO_SCALE_FROM_ZERO = "NoScaleFromZero", "scale-up of an empty cluster is off"
    VETOED = "Vetoed", "a plugin vetoed it"
    STRATEGY_FAILED = "StrategyFailed", "a plugin failed during its estimate"

    # the whole loop
    CLUSTER_UNHEALTHY = "ClusterUnhealthy", "nothing grows or goes while so many nodes are unready"
    SIZES_CORRECTED = "SizesCorrected", "target sizes that the cloud never reached were lowered, the next loop goes on"

    # nodes
    NEEDED = (
        "NotUnderutilized",
        "its utilization is above the threshold",
        "its utilization has to fall to {threshold}, or scaleDown.utilizationThreshold to be higher",
    )
    EMPTY = "Empty", "nothing runs on it that would have to move"
    MOVABLE = "Movable", "all its pods fit elsewhere"
    NO_PLACE = (
        "NoPlaceToMovePods",
        "a pod fits nowhere else",
        "room on other nodes for {pod}, or looser rules about where it may run",
    )
    BLOCKED_BY_POD = "BlockedByPod", "a pod must not be moved", "{pod} has to go, or to be allowed to move"
    BUDGETS_UNSEEN = (
        "BudgetsUnseen",
        "the disruption budgets of its pods are not known",
        "the right to list and watch poddisruptionbudgets.policy",
    )
    NOT_LONG_ENOUGH = (
        "NotUnneededLongEnough",
        "not unneeded for long enough",
        "nothing but time: it may go at {until} if it is not needed before",
    )
    GROUP_AT_MIN = (
        "NodeGroupMinSizeReached",
        "its group is at its minimum size",
        "a minimum size of {group} below {minimum}",
    )
    NOT_OURS = "NotAutoscaled", "belongs to no group", "a group of a provider that is configured"
    SCALE_DOWN_DISABLED = (
        "ScaleDownDisabledAnnotation",
        "scale-down is disabled by annotation",
        "take the annotation cluster-autoscaler.kubernetes.io/scale-down-disabled off the node",
    )
    BEING_DELETED = "CurrentlyBeingDeleted", "is being deleted"
    MACHINE_STOPPED = "MachineStopped", "its machine is stopped", "nothing: its cloud starts the machine for an order"
    MACHINE_ENDS = (
        "MachineEnds",
        "its machine is about to be ended by the cloud",
        "nothing: its pods get other nodes",
    )
    NOT_STARTED = "NotStarted", "is still starting"
    COOLING_DOWN = (
        "ScaleDownInCooldown",
        "scale-down pauses after a recent change",
        "nothing but time, or shorter delays: scaleDown.delayAfterAdd, delayAfterDelete, delayAfterFailure",
    )
    NOT_WHOLE = (
        "AtomicScaleDownFailed",
        "its group is used whole or not at all, and not all of its nodes can go",
        "all nodes of {group} have to be unneeded at the same time",
    )
    BUDGET = (
        "RemovalBudgetReached",
        "as many nodes as allowed are being removed",
        "nothing but time, or more removals at once: scaleDown.maxParallelism, maxDrainParallelism",
    )
    NOT_UNREADY_LONG_ENOUGH = (
        "NotUnreadyLongEnough",
        "not unready and unneeded for long enough",
        "nothing but time: it may go at {until} if nothing changes",
    )
    LIMIT_MIN_RESOURCES = (
        "MinimalResourceLimitExceeded",
        "too little would be left of a resource",
        "a lower minimum: limits.cpu.min, limits.memory.min, limits.gpus, or that of the provider",
    )
    BLOCKED_ON_COMPLETION = (
        "BlockedByOnCompletionPod",
        "waits for a pod to complete",
        "{pod} has to complete",
    )
    PROTECTED = (
        "DoNotDisrupt",
        "is protected by annotation",
        "nothing but the end of that time, or to take the annotation nodewright.dev/do-not-disrupt off",
    )
    DISRUPTION_BUDGET = (
        "DisruptionBudgetReached",
        "a disruption budget does not allow it now",
        "nothing but time, or a larger budget: scaleDown.disruption.budgets",
    )
    EVICTION_LIMIT = (
        "EvictionLimitReached",
        "as many pods as allowed had to move within an hour",
        "nothing but time, or a higher scaleDown.disruption.maxEvictionsPerHour",
    )
    SAVING_TOO_SMALL = (
        "SavingTooSmall",
        "costs too little to move pods for",
        "a lower scaleDown.disruption.minSaving",
    )
    NOT_EXAMINED = (
        "NotExamined",
        "there was no time to look at it in this loop",
        "nothing but time, or more of it in each loop: scaleDown.simulationTimeout",
    )
    RECENTLY_UNREMOVABLE = (
        "RecentlyUnremovable",
        "could not be removed a short while ago",
        "nothing but time: it is looked at again at {until}",
    )

    UNCONSOLIDATABLE = (
        "Unconsolidatable",
        "is needed, and no cheaper nodes would replace it",
        "more to save by it, or a lower scaleDown.consolidation.threshold",
    )
    BEING_REPLACED = (
        "BeingReplaced",
        "stays until the cheaper nodes that replace it are ready",
        "nothing but time",
    )
    CONSOLIDATED = "Consolidated", "cheaper nodes replace it"
    KEPT_FREE = (
        "KeptFree",
        "waits for the pods of the nodes that it replaces",
        "nothing: pods are about to move there",
    )

    SCALE_DOWN_UNREADY_DISABLED = (
        "ScaleDownUnreadyDisabled",
        "is not ready, and removal of such nodes is off",
        "it has to become ready, or scaleDown.unreadyEnabled to be on",
    )
    DRAINED = "Drained", "its pods have left"
    REMOVAL_FAILED = (
        "ScaleDownFailed",
        "its removal failed",
        "what failed has to work; the node is looked at again at {until}",
    )
    LEFTOVER = "ClusterAutoscalerCleanup", "is still marked by a removal that did not finish"

    # pods that must not be moved
    CONTROLLER_NOT_FOUND = (
        "ControllerNotFound",
        "its controller does not exist",
        "recreate the controller of {pod}, or delete the pod",
    )
    MIN_REPLICAS = (
        "MinReplicasReached",
        "its controller has too few replicas to spare one",
        "more replicas beside {pod}, or a lower scaleDown.minReplicas",
    )
    NOT_REPLICATED = (
        "NotReplicated",
        "no controller of a known kind would recreate it",
        (
            'give {pod} a controller, or the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "true"; '
            "for controllers of any kind, turn scaleDown.skipCustomControllerPods off"
        ),
    )
    SYSTEM_POD = (
        "UnmovableKubeSystemPod",
        "it is a young pod of kube-system that no disruption budget covers",
        'a PodDisruptionBudget for {pod}, or its annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "true"',
    )
    NOT_SAFE_TO_EVICT = (
        "NotSafeToEvictAnnotation",
        "its annotation forbids it",
        "take the annotation cluster-autoscaler.kubernetes.io/safe-to-evict off {pod}",
    )
    LOCAL_STORAGE = (
        "LocalStorageRequested",
        "it keeps data on the node",
        (
            "name the volumes of {pod} that may be lost in its annotation "
            "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes, or turn scaleDown.skipLocalStorage off"
        ),
    )
    NOT_ENOUGH_BUDGET = (
        "NotEnoughPdb",
        "its disruption budgets are spent, or will be by nodes that may go first",
        "more ready replicas beside {pod}, or a PodDisruptionBudget that allows to evict one{budgets}",
    )

    # instances
    NEVER_REGISTERED = "Unregistered", "did not become a node in time"
    CREATE_FAILED = "CreateFailed", "the cloud could not make it"
    UNMET_TARGET = "UnmetTarget", "the cloud did not deliver in time"
