"""Consolidation in whole lives: it saves money, nobody waits longer for it, and it never goes back and forth."""

from collections import Counter
from datetime import timedelta
from math import pi, sin

from nodewright.api import Reason

from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

AFTER = timedelta(hours=1)
#: How long a drain takes here, from the decision to the machine's deletion.
DRAIN = timedelta(minutes=5)
#: The load changes every so many minutes.
STEP = 20
SETTINGS = """
scaleUp: {expanders: [most-pods]}
scaleDown: {maxDrainParallelism: 2, consolidation: {enabled: %s, after: 1h}}
"""
WAVES = a_scenario(
    a_group("fitting", max=40),
    a_group("roomy", instanceType="roomy", max=10),
    deployments=[a_deployment("web", replicas=6), a_deployment("shop", cpu="500m", memory="1Gi", replicas=6)],
)
#: Pods that fill a roomy node by a fifth, and can run on a fitting one.
QUIET = a_scenario(
    a_group("roomy", instanceType="roomy", desired=1),
    a_group("fitting", max=10),
    deployments=[a_deployment("web", replicas=3)],
)


def consolidated(life):
    """When each node began to go because others took its place, with its pods."""
    return [
        (decision.at, drain)
        for decision in life.diary.decisions
        for drain in decision.drain
        if drain.verdict.reason is Reason.CONSOLIDATED
    ]


class Day:
    """A day with a wave of load, one loop every two minutes, and what came of it."""

    def __init__(self, life):
        self.life = life
        #: After how many loops each pod had no node.
        self.waits = Counter()
        #: When each pod was created.
        self.born = {}
        for minute in range(0, 24 * 60, 2):
            if minute % STEP == 0:
                wave = 1 - sin(2 * pi * minute / (24 * 60))
                life.scale("web", 6 + round(10 * wave) + minute // STEP % 3)
                life.scale("shop", 5 + round(8 * wave) + minute // STEP % 5)
            self.live_on()

    def live_on(self):
        """Live another two minutes."""
        self.life.go_on(120, every=120)
        for pod in self.life.pods():
            key = f"default/{pod['metadata']['name']}"
            self.born[key] = pod["metadata"]["creationTimestamp"]
            self.waits[key] += not pod["spec"].get("nodeName")

    @property
    def longest_wait(self):
        return max(self.waits.values())

    @property
    def waited(self):
        return self.waits.total()

    @property
    def cost(self):
        return sum(spending.cost for spending in self.life.world.cloud.spending.values())


def after_a_rest(life):
    """Let the hour pass in which nothing is replaced, but for its last minutes, with one loop a minute."""
    life.go_on(55 * 60, every=60)
    assert life.sizes() == {"roomy": 1}
    return life


def check_that_all_is_well(life):
    """All three pods run on the one node that is left, which nobody has marked."""
    life.until(lambda: len(life.nodes) == 1)
    assert len(life.pods("Running")) == 3
    assert not any(node["spec"].get("taints") for node in life.world.store.list("nodes"))


def notices(life):
    return [notice for decision in life.diary.decisions for notice in decision.notices]


def deployment_of(pod):
    return pod.rsplit("-", 2)[0]


def check_that_no_pod_moves_twice(day):
    """No pod that came to its node while others of its kind were moved is moved again before its time."""
    drains = consolidated(day.life)
    for at, drain in drains:
        for pod in drain.pods:
            born = day.born[pod]
            moved = [
                earlier
                for earlier, other in drains
                if deployment_of(pod) in map(deployment_of, other.pods)
                and f"{earlier:%Y-%m-%dT%H:%M:%SZ}" <= born <= f"{earlier + DRAIN:%Y-%m-%dT%H:%M:%SZ}"
            ]
            assert all(at - earlier >= AFTER for earlier in moved), f"{pod} moved at {moved} and at {at}"


def check_that_moved_pods_found_room(day):
    """Growth for pods is decided when the load has just changed, never for pods that were moved to save money."""
    for decision in day.life.diary.decisions:
        assert decision.at.minute % STEP == 2 or not any(grow.pods for grow in decision.grow)


def test_a_day_costs_less_without_back_and_forth_and_nobody_waits_longer(begin) -> None:
    plain, thrifty = (Day(begin(WAVES, SETTINGS % switch)) for switch in ("false", "true"))
    assert not consolidated(plain.life)
    assert 5 < len(consolidated(thrifty.life)) < 24
    assert thrifty.cost < 0.96 * plain.cost
    assert thrifty.longest_wait == plain.longest_wait == 1
    # The two days take different ways, and a single pod may be less lucky.
    assert thrifty.waited <= plain.waited + 1
    check_that_no_pod_moves_twice(thrifty)
    check_that_moved_pods_found_room(thrifty)
    for _ in range(5 * 30):
        thrifty.live_on()
    end = thrifty.life.world.clock.now()
    assert all(at < end - timedelta(hours=2) for at, _ in consolidated(thrifty.life)), "it has not come to rest"
    assert thrifty.life.autoscaler.memory.consolidation.replacements == ()


def test_the_new_node_is_ready_before_a_pod_leaves_the_old_one(begin) -> None:
    life = after_a_rest(begin(QUIET, SETTINGS % "true"))
    life.until(lambda: life.sizes() == {"fitting": 1}, within=3600)
    history = {(entry.event, entry.group): entry.at for entry in life.world.cloud.history}
    (begun, drain), *others = consolidated(life)
    assert (drain.group, others) == ("roomy", [])
    assert history["running", "fitting"] <= begun < history["deleting", "roomy"]
    check_that_all_is_well(life)


def test_a_process_that_forgets_a_replacement_leaves_what_there_was(begin) -> None:
    life = after_a_rest(begin(QUIET, SETTINGS % "true"))
    life.until(lambda: life.sizes() == {"roomy": 1, "fitting": 1}, within=3600)
    life.config.write_text(life.config.read_text().replace("enabled: true", "enabled: false"))
    life.start_again()
    life.until(lambda: life.sizes() == {"roomy": 1}, within=3600)
    assert not consolidated(life)
    check_that_all_is_well(life)


def test_a_cloud_that_has_no_cheaper_machines_leaves_things_as_they_are(begin) -> None:
    life = begin(QUIET, SETTINGS % "true")
    life.run_out("eu-a/fitting")
    life.go_on(3 * 3600, every=60)
    assert life.sizes() == {"roomy": 1}
    tried = [line for line in life.diary.lines if "replaces more expensive nodes" in line]
    # After an hour, and then each time that the node has had its rest.
    assert len(tried) == 2
    assert sum("will not be replaced: fitting did not deliver" in notice.message for notice in notices(life)) == 2
    assert not consolidated(life)
