from datetime import timedelta

import pytest
from nodewright.api import PodFate
from nodewright.testing import EPOCH, a_drain_context, a_pod
from nodewright.testing.conformance import DrainRuleConformance

from nodewright_my_plugin.drain_rule import MyPlugin, MyPluginConfig


def judged(namespace: str, *, hour: int, **config: object) -> PodFate | str | None:
    """What it says of a pod at an hour of the day."""
    rule = MyPlugin(MyPluginConfig.model_validate(config))
    return rule.judge(a_pod(namespace=namespace), a_drain_context(now=EPOCH + timedelta(hours=hour)))


# EDIT: one test for each thing that your rule promises.
def test_pods_of_the_shop_keep_their_node_while_it_is_open() -> None:
    assert [judged("shop", hour=hour) for hour in (5, 6, 21, 22)] == [None, "ShopIsOpen", "ShopIsOpen", None]


def test_other_pods_are_left_to_other_rules() -> None:
    assert judged("default", hour=12) is None


def test_a_shop_may_open_late() -> None:
    assert judged("shop", hour=9, opens=10) is None


class TestMyPlugin(DrainRuleConformance):
    @pytest.fixture
    def rule(self) -> MyPlugin:
        # EDIT: settings that concern pods of the suite. Most of them are in the namespace default.
        return MyPlugin(MyPluginConfig(namespace="default"))
