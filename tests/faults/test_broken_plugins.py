"""The loop goes on with plugins that are broken in every way, and names each of them with its reason."""

import re

import pytest
from nodewright.config.document import load
from nodewright.kube.transport import connect
from nodewright.plugins import Registry
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.testing import SteppedClock
from nodewright.testing.distributions import Distributions
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

CLOUD = """
    from nodewright.api import *
    from nodewright.testing import a_template

    class Group(NodeGroup):
        id, min_size, max_size, target_size = "", 0, 5, 0

        def __init__(self, id): self.id = id
        def instances(self): return ()
        def template(self): return a_template(cpu="4")
        def increase(self, count): self.target_size += count
        def delete_nodes(self, nodes): pass
        def decrease_target(self, count): pass

    class Cloud(Provider):
        capabilities = frozenset({Capability.SCALE_FROM_ZERO})
        members = (Group("a"), Group("b"))

        def refresh(self): pass
        def groups(self): return self.members
        def group_of(self, node): return None
"""

UNIMPORTABLE = "raise RuntimeError('half an upgrade')"

MISCONFIGURED = """
    from nodewright.api import *

    class ZonedConfig(PluginConfig):
        zone: str

    class Zoned(Expander):
        Config = ZonedConfig
        def best(self, options, context): return options
"""

STILLBORN = """
    from nodewright.api import *

    class Stillborn(Expander):
        def __init__(self, config): raise LookupError("no licence")
        def best(self, options, context): return options
"""

RAISING = """
    from nodewright.api import *
    from nodewright.plugins.hookimpls import HOOKS

    def fail(self): raise ZeroDivisionError("boom")

    Raising = type("Raising", (Plugin,), {hook: hookimpl(lambda self: fail(self)) for hook in HOOKS})
"""

RAISING_STRATEGIES = """
    from nodewright.api import *

    class Chooser(Expander):
        def best(self, options, context): raise ZeroDivisionError("boom")

    class Filter(PendingPodsProcessor):
        def process(self, pods, context): return 42
"""

CONFIGURATION = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers: [cloud]
scaleUp: {expanders: [unimportable, zoned, stillborn, chooser, least-waste]}
processors: {pendingPods: [filter, filter-schedulable]}
hooks: [raising]
"""

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default", "creationTimestamp": "2030-01-01T00:00:00Z"},
    "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
    "status": {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
    },
}


@pytest.fixture
def loaded(tmp_path):
    """The configuration, with every plugin that it names installed."""
    with Distributions(tmp_path) as distributions:
        distributions.install("cloud", {"providers/cloud": "Cloud"}, CLOUD)
        distributions.install("unimportable", {"expanders/unimportable": "It"}, UNIMPORTABLE)
        distributions.install("zoned", {"expanders/zoned": "Zoned"}, MISCONFIGURED)
        distributions.install("stillborn", {"expanders/stillborn": "Stillborn"}, STILLBORN)
        distributions.install("raising", {"hooks/raising": "Raising"}, RAISING)
        strategies = {"expanders/chooser": "Chooser", "processors/filter": "Filter"}
        distributions.install("strategies", strategies, RAISING_STRATEGIES)
        yield load(CONFIGURATION, classes=Registry(), tolerant=True)


@pytest.fixture
def autoscaler(loaded, tmp_path):
    """An autoscaler under that configuration, in a cluster with one pod that waits."""
    clock = SteppedClock()
    with ApiServer(Store(clock)) as server:
        server.store.create("pods", POD)
        clock.advance(3)
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig())
        autoscaler = Autoscaler(loaded.settings, connect(kubeconfig=str(kubeconfig)), clock)
        autoscaler.start()
        yield autoscaler
        autoscaler.close()


HALF = "RuntimeError: half an upgrade; reinstall unimportable, or ask its author"
REQUIRED = "its configuration is not valid: zone: Field required"

#: Every plugin that is broken, and where.
BROKEN = {
    ("unimportable", "load"),
    ("zoned", "load"),
    ("stillborn", "load"),
    ("chooser", "best"),
    ("filter", "process"),
    ("raising", "adjust_groups"),
    ("raising", "adjust_template"),
    ("raising", "adjust_pending_pods"),
    ("raising", "adjust_estimate"),
    ("raising", "adjust_options"),
    ("raising", "adjust_candidates"),
    ("raising", "veto_scale_up"),
    ("raising", "on_decision"),
    ("raising", "on_outcome"),
    ("raising", "on_fault"),
}


def test_the_loop_decides_and_acts_as_if_the_broken_ones_were_not_there(autoscaler) -> None:
    decision = autoscaler.run_once()
    assert [grow.count for grow in decision.grow] == [1]
    assert autoscaler.run_once().grow == ()


def test_each_broken_plugin_is_counted_where_it_broke(autoscaler) -> None:
    autoscaler.run_once()
    metrics = autoscaler.metrics.render().decode()
    assert set(re.findall(r'nodewright_plugin_faults_total\{plugin="(.*)",where="(.*)"\}', metrics)) == BROKEN


def test_each_broken_plugin_is_named_in_the_log_with_its_reason(autoscaler, caplog) -> None:
    autoscaler.run_once()
    records = [*caplog.get_records("setup"), *caplog.get_records("call")]
    logged = [record.getMessage() for record in records if record.name == "nodewright.plugins.faults"]
    assert len(logged) == len(BROKEN)
    reasons = dict(message.removeprefix("plugin ").split(" failed in ", 1) for message in logged)
    assert reasons == {
        "unimportable": f"load: expander 'unimportable' of unimportable 1.0 can't be imported: {HALF}",
        "zoned": f"load: expander 'zoned' of zoned 1.0 can't be used: {REQUIRED}",
        "stillborn": "load: expander 'stillborn' of stillborn 1.0 can't be started: LookupError: no licence",
        "chooser": "best: ZeroDivisionError: boom (at strategies.py:5, in best)",
        "filter": "process: TypeError: returned an int instead of a sequence of PodSet",
        "raising": "on_outcome: ZeroDivisionError: boom (at raising.py:5, in fail)",
    }
