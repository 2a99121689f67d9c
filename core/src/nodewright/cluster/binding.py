"""Binding: what a pod is, apart from the node that it was put on."""

from msgspec.structs import replace

from nodewright.objects import Pod, Requirement
from nodewright.objects.affinity import NodeAffinity
from nodewright.objects.selector import NodeSelector, NodeSelectorTerm

#: How an API server writes the node selector that ties a DaemonSet's pod to the node of a name.
PINNED = b'"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["%s"]}]}]'


def unbound(pod: Pod) -> Pod:
    """Return *pod* without its node, so that it can be asked whether it would run elsewhere.

    A DaemonSet's pod that runs on the one node that it is tied to becomes a pod that would run nowhere else, as all
    others of the DaemonSet.
    """
    spec = pod.spec
    if not spec.node_name:
        return pod
    affinity = spec.affinity
    if affinity is not None and affinity.node_affinity == _tied_to(spec.node_name):
        affinity = replace(affinity, node_affinity=_tied_to(""))
    return replace(pod, spec=replace(spec, node_name="", affinity=affinity))


def _tied_to(name: str) -> NodeAffinity:
    line = Requirement(key="metadata.name", operator="In", values=(name,))
    return NodeAffinity(required=NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(line,)),)))
