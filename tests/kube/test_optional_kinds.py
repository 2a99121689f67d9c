"""Kinds that decisions can do without if the API server does not serve them."""

import logging

import pytest
from nodewright.api import ApiServerError
from nodewright.cluster import Cluster
from nodewright.kube import reflector as reflectors
from nodewright.kube.kinds import KINDS
from nodewright_fake.apiserver.faults import Fault

OPTIONAL = [kind.name for kind in KINDS if kind.optional]


def refused(*paths, status=403):
    return Fault(when=lambda request: any(path in request.path for path in paths), status=status, message="no, sorry")


def test_everything_that_volumes_need_arrives_and_goes(server, follow, eventually) -> None:
    named = {"persistentvolumes": "v", "storageclasses.storage.k8s.io": "s", "csinodes.storage.k8s.io": "n"}
    for resource, name in named.items():
        server.store.create(resource, {"metadata": {"name": name}})
    server.store.create("persistentvolumeclaims", {"metadata": {"name": "c", "namespace": "default"}})
    server.store.create("namespaces", {"metadata": {"name": "team", "labels": {"tier": "gold"}}})
    feed, cluster = follow(), Cluster()
    feed.wait_until_synced(10)
    feed.apply_to(cluster)
    storage = cluster.storage
    assert [*storage.volumes, *storage.classes, *storage.csi_nodes, *storage.claims] == ["v", "s", "n", "default/c"]
    assert cluster.pod_classes.namespaces["team"]["tier"] == "gold"
    for resource, name in named.items():
        server.store.delete(resource, name)
    server.store.delete("persistentvolumeclaims", "c", "default")
    server.store.delete("namespaces", "team")

    def all_gone():
        feed.apply_to(cluster)
        left = [*storage.volumes, *storage.classes, *storage.csi_nodes, *storage.claims]
        return not left and "team" not in cluster.pod_classes.namespaces

    eventually(all_gone)


@pytest.mark.parametrize("status", [403, 404])
def test_refused_kinds_are_logged_once_and_decisions_go_on_without_them(
    server, follow, caplog, monkeypatch, status
) -> None:
    monkeypatch.setattr(reflectors, "_LONGEST_PAUSE", 0.01)
    fault = refused(*(kind.path for kind in KINDS if kind.optional), status=status)
    server.faults.append(fault)
    with caplog.at_level(logging.WARNING):
        feed = follow()
        feed.wait_until_synced(10)
        feed.wait_for_version(0, 10)
    assert sorted(record.args[0] for record in caplog.records) == sorted(OPTIONAL)
    assert (
        "decisions are made without csinodes, which can't be watched: "
        "list csinodes.storage.k8s.io: no, sorry" in caplog.text
    )


def test_a_kind_that_is_shown_at_last_is_taken_in(server, follow, eventually, monkeypatch) -> None:
    monkeypatch.setattr(reflectors, "_LONGEST_PAUSE", 0.05)
    server.store.create("persistentvolumes", {"metadata": {"name": "v"}})
    fault = refused("/persistentvolumes")
    server.faults.append(fault)
    feed, cluster = follow(), Cluster()
    feed.wait_until_synced(10)
    feed.apply_to(cluster)
    assert not cluster.storage.volumes
    server.faults.remove(fault)

    def arrived():
        feed.apply_to(cluster)
        return bool(cluster.storage.volumes)

    eventually(arrived)


def test_a_kind_that_was_seen_is_not_forgotten_when_the_right_is_lost(server, follow, eventually) -> None:
    server.store.create("persistentvolumes", {"metadata": {"name": "v"}})
    feed, cluster = follow(), Cluster()
    feed.wait_until_synced(10)
    eventually(lambda: server.record.count(verb="watch", resource="persistentvolumes") == 1)
    fault = refused("/persistentvolumes")
    server.faults.append(fault)
    server.drop_watches()
    eventually(lambda: fault.hits >= 2)
    feed.apply_to(cluster)
    assert list(cluster.storage.volumes) == ["v"]
    with pytest.raises(ApiServerError, match=r"persistentvolumes: no, sorry"):
        feed.wait_for_version(server.store.version + 1, 0.2)


@pytest.mark.parametrize("path", ["/api/v1/nodes", "/api/v1/pods"])
def test_decisions_never_go_on_without_nodes_and_pods(server, follow, path) -> None:
    server.faults.append(refused(path))
    with pytest.raises(ApiServerError, match=f"never listed {path.rpartition('/')[2]}"):
        follow().wait_until_synced(0.5)


def test_refused_credentials_are_not_a_missing_right(server, follow) -> None:
    server.faults.append(refused("/persistentvolumes", status=401))
    with pytest.raises(ApiServerError, match="never listed persistentvolumes"):
        follow().wait_until_synced(0.5)
