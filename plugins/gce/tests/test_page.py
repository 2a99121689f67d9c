"""The page about Google Cloud says what the plugin does."""

import json
import re
from pathlib import Path

import pytest
from nodewright.config.document import load
from nodewright.plugins import Registry
from nodewright_gce.causes import NAMES
from nodewright_gce.config.gce import DiscoverySettings, GceConfig
from nodewright_gce.policy import main

PAGE = (Path(__file__).parents[3] / "docs/providers/gce.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
HEAD = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\n"
URL = "https://www.googleapis.com/compute/v1/projects/p/zones/europe-west1-b/instanceGroups/workers"


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_is_a_configuration_without_mistakes(example) -> None:
    text = example if example.startswith("apiVersion") else HEAD + example
    if "providers:" not in text:
        text += f"providers: [gce: {{groups: ['0:3:{URL}']}}]\n"
    loaded = load(text, classes=Registry())
    assert loaded.warnings == ()
    assert {provider.name for provider in loaded.settings.providers} == {"gce"}


def test_every_setting_is_told() -> None:
    section = PAGE.split("\n## Groups\n")[1].split("\n## ")[0]
    told = [name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(told) == sorted(_names(GceConfig))
    discover = next(row for row in section.splitlines() if row.startswith("| `discover`"))
    assert {name for name in _names(DiscoverySettings) if f"`{name}`" not in discover} == set()


def test_the_role_is_the_one_that_its_command_writes(capsys) -> None:
    section = PAGE.split("\n## Rights\n")[1].split("\n## ")[0]
    shown = json.loads(section.split("```json\n")[1].split("```")[0])
    main([])
    assert shown == json.loads(capsys.readouterr().out)


def test_the_codes_of_failures_are_those_that_are_told() -> None:
    section = PAGE.split("| class | for example |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([A-Z_]+)`", section)) == NAMES


def test_the_rule_for_kops_finds_the_groups_of_the_text() -> None:
    section = PAGE.split("\n### kOps\n")[1].split("\n###")[0]
    (prefix,) = re.findall(r'namePrefix: "(.*?)"', section)
    assert DiscoverySettings(name_prefix=prefix, min=1, max=10).rule.matches("a-nodes-shop-example-com", "any")


def test_links_within_the_page_lead_somewhere() -> None:
    headings = re.findall(r"^##+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\(#([\w-]+)\)", PAGE)) <= anchors


def _names(settings: type[GceConfig] | type[DiscoverySettings]) -> list[str]:
    return [str(field.alias) for field in settings.model_fields.values()]
