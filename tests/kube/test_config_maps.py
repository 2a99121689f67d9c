"""ConfigMaps that strategies need, watched over HTTP."""

import pytest
from nodewright.cluster import Cluster
from nodewright.kube.feed import Feed
from nodewright.kube.reflector import ConfigMapWatch
from nodewright_fake.apiserver.faults import Fault


@pytest.fixture
def feed():
    return Feed()


@pytest.fixture
def watch(transport, feed):
    watch = ConfigMapWatch(transport, feed)
    yield watch
    watch.close()


def config_map(name, **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "kube-system"},
        "data": data,
    }


@pytest.fixture
def seen(feed, eventually):
    """Waits until the cluster has exactly these ConfigMaps, by name."""
    cluster = Cluster()

    def wait(**expected):
        def holds():
            feed.apply_to(cluster)
            return {each.metadata.name: each.data for each in cluster.config_maps.values()} == expected

        eventually(holds)

    return wait


def test_a_config_map_is_followed_from_before_it_exists_until_after_it_is_gone(server, watch, seen) -> None:
    watch.watch("kube-system", ["wanted"])
    server.store.create("configmaps", config_map("wanted", key="1"))
    seen(wanted={"key": "1"})
    server.store.delete("configmaps", "wanted", "kube-system")
    seen()


def test_nothing_is_read_but_what_is_asked_for(server, watch, seen) -> None:
    server.store.create("configmaps", config_map("other", key="1"))
    server.store.create("configmaps", config_map("wanted", key="2"))
    watch.watch("kube-system", ["wanted"])
    seen(wanted={"key": "2"})


def test_another_choice_ends_watches_and_begins_others(server, watch, seen, eventually) -> None:
    server.store.create("configmaps", config_map("first", key="1"))
    server.store.create("configmaps", config_map("second", key="2"))
    watch.watch("kube-system", ["first"])
    seen(first={"key": "1"})
    watch.watch("kube-system", ["second"])
    seen(first={"key": "1"}, second={"key": "2"})


def test_decisions_go_on_without_a_config_map_that_may_not_be_read(server, watch, feed, eventually, caplog) -> None:
    server.faults.append(Fault(status=403, message="not yours"))
    watch.watch("kube-system", ["wanted"])
    told = "decisions are made without configmap kube-system/wanted, which can't be watched: "
    eventually(lambda: any(told in message for message in caplog.messages))
