"""Nodes begin to go only if they can do so without the others that could."""

from datetime import timedelta

from msgspec.structs import replace
from nodewright.api import GroupOptions, Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory, UnneededMemory
from nodewright.objects import LabelSelector
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from nodewright.objects.node import HOSTNAME
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=2)


def a_host(name, cpu):
    return a_node(name, cpu=cpu, labels={HOSTNAME: name}, provider_id=f"fake://{name}")


def shadow_of(app, pod):
    term = PodAffinityTerm(topology_key=HOSTNAME, label_selector=LabelSelector(match_labels={"app": app}))
    return replace(pod, spec=replace(pod.spec, affinity=Affinity(pod_affinity=PodAffinity(required=(term,)))))


def a_node_that_counts_on_another(*, patience):
    """The shadow on n0 may follow the web pod of n1 to n2, but there is no room for it on n1."""
    patient = a_group("patient", size=1, options=GroupOptions(scale_down_unneeded_time=patience))
    pods = [
        shadow_of("web", a_pod("shadow", node="n0", cpu="1")),
        a_pod("web", node="n1", cpu="400m", labels={"app": "web"}),
        a_pod("busy", node="n2", cpu="3"),
    ]
    world = a_world(
        groups=[a_group("g", size=2), patient],
        nodes={"g": [a_host("n0", "4"), a_host("n2", "5")], "patient": [a_host("n1", "1")]},
        pods=pods,
    )
    since = {"n0": NOW - timedelta(minutes=20), "n1": NOW - timedelta(minutes=30)}
    return decide(world, Memory(unneeded=UnneededMemory(since=since)), a_policy(), NOW)[:2]


def test_a_node_whose_pods_only_fit_once_another_has_gone_waits_for_it() -> None:
    decision, memory = a_node_that_counts_on_another(patience=timedelta(hours=1))
    assert set(memory.unneeded.since) == {"n0", "n1"}
    assert not decision.drain
    assert decision.nodes["n1"].reason is Reason.NOT_LONG_ENOUGH
    assert str(decision.nodes["n0"]) == "a pod fits nowhere else (default/shadow: unless other nodes went, too)"


def test_the_other_one_goes_first() -> None:
    decision, _ = a_node_that_counts_on_another(patience=timedelta(minutes=1))
    assert [drain.node for drain in decision.drain] == ["n1"]
