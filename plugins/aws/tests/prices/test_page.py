"""The page about prices says what the plugin does."""

import re
from pathlib import Path

import pytest
from nodewright.config.document import load
from nodewright.plugins import Registry
from nodewright_aws.config import PriceSettings
from nodewright_aws.prices.on_demand import bundled

from .recorded import on_demand, prices_of, spot
from .test_model import price_of

PAGE = (Path(__file__).parents[4] / "docs/providers/aws/prices.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def settings_in(example):
    loaded = load(f"apiVersion: nodewright.dev/v1\nkind: Autoscaler\n{example}", classes=Registry())
    assert not loaded.warnings
    (provider,) = loaded.settings.providers
    return provider.config["prices"]


def test_the_examples_load_and_show_every_setting() -> None:
    shown = [settings_in(example) for example in EXAMPLES]
    assert {key for settings in shown for key in settings} == {
        field.alias for field in PriceSettings.model_fields.values()
    }


def test_the_overlay_of_the_page_does_what_its_comments_say(aws, clock) -> None:
    prices = prices_of(aws, clock, onDemand="table", spotRatio=0.5, **settings_in(EXAMPLES[1]))
    pools = [
        on_demand("m6i.large"),
        on_demand("p5.48xlarge", "eu-west-1b"),
        on_demand("r5.large"),
        spot("c5.large"),
        on_demand("c5.large"),
    ]
    prices.refresh(pools)
    m6i, _, r5, c5_spot, c5 = (bundled().price("eu-west-1", pool.instance_type) or 0.0 for pool in pools)
    rate = 0.92
    wanted = [m6i * rate * 0.66, 31.5, r5 * rate * 0.93 + 0.12, c5_spot * rate * 0.5 + 0.02, c5 * rate * 0.93]
    assert [price_of(prices, pool) for pool in pools] == pytest.approx(wanted)
    assert prices.model().currency == "EUR"
