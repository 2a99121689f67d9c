import pytest
from nodewright.api import Node, Outcome
from nodewright.testing import EPOCH, a_node
from nodewright.testing.conformance import HookConformance

from nodewright_my_plugin.hooks import MyPlugin, MyPluginConfig


@pytest.fixture
def hooks() -> MyPlugin:
    return MyPlugin(MyPluginConfig())


# EDIT: one test for each thing that your hooks promise.
def test_a_node_in_use_is_kept(hooks: MyPlugin) -> None:
    assert hooks.veto_scale_down(a_node(labels={"example.com/in-use-by": "ada"})) == "in use by ada"


def test_other_nodes_may_go(hooks: MyPlugin) -> None:
    assert hooks.veto_scale_down(a_node()) is None


def test_a_removal_that_failed_is_logged(hooks: MyPlugin, caplog: pytest.LogCaptureFixture) -> None:
    hooks.on_outcome(Outcome(at=EPOCH, action="drain", target="node-1", ok=False, error="the API server is gone"))
    hooks.on_outcome(Outcome(at=EPOCH, action="drain", target="node-2", ok=True))
    assert caplog.messages == ["drain of node-1 failed: the API server is gone"]


class TestMyPlugin(HookConformance):
    @pytest.fixture
    def plugin(self, hooks: MyPlugin) -> MyPlugin:
        return hooks

    # EDIT: what your hooks are asked about, so that they have something to say: nodes, pods, groups or options.
    @pytest.fixture
    def nodes(self) -> list[Node]:
        return [a_node("node-1", labels={"example.com/in-use-by": "ada"}), a_node("node-2")]
