"""The protocol of Cluster Autoscaler's expander ``grpc``: one question, one answer.

::

    package grpcplugin
    service Expander { BestOptions(BestOptionsRequest) returns (BestOptionsResponse) }

    BestOptionsRequest   options 1 (list of Option), nodeMap 2 (map to Node), nodeBytesMap 3 (map to bytes)
    BestOptionsResponse  options 1 (list of Option)
    Option               nodeGroupId 1, nodeCount 2, debug 3, pod 4 (list of Pod), podBytes 5 (list of bytes)

Up to release 1.33 of Cluster Autoscaler pods and nodes are messages, in fields 4 and 2. From 1.35 on they are bytes
that hold the same messages, in fields 5 and 3; 1.34 sends both. On the wire a message and its bytes look the same.
"""

from collections.abc import Mapping, Sequence

import msgspec
from nodewright.api import Node, NodeTemplate, Option, PermanentError, Pod, Resources, format_resource

from nodewright_grpc.messages import encode
from nodewright_grpc.wire import bytes_field, contents, map_field, number_field, text_field

METHOD = "/grpcplugin.Expander/BestOptions"
#: The longest message that is sent or accepted, in bytes: the limit of Cluster Autoscaler.
LONGEST = 128 << 20

_HOSTNAME = "kubernetes.io/hostname"


def make_question(options: Sequence[Option], *, legacy_fields: bool) -> bytes:
    """Return the request about *options*; with *legacy_fields*, also for servers of releases before 1.35.

    Raises `PermanentError` if it would be longer than `LONGEST`.
    """
    node_fields, pod_fields = ((2, 3), (4, 5)) if legacy_fields else ((3,), (5,))
    known: dict[int, _Alike] = {}
    for pod in (pods.pod for option in options for pods in option.pods):
        if id(pod) not in known:
            known[id(pod)] = _Alike(pod)
    _refuse_too_long(options, known, len(pod_fields))
    nodes = [(each.group.id, _node(each.group.id, each.group.template)) for each in options if each.group.template]
    parts = [map_field(number, nodes) for number in node_fields]
    parts += [bytes_field(1, _option(option, known, pod_fields)) for option in options]
    return b"".join(parts)


def read_answer(answer: bytes) -> list[str]:
    """Return the ids of the groups in a response, in its order. Raises `ValueError` if it can't be parsed."""
    ids = ([b"", *contents(option, 1)] for option in contents(answer, 1))
    return [given[-1].decode() for given in ids]


class _Alike:
    """Pods that differ only in their names."""

    def __init__(self, pod: Pod) -> None:
        nameless = msgspec.structs.replace(pod.metadata, name="", namespace="")
        self._metadata = encode("ObjectMeta", nameless)
        self._rest = bytes_field(2, encode("PodSpec", pod.spec)) + bytes_field(3, encode("PodStatus", pod.status))

    def pod(self, key: str) -> bytes:
        """Return the pod with the *key* ``namespace/name``."""
        namespace, _, name = key.rpartition("/")
        return bytes_field(1, text_field(1, name) + text_field(3, namespace) + self._metadata) + self._rest


def _refuse_too_long(options: Sequence[Option], known: Mapping[int, _Alike], copies: int) -> None:
    sets = [pods for option in options for pods in option.pods]
    length = copies * sum(len(known[id(pods.pod)].pod(pods.keys[0])) * len(pods) for pods in sets)
    if length > LONGEST:
        raise PermanentError(
            f"{len(options)} options with {sum(map(len, sets))} pods in all take more than {LONGEST >> 20} MiB, which "
            "is too much for one request: let another expander leave fewer options, or lower scaleUp.maxNodesPerScaleUp"
        )


def _option(option: Option, known: Mapping[int, _Alike], pod_fields: Sequence[int]) -> bytes:
    group = option.group
    debug = f"{group.id} ({group.min_size} to {group.max_size}, now {group.target_size})"
    parts = [text_field(1, group.id), number_field(2, option.nodes), text_field(3, debug)]
    for pods in option.pods:
        alike = known[id(pods.pod)]
        for pod in map(alike.pod, pods.keys):
            parts += [bytes_field(number, pod) for number in pod_fields]
    return b"".join(parts)


def _node(group: str, template: NodeTemplate) -> bytes:
    """Return a new node of *group*, which is ready."""
    name = f"template-node-for-{group}"
    node = {
        "metadata": {
            "name": name,
            "labels": {**template.labels, _HOSTNAME: name},
            "annotations": dict(template.annotations),
        },
        "spec": {"taints": template.taints, "unschedulable": template.unschedulable},
        "status": {
            "capacity": _written(template.capacity),
            "allocatable": _written(template.allocatable),
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    return encode("Node", msgspec.convert(node, Node))


def _written(amounts: Resources) -> dict[str, str]:
    return {name: format_resource(name, amount) for name, amount in amounts.items()}
