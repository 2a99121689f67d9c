from datetime import timedelta

import pytest
from nodewright.testing import EPOCH, a_node, a_processor_context
from nodewright.testing.conformance import ScaleDownCandidatesProcessorConformance

from nodewright_my_plugin.processor import MyPlugin, MyPluginConfig


def looked_at(*ages: float, **config: object) -> list[str]:
    """Which of nodes that came so many minutes ago are looked at for removal."""
    processor = MyPlugin(MyPluginConfig.model_validate(config))
    nodes = [a_node(f"node-{age:g}", created=EPOCH - timedelta(minutes=age)) for age in ages]
    return [node.name for node in processor.process(nodes, a_processor_context(now=EPOCH))]


# EDIT: one test for each thing that your processor promises.
def test_young_nodes_are_kept() -> None:
    assert looked_at(1, 30, 600) == ["node-30", "node-600"]


def test_how_long_can_be_configured() -> None:
    assert looked_at(1, 30, 600, restMinutes=60) == ["node-600"]


class TestMyPlugin(ScaleDownCandidatesProcessorConformance):
    @pytest.fixture
    def processor(self) -> MyPlugin:
        return MyPlugin(MyPluginConfig(rest_minutes=0))
