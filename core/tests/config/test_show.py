import pytest
from nodewright.api import GroupOptions
from nodewright.config.document import load
from nodewright.config.flags import parse_flags
from nodewright.config.paths import all_settings
from nodewright.config.show import as_data, group_report, rule_report, setting_rows


@pytest.fixture
def loaded(write, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    path = write(
        """
providers:
  - aws: {region: eu, discover: [{tags: {a: null}}]}
  - fake
scaleUp: {expanders: [least-waste, random], asyncGroupCreation: true}
groups:
  - match: "spot-*"
    scaleDown: {unneededTime: 2m}
"""
    )
    return load(path.relative_to(tmp_path), flags=parse_flags(["--scale-down-unneeded-time=5m"]))


def test_every_setting_is_shown_with_its_value_and_origin(loaded) -> None:
    rows = {row.setting: (row.text, row.origin) for row in setting_rows(loaded)}
    assert {name: rows[name] for name in rows if rows[name][1] != "default"} == {
        "apiVersion": ("nodewright.dev/v1", "nodewright.yaml:1"),
        "kind": ("Autoscaler", "nodewright.yaml:2"),
        "providers[0].aws.region": ("eu", "nodewright.yaml:5"),
        "providers[0].aws.discover[0].tags.a": ("null", "nodewright.yaml:5"),
        "providers[1]": ("fake", "nodewright.yaml:6"),
        "scaleUp.expanders": ("[least-waste, random]", "nodewright.yaml:7"),
        "scaleUp.asyncGroupCreation": ("true", "nodewright.yaml:7 (not in effect in this version)"),
        "scaleDown.unneededTime": ("5m", "flag --scale-down-unneeded-time"),
        "groups[0].match": ("spot-*", "nodewright.yaml:9"),
        "groups[0].scaleDown.unneededTime": ("2m", "nodewright.yaml:10"),
    }
    assert rows["cluster"] == ('""', "default")
    assert {setting.name for setting in all_settings()} - {"groups", "providers"} <= set(rows)


def test_settings_of_plugins_may_have_names_with_dots(write) -> None:
    path = write("providers: [{aws: {tags: {k8s.io/enabled: 5}}}]")
    rows = [row for row in setting_rows(load(path)) if row.setting.startswith("providers")]
    assert [(row.setting, row.value, row.origin) for row in rows] == [
        ("providers[0].aws.tags.k8s.io/enabled", 5, f"{path}:3")
    ]


def test_secrets_are_not_shown(write) -> None:
    path = write("providers: [{aws: {assumeRole: {arn: a-role, externalId: only-we-know}}}]")
    rows = {row.setting: row.text for row in setting_rows(load(path)) if row.setting.startswith("providers")}
    assert rows == {"providers[0].aws.assumeRole.arn": "a-role", "providers[0].aws.assumeRole.externalId": "***"}


def test_a_group_gets_its_rule_its_tags_and_the_general_settings(loaded) -> None:
    tags = GroupOptions(scale_down_unready_time=loaded.settings.scale_down.unready_time * 2)
    report = group_report(loaded, "spot-a", provider="aws", from_provider=tags)
    assert (report.group, report.provider) == ("spot-a", "aws")
    assert {row.setting: (row.text, row.origin) for row in report.options} == {
        "scaleDown.utilizationThreshold": ("0.5", "default"),
        "scaleDown.gpuUtilizationThreshold": ("0.5", "default"),
        "scaleDown.unneededTime": ("2m", "nodewright.yaml:10 (groups[0].scaleDown.unneededTime)"),
        "scaleDown.unreadyTime": ("40m", "provider aws"),
        "maxNodeProvisionTime": ("15m", "default"),
        "maxNodeStartupTime": ("15m", "default"),
        "scaleDown.ignoreDaemonsetsUtilization": ("false", "default"),
        "zeroOrMax": ("false", "default"),
        "allowNonAtomicScaleUpToMax": ("false", "default"),
    }
    general = {row.setting: row.origin for row in group_report(loaded, "other").options}
    assert general["scaleDown.unneededTime"] == "flag --scale-down-unneeded-time"


def test_a_rule_stands_for_all_groups_that_it_matches(loaded) -> None:
    report = rule_report(loaded, 0)
    assert report.group == "spot-*"
    assert {row.setting: row.text for row in report.options}["scaleDown.unneededTime"] == "2m"


def test_the_report_is_plain_data(loaded) -> None:
    data = as_data(setting_rows(loaded), [group_report(loaded, "a")])
    assert {"setting": "loop.frequent", "value": True, "origin": "default"} in data["settings"]
    assert data["groups"][0]["group"] == "a"
    assert data["groups"][0]["options"][0] == {
        "setting": "scaleDown.utilizationThreshold",
        "value": 0.5,
        "origin": "default",
    }
