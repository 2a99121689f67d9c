import json
import re
from pathlib import Path

import pytest
import yaml
from nodewright.api import PluginError
from nodewright.config.model import Settings
from nodewright.config.paths import PLANNED, all_settings
from nodewright.config.schema import json_schema

HEADER = {"apiVersion": "nodewright.dev/v1", "kind": "Autoscaler"}
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def fits(value, schema, root):
    """Hold *value* against the part of JSON Schema that we write; anything else in it is an error of this test."""
    known = {"$defs", "$schema", "title", "description", "default", "planned", "examples", "format"}
    checks = {
        "$ref": lambda ref: fits(value, root["$defs"][ref.removeprefix("#/$defs/")], root),
        "anyOf": lambda parts: any(fits(value, part, root) for part in parts),
        "not": lambda part: not fits(value, part, root),
        "const": lambda const: value == const and isinstance(value, bool) == isinstance(const, bool),
        "enum": lambda choices: value in choices,
        "type": lambda name: isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool)),
        "pattern": lambda pattern: not isinstance(value, str) or re.search(pattern, value) is not None,
        "minLength": lambda least: not isinstance(value, str) or len(value) >= least,
        "minimum": lambda least: not isinstance(value, int | float) or value >= least,
        "maximum": lambda most: not isinstance(value, int | float) or value <= most,
        "exclusiveMinimum": lambda least: not isinstance(value, int | float) or value > least,
        "required": lambda names: not isinstance(value, dict) or set(names) <= set(value),
        "items": lambda part: not isinstance(value, list) or all(fits(item, part, root) for item in value),
        "properties": lambda parts: (
            not isinstance(value, dict)
            or all(fits(value[name], part, root) for name, part in parts.items() if name in value)
        ),
        "additionalProperties": lambda allowed: (
            not isinstance(value, dict)
            or all(
                allowed is not False and (allowed is True or fits(value[name], allowed, root))
                for name in set(value) - set(schema.get("properties", {}))
            )
        ),
    }
    return all(checks[key](rule) for key, rule in schema.items() if key not in known)


@pytest.fixture
def accepts(classes):
    schema = json_schema(classes)
    return lambda text: fits(HEADER | yaml.safe_load(text), schema, schema)


def test_the_defaults_fit_and_are_written_as_in_yaml(classes) -> None:
    schema = json_schema(classes)
    data = Settings().model_dump(mode="json", by_alias=True)
    # The built-in strategies are not among the classes of this test.
    data["scaleUp"].pop("estimator")
    data["scaleDown"].pop("drainRules")
    data["processors"].pop("pendingPods")
    assert fits(data, schema, schema)
    assert schema["$defs"]["ScaleDown"]["properties"]["unneededTime"]["default"] == "10m"


@pytest.mark.parametrize(
    "text",
    [
        "providers: [{cloud: {region: eu, discoverBy: {a: b, c: null}, zones: [{zone: a, weight: 3}]}}]",
        "scaleUp: {expanders: [least-waste, {grpc: {url: x}}, {random: null}]}",
        "scaleUp: {expanders: 'least-waste,random'}",
        "scaleUp: {expanders: [{touchy: {}}]}",
        "scaleDown: {unneededTime: 1h30m, unreadyTime: 0, utilizationThreshold: 1}",
        "limits: {cpu: {max: 4000}, memory: {max: 64Gi}, gpus: [{type: t4, max: 3}]}",
        "processors: {pendingPods: [quota], scaleDownCandidates: [keep-new]}",
        "nodeGroups: ['1:10:workers']",
        "groups: [{match: 'spot-*', scaleDown: {unneededTime: 2m}}]",
    ],
)
def test_what_is_right_fits(accepts, text) -> None:
    assert accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "unknown: 1",
        "kind: Deployment",
        "providers: [cloud: {}]",
        "providers: [cloud: {region: eu, bulk: 3}]",
        "providers: [cloud: {region: eu, zones: [{zone: a, weight: 11}]}]",
        "providers: [other]",
        "scaleUp: {expanders: [{grpc: {}, random: {}}]}",
        "scaleUp: {expanders: [{least-waste: {colour: blue}}]}",
        "scaleDown: {unneededTime: 10}",
        "scaleDown: {unneededTime: 7d}",
        "scaleDown: {maxParallelism: -1}",
        "limits: {gpus: [{type: t4}]}",
        "processors: {pendingPods: [keep-new]}",
        "nodeGroups: [workers]",
        "logging: {format: xml}",
        "health: {maxTotalUnreadyPercentage: 101}",
    ],
)
def test_what_is_wrong_does_not_fit(accepts, text) -> None:
    assert not accepts(text)


def test_the_header_is_required(classes) -> None:
    schema = json_schema(classes)
    assert not fits({}, schema, schema)
    assert fits(HEADER, schema, schema)


def test_every_setting_is_described(classes) -> None:
    schema = json_schema(classes)
    assert all(setting.description for setting in all_settings())
    for name, definition in schema["$defs"].items():
        if "." in name:  # those of plugins are their authors' business
            continue
        for field, part in definition["properties"].items():
            section = schema["$defs"].get(part.get("$ref", "").rpartition("/")[2], {})
            assert part.get("description") or section.get("description"), f"{name}.{field}"


def test_settings_that_are_not_in_effect_say_so(classes) -> None:
    schema = json_schema(classes)
    creation = schema["$defs"]["ScaleUp"]["properties"]["asyncGroupCreation"]
    assert creation["planned"] == PLANNED["scaleUp.asyncGroupCreation"]
    assert creation["description"].endswith("(Not in effect in this version.)")
    assert schema["properties"]["capacityBuffers"]["planned"] == "CapacityBuffer objects"


def test_all_references_lead_somewhere(classes) -> None:
    schema = json_schema(classes)
    references = re.findall(r'"\$ref": "#/\$defs/([^"]*)"', json.dumps(schema))
    assert "providers.cloud.PerZone" in references
    assert set(references) <= set(schema["$defs"])


def test_where_no_plugin_is_installed_nothing_fits(accepts) -> None:
    assert not accepts("scaleUp: {estimator: binpacking}")
    assert not accepts("hooks: [anything]")
    assert accepts("hooks: []")


class Shelf:
    """Says that plugins are installed, and can't load any."""

    def __init__(self, **names):
        self._names = names

    def names(self, kind):
        return self._names.get(kind, ())

    def load(self, kind, name):
        raise PluginError(name, f"{name} can't be imported")


def test_a_plugin_that_is_broken_is_offered_with_any_settings() -> None:
    schema = json_schema(Shelf(expanders=["gone"]))
    assert fits(HEADER | {"scaleUp": {"expanders": ["gone", {"gone": {"what": "ever"}}]}}, schema, schema)
    assert "This plugin can't be used: gone can't be imported" in json.dumps(schema)


def test_the_documented_example_fits() -> None:
    text = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text()
    schema = json_schema(
        Shelf(
            providers=["fake"],
            expanders=["least-waste", "random"],
            estimators=["binpacking"],
            processors=[
                "clear-tpu-requests",
                "filter-expendable",
                "add-returning-pods",
                "filter-schedulable",
                "filter-daemonset-pods",
            ],
            drain_rules=[reference.name for reference in Settings().scale_down.drain_rules],
        )
    )
    example = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    assert fits(example, schema, schema)
    assert not fits(example | {"kind": "Deployment"}, schema, schema)
