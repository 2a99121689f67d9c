"""Limits on the size of the cluster, from the object that sets them to the pods that have to wait."""

SCENARIO = """
zones: [eu-a]
instanceTypes:
  fitting: {cpu: 4, memory: 8Gi, price: 0.2}
groups:
  - {name: web, zone: eu-a, instanceType: fitting, max: 20, bootTime: 30s, labels: {team: web}}
workloads:
  deployments:
    - {name: web, replicas: 8, cpu: "2", memory: 2Gi}
"""


def quota(nodes):
    return {
        "metadata": {"name": "web-nodes"},
        "spec": {"selector": {"matchLabels": {"team": "web"}}, "limits": {"resources": {"nodes": nodes}}},
    }


def test_a_capacity_quota_holds_growth_back_until_it_is_raised(begin) -> None:
    life = begin(SCENARIO, "limits: {capacityQuotas: true}")
    life.world.store.create("capacityquotas.autoscaling.x-k8s.io", quota("3"))
    life.go_on(180)
    assert (len(life.nodes), len(life.pods("Running"))) == (3, 6)
    waiting = life.autoscaler.step().pods
    assert {str(verdict) for verdict in waiting.values()} == {'exceeded quota ("web-nodes", resources: nodes)'}

    life.world.store.modify(
        "capacityquotas.autoscaling.x-k8s.io", "web-nodes", "", lambda known: known.update(spec=quota("10")["spec"])
    )
    life.until(lambda: len(life.pods("Running")) == 8)
    assert len(life.nodes) == 4
