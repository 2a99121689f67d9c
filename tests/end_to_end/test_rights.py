"""The rights that the manifests grant are the least that work: none is missing, and none is for nothing."""

import signal
import subprocess
import sys
from time import monotonic, sleep

from nodewright.testing.clock import FastClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.rights import Right
from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

EVERYTHING = """
scaleDown: {unneededTime: 30s, delayAfterAdd: 30s}
limits: {capacityQuotas: true}
"""
PRIORITIES = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"},
    "data": {"priorities": "{10: ['.*']}"},
}
#: Should nobody be left to stop it, it ends by itself.
PROGRAM = "import signal, sys; signal.alarm(110); from nodewright.cli.main import main; sys.exit(main())"


def grow_and_shrink(begin):
    """A life that loses a node, gets some, reloads its configuration and drains nodes; returns its rights."""
    deployments = [a_deployment(replicas=4), a_deployment("giant", cpu="1000", replicas=0)]
    life = begin(a_scenario(a_group("pool", max=5, desired=2), deployments=deployments), EVERYTHING)
    life.until(lambda: len(life.nodes) == 1)
    life.scale("web", 8)
    life.until(lambda: len(life.pods("Running")) == 8)
    life.configure(EVERYTHING + "scaleUp: {expanders: [priority, least-waste]}")
    life.world.store.create("configmaps", PRIORITIES)
    life.scale("web", 3)
    life.until(lambda: len(life.nodes) == 1)
    # A pod that nobody can help is told so again after five minutes.
    life.scale("giant", 1)
    life.go_on(360)
    for _ in range(2):
        life.world.store.modify("configmaps", "nodewright-memory", "kube-system", damage)
        life.start_again()
        life.go_on(10)
    return life.rights


def damage(config_map):
    """Make of what is remembered what nobody can read."""
    config_map.pop("binaryData", None)
    config_map["data"] = {"memory.json": "}{ oops"}


def hand_over(rights, folder):
    """Two processes, of which the second goes on when the first is told to end; then it ends, too."""
    with World(parse_scenario(a_scenario(a_group("pool", max=5, bootTime="0s"), replicas=2)), FastClock()) as world:
        world.api_server.authorize = rights.authorize
        config = folder / "nodewright.yaml"
        config.write_text(
            "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nserver: {address: '127.0.0.1:0'}\n"
            f"providers: [fake: {{url: '{world.provider_config['url']}'}}]\n"
            "loop: {scanInterval: 200ms}\n"
            "leaderElection: {leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 200ms}\n"
        )
        command = [sys.executable, "-c", PROGRAM, "run", "--config", config, "--kubeconfig", world.kubeconfig]
        first, second = (subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2))
        try:
            # From its first watch on, each of them ends as it should.
            _eventually(lambda: world.api_server.record.count(verb="watch", resource="nodes") >= 2)
            _eventually(lambda: len(world.store.list("nodes")) == 1)
            _end(first)
            world.cluster.scale("default", "web", 8)
            _eventually(lambda: len(world.store.list("nodes")) >= 2)
            _end(second)
        finally:
            for process in (first, second):
                process.kill()
                process.communicate()


def _end(process):
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 0, told


def _eventually(holds):
    until = monotonic() + 60
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.05)


def test_whole_lives_need_every_right_that_is_granted_and_no_other(begin, tmp_path) -> None:
    rights = grow_and_shrink(begin)
    hand_over(rights, tmp_path)
    assert rights.refused == set()
    assert rights.granted - rights.used == set()


def test_what_is_not_granted_is_refused_and_fails_every_test(begin) -> None:
    life = begin(a_scenario(a_group("pool", max=5)))
    life.rights.granted = {right for right in life.rights.granted if right.name != PRIORITIES["metadata"]["name"]}
    life.configure("scaleUp: {expanders: [priority]}")
    life.go_on(10)
    name = PRIORITIES["metadata"]["name"]
    assert life.rights.refused == {Right("", "configmaps", "list", "kube-system", name)}
    life.rights.refused.clear()
