"""The documentation says what the program does."""

import re
from datetime import timedelta
from pathlib import Path

from nodewright.config.document import load
from nodewright.config.flag_table import FLAGS
from nodewright.config.flags_page import flags_page
from nodewright.config.model import Disruption, DisruptionBudget
from nodewright.config.paths import all_settings, planned

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_about_flags_is_up_to_date() -> None:
    assert (DOCS / "flags.md").read_text() == flags_page(), (
        "run: python -m nodewright.config.flags_page > docs/flags.md"
    )


def test_the_page_has_every_flag_once() -> None:
    assert sorted(re.findall(r"^\| `--([a-z-]+)` \|", flags_page(), re.MULTILINE)) == sorted(FLAGS)


def test_the_page_tells_the_fates_of_flags_apart() -> None:
    lines = {line.split("`")[1]: line for line in flags_page().splitlines() if line.startswith("| `--")}
    assert lines["--scan-interval"] == (
        "| `--scan-interval` | duration | `10s` | `loop.scanInterval`. How long to wait between two loops. |"
    )
    assert (
        "| *planned* (ProvisioningRequest objects): `provisioningRequests.enabled`."
        in (lines["--enable-provisioning-requests"])
    )
    assert "*no effect*: requests to the API server always ask for JSON" in lines["--kube-api-content-type"]
    assert "*no effect*, here or in Cluster Autoscaler: " in lines["--cluster-snapshot-parallelism"]
    assert "`regional`, a setting of the plugin `gce` in `providers`" in lines["--regional"]


def test_the_example_of_disruption_control_loads_and_is_what_the_page_says() -> None:
    section = (DOCS / "users.md").read_text().split("### Disruption control")[1].split("\n## ")[0]
    loaded = load(section.split("```yaml\n")[1].split("```")[0])
    assert loaded.warnings == ()
    disruption = loaded.settings.scale_down.disruption
    assert [str(budget.nodes) for budget in disruption.budgets] == ["10%", "2", "0"]
    assert disruption.budgets[2].schedule.time_zone == "Europe/Berlin"
    fields = {f"budgets[].{field.alias}" for field in DisruptionBudget.model_fields.values()}
    fields |= {field.alias for field in Disruption.model_fields.values()} - {"budgets"}
    assert set(re.findall(r"^\| `([a-zA-Z.\[\]]+)` \|", section, re.MULTILINE)) == fields


def test_the_example_loads_and_shows_every_setting_that_is_in_effect() -> None:
    example = (DOCS / "configuration.md").read_text().split("```yaml\n")[1].split("```")[0]
    loaded = load(example)
    assert loaded.warnings == ()
    left_out = {
        setting.name
        for setting in all_settings()
        if not planned(setting.path) and not re.search(rf"\b{setting.path[-1]}:", example)
    }
    assert left_out == set()


def test_the_example_of_consolidation_turns_it_on() -> None:
    section = (DOCS / "users.md").read_text().split("## Cheaper nodes")[1]
    example = section.split("```yaml\n")[1].split("```")[0]
    loaded = load(f"apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake]\n{example}")
    assert loaded.warnings == ()
    assert loaded.settings.scale_down.consolidation.enabled
    assert loaded.settings.scale_down.consolidation.after == timedelta(hours=2)
