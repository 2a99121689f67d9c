"""Processor ``clear-tpu-requests``: Cloud TPUs are beside the cluster, so no node has to have them."""

from collections.abc import Sequence

from msgspec.structs import replace

from nodewright.api import PendingPodsProcessor, Pod, PodSet, ProcessorContext

_TPU = "cloud-tpus.google.com/"


class ClearTpuRequests(PendingPodsProcessor):
    """Takes what pods ask for of Cloud TPUs off their requests; nothing else about them changes."""

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return all pods, as if they asked for none."""
        return [PodSet(pod=_cleared(same.pod), keys=same.keys) if _asks(same.pod) else same for same in pods]


def _asks(pod: Pod) -> bool:
    return any(name.startswith(_TPU) for container in pod.spec.containers for name in container.resources.requests)


def _cleared(pod: Pod) -> Pod:
    containers = []
    for container in pod.spec.containers:
        requests = {name: amount for name, amount in container.resources.requests.items() if not name.startswith(_TPU)}
        containers.append(replace(container, resources=replace(container.resources, requests=requests)))
    return replace(pod, spec=replace(pod.spec, containers=tuple(containers)))
