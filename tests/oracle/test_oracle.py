"""How the oracle puts filters together, places pods, and finds what is wrong with a placement."""

from .objects import HOSTNAME, ZONE, asking, claim, csi_node, in_zone, node, pod, using, volume
from .oracle import Oracle

REGION = "topology.kubernetes.io/region"
SELFISH = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}


def test_filters_speak_in_kube_schedulers_order() -> None:
    """A pod and a node that are wrong for each other in every way, cured of one thing after the other."""
    cures = {
        "NodeUnschedulable": ({"unschedulable": False}, {}),
        "TaintToleration": ({"taints": []}, {}),
        "NodeAffinity": ({}, {"nodeSelector": {}}),
        "NodePorts": ({}, {"containers": asking(cpu="5")}),
        "NodeResourcesFit": ({"allocatable": {"cpu": "10"}}, {}),
        "VolumeRestrictions": ({}, {"volumes": using("new")}),
        "NodeVolumeLimits": ({}, {"volumes": using("zoned")}),
        "VolumeBinding": ({"labels": {ZONE: "za"}}, {}),
        "VolumeZone": ({"labels": {ZONE: "za", REGION: "eu"}}, {}),
        "PodTopologySpread": ({}, {"topologySpreadConstraints": []}),
        "InterPodAffinity": ({}, {"affinity": {}}),
    }
    port = {"name": "main", "ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "5"}}}
    disk = {"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1"}}
    has = {"unschedulable": True, "taints": [{"key": "k"}]}
    wants = {
        "nodeSelector": {"disk": "ssd"},
        "containers": [port],
        "volumes": [disk, *using("new", "zoned")],
        "topologySpreadConstraints": [{"topologyKey": "rack", "labelSelector": {}}],
        "affinity": SELFISH,
    }
    running = pod("r", on="n", labels={"app": "web"}, containers=[port], volumes=[disk, *using("old")])
    told = []
    for more, less in cures.values():
        told.append(Oracle([node("n", **has)], [running], **_storage()).refusal(pod(**wants), "n").filter)
        has |= more
        wants |= less
    assert told == list(cures)
    assert Oracle([node("n", **has)], [running], **_storage()).refusal(pod(**wants), "n") is None


def _storage():
    """One volume more than the node takes, and one that is for a zone and a region."""
    drivers = {"old": "driver", "new": "driver", "zoned": "other"}
    volumes = [volume(name, csi={"driver": driver, "volumeHandle": name}) for name, driver in drivers.items()]
    volumes[-1] = volume("zoned", labels={ZONE: "za", REGION: "eu"}, nodeAffinity=in_zone("za"))
    claims = [claim(name, volumeName=name) for name in drivers]
    return {"claims": claims, "volumes": volumes, "csi_nodes": [csi_node("n", driver=1)]}


def test_place_puts_each_pod_on_the_first_node_that_takes_it() -> None:
    small, large = node("small", allocatable={"cpu": "1"}), node("large")
    oracle = Oracle([small, large])
    pods = [pod(f"p{number}", containers=asking(cpu="1")) for number in range(6)]
    homes = oracle.place(pods)
    assert homes == {"default/p0": "small"} | {f"default/p{number}": "large" for number in range(1, 5)}
    assert oracle.violations() == []


def test_a_legal_start_is_not_required_and_not_complained_about() -> None:
    running = [
        pod(f"r{number}", on="n", labels={"app": "web"}, affinity=SELFISH, containers=asking(cpu="9"))
        for number in range(2)
    ]
    oracle = Oracle([node("n")], running)
    oracle.bind(pod("p"), "n")
    assert oracle.violations() == []


def test_violations_name_what_is_broken_and_by_whom() -> None:
    limited = csi_node("n", driver=1)
    storage = {
        "claims": [
            claim("c0", volumeName="v0", accessModes=["ReadWriteOncePod"]),
            claim("c1", volumeName="v1"),
        ],
        "volumes": [volume(f"v{number}", csi={"driver": "driver", "volumeHandle": f"h{number}"}) for number in (0, 1)],
        "csi_nodes": [limited],
    }
    oracle = Oracle([node("n", taints=[{"key": "k"}])], **storage)
    port = [{"name": "main", "ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "3"}}}]
    disk = {"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1"}}
    for name in ("one", "two"):
        greedy = pod(
            name,
            labels={"app": "web"},
            affinity=SELFISH,
            nodeSelector={"disk": "ssd"},
            containers=port,
            volumes=[disk, *using("c0", "c1")],
        )
        oracle.bind(greedy, "n")
    assert set(oracle.violations()) == {
        "default/one does not tolerate a taint of n",
        "default/two does not tolerate a taint of n",
        "default/one does not want a node like n",
        "default/two does not want a node like n",
        "n has not enough cpu",
        "default/one and default/two want the same port of n",
        "default/one and default/two can't share a disk on n",
        "default/one and default/two share a claim that is for one pod only",
        "n has 2 volumes of driver, 1 at most",
        f"default/one does not want default/two in its {HOSTNAME}",
        f"default/two does not want default/one in its {HOSTNAME}",
    }
