"""In random worlds every single binding obeys the rules, and whoever waits fits nowhere.

The rules are written down once more here, straight from the documentation of Kubernetes and over the raw objects.
"""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from nodewright.testing.clock import SteppedClock
from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Store
from nodewright_fake.controllers import build_controllers

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def broken_rule(pod, node, nodes, others):
    """The first rule that *pod* on *node* breaks, with the *others* where they are; None if all is well."""
    rules = (untolerated, unselected, overcommitted, crowded, lonely, lopsided)
    return next((rule.__name__ for rule in rules if rule(pod, node, nodes, others)), None)


def untolerated(pod, node, nodes=None, others=None):
    tolerated = {toleration["key"] for toleration in pod["spec"].get("tolerations", ())}
    taints = node["spec"].get("taints", ())
    return any(taint["effect"] != "PreferNoSchedule" and taint["key"] not in tolerated for taint in taints)


def unselected(pod, node, nodes=None, others=None):
    selector = pod["spec"].get("nodeSelector", {})
    return any(node["metadata"]["labels"].get(key) != value for key, value in selector.items())


def overcommitted(pod, node, nodes, others):
    here = [pod, *(other for other in others if runs_on(other, node))]
    room = node["status"]["allocatable"]
    used = sum(int(each["spec"]["containers"][0]["resources"]["requests"]["cpu"][:-1]) for each in here)
    return used > int(room["cpu"][:-1]) or len(here) > int(room["pods"])


def crowded(pod, node, nodes, others):
    """Whether *pod* or somebody in the same domain does not want the other near."""
    by_name = {each["metadata"]["name"]: each for each in nodes}
    for other in others:
        there = by_name[other["spec"]["nodeName"]]
        for one, another in ((pod, other), (other, pod)):
            for term in terms_of(one, "podAntiAffinity"):
                if means(term, one, another) and same_domain(term["topologyKey"], node, there):
                    return True
    return False


def lonely(pod, node, nodes, others):
    """Whether *pod* misses somebody near, unless it is the first of its own kind."""
    terms = terms_of(pod, "podAffinity")
    by_name = {each["metadata"]["name"]: each for each in nodes}
    friends = [by_name[other["spec"]["nodeName"]] for other in others if all(means(term, pod, other) for term in terms)]
    keys = [term["topologyKey"] for term in terms]
    friends = [friend for friend in friends if any(key in friend["metadata"]["labels"] for key in keys)]
    if terms and not friends and all(means(term, pod, pod) for term in terms):
        return any(key not in node["metadata"]["labels"] for key in keys)
    return not all(any(same_domain(key, node, friend) for friend in friends) for key in keys)


def lopsided(pod, node, nodes, others):
    constraints = pod["spec"].get("topologySpreadConstraints", ())
    keys = [constraint["topologyKey"] for constraint in constraints]
    for constraint in constraints:
        key = constraint["topologyKey"]
        if key not in node["metadata"]["labels"]:
            return True
        eligible = [
            each
            for each in nodes
            if all(needed in each["metadata"]["labels"] for needed in keys)
            and not unselected(pod, each)
            and not (constraint["nodeTaintsPolicy"] == "Honor" and untolerated(pod, each))
        ]
        counts = {each["metadata"]["labels"][key]: 0 for each in eligible}
        for other in others:
            if not same_kind(pod, other) or "deletionTimestamp" in other["metadata"]:
                continue
            for each in eligible:
                if runs_on(other, each):
                    counts[each["metadata"]["labels"][key]] += 1
        least = min(counts.values(), default=0) if len(counts) >= constraint.get("minDomains", 1) else 0
        here = counts.get(node["metadata"]["labels"][key], 0)
        if here + 1 - least > constraint["maxSkew"]:
            return True
    return False


def app(pod):
    return pod["metadata"]["labels"]["app"]


def same_kind(pod, other):
    return app(other) == app(pod) and other["metadata"]["namespace"] == pod["metadata"]["namespace"]


def runs_on(pod, node):
    return pod["spec"]["nodeName"] == node["metadata"]["name"]


def terms_of(pod, kind):
    affinity = pod["spec"].get("affinity", {}).get(kind, {})
    return affinity.get("requiredDuringSchedulingIgnoredDuringExecution", [])


def means(term, owner, other):
    return (
        owner["metadata"]["namespace"] == other["metadata"]["namespace"]
        and app(other) in term["labelSelector"]["matchExpressions"][0]["values"]
    )


def same_domain(key, node, other):
    value = node["metadata"]["labels"].get(key)
    return value is not None and value == other["metadata"]["labels"].get(key)


apps = st.sampled_from(["x", "y"])
keys = st.sampled_from([HOST, ZONE])


@st.composite
def pod_specs(draw):
    label = draw(apps)
    spec = {"containers": [{"resources": {"requests": {"cpu": f"{draw(st.sampled_from([0, 500, 1000, 2000]))}m"}}}]}
    if draw(st.integers(0, 3)) == 0:
        spec["nodeSelector"] = {"pool": "p"}
    if draw(st.integers(0, 3)) == 0:
        spec["tolerations"] = [{"key": "own", "operator": "Exists"}]
    affinity = {}
    for kind in ("podAffinity", "podAntiAffinity"):
        if draw(st.integers(0, 3)) == 0:
            values = draw(st.lists(apps, min_size=1, max_size=2, unique=True))
            lines = [{"key": "app", "operator": "In", "values": values}]
            term = {"topologyKey": draw(keys), "labelSelector": {"matchExpressions": lines}}
            affinity[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    if affinity:
        spec["affinity"] = affinity
    spec["topologySpreadConstraints"] = [
        {
            "topologyKey": key,
            "maxSkew": draw(st.integers(1, 2)),
            "whenUnsatisfiable": "DoNotSchedule",
            "minDomains": draw(st.integers(1, 3)),
            "nodeTaintsPolicy": draw(st.sampled_from(["Honor", "Ignore"])),
            "labelSelector": {"matchLabels": {"app": label}},
        }
        for key in draw(st.lists(keys, max_size=2, unique=True))
        if draw(st.booleans())
    ]
    return label, draw(st.sampled_from(["one", "two"])), spec


@st.composite
def node_specs(draw):
    labels = {}
    if zone := draw(st.sampled_from(["a", "b", "c", ""])):
        labels[ZONE] = zone
    if draw(st.booleans()):
        labels["pool"] = "p"
    taints = [{"key": "own", "effect": "NoSchedule"}] if draw(st.integers(0, 4)) == 0 else []
    room = {"cpu": f"{draw(st.integers(1, 4))}000m", "pods": str(draw(st.integers(1, 5)))}
    return labels, taints, room


steps = st.one_of(
    st.tuples(st.just("pods"), pod_specs(), st.integers(1, 4)),
    st.tuples(st.just("node"), node_specs(), st.just(1)),
    st.tuples(st.just("delete pod"), st.none(), st.integers(0, 20)),
    st.tuples(st.just("delete node"), st.none(), st.integers(0, 5)),
    st.tuples(st.just("cordon"), st.booleans(), st.integers(0, 5)),
    st.tuples(st.just("wait"), st.none(), st.integers(1, 3)),
)


class World:
    """A cluster in which every binding is held against the rules."""

    def __init__(self):
        self.clock = SteppedClock()
        self.store = Store(self.clock)
        self.agenda = Agenda(self.clock)
        self.controllers = build_controllers(self.store, self.agenda)
        self.store.subscribe(self.check_binding)
        self.made = 0

    def check_binding(self, change):
        if change.resource != "pods" or change.before is None or change.before["spec"].get("nodeName"):
            return
        if node_name := change.object["spec"].get("nodeName"):
            others = [pod for pod in self.placed() if pod["metadata"]["uid"] != change.object["metadata"]["uid"]]
            node = self.store.get("nodes", node_name)
            assert broken_rule(change.object, node, self.store.list("nodes"), others) is None

    def check_waiting(self):
        nodes, placed = self.store.list("nodes"), self.placed()
        for pod in self.store.list("pods"):
            if not pod["spec"].get("nodeName"):
                free = [node["metadata"]["name"] for node in nodes if not broken_rule(pod, node, nodes, placed)]
                assert free == [], f"{pod['metadata']['name']} waits: {pod['status']}"
                (condition,) = pod["status"]["conditions"]
                assert (condition["type"], condition["reason"]) == ("PodScheduled", "Unschedulable")

    def placed(self):
        return [pod for pod in self.store.list("pods") if pod["spec"].get("nodeName")]

    def settle(self):
        busy = True
        while busy:
            busy = self.agenda.run_due()
            for controller in self.controllers.all:
                busy |= controller.reconcile()

    def do(self, what, argument, number):
        nodes = self.store.list("nodes")
        if what == "pods":
            label, namespace, spec = argument
            for _ in range(number):
                self.made += 1
                metadata = {"name": f"p{self.made}", "namespace": namespace, "labels": {"app": label}}
                self.store.create("pods", {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}})
        elif what == "node":
            labels, taints, room = argument
            self.made += 1
            name = f"n{self.made}"
            metadata = {"name": name, "labels": {HOST: name, **labels}}
            self.store.create(
                "nodes", {"metadata": metadata, "spec": {"taints": taints}, "status": {"allocatable": room}}
            )
        elif what == "delete pod":
            pods = self.store.list("pods")
            if pods:
                metadata = pods[number % len(pods)]["metadata"]
                grace = 0 if number % 2 else None
                self.store.delete("pods", metadata["name"], metadata["namespace"], grace_seconds=grace)
        elif what == "wait":
            self.clock.advance(timedelta(seconds=number).total_seconds())
        elif nodes:
            name = nodes[number % len(nodes)]["metadata"]["name"]
            if what == "delete node":
                self.store.delete("nodes", name)
            else:
                self.store.modify("nodes", name, "", lambda node: node["spec"].update(unschedulable=argument))


@settings(max_examples=300, deadline=None)
@given(st.lists(node_specs(), max_size=5), st.lists(steps, max_size=14))
def test_every_binding_obeys_the_rules_and_who_waits_fits_nowhere(nodes, doings) -> None:
    world = World()
    for node in nodes:
        world.do("node", node, 1)
    for doing in doings:
        world.do(*doing)
        world.settle()
        world.check_waiting()
