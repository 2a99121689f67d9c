"""The expander priority follows its ConfigMap while the autoscaler runs."""

from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

SCENARIO = a_scenario(
    a_group("on-demand", max=5), a_group("spot", max=5), deployments=[a_deployment(replicas=0, cpu="3", memory="1Gi")]
)
SETTINGS = """
scaleUp: {expanders: [priority]}
scaleDown: {enabled: false}
"""
NAME = "cluster-autoscaler-priority-expander"


def config_map(priorities):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": "kube-system"},
        "data": {"priorities": priorities},
    }


def test_a_changed_config_map_takes_effect_in_the_next_loop_and_a_wrong_one_is_told(begin) -> None:
    life = begin(SCENARIO, SETTINGS)

    def one_more(replicas):
        before = life.sizes()
        life.scale("web", replicas)
        life.until(lambda: len(life.pods("Running")) == replicas)
        (grown,) = (group for group, size in life.sizes().items() if size > before.get(group, 0))
        return grown

    def events():
        everything = life.world.store.list("events", "kube-system")
        about = [event for event in everything if event["involvedObject"]["name"] == NAME]
        return [(event["reason"], event["type"]) for event in about]

    life.world.store.create("configmaps", config_map("{10: [spot], 5: ['.*']}"))
    assert one_more(1) == "spot"
    life.world.store.modify(
        "configmaps", NAME, "kube-system", lambda draft: draft["data"].update(priorities="{1: [spot], 5: [demand]}")
    )
    assert one_more(2) == "on-demand"
    assert events() == []
    life.world.store.modify("configmaps", NAME, "kube-system", lambda draft: draft["data"].update(priorities="{1: ["))
    one_more(3)
    one_more(4)
    assert events() == [("PriorityConfigMapInvalid", "Warning")]
