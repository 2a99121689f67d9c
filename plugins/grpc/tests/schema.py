"""The protocol as servers for Cluster Autoscaler have it compiled in, stated a second time, for Google's own protobuf.

Messages are those of ``grpcplugin`` in two generations, and of Kubernetes (apimachinery meta/v1, core/v1).
"""

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

KUBERNETES = """
Time: int64 seconds = 1; int32 nanos = 2
Quantity: string string = 1
OwnerReference: string kind = 1; string name = 3; string uid = 4; string apiVersion = 5; bool controller = 6;
    bool blockOwnerDeletion = 7
ObjectMeta: string name = 1; string generateName = 2; string namespace = 3; string selfLink = 4; string uid = 5;
    string resourceVersion = 6; int64 generation = 7; Time creationTimestamp = 8; Time deletionTimestamp = 9;
    int64 deletionGracePeriodSeconds = 10; map string labels = 11; map string annotations = 12;
    repeated OwnerReference ownerReferences = 13; repeated string finalizers = 14
LabelSelectorRequirement: string key = 1; string operator = 2; repeated string values = 3
LabelSelector: map string matchLabels = 1; repeated LabelSelectorRequirement matchExpressions = 2
Pod: ObjectMeta metadata = 1; PodSpec spec = 2; PodStatus status = 3
PodSpec: repeated Volume volumes = 1; repeated Container containers = 2; string restartPolicy = 3;
    int64 terminationGracePeriodSeconds = 4; string dnsPolicy = 6; map string nodeSelector = 7;
    string serviceAccountName = 8; string nodeName = 10; bool hostNetwork = 11; Affinity affinity = 18;
    string schedulerName = 19; repeated Container initContainers = 20; repeated Toleration tolerations = 22;
    string priorityClassName = 24; int32 priority = 25; string preemptionPolicy = 31; map Quantity overhead = 32;
    repeated TopologySpreadConstraint topologySpreadConstraints = 33; ResourceRequirements resources = 40
PodStatus: string phase = 1; repeated PodCondition conditions = 2; string message = 3; string reason = 4;
    string nominatedNodeName = 11
PodCondition: string type = 1; string status = 2; Time lastProbeTime = 3; Time lastTransitionTime = 4;
    string reason = 5; string message = 6
Container: string name = 1; string image = 2; repeated ContainerPort ports = 6; ResourceRequirements resources = 8;
    string restartPolicy = 24
ContainerPort: string name = 1; int32 hostPort = 2; int32 containerPort = 3; string protocol = 4; string hostIP = 5
ResourceRequirements: map Quantity limits = 1; map Quantity requests = 2
Affinity: NodeAffinity nodeAffinity = 1; PodAffinity podAffinity = 2; PodAntiAffinity podAntiAffinity = 3
NodeAffinity: NodeSelector requiredDuringSchedulingIgnoredDuringExecution = 1
NodeSelector: repeated NodeSelectorTerm nodeSelectorTerms = 1
NodeSelectorTerm: repeated NodeSelectorRequirement matchExpressions = 1;
    repeated NodeSelectorRequirement matchFields = 2
NodeSelectorRequirement: string key = 1; string operator = 2; repeated string values = 3
PodAffinity: repeated PodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution = 1
PodAntiAffinity: repeated PodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution = 1
PodAffinityTerm: LabelSelector labelSelector = 1; repeated string namespaces = 2; string topologyKey = 3;
    LabelSelector namespaceSelector = 4; repeated string matchLabelKeys = 5; repeated string mismatchLabelKeys = 6
TopologySpreadConstraint: int32 maxSkew = 1; string topologyKey = 2; string whenUnsatisfiable = 3;
    LabelSelector labelSelector = 4; int32 minDomains = 5; string nodeAffinityPolicy = 6; string nodeTaintsPolicy = 7;
    repeated string matchLabelKeys = 8
Toleration: string key = 1; string operator = 2; string value = 3; string effect = 4; int64 tolerationSeconds = 5
Volume: string name = 1; VolumeSource volumeSource = 2
VolumeSource: EmptyDirVolumeSource emptyDir = 2; PersistentVolumeClaimVolumeSource persistentVolumeClaim = 10
EmptyDirVolumeSource: string medium = 1; Quantity sizeLimit = 2
PersistentVolumeClaimVolumeSource: string claimName = 1; bool readOnly = 2
Node: ObjectMeta metadata = 1; NodeSpec spec = 2; NodeStatus status = 3
NodeSpec: string podCIDR = 1; string externalID = 2; string providerID = 3; bool unschedulable = 4;
    repeated Taint taints = 5
Taint: string key = 1; string value = 2; string effect = 3; Time timeAdded = 4
NodeStatus: map Quantity capacity = 1; map Quantity allocatable = 2; string phase = 3;
    repeated NodeCondition conditions = 4
NodeCondition: string type = 1; string status = 2; Time lastHeartbeatTime = 3; Time lastTransitionTime = 4;
    string reason = 5; string message = 6
"""

#: By the release of Cluster Autoscaler that a server was made for.
EXPANDER = {
    "1.33": """
BestOptionsRequest: repeated Option options = 1; map Node nodeMap = 2
BestOptionsResponse: repeated Option options = 1
Option: string nodeGroupId = 1; int32 nodeCount = 2; string debug = 3; repeated Pod pod = 4
""",
    "1.36": """
BestOptionsRequest: repeated Option options = 1; map bytes nodeBytesMap = 3
BestOptionsResponse: repeated Option options = 1
Option: string nodeGroupId = 1; int32 nodeCount = 2; string debug = 3; repeated bytes podBytes = 5
""",
}

_SCALARS = {
    "string": FieldDescriptorProto.TYPE_STRING,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "bool": FieldDescriptorProto.TYPE_BOOL,
}


class Schema:
    """The message classes of one generation, by name."""

    def __init__(self, release):
        # With the presence of proto2, as Kubernetes' messages have it, it shows whether a field was sent.
        file = FileDescriptorProto(name="all.proto", package="all", syntax="proto2")
        for stated in (KUBERNETES + EXPANDER[release]).replace("\n    ", " ").split("\n"):
            if stated:
                name, _, fields = stated.partition(": ")
                _add(file.message_type.add(name=name), fields)
        self._pool = DescriptorPool()
        self._pool.Add(file)

    def __getitem__(self, name):
        return GetMessageClass(self._pool.FindMessageTypeByName(f"all.{name}"))


def fields_unknown_in(message):
    """Numbers of fields on the wire that the schema does not have, in *message* and all that is in it."""
    yield from ((message.DESCRIPTOR.name, field.field_number) for field in UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            items = [item for item in value.values() if hasattr(item, "ListFields")]
        else:
            items = value if field.is_repeated else [value]
        for item in items:
            yield from fields_unknown_in(item)


def _add(message, fields):
    for field in fields.split("; "):
        *words, name, _, number = field.split()
        made = message.field.add(name=name, number=int(number), label=FieldDescriptorProto.LABEL_OPTIONAL)
        if words[0] == "repeated":
            made.label = FieldDescriptorProto.LABEL_REPEATED
        if words[0] == "map":
            made.label = FieldDescriptorProto.LABEL_REPEATED
            entry = DescriptorProto(name=f"{name[0].upper()}{name[1:]}Entry")
            entry.options.map_entry = True
            for part, kind, at in (("key", "string", 1), ("value", words[1], 2)):
                _typed(entry.field.add(name=part, number=at, label=FieldDescriptorProto.LABEL_OPTIONAL), kind)
            message.nested_type.append(entry)
            made.type, made.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".all.{message.name}.{entry.name}"
        else:
            _typed(made, words[-1])


def _typed(field, kind):
    field.type = _SCALARS.get(kind, FieldDescriptorProto.TYPE_MESSAGE)
    if kind not in _SCALARS:
        field.type_name = f".all.{kind}"
