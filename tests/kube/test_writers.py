"""Writes to nodes and pods at the API server."""

import pytest
from nodewright.api import AccessDeniedError, ApiServerError, ConfigurationError, ConflictError
from nodewright.kube.nodes import Evictor, NodeWriter, TaintLatency
from nodewright.kube.transport import connect
from nodewright.testing.clock import EPOCH

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

    def test_a_mark_is_a_taint_and_a_cordon_beside_what_was_there(self, writing, node) -> None:
        writing().mark("n", EPOCH)
        assert node() == {"providerID": "x", "taints": [OTHER, MARK], "unschedulable": True}

    def test_taking_it_off_leaves_the_rest(self, writing, node) -> None:
        writing().mark("n", EPOCH)
        writing().unmark("n")
        assert node() == {"providerID": "x", "taints": [OTHER]}

    def test_marking_twice_leaves_one_mark(self, writing, node) -> None:
        for _ in range(2):
            writing(cordon=False).mark("n", EPOCH)
        assert node()["taints"] == [OTHER, MARK]

    def test_who_does_not_cordon_takes_no_cordon_off(self, server, writing, node) -> None:
        server.store.modify("nodes", "n", "", lambda node: node["spec"].update(unschedulable=True))
        writing(cordon=False).mark("n", EPOCH)
        writing(cordon=False).unmark("n")
        assert node() == {"providerID": "x", "taints": [OTHER], "unschedulable": True}

    def test_a_cordon_that_was_there_before_stays_when_the_mark_comes_off(self, server, writing, node) -> None:
        server.store.modify("nodes", "n", "", lambda node: node["spec"].update(unschedulable=True))
        for _ in range(2):
            writing().mark("n", EPOCH)
        writing().unmark("n")
        assert node() == {"providerID": "x", "taints": [OTHER], "unschedulable": True}
        assert not server.store.get("nodes", "n")["metadata"].get("annotations")

    def test_a_cordon_before_an_earlier_removal_says_nothing_about_this_one(self, server, writing, node) -> None:
        server.store.modify("nodes", "n", "", lambda node: node["spec"].update(unschedulable=True))
        writing().mark("n", EPOCH)
        server.store.modify("nodes", "n", "", lambda node: node.update(spec={"providerID": "x", "taints": [OTHER]}))
        writing().mark("n", EPOCH)
        writing().unmark("n")
        assert node() == {"providerID": "x", "taints": [OTHER]}

    def test_a_hint_comes_beside_what_was_there_and_goes_alone(self, writing, node) -> None:
        writing().soft_taint("n", EPOCH)
        hint = {**MARK, "key": "DeletionCandidateOfClusterAutoscaler", "effect": "PreferNoSchedule"}
        assert node()["taints"] == [OTHER, hint]
        writing().soft_untaint("n")
        assert node()["taints"] == [OTHER]

    def test_a_node_that_is_right_already_is_not_written_to(self, server, writing, node) -> None:
        version = server.store.version
        writing().unmark("n")
        writing().soft_untaint("n")
        assert server.store.version == version

    def test_a_change_meanwhile_is_kept(self, server, writing, node) -> None:
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

    def test_a_node_that_is_gone_needs_no_unmarking_and_no_hint(self, writing) -> None:
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

    def test_an_evicted_pod_gets_its_grace(self, transport, pod) -> None:
        Evictor(transport).evict("default/p", 7)
        assert pod()["metadata"]["deletionGracePeriodSeconds"] == 7

    def test_a_spent_budget_holds_a_pod_back(self, server, transport, pod) -> None:
        budget = {
            "metadata": {"name": "b", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}},
        }
        server.store.create("poddisruptionbudgets.policy", {**budget, "status": {"disruptionsAllowed": 0}})
        with pytest.raises(ApiServerError, match="disruption budget") as refusal:
            Evictor(transport).evict("default/p", 7)
        assert refusal.value.status == 429
        assert "deletionTimestamp" not in pod()["metadata"]

    def test_another_pod_of_the_same_name_stays(self, transport, pod) -> None:
        with pytest.raises(ConflictError):
            Evictor(transport).evict("default/p", 7, uid="of-one-that-has-left")
        assert "deletionTimestamp" not in pod()["metadata"]

    def test_a_pod_that_is_gone_is_fine(self, transport) -> None:
        Evictor(transport).evict("default/gone", 7)


class TestTransport:
    def test_a_missing_right_is_named(self, server, transport) -> None:
        server.authorize = lambda request: "no" if request.resource.plural == "nodes" else None
        with pytest.raises(AccessDeniedError, match='cannot get resource "nodes" in API group ""'):
            transport.get("/api/v1/nodes/n")

    def test_a_server_that_is_away_is_a_temporary_error(self, server, transport) -> None:
        server.stop()
        with pytest.raises(
            ApiServerError, match=r"the API server at http://127.0.0.1:.* does not answer: connection refused"
        ):
            transport.get("/api/v1/nodes")

    def test_no_way_to_the_cluster_says_what_to_do(self, tmp_path) -> None:
        with pytest.raises(ConfigurationError, match=r"Name a file with kube\.kubeconfig or --kubeconfig"):
            connect(kubeconfig=str(tmp_path / "none"))
