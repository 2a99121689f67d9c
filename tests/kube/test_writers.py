"""What Nodewright writes to the API server."""

from threading import Event

import pytest
from nodewright.api import AccessDeniedError, ApiServerError, ConfigurationError, ConflictError
from nodewright.kube.events import EventWriter
from nodewright.kube.evictions import Evictor
from nodewright.kube.nodes import NodeWriter
from nodewright.kube.taint_latency import TaintLatency
from nodewright.kube.transport import connect
from nodewright.testing.clock import EPOCH
from nodewright_fake.apiserver.faults import Fault

OTHER = {"key": "gpu", "effect": "NoSchedule"}
MARK = {"key": "ToBeDeletedByClusterAutoscaler", "value": str(int(EPOCH.timestamp())), "effect": "NoSchedule"}


@pytest.fixture
def node(server):
    server.store.create("nodes", {"metadata": {"name": "n"}, "spec": {"providerID": "x", "taints": [OTHER]}})
    return lambda: server.store.get("nodes", "n")["spec"]


class TestNodeWriter:
    @pytest.fixture
    def writing(self, server, transport):
        def make(*, cordon=True):
            return NodeWriter(transport, TaintLatency(server.store.clock), cordon=cordon)

        return make

    def test_a_mark_is_a_taint_and_a_cordon_beside_what_was_there(self, writing, node):
        writing().mark("n", EPOCH)
        assert node() == {"providerID": "x", "taints": [OTHER, MARK], "unschedulable": True}

    def test_taking_it_off_leaves_the_rest(self, writing, node):
        writing().mark("n", EPOCH)
        writing().unmark("n")
        assert node() == {"providerID": "x", "taints": [OTHER]}

    def test_marking_twice_leaves_one_mark(self, writing, node):
        for _ in range(2):
            writing(cordon=False).mark("n", EPOCH)
        assert node()["taints"] == [OTHER, MARK]

    def test_who_does_not_cordon_takes_no_cordon_off(self, server, writing, node):
        server.store.modify("nodes", "n", "", lambda node: node["spec"].update(unschedulable=True))
        writing(cordon=False).mark("n", EPOCH)
        writing(cordon=False).unmark("n")
        assert node() == {"providerID": "x", "taints": [OTHER], "unschedulable": True}

    def test_a_hint_comes_beside_what_was_there_and_goes_alone(self, writing, node):
        writing().soft_taint("n", EPOCH)
        hint = {**MARK, "key": "DeletionCandidateOfClusterAutoscaler", "effect": "PreferNoSchedule"}
        assert node()["taints"] == [OTHER, hint]
        writing().soft_untaint("n")
        assert node()["taints"] == [OTHER]

    def test_a_node_that_is_right_already_is_not_written_to(self, server, writing, node):
        version = server.store.version
        writing().unmark("n")
        writing().soft_untaint("n")
        assert server.store.version == version

    def test_a_change_meanwhile_is_kept(self, server, writing, node):
        def add_taint(node):
            node["spec"]["taints"].append({"key": f"k{len(changes)}", "effect": "NoSchedule"})

        def interfere(request):
            if request.verb == "patch" and len(changes) < 2:
                changes.append(1)
                server.store.modify("nodes", "n", "", add_taint)

        changes = []
        server.faults.append(interfere)
        writing(cordon=False).mark("n", EPOCH)
        assert [taint["key"] for taint in node()["taints"]] == ["gpu", "k1", "k2", MARK["key"]]

    def test_a_node_that_is_gone_needs_no_unmarking_and_no_hint(self, writing):
        writing().unmark("gone")
        writing().soft_taint("gone", EPOCH)
        with pytest.raises(ApiServerError, match='nodes "gone" not found'):
            writing().mark("gone", EPOCH)


class TestEvictor:
    @pytest.fixture
    def pod(self, server):
        metadata = {"name": "p", "namespace": "default", "labels": {"app": "web"}}
        server.store.create("pods", {"metadata": metadata, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}})
        return lambda: server.store.find("pods", "p", "default")

    def test_an_evicted_pod_gets_its_grace(self, transport, pod):
        Evictor(transport).evict("default/p", 7)
        assert pod()["metadata"]["deletionGracePeriodSeconds"] == 7

    def test_a_spent_budget_holds_a_pod_back(self, server, transport, pod):
        budget = {
            "metadata": {"name": "b", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}},
        }
        server.store.create("poddisruptionbudgets.policy", {**budget, "status": {"disruptionsAllowed": 0}})
        with pytest.raises(ApiServerError, match="disruption budget") as refusal:
            Evictor(transport).evict("default/p", 7)
        assert refusal.value.status == 429
        assert "deletionTimestamp" not in pod()["metadata"]

    def test_another_pod_of_the_same_name_stays(self, transport, pod):
        with pytest.raises(ConflictError):
            Evictor(transport).evict("default/p", 7, uid="of-one-that-has-left")
        assert "deletionTimestamp" not in pod()["metadata"]

    def test_a_pod_that_is_gone_is_fine(self, transport):
        Evictor(transport).evict("default/gone", 7)


class TestEvents:
    TRIGGERED = ("default/web", "uid", "TriggeredScaleUp", "pod triggered scale-up: [{a 0->1 (max: 3)}]")

    @pytest.fixture
    def dropped(self):
        return []

    @pytest.fixture
    def events(self, server, transport, dropped):
        writer = EventWriter(transport, server.store.clock, "kube-system", on_drop=lambda: dropped.append(1))
        yield writer
        writer.close()

    @pytest.fixture
    def hold(self, server):
        """Lets the API server hold up requests until it is told to go on."""
        release, held = Event(), Event()

        def wait(request):
            held.set()
            release.wait(10)

        server.faults.append(wait)
        yield held, release
        release.set()

    def messages(self, server):
        return [event["message"] for event in server.store.list("events", "kube-system")]

    def test_an_event_names_its_object_once_in_five_minutes(self, server, events):
        for _ in range(3):
            events.on_pod(*self.TRIGGERED)
        assert events.flush(10)
        (event,) = server.store.list("events", "default")
        assert event["involvedObject"]["name"] == "web"
        assert (event["reason"], event["source"]["component"]) == ("TriggeredScaleUp", "cluster-autoscaler")
        server.store.clock.advance(301)
        events.on_pod(*self.TRIGGERED)
        assert events.flush(10)
        assert len(server.store.list("events", "default")) == 2

    def test_an_event_that_can_not_be_written_stops_nothing(self, server, events, caplog):
        server.faults.append(Fault(status=500, message="no disk"))
        for number in range(3):
            events.on_status("Reason", f"message {number}")
        assert events.flush(10)
        (told,) = [record.getMessage() for record in caplog.records]
        assert told.startswith("event Reason about ConfigMap cluster-autoscaler-status could not be written")

    def test_an_api_server_that_hangs_keeps_nobody_waiting_and_the_oldest_are_dropped(
        self, server, events, hold, dropped
    ):
        held, release = hold
        events.on_status("Reason", "first")
        assert held.wait(10)
        for number in range(1002):
            events.on_status("Reason", f"message {number}")
        assert not events.flush(0.01)
        assert len(dropped) == 2
        release.set()
        assert events.flush(10)
        told = self.messages(server)
        assert (len(told), "first" in told, "message 1" in told, "message 2" in told) == (1001, True, False, True)

    def test_what_waits_at_the_end_is_written_and_nothing_after_it(self, server, events):
        for number in range(20):
            events.on_status("Reason", f"message {number}")
        events.close()
        events.on_status("Reason", "too late")
        assert events.flush(10)
        assert sorted(self.messages(server)) == sorted(f"message {number}" for number in range(20))

    def test_the_end_does_not_wait_for_ever_and_says_what_is_lost(self, server, events, hold, caplog):
        held, _ = hold
        events.on_status("Reason", "first")
        assert held.wait(10)
        events.on_status("Reason", "second")
        events.close(timeout=0.01)
        assert "2 events were not written before the end: the API server takes too long" in caplog.messages


class TestTransport:
    def test_a_missing_right_is_named(self, server, transport):
        server.authorize = lambda request: "no" if request.resource.plural == "nodes" else None
        with pytest.raises(AccessDeniedError, match='cannot get resource "nodes" in API group ""'):
            transport.get("/api/v1/nodes/n")

    def test_a_server_that_is_away_is_a_temporary_error(self, server, transport):
        server.stop()
        with pytest.raises(
            ApiServerError, match=r"the API server at http://127.0.0.1:.* does not answer: connection refused"
        ):
            transport.get("/api/v1/nodes")

    def test_no_way_to_the_cluster_says_what_to_do(self, tmp_path):
        with pytest.raises(ConfigurationError, match=r"Name a file with kube\.kubeconfig or --kubeconfig"):
            connect(kubeconfig=str(tmp_path / "none"))
