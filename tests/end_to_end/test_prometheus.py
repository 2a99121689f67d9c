"""Prometheus and its tools take what is served: Debian's, where they are on the PATH."""

import json
import shutil
import socket
import subprocess
from time import monotonic, sleep
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from nodewright.serve.endpoints import Endpoints
from nodewright.serve.server import Server

from tests.end_to_end.scenarios import a_group, a_scenario

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(
        not (shutil.which("prometheus") and shutil.which("promtool")),
        reason="prometheus is not installed (Debian: prometheus)",
    ),
]
#: Cluster Autoscaler's own names, of which the tool thinks as of any.
ODD_NAME = 'non-histogram and non-summary metrics should not have "_count" suffix'
SETTINGS = "metrics: {perGroup: true, nodeRemovalLatency: true, nodeSkipTime: true}"


@pytest.fixture
def life(begin):
    """A cluster that has grown, with prices and series for each group."""
    life = begin(a_scenario(a_group("pool", max=5), replicas=2), SETTINGS)
    life.until(lambda: len(life.pods("Running")) == 2)
    life.go_on(20)
    return life


def test_promtool_finds_nothing_amiss_but_cluster_autoscalers_own_names(life) -> None:
    told = subprocess.run(
        ["promtool", "check", "metrics"], input=life.autoscaler.metrics.render(), capture_output=True, timeout=30
    )
    complaints = told.stderr.decode().splitlines() + told.stdout.decode().splitlines()
    ours = [line for line in complaints if not (line.startswith("cluster_autoscaler_") and line.endswith(ODD_NAME))]
    assert ours == []
    assert any(line.startswith("cluster_autoscaler_nodes_count ") for line in complaints)


class Prometheus:
    """Scrapes one target, and answers questions."""

    def __init__(self, folder, target):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        jobs = [{"job_name": "nodewright", "static_configs": [{"targets": [target]}]}]
        # JSON is YAML.
        config = {"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms"}, "scrape_configs": jobs}
        (folder / "prometheus.yml").write_text(json.dumps(config))
        self.process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={self.address}",
                "--log.level=error",
            ]
        )

    def ask(self, query):
        """The values of a query by their labels but for those of the target, None while it can't be asked."""
        try:
            with urlopen(f"http://{self.address}/api/v1/query?{urlencode({'query': query})}", timeout=5) as answer:
                found = json.load(answer)["data"]["result"]
        except (URLError, ConnectionError):
            return None
        return {_labels(each["metric"]): float(each["value"][1]) for each in found}

    def close(self):
        self.process.kill()
        self.process.wait(10)


def _labels(metric):
    own = {key: value for key, value in metric.items() if key not in ("__name__", "instance", "job")}
    return ",".join(f"{key}={value}" for key, value in sorted(own.items()))


def eventually(ask):
    until = monotonic() + 30
    while not (found := ask()):
        assert monotonic() < until, "it never came to that"
        sleep(0.1)
    return found


def test_prometheus_scrapes_what_is_served(life, tmp_path) -> None:
    server = Server("127.0.0.1:0", Endpoints(life.autoscaler.metrics))
    server.start()
    prometheus = Prometheus(tmp_path, f"127.0.0.1:{server.port}")
    try:
        assert eventually(lambda: prometheus.ask("up == 1")) == {"": 1}
        assert prometheus.ask("cluster_autoscaler_nodes_count > 0") == {"state=ready": 1}
        assert prometheus.ask("cluster_autoscaler_node_group_target_count") == {"node_group=pool": 1}
        assert prometheus.ask("sum(cluster_autoscaler_scaled_up_nodes_total)") == {"": 1}
        assert prometheus.ask("nodewright_cost_per_hour") == {"currency=USD,provider=fake": 0.2}
        slow = 'histogram_quantile(0.9, cluster_autoscaler_function_duration_seconds_bucket{function="main"})'
        assert prometheus.ask(slow)["function=main"] > 0
        assert prometheus.ask("cluster_autoscaler_function_duration_quantile_seconds_count > 0")["function=scaleUp"] > 1
        assert prometheus.ask("cluster_autoscaler_skipped_scale_events_count > 0") == {}
    finally:
        prometheus.close()
        server.stop()
