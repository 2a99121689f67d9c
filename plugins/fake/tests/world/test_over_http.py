"""The whole world from outside: the official client on one side, the provider on the other."""

import pytest
from kubernetes import client, config
from nodewright.api import InstanceState, ProviderContext
from nodewright.testing.builders import a_node
from nodewright_fake.provider import FakeProvider


@pytest.fixture
def api(world):
    """A world with a deployment that does not fit, and everything needed to talk to it."""
    with world("objects: [{apiVersion: v1, kind: Namespace, metadata: {name: town}}]\n") as w:
        api_client = config.new_client_from_config(str(w.kubeconfig))
        yield w, client.CoreV1Api(api_client), client.AppsV1Api(api_client)
        api_client.close()


@pytest.fixture
def provider(api):
    w = api[0]
    provider = FakeProvider(FakeProvider.Config(**w.provider_config), ProviderContext(clock=w.clock))
    yield provider
    provider.close()


def deployment(name, *, replicas, cpu):
    labels = {"app": name}
    container = {"name": "main", "image": "example/main", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def test_pending_pods_run_once_somebody_grows_a_group(api, provider) -> None:
    w, core, apps = api

    def phases():
        return sorted(pod.status.phase for pod in core.list_namespaced_pod("town").items)

    apps.create_namespaced_deployment("town", deployment("shop", replicas=8, cpu="900m"))
    w.advance(10)
    assert phases() == ["Pending"] * 6 + ["Running"] * 2
    waiting = next(pod for pod in core.list_namespaced_pod("town").items if pod.status.phase == "Pending")
    [condition] = [condition for condition in waiting.status.conditions if condition.type == "PodScheduled"]
    assert condition.reason == "Unschedulable"
    assert condition.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")

    provider.refresh()
    burst = next(group for group in provider.groups() if group.id == "burst")
    burst.increase(3)
    provider.refresh()
    burst = next(group for group in provider.groups() if group.id == "burst")
    assert [instance.state for instance in burst.instances()] == [InstanceState.CREATING] * 3

    w.advance(120)
    assert phases() == ["Running"] * 8
    provider.refresh()
    nodes = core.list_node().items
    assert {instance.id for group in provider.groups() for instance in group.instances()} == {
        node.spec.provider_id for node in nodes
    }

    # The template told the truth about what the nodes turned out to be.
    template = next(group for group in provider.groups() if group.id == "burst").template()
    born = next(node for node in nodes if node.metadata.name == "burst-1")
    assert template.labels.items() <= born.metadata.labels.items()
    assert born.status.allocatable["cpu"] == "2"


def test_a_deleted_machine_takes_its_node_along_and_its_pods_come_back(api, provider) -> None:
    w, core, apps = api
    apps.create_namespaced_deployment("town", deployment("shop", replicas=2, cpu="900m"))
    w.cloud.increase("burst", 1)
    w.advance(120)
    provider.refresh()
    burst = next(group for group in provider.groups() if group.id == "burst")
    w.cloud.increase("base", 1)
    w.advance(120)
    node = core.read_node("burst-1")
    burst.delete_nodes([a_node("burst-1", provider_id=node.spec.provider_id)])
    w.advance(60)
    assert [node.metadata.name for node in core.list_node().items] == ["base-1", "base-2"]
    assert [pod.status.phase for pod in core.list_namespaced_pod("town").items] == ["Running", "Running"]
