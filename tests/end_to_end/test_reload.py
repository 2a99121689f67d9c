"""A configuration that changes while the autoscaler runs."""

import pytest
from nodewright.config.watch import ConfigFile
from nodewright.kube.transport import connect
from nodewright.plugins import Registry
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.testing.clock import SteppedClock
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

NAME = "cluster-autoscaler-priority-expander"
CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers: [fake: {{url: "http://127.0.0.1:9"}}]
scaleUp: {{expanders: [{expanders}]}}
"""


@pytest.fixture
def server():
    """An API server with the ConfigMap of priorities."""
    store = Store(SteppedClock())
    metadata = {"name": NAME, "namespace": "kube-system"}
    store.create("configmaps", {"metadata": metadata, "data": {"priorities": "{1: [a]}"}})
    with ApiServer(store) as server:
        yield server


def test_a_config_map_is_watched_once_an_expander_in_use_asks_for_it(server, tmp_path):
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(server.kubeconfig())
    path = tmp_path / "nodewright.yaml"
    path.write_text(CONFIG.format(expanders="least-waste"))
    registry = Registry()
    file = ConfigFile(path, classes=registry)
    settings = file.load().settings
    transport = connect(kubeconfig=str(kubeconfig))
    autoscaler = Autoscaler(settings, transport, SteppedClock(), registry=registry, config_file=file)
    autoscaler.start(timeout=10)
    try:
        autoscaler.run_once()
        assert server.record.count(verb="list", resource="configmaps") == 0
        path.write_text(CONFIG.format(expanders="priority"))
        autoscaler.run_once()
        assert server.record.count(verb="list", resource="configmaps") == 1
        # Known in the very loop in which the change took effect.
        assert autoscaler.cluster.config_maps[f"kube-system/{NAME}"].data == {"priorities": "{1: [a]}"}
    finally:
        autoscaler.close()
