import json

import pytest
import yaml
from nodewright.api import ConfigurationError, GroupOptions, NodeGroup, Problem
from nodewright.cli.main import main
from nodewright.config.document import load


class Machines(NodeGroup):
    """A group for tests."""

    id = "spot-a"
    min_size, max_size, target_size = 0, 5, 2

    def instances(self):
        return ()

    def options(self, defaults: GroupOptions) -> GroupOptions:
        return GroupOptions(scale_down_unready_time=defaults.scale_down_unready_time * 3)

    def increase(self, count):
        raise AssertionError("nothing is to be changed")

    delete_nodes = decrease_target = increase


@pytest.fixture
def nodewright(classes, monkeypatch, tmp_path, capsys):
    """Run a command; return its status, and the lines of its stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nodewright.plugins.registry.Registry", lambda: classes)

    def run(*words):
        status = main(["config", *words])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()

    return run


@pytest.fixture
def cloud(classes, monkeypatch):
    """The provider of the tests, which can be given groups and failures."""
    cloud = classes.installed["providers"]["cloud"]
    closed = []
    monkeypatch.setattr(cloud, "groups", lambda self: [Machines()])
    monkeypatch.setattr(cloud, "close", lambda self: closed.append(self))
    cloud.closed = closed
    return cloud


RIGHT = """
providers: [{cloud: {region: eu}}]
scaleUp: {asyncGroupCreation: true}
groups:
  - match: "spot-*"
    scaleDown: {unneededTime: 2m}
"""


IDLE = (
    "warning: nodewright.yaml:5: scaleUp.asyncGroupCreation: accepted, but not in effect in this version: "
    "creation of node groups"
)


def test_check_says_ok_and_warns(nodewright, write) -> None:
    write(RIGHT)
    idle = "accepted, but not in effect in this version"
    salvo = "a loop always continues until no option helps; set scaleUp.optionsPerLoop: 1 to stop after one"
    assert nodewright("check", "nodewright.yaml", "--salvo-scale-up") == (
        0,
        ["ok"],
        [
            f"warning: nodewright.yaml:5: scaleUp.asyncGroupCreation: {idle}: creation of node groups",
            f"warning: flags: --salvo-scale-up: has no effect: {salvo}",
        ],
    )
    assert nodewright("check", "--config=nodewright.yaml")[0] == 0


def test_check_tells_everything_that_is_wrong(nodewright, write) -> None:
    write("providers: [cloud]\nseed: x\n")
    assert nodewright("check", "nodewright.yaml", "--v=y") == (
        2,
        [],
        [
            "nodewright.yaml:3: providers[0]: its setting region is required",
            'nodewright.yaml:4: seed: write a whole number, not "x"',
            'flags: --v: write a whole number, not "y"',
        ],
    )


def test_check_tells_what_a_provider_says_when_it_is_made(nodewright, write, cloud, monkeypatch) -> None:
    def made_of(self, config, context):
        if not context.nodes:
            message = "no groups are named"
            raise ConfigurationError(Problem(message=message, path="discoverBy"), Problem(message="no", source="flags"))

    monkeypatch.setattr(cloud, "__init__", made_of)
    write(RIGHT)
    refused = ["nodewright.yaml:4: providers[0].cloud.discoverBy: no groups are named", "flags: no"]
    # With the warning about asyncGroupCreation.
    assert nodewright("check", "nodewright.yaml")[::2] == (2, [IDLE, *refused])
    assert nodewright("check", "nodewright.yaml", "--nodes=1:2:a")[0] == 0
    assert len(cloud.closed) == 1


def test_check_tells_of_a_provider_that_can_not_be_made(nodewright, write, cloud, monkeypatch) -> None:
    def broken(self, config, context):
        raise RuntimeError("the moon is full")

    monkeypatch.setattr(cloud, "__init__", broken)
    write("providers: [{cloud: {region: eu}}]")
    refused = ["nodewright.yaml:3: providers[0].cloud: cloud can't be started: the moon is full"]
    assert nodewright("check", "nodewright.yaml") == (2, [], refused)


def test_check_tells_a_refusal_in_plain_words_too(nodewright, write, cloud, monkeypatch) -> None:
    def made_of(self, config, context):
        raise ConfigurationError("the region is closed on Sundays")

    monkeypatch.setattr(cloud, "__init__", made_of)
    write("providers: [{cloud: {region: eu}}]")
    refused = ["nodewright.yaml:3: providers[0].cloud: the region is closed on Sundays"]
    assert nodewright("check", "nodewright.yaml") == (2, [], refused)


def test_check_tries_strategies_as_well(nodewright, write, classes, monkeypatch) -> None:
    monkeypatch.setattr(classes.installed["expanders"]["least-waste"], "__init__", lambda self, config: 1 / 0)
    write("providers: [{cloud: {region: eu}}]\nscaleUp: {expanders: [least-waste]}")
    refused = ["nodewright.yaml:4: scaleUp.expanders[0].least-waste: least-waste can't be started: division by zero"]
    assert nodewright("check", "nodewright.yaml") == (2, [], refused)


def test_two_files_are_one_too_many(nodewright, write) -> None:
    write(RIGHT)
    assert nodewright("check", "nodewright.yaml", "--config=b.yaml") == (
        2,
        [],
        ["flags: --config: names a second file besides nodewright.yaml"],
    )
    assert nodewright("check", "nodewright.yaml", "b.yaml") == (2, [], ['flags: "b.yaml" is not expected here'])


def test_from_flags_needs_no_plugin(nodewright, tmp_path) -> None:
    status, out, err = nodewright(
        "from-flags", "--cloud-provider=aws", "--regional", "--v", "4", "--predicate-parallelism=2", "--leader-elect=0"
    )
    assert (status, err) == (0, [])
    assert out == [
        "# left out --predicate-parallelism: all equal pods are placed at once, on one thread",
        "# --regional: has no effect: gce is not among providers",
        "apiVersion: nodewright.dev/v1",
        "kind: Autoscaler",
        "providers:",
        "  - aws",
        "leaderElection:",
        "  enabled: false",
        "logging:",
        "  verbosity: 4",
    ]
    assert load("\n".join(out)).settings.logging.verbosity == 4


def test_from_flags_refuses_what_run_would_refuse(nodewright) -> None:
    assert nodewright("from-flags", "--expnder=random") == (
        2,
        [],
        ["flags: --expnder: unknown flag; did you mean --expander?"],
    )


def test_schema_is_json_with_the_installed_plugins(nodewright) -> None:
    status, out, _ = nodewright("schema")
    assert status == 0
    assert "providers.cloud" in json.loads("\n".join(out))["$defs"]
    assert nodewright("schema", "x")[0] == 2


def test_flags_prints_the_page(nodewright) -> None:
    assert nodewright("flags")[1][0] == "# Flags"


def test_show_without_anything_shows_the_defaults(nodewright) -> None:
    status, out, err = nodewright("show")
    assert (status, err) == (0, [])
    assert out[0].split() == ["SETTING", "VALUE", "ORIGIN"]
    assert ["scaleDown.unneededTime", "10m", "default"] in [line.split() for line in out]


def test_show_asks_the_providers_for_their_groups(nodewright, write, cloud) -> None:
    write(RIGHT)
    status, out, _ = nodewright("show", "nodewright.yaml", "--scale-down-unready-time=5m")
    assert status == 0
    group = out[out.index("group spot-a of cloud") :]
    assert [line.split(maxsplit=2) for line in group[1:6]] == [
        ["OPTION", "VALUE", "ORIGIN"],
        ["scaleDown.utilizationThreshold", "0.5", "default"],
        ["scaleDown.gpuUtilizationThreshold", "0.5", "default"],
        ["scaleDown.unneededTime", "2m", "nodewright.yaml:8 (groups[0].scaleDown.unneededTime)"],
        ["scaleDown.unreadyTime", "15m", "provider cloud"],
    ]
    assert len(cloud.closed) == 1


def test_show_shows_the_rules_if_a_provider_fails(nodewright, write, cloud, monkeypatch) -> None:
    def refresh(self):
        raise ConnectionError("no route to the cloud")

    monkeypatch.setattr(cloud, "refresh", refresh)
    write(RIGHT)
    status, out, err = nodewright("show", "nodewright.yaml")
    assert status == 0
    assert "group spot-*" in out
    words = "the groups are unknown, so the rules for them are shown: provider cloud failed: no route to the cloud"
    assert err[-1] == words
    assert nodewright("show", "nodewright.yaml", "--live=false")[2] == err[:-1]
    status, out, err = nodewright("show", "nodewright.yaml", "--live")
    assert (status, out, err[-1]) == (2, [], "nodewright: provider cloud failed: no route to the cloud")


def test_show_does_not_wait_for_a_provider_that_hangs(nodewright, write, cloud, monkeypatch) -> None:
    from threading import Event

    hang = Event()
    monkeypatch.setattr(cloud, "refresh", lambda self: hang.wait(60))
    write(RIGHT + "loop: {refreshTimeout: 50ms}\n")
    _, _, err = nodewright("show", "nodewright.yaml")
    hang.set()
    assert err[-1].endswith("provider cloud did not answer within 0.05 s")


def test_show_shows_the_groups_that_are_named(nodewright, write, cloud, monkeypatch) -> None:
    write(RIGHT)
    status, out, _ = nodewright("show", "nodewright.yaml", "--group=spot-z", "--group", "other", "-o=json")
    groups = json.loads("\n".join(out))["groups"]
    assert status == 0
    assert [(group["group"], group["provider"]) for group in groups] == [("spot-z", ""), ("other", "")]
    assert [group["options"][2]["value"] for group in groups] == ["2m", "10m"]


def test_show_speaks_yaml(nodewright, write, cloud) -> None:
    write(RIGHT)
    _, out, _ = nodewright("show", "nodewright.yaml", "--output=yaml")
    data = yaml.safe_load("\n".join(out))
    assert {"setting": "scaleUp.asyncGroupCreation", "value": True} in [
        {key: row[key] for key in ("setting", "value")} for row in data["settings"]
    ]
    assert data["groups"][0]["provider"] == "cloud"


def test_show_knows_three_formats(nodewright) -> None:
    status, _, err = nodewright("show", "-o", "xml", "--v=x")
    assert status == 2
    assert err == [
        'flags: --v: write a whole number, not "x"',
        'flags: --output: must be one of table, json, yaml, not "xml"',
    ]


@pytest.mark.parametrize(("words", "status"), [(["--help"], 0), (["check", "--help"], 0), ([], 2), (["chek"], 2)])
def test_help_is_at_hand(nodewright, words, status) -> None:
    code, out, err = nodewright(*words)
    assert code == status
    assert any("from-flags" in line for line in out + err)
