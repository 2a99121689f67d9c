import pytest
from nodewright.testing import a_group, a_pod, a_simulation, a_template, pods_like
from nodewright.testing.conformance import EstimatorConformance

from nodewright_my_plugin.estimator import MyPlugin, MyPluginConfig


def nodes_for(pods: int, *, cpu: str, **config: object) -> int:
    """How many nodes of 4 CPUs it estimates for so many pods."""
    estimator = MyPlugin(MyPluginConfig.model_validate(config))
    group = a_group(template=a_template(cpu="4"))
    with a_simulation().fork() as simulation:
        return estimator.estimate(group, [pods_like(a_pod(cpu=cpu), pods)], simulation, 10).nodes


# EDIT: one test for each thing that your estimator promises.
def test_nodes_are_filled() -> None:
    assert nodes_for(8, cpu="1") == 2


def test_pods_that_fit_no_node_get_none() -> None:
    assert nodes_for(3, cpu="5") == 0


def test_there_are_no_more_nodes_than_configured() -> None:
    assert nodes_for(8, cpu="3") == 8
    assert nodes_for(8, cpu="3", nodesAtOnce=2) == 2


class TestMyPlugin(EstimatorConformance):
    @pytest.fixture
    def estimator(self) -> MyPlugin:
        return MyPlugin(MyPluginConfig())
