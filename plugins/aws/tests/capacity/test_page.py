"""The page about AWS says what the plugin does."""

import json
import re
from pathlib import Path

import pytest
from nodewright.config.document import load
from nodewright.plugins import Registry
from nodewright_aws.autoscaling.causes import CODES
from nodewright_aws.calls.rights import Part
from nodewright_aws.config import AwsConfig, InterruptionSettings
from nodewright_aws.policy import BASIC, policy

PAGE = (Path(__file__).parents[4] / "docs/providers/aws.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
HEAD = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\n"


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_is_a_configuration_without_mistakes(example) -> None:
    text = example if example.startswith("apiVersion") else HEAD + example
    if "providers:" not in text:
        text += "providers: [aws: {groups: ['0:3:spot']}]\n"
    loaded = load(text, classes=Registry())
    assert loaded.warnings == ()
    assert {provider.name for provider in loaded.settings.providers} == {"aws"}


def test_every_setting_is_told() -> None:
    section = PAGE.split("\n## Groups\n")[1].split("\n## ")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == sorted(_names(AwsConfig))
    interruptions = PAGE.split("\n## Interruptions\n")[1].split("```")[1]
    assert set(re.findall(r"^ {8}(\w+):", interruptions, re.MULTILINE)) == set(_names(InterruptionSettings))


def test_the_policy_is_the_one_that_its_command_writes() -> None:
    section = PAGE.split("\n## Rights\n")[1].split("\n## ")[0]
    shown = json.loads(section.split("```json\n")[1].split("```")[0])
    assert "--cluster prod --eks --spot-prices`" in section
    assert shown == policy(BASIC | {Part.MANAGED_GROUPS, Part.SPOT_PRICES}, cluster="prod")


def test_the_codes_of_failures_are_those_that_are_told() -> None:
    section = PAGE.split("| class | for example |")[1].split("\n\n")[0]
    told = {
        (row.split(" | ")[0].strip("| "), code)
        for row in section.splitlines()[2:]
        for code in re.findall(r"`(\w+)`", row.split(" | ")[1])
    }
    assert told - {("Configuration", "LaunchSuspended")} <= {(kind.value, code) for kind, code in CODES}


def test_links_within_the_page_lead_somewhere() -> None:
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\(#([\w-]+)\)", PAGE)) <= anchors


def _names(settings: type[AwsConfig] | type[InterruptionSettings]) -> list[str]:
    return [str(field.alias) for field in settings.model_fields.values()]
