"""The page about expanders has all of them, and its examples work."""

import re
from pathlib import Path

import pytest
import yaml
from nodewright.config.document import load
from nodewright.plugins import Registry

PAGE = (Path(__file__).parents[2] / "docs/expanders.md").read_text()
EXAMPLES = [block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if block.startswith("scaleUp:")]


def test_the_table_has_every_expander() -> None:
    known = {
        each.name
        for each in Registry().statuses()
        if each.kind == "expanders" and not each.distribution.startswith("nodewright-example")
    }
    assert (
        set(re.findall(r"^\| `([a-z-]+)` (?:\(the default\) )?\| ", PAGE.partition("\n## ")[0], re.MULTILINE)) == known
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_are_valid(example) -> None:
    header = 'apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake: {url: "http://127.0.0.1:7070"}]\n'
    assert load(header + example, classes=Registry()).warnings == ()


def test_the_config_map_can_be_read() -> None:
    (shown,) = re.findall(r"```yaml\n(apiVersion: v1\n.*?)```", PAGE, re.DOTALL)
    priorities = yaml.safe_load(yaml.safe_load(shown)["data"]["priorities"])
    assert priorities == {10: [".*"], 20: ["^spot-"]}


@pytest.mark.parametrize("expander", ["grpc", "least-cost"])
def test_the_settings_in_the_page_are_those_that_there_are(expander) -> None:
    section = PAGE.partition(f"\n## {expander}\n")[2].partition("\n## ")[0]
    fields = Registry().load("expanders", expander).Config.model_json_schema()["properties"]
    shown = dict(re.findall(r"^\| `(\w+)` \| `?([\w ]+)`? \| ", section, re.MULTILINE))
    words = {"any": "", "none": "", "required": None}
    assert {name: words.get(value, yaml.safe_load(value)) for name, value in shown.items()} == {
        name: field.get("default") for name, field in fields.items()
    }
