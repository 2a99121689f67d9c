"""Nothing that somebody wants to keep to himself leaves the process, whatever goes wrong."""

import json
from threading import Thread

import pytest
from nodewright.cli.main import main
from nodewright.runtime.log import set_up_logging
from nodewright.serve.endpoints import Endpoints, Request
from nodewright.testing.distributions import Distributions
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind

from tests.end_to_end.scenarios import a_group, a_scenario

#: In all that is secret, with what it is, so that a failure says what has leaked.
MARK = "hunter2"
TOKEN, KEY, ENVIRONMENT, NOTE, SECRET, FOREIGN = (
    f"{MARK}-{what}" for what in ("token", "key", "environment", "note", "secret", "config-map")
)
#: A cloud that wants a credential.
KEYED_CLOUD = """
    from nodewright_fake.provider.provider import FakeConfig, FakeProvider

    class KeyedConfig(FakeConfig):
        secret_key: str

    class Keyed(FakeProvider):
        Config = KeyedConfig
"""
CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - keyed: {{url: "{url}", secret_key: {key}}}
scaleUp: {{expanders: [priority, least-waste]}}
scaleDown: {{unneededTime: 30s, delayAfterAdd: 0s}}
metrics: {{perGroup: true}}
"""


@pytest.fixture
def logged(capfd):
    """Everything that was written to the log, with all details; set up anew as by a process of its own."""
    set_up_logging(verbosity=5, json_format=True)
    return lambda: capfd.readouterr().err


@pytest.fixture
def life(begin, tmp_path):
    """The life of a cluster that is full of secrets."""
    life = begin(a_scenario(a_group("pool", max=5), replicas=0))
    with Distributions(tmp_path) as distributions:
        distributions.install("keyed", {"providers/keyed": "Keyed"}, KEYED_CLOUD)
        life.config.write_text(CONFIG.format(url=life.world.provider_config["url"], key=KEY))
        life.world.kubeconfig.write_text(life.world.api_server.kubeconfig(token=TOKEN))
        store = life.world.store
        for resource, name, data in (
            ("secrets", "password", {"password": SECRET}),
            ("configmaps", "other", {"password": FOREIGN}),
            ("configmaps", "cluster-autoscaler-priority-expander", {"priorities": "10: [.*"}),
        ):
            store.create(resource, {"metadata": {"name": name, "namespace": "kube-system"}, "data": data})
        store.modify("deployments.apps", "web", "default", confide)
        life.start_again()
        yield life


def confide(deployment):
    """Give the pods of a deployment secrets to keep."""
    template = deployment["spec"]["template"]
    note = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"env": NOTE})}
    template.setdefault("metadata", {})["annotations"] = note
    template["spec"]["containers"][0] |= {
        "env": [{"name": "PASSWORD", "value": ENVIRONMENT}],
        "args": [f"--password={ENVIRONMENT}"],
    }


def live(life):
    """Let the cluster grow, fail to, shrink, and meet an API server and a cloud in bad weather."""
    broken = {"name": "odd", "resources": {"requests": {"cpu": "a lot"}}, "env": [{"name": "X", "value": ENVIRONMENT}]}
    life.world.cloud.gate.add(ApiFault(ApiFaultKind.DENIED, operations="increase", times=1))
    life.scale("web", 6)
    life.go_on(30)
    life.world.cloud.gate.add(ApiFault(ApiFaultKind.UNAVAILABLE, operations="snapshot", times=1))
    life.until(lambda: len(life.pods("Running")) == 6)
    pod = {"metadata": {"name": "odd", "namespace": "default"}, "spec": {"containers": [broken]}}
    life.world.store.create("pods", pod)
    refusing = Fault(when=lambda request: request.path.endswith("/eviction"), status=500, times=2)
    life.world.api_server.faults.append(refusing)
    life.world.api_server.drop_watches()
    life.scale("web", 1)
    life.until(lambda: life.sizes() == {"pool": 1}, within=600)


def shown_over_http(life):
    """All endpoints with a loop meanwhile."""
    endpoints = Endpoints(life.autoscaler.metrics, snapshots=life.autoscaler.snapshots, profiling=True)
    pages = {}

    def ask(path, query=""):
        pages[path] = endpoints.respond(Request(path=path, query=query)).body.decode()

    asking = Thread(target=ask, args=("/snapshotz",))
    asking.start()
    while asking.is_alive():
        life.go_on(10)
        asking.join(0.05)
    for path in ("/metrics", "/health-check", "/debug/pprof/goroutine"):
        ask(path, "debug=2")
    return pages


def test_no_secret_is_in_anything_that_is_told(life, logged, capfd) -> None:
    live(life)
    told = shown_over_http(life)
    told["log"] = logged()
    told["memory"] = life.autoscaler.memory.to_json().decode()
    store = life.world.store
    told["events"] = json.dumps(store.list("events"))
    kept = ("other", "cluster-autoscaler-priority-expander")
    told["config maps"] = json.dumps(
        [each for each in store.list("configmaps") if each["metadata"]["name"] not in kept]
    )
    told["nodes"] = json.dumps(store.list("nodes"))
    place = ["--config", str(life.config), "--kubeconfig", str(life.world.kubeconfig)]
    assert main(["dump", *place]) == 0
    assert main(["why", "group", "pool", *place]) == 0
    told["dump and why"] = "".join(capfd.readouterr())

    # It was all there to be told.
    for what, sign in {
        "/snapshotz": "web-",
        "/metrics": 'scaled_down_nodes_total{dra_drivers="",gpu_name="",gpu_resource_name="",reason="underutilized"}',
        "log": "odd is malformed",
        "events": "TriggeredScaleUp",
        "dump and why": "web-",
    }.items():
        assert sign in told[what], what
    assert "PriorityConfigMapInvalid" in told["events"]
    leaks = {what: text[max(0, text.index(MARK) - 200) :][:300] for what, text in told.items() if MARK in text}
    assert leaks == {}
