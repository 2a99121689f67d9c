"""The page about prices says what the plugin does."""

import re
from pathlib import Path

import pytest
from nodewright.config.document import load
from nodewright.plugins import Registry
from nodewright_gce.config.prices import PriceSettings

from .billing import a_machine, a_pool, price_of, prices_of

PAGE = (Path(__file__).parents[4] / "docs/providers/gce/prices.md").read_text("utf-8")
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


def test_the_overlay_of_the_page_does_what_its_comments_say(google, clock) -> None:
    region, zone = "europe-west4", "europe-west4-b"
    machines = [
        a_machine("n2-standard-4", region=region),
        a_machine("a3-highgpu-8g", 208, 1872, region=region, gpus={"nvidia-h100-80gb": 8}, local_ssd_gib=6000),
        a_machine("c3-standard-4", region=region),
        a_machine("e2-standard-4", region=region, spot=True),
        a_machine("e2-standard-4", region=region),
    ]
    plain, overlaid = prices_of(google, clock), prices_of(google, clock, **settings_in(EXAMPLES[1]))
    for prices in (plain, overlaid):
        prices.refresh([a_pool(machine.machine_type, zone, spot=machine.spot) for machine in machines])
    n2, _, c3, e2_spot, e2 = (price_of(plain, machine, zones=[zone]) for machine in machines)
    rate = 0.92
    wanted = [n2 * rate * 0.63, 61.5, c3 * rate * 0.93 + 0.12, e2_spot * rate + 0.02, e2 * rate * 0.93]
    assert [price_of(overlaid, machine, zones=[zone]) for machine in machines] == pytest.approx(wanted)
    assert overlaid.model().currency == "EUR"
