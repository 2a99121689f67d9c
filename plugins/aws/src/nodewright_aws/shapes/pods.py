"""How many pods a machine takes."""

from nodewright_aws.shapes.settings import AmiFamily, KubeletSettings
from nodewright_aws.shapes.shape import Shape

#: Pods that use the machine's own address: the network plugin and kube-proxy.
_ON_HOST_NETWORK = 2
_ADDRESSES_IN_PREFIX = 16
#: What a kubelet takes if nobody tells it.
_BY_DEFAULT = 110
_MOST_ON_SMALL, _MOST_ON_LARGE, _LARGEST_SMALL_VCPUS = 110, 250, 30


def max_pods(shape: Shape, kubelet: KubeletSettings) -> int:
    """Return how many pods a kubelet on a machine of *shape* takes."""
    mode = kubelet.max_pods
    if isinstance(mode, int):
        return mode
    if mode == "auto" and kubelet.ami_family is AmiFamily.CUSTOM:
        return _BY_DEFAULT
    without = kubelet.reserved_enis + kubelet.custom_networking
    # Prefixes need a Nitro machine.
    prefixes = mode == "prefix" and shape.hypervisor != "xen"
    pods = pods_by_interfaces(shape, without=without, addresses=_ADDRESSES_IN_PREFIX if prefixes else 1)
    if mode not in ("managed", "prefix"):
        return pods
    return min(pods, _MOST_ON_SMALL if shape.vcpus <= _LARGEST_SMALL_VCPUS else _MOST_ON_LARGE)


def pods_by_interfaces(shape: Shape, *, without: int = 0, addresses: int = 1) -> int:
    """Return for how many pods a machine of *shape* has addresses.

    *without* so many of its interfaces, and with so many *addresses* in each slot of an interface but the first.
    """
    interfaces = shape.interfaces - without
    if interfaces <= 0:
        return 0
    return interfaces * (shape.addresses_per_interface - 1) * addresses + _ON_HOST_NETWORK
