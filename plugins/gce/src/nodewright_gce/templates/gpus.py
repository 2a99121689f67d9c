"""GPUs as Kubernetes counts them: whole, in partitions, or shared."""

from collections.abc import Mapping

GPU = "nvidia.com/gpu"
_PARTITION = "cloud.google.com/gke-gpu-partition-size"
_SHARING = "cloud.google.com/gke-gpu-sharing-strategy"
_CLIENTS = "cloud.google.com/gke-max-shared-clients-per-gpu"
_DRA_DRIVER = "cloud.google.com/gke-gpu-dra-driver"
#: Partitions of a GPU by how many of its seventh parts each has.
_PARTITIONS = {"1g": 7, "2g": 3, "3g": 2, "4g": 1, "7g": 1}
#: Partitions of a seventh of the GPU with twice the memory.
_WIDE, _WIDE_PARTITIONS = frozenset({"1g.20gb", "1g.35gb", "1g.45gb"}), 4


def gpu_resources(cards: int, labels: Mapping[str, str]) -> dict[str, int]:
    """Return the resources of a node with so many GPUs, as its *labels* say how they are used.

    There are none if a driver of dynamic resource allocation has them.
    """
    if not cards or labels.get(_DRA_DRIVER) == "true":
        return {}
    return {GPU: cards * _partitions(labels.get(_PARTITION, "")) * _clients(labels)}


def _partitions(size: str) -> int:
    return _WIDE_PARTITIONS if size in _WIDE else _PARTITIONS.get(size.partition(".")[0], 1)


def _clients(labels: Mapping[str, str]) -> int:
    text = labels.get(_CLIENTS, "")
    return int(text) if _SHARING in labels and text.isdecimal() and int(text) else 1
