"""Decoded pods equal their models, and identical pods share a class."""

from time import process_time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nodewright.api import Taint
from nodewright.cluster import Cluster
from nodewright.cluster.pod_class import unbound
from nodewright.kube.pod_reader import PodReader
from nodewright.objects import Pod
from nodewright.scheduling import ClusterSimulation
from nodewright.testing.builders import a_node, a_pod, pods_like

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NODES = ("n0", "n1", "n2")


def maybe(strategy):
    return st.just(None) | strategy


def some(**fields):
    """Objects with some of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


AMOUNTS = some(cpu=st.sampled_from(["100m", "1", 2]), memory=st.sampled_from(["64Mi", "1Gi"]), gpu=st.just("1"))
RESOURCES = some(requests=AMOUNTS, limits=AMOUNTS)
LABELS = st.dictionaries(
    st.sampled_from(["app", "tier", "apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name"]),
    st.sampled_from(["a", "b", "web-0"]),
    max_size=3,
)
ANNOTATIONS = st.dictionaries(
    st.sampled_from(
        [
            "cluster-autoscaler.kubernetes.io/safe-to-evict",
            "controller.kubernetes.io/pod-deletion-cost",
            "kubernetes.io/config.mirror",
            "other",
            'say "so"',
        ]
    ),
    st.sampled_from(["true", "false", 'a "quoted" word', "nodewright.dev/none"]),
    max_size=3,
)
SELECTOR = st.sampled_from([{"matchLabels": {"app": "a"}}, {"matchLabels": {"tier": "b"}}, {}])
TERM = st.fixed_dictionaries({"topologyKey": st.sampled_from([HOST, ZONE]), "labelSelector": SELECTOR})
TERMS = st.fixed_dictionaries({"requiredDuringSchedulingIgnoredDuringExecution": st.lists(TERM, max_size=2)})
ON_ZONE = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z0"]}]}


def tied_to(name):
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}


NODE_AFFINITY = st.lists(st.sampled_from([ON_ZONE, tied_to("n1"), tied_to("n2")]), min_size=1, max_size=2).map(
    lambda terms: {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["main", "side"])},
    optional={
        "image": st.just("img"),
        "resources": RESOURCES,
        "ports": st.just([{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]),
        "restartPolicy": st.just("Always"),
    },
)
STATUS = st.fixed_dictionaries(
    {"name": st.sampled_from(["main", "side"]), "restartCount": st.integers(0, 3)},
    optional={"resources": RESOURCES, "allocatedResources": AMOUNTS},
)
VOLUME = st.sampled_from(
    [
        {"name": "kube-api-access-x7k2p", "projected": {"sources": []}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
        {"name": "temp", "emptyDir": {}},
        {"name": "settings", "configMap": {"name": "settings"}},
    ]
)
SPREAD = st.fixed_dictionaries(
    {"maxSkew": st.integers(1, 2), "topologyKey": st.sampled_from([HOST, ZONE]), "labelSelector": SELECTOR},
    optional={"whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"])},
)
POD = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"name": st.sampled_from(["web-0", "web-1", "web-2"]), "namespace": st.sampled_from(["default", "other"])},
            optional={
                "uid": st.just("u"),
                "labels": LABELS,
                "annotations": ANNOTATIONS,
                "creationTimestamp": st.just("2026-01-15T08:30:00Z"),
                "deletionTimestamp": st.just("2026-01-15T08:31:00Z"),
                "managedFields": st.just([{"manager": "kubelet"}]),
                "ownerReferences": st.sampled_from(["ReplicaSet", "DaemonSet"]).map(
                    lambda kind: [{"kind": kind, "name": "o", "uid": "o", "apiVersion": "apps/v1", "controller": True}]
                ),
            },
        ),
        "spec": some(
            nodeName=st.sampled_from(["", *NODES]),
            containers=st.lists(CONTAINER, min_size=1, max_size=2),
            initContainers=st.lists(CONTAINER, max_size=2),
            resources=RESOURCES,
            overhead=AMOUNTS,
            nodeSelector=st.sampled_from([{ZONE: "z0"}, {"disk": "ssd"}]),
            affinity=some(nodeAffinity=NODE_AFFINITY, podAffinity=TERMS, podAntiAffinity=TERMS),
            tolerations=st.just([{"operator": "Exists"}]),
            topologySpreadConstraints=st.lists(SPREAD, max_size=1),
            volumes=st.lists(VOLUME, max_size=2),
            priority=st.integers(0, 1),
            terminationGracePeriodSeconds=st.sampled_from([0, 30]),
            schedulerName=st.sampled_from(["default-scheduler", "mine"]),
        ),
        "status": some(
            phase=st.sampled_from(["Pending", "Running", "Succeeded"]),
            containerStatuses=st.lists(STATUS, max_size=2),
            initContainerStatuses=st.lists(STATUS, max_size=1),
            conditions=st.just([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]),
        ),
    }
)


def compact(pod):
    return msgspec.json.encode(pod)


def a_cluster():
    cluster = Cluster()
    for number, name in enumerate(NODES):
        taints = [Taint(key="k")] if name == "n2" else []
        labels = {HOST: name, ZONE: f"z{number % 2}"}
        cluster.put_node(a_node(name, cpu="3", memory="3Gi", labels=labels, resources={"gpu": "1"}, taints=taints))
    return cluster


def from_wire(pods, cluster=None):
    cluster, reader = cluster or a_cluster(), PodReader()
    for pod in pods:
        reader(msgspec.Raw(compact(pod))).put_into(cluster)
    return cluster


def from_models(pods):
    cluster = a_cluster()
    for pod in pods:
        cluster.put_pod(msgspec.json.decode(compact(pod), type=Pod))
    return cluster


def marks(row):
    """Everything that is kept of a pod, and every question asked of its class."""
    kept = {name: getattr(row, name) for name in row.__struct_fields__ if name not in ("pod_class", "slot", "pending")}
    each = row.pod_class
    asked = (each.requests, each.affinity, each.anti_affinity, each.spread, each.ports, each.claims, each.terminating)
    pod = each.pod
    told = (each.namespace, pod.is_daemon, pod.is_mirror, pod.grace_seconds, pod.spec.priority, pod.metadata.labels)
    safe = pod.metadata.annotations.get("cluster-autoscaler.kubernetes.io/safe-to-evict")
    local = [volume.name for volume in pod.spec.volumes if volume.empty_dir is not None]
    return kept, asked, told, safe, local, pod.spec.node_selector, pod.spec.affinity, pod.spec.tolerations


def answers(cluster, pods):
    """Why each pod, and an unknown one, fits or does not fit each node, and where the classes of all pods would go."""
    simulation = ClusterSimulation(cluster)
    classes = [cluster.pods[key].pod_class.pod for key in sorted(cluster.pods)]
    given = []
    for pod in [a_pod("stranger", labels={"app": "a"}), *classes]:
        with simulation.fork() as fork:
            refusals = [fork.why_not(pods_like(pod, 1), name) for name in NODES]
            given.append((refusals, list(fork.place(pods_like(pod, 4)).values())))
    return given


@given(st.lists(POD, min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_the_wire_tells_the_same_as_the_models(pods) -> None:
    wire, models = from_wire(pods), from_models(pods)
    assert list(wire.pods) == list(models.pods)
    for key, row in models.pods.items():
        assert marks(wire.pods[key]) == marks(row)
    assert (wire.table.free == models.table.free).all()
    assert answers(wire, pods) == answers(models, pods)


@given(st.lists(POD, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_a_pending_pod_is_kept_as_its_model(pods) -> None:
    wire, models = from_wire(pods), from_models(pods)
    for key, row in models.pending.items():
        mine = wire.pending[key].pending
        assert (mine.metadata, mine.status) == (row.pending.metadata, row.pending.status)
        assert mine.requests == row.pending.requests
        assert mine.spec.scheduler_name == row.pending.spec.scheduler_name


@given(st.lists(POD, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_a_pod_has_one_class_however_it_came(pods) -> None:
    cluster = from_wire(pods)
    for pod in pods:
        model = msgspec.json.decode(compact(pod), type=Pod)
        before = len(cluster.pod_classes.known)
        cluster.pod_classes.of(unbound(model))
        assert len(cluster.pod_classes.known) == before


def a_pod_of(controller, number, *, node="", **spec):
    owner = {"apiVersion": "apps/v1", "kind": controller, "name": "o", "uid": "o", "controller": True}
    return {
        "metadata": {"name": f"p-{number}", "namespace": "default", "uid": f"{number}", "ownerReferences": [owner]},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}], **spec},
    }


def classes_of(pods, how):
    return len({id(row.pod_class) for row in how(pods).pods.values()})


@pytest.mark.parametrize("how", [from_wire, from_models])
class TestOneClass:
    def test_pods_that_differ_in_the_names_of_their_token_volumes(self, how) -> None:
        volumes = [[{"name": f"kube-api-access-{name}", "projected": {}}] for name in ("x7k2p", "b9bdn")]
        assert classes_of([a_pod_of("ReplicaSet", n, volumes=each) for n, each in enumerate(volumes)], how) == 1

    def test_pods_of_a_daemon_set_on_the_nodes_that_they_are_tied_to(self, how) -> None:
        pods = [
            a_pod_of(
                "DaemonSet",
                name,
                node=name,
                affinity={
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [tied_to(name)]}
                    }
                },
            )
            for name in NODES
        ]
        assert classes_of(pods, how) == 1

    def test_pods_of_a_stateful_set(self, how) -> None:
        pods = [a_pod_of("StatefulSet", number) for number in range(3)]
        for number, pod in enumerate(pods):
            pod["metadata"]["labels"] = {
                "app": "db",
                "apps.kubernetes.io/pod-index": str(number),
                "statefulset.kubernetes.io/pod-name": f"db-{number}",
            }
        assert classes_of(pods, how) == 1

    def test_pods_that_differ_in_fields_that_no_decision_reads(self, how) -> None:
        pods = [a_pod_of("ReplicaSet", number) for number in range(3)]
        for number, pod in enumerate(pods):
            pod["metadata"]["annotations"] = {"cni.example/address": f"10.0.0.{number}", "note": '"so\\be it"'}
            pod["status"] = {"podIP": f"10.0.0.{number}", "containerStatuses": [{"name": "main", "ready": True}]}
        assert classes_of(pods, how) == 1

    def test_pods_of_which_some_have_started(self, how) -> None:
        pods = [a_pod_of("ReplicaSet", number) for number in range(2)]
        resources = {"requests": {"cpu": "1"}}
        started = {"name": "main", "resources": resources, "allocatedResources": {"cpu": "1"}}
        pods[1]["status"] = {"containerStatuses": [started]}
        assert classes_of(pods, how) == 1


@pytest.mark.parametrize("how", [from_wire, from_models])
class TestTwoClasses:
    def test_a_pod_that_is_being_resized(self, how) -> None:
        pods = [a_pod_of("ReplicaSet", number) for number in range(2)]
        pods[1]["status"] = {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}
        assert classes_of(pods, how) == 2

    def test_a_sidecar_that_is_being_resized(self, how) -> None:
        sidecar = {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
        pods = [a_pod_of("ReplicaSet", number, initContainers=[sidecar]) for number in range(2)]
        pods[1]["status"] = {"initContainerStatuses": [{"name": "side", "resources": {"requests": {"cpu": "2"}}}]}
        cluster = how(pods)
        assert [cluster.pods[f"default/p-{n}"].pod_class.requests["cpu"] for n in range(2)] == [2000, 3000]

    def test_a_pod_that_may_not_be_evicted(self, how) -> None:
        pods = [a_pod_of("ReplicaSet", number) for number in range(2)]
        pods[1]["metadata"]["annotations"] = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
        assert classes_of(pods, how) == 2

    def test_a_pod_that_costs_more_to_lose(self, how) -> None:
        pods = [a_pod_of("ReplicaSet", number) for number in range(2)]
        pods[1]["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": "100"}
        assert classes_of(pods, how) == 2

    def test_a_pod_that_is_on_its_way_out(self, how) -> None:
        pods = [a_pod_of("ReplicaSet", number) for number in range(2)]
        pods[1]["metadata"]["deletionTimestamp"] = "2026-01-15T08:31:00Z"
        assert classes_of(pods, how) == 2


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"metadata": {"name": 5}}, "Expected `str`, got `int`"),
        ({"spec": {"containers": "none"}}, "Expected `array`, got `str`"),
        ({"spec": {"affinity": "much"}}, "Expected `object | null`, got `str`"),
        ({"metadata": {"creationTimestamp": "yesterday"}}, "Invalid RFC3339 encoded datetime"),
    ],
)
def test_a_malformed_pod_is_reported(broken, message) -> None:
    reader = PodReader()
    with pytest.raises(msgspec.MsgspecError, match=message.replace("|", r"\|")):
        reader(compact(broken))
    assert reader(compact(a_pod_of("ReplicaSet", 1))).key == "default/p-1"


def test_a_pending_pod_is_not_tied_to_the_node_of_one_of_its_kind() -> None:
    read = PodReader()
    cluster = Cluster()
    for pod in (a_pod("runs", node="n0"), a_pod("waits")):
        read(msgspec.json.encode(pod)).put_into(cluster)
    assert cluster.pods["default/waits"].pending.spec.node_name == ""
    assert cluster.pods["default/waits"].pod_class is cluster.pods["default/runs"].pod_class


def test_a_malformed_amount_is_reported_for_each_pod_and_stops_no_other() -> None:
    cluster, reader = a_cluster(), PodReader()
    strange = a_pod_of("ReplicaSet", 1)
    strange["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "lots"
    for _ in range(2):
        with pytest.raises(ValueError, match="cpu: 'lots' is not a quantity"):
            reader(compact(strange)).put_into(cluster)
    reader(compact(a_pod_of("ReplicaSet", 2))).put_into(cluster)
    assert list(cluster.pods) == ["default/p-2"]


def test_reading_from_the_wire_costs_less_than_decoding_and_keying_models() -> None:
    pods = [compact(a_pod_of("ReplicaSet", n, node="n0", tolerations=[{"operator": "Exists"}])) for n in range(500)]
    decoder = msgspec.json.Decoder(Pod)

    def cost(how):
        def once():
            cluster, start = Cluster(), process_time()
            how(cluster)
            return process_time() - start

        return min(once() for _ in range(5))

    def by_wire(cluster):
        reader = PodReader()
        for pod in pods:
            reader(pod).put_into(cluster)

    def by_model(cluster):
        for pod in pods:
            cluster.put_pod(decoder.decode(pod))

    assert cost(by_wire) < cost(by_model)
