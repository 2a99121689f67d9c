import pytest
from nodewright.testing import a_pod, a_processor_context, pods_like
from nodewright.testing.conformance import PendingPodsProcessorConformance

from nodewright_my_plugin.processor import MyPlugin, MyPluginConfig


def kept(*labels: str, **config: object) -> list[str]:
    """The first pod of each set that it keeps, of sets with one label each."""
    processor = MyPlugin(MyPluginConfig.model_validate(config))
    pods = [pods_like(a_pod(f"pod-{number}", labels={label: "yes"}), 2) for number, label in enumerate(labels)]
    return [same.pod.metadata.name for same in processor.process(pods, a_processor_context())]


# EDIT: one test for each thing that your processor promises.
def test_pods_on_hold_bring_no_nodes() -> None:
    assert kept("example.com/on-hold", "app") == ["pod-1"]


def test_another_label_may_put_pods_on_hold() -> None:
    assert kept("example.com/on-hold", "wait", label="wait") == ["pod-0"]


class TestMyPlugin(PendingPodsProcessorConformance):
    @pytest.fixture
    def processor(self) -> MyPlugin:
        return MyPlugin(MyPluginConfig())
