"""``nodewright conformance`` against a fake cloud that lives by itself, with good and with broken providers."""

import json
import re
import signal
import sys
from contextlib import ExitStack

import pytest
from nodewright.cli.main import main
from nodewright.testing.clock import FastClock
from nodewright.testing.distributions import Distributions
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.scenarios import a_group, a_scenario

SCENARIO = a_scenario(
    a_group("pool", min=1, max=6, desired=2, bootTime="10s"), a_group("other", min=1, max=6), replicas=0
)
#: How the fake provider is made to break a rule.
BROKEN = """
import signal

from nodewright.api import NodewrightError, PluginConfig
from nodewright_fake.provider import FakeProvider
from nodewright_fake.provider.group import FakeNodeGroup

class Config(FakeProvider.Config):
    api_token: str = ""
    external_id: str = ""

class Group(FakeNodeGroup):
    {group}

class Broken(FakeProvider):
    '''A provider with a fault.'''

    Config = Config

    def _node_group(self, reading):
        group = super()._node_group(reading)
        group.__class__ = Group
        return group

    {provider}
"""


class Command:
    """The command, with one world and a configuration for it."""

    def __init__(self, folder, world, capsys, install):
        self.world = world
        self.folder = folder
        self.config = folder / "config.yaml"
        self._capsys = capsys
        self._install = install
        self.configure({"fake": {"url": world.provider_config["url"]}})

    def configure(self, *providers):
        header = {"apiVersion": "nodewright.dev/v1", "kind": "Autoscaler", "cluster": "c"}
        self.config.write_text(json.dumps({**header, "providers": list(providers)}))

    def break_provider(self, *, group="pass", provider="pass", **settings):
        """Install a provider with a fault, and configure it in place of the good one."""
        self._install("acme", {"providers/broken": "Broken"}, BROKEN.format(group=group, provider=provider))
        self.configure({"broken": {"url": self.world.provider_config["url"], **settings}})
        return "broken"

    def __call__(self, *words, provider="fake", config=None):
        """Run it; return the exit status and what is on the screen."""
        status = main(["conformance", "--provider", provider, "--config", str(config or self.config), *words])
        told = self._capsys.readouterr()
        return status, told.out, told.err

    def full(self, *words, **fields):
        return self("--full", "--group", "pool", "--yes", "--poll", "10ms", "--timeout", "30s", *words, **fields)

    def sizes(self):
        return {name: self.world.cloud.group(name).desired for name in ("pool", "other")}

    def orders(self):
        """How often the cloud was asked to change something."""
        calls = self.world.cloud.gate.calls
        return {name: count for name, count in calls.items() if name not in ("snapshot", "prices")}


@pytest.fixture
def conformance(tmp_path, capsys):
    with ExitStack() as stack:
        world = stack.enter_context(World(parse_scenario(SCENARIO), FastClock(600)))
        installed = stack.enter_context(Distributions(tmp_path / "site"))
        yield Command(tmp_path, world, capsys, installed.install)


def test_reading_breaks_no_rule_and_changes_nothing(conformance) -> None:
    status, out, err = conformance()
    assert (status, err) == (0, "")
    assert out.startswith("reads the groups of fake, above all pool, and changes nothing\n")
    assert "passed   bounds are in order\n" in out
    assert re.search(r"^\d{2,}  +no group may be resized; --full tries these$", out, re.MULTILINE)
    assert re.search(r"^1  +the cloud under test can't add a group$", out, re.MULTILINE)
    assert ", 0 failed, " in out.splitlines()[-1]
    assert conformance.orders() == {}


def test_a_full_run_resizes_the_group_and_sets_it_back(conformance) -> None:
    status, out, err = conformance.full()
    assert (status, err) == (0, "")
    assert out.startswith("resizes group pool of fake (from 1 to 6; now 2 running, asked for 2):\n")
    assert "passed   increase orders as many machines as asked\n" in out
    assert conformance.sizes() == {"pool": 2, "other": 1}
    assert conformance.orders()["increase"] > 10


def test_a_broken_rule_is_told_when_reading(conformance) -> None:
    name = conformance.break_provider(group="min_size = property(lambda self: 99)")
    report = conformance.folder / "report.md"
    status, out, _ = conformance("--report", str(report), provider=name)
    assert status == 1
    [line] = [line for line in out.splitlines() if line.startswith("FAILED")]
    assert line.split(maxsplit=1)[1].startswith("bounds are in order ")
    page = report.read_text()
    assert page.startswith("# Conformance of provider broken\n")
    assert "| provider | broken of acme 1.0 |\n" in page
    assert "\n## Broken rules\n" in page


def test_the_report_is_a_page_if_it_is_called_one(conformance) -> None:
    name = conformance.break_provider(group="min_size = property(lambda self: 99)", apiToken="tok-4711")
    report = conformance.folder / "report.html"
    status, _, _ = conformance("--report", str(report), provider=name)
    page = report.read_text()
    assert status == 1
    assert page.startswith("<!doctype html>")
    assert "1 rule is broken." in page
    assert "tok-4711" not in page


def test_a_report_tells_what_each_rule_needs_and_where_to_read_on(conformance) -> None:
    report = conformance.folder / "report.json"
    conformance("--report", str(report))
    rules = {result["name"]: result for result in json.loads(report.read_text())["results"]}
    assert rules["bounds are in order"]["read_on"] == [
        "docs/conformance.md#factsconformance",
        "pydoc nodewright.api.NodeGroup.min_size",
        "pydoc nodewright.api.NodeGroup.max_size",
    ]
    assert rules["after a failure the target is the clouds (increase done in part)"]["needs"] == [
        "Ability.CHANGE",
        "Ability.LIMIT",
    ]


def test_a_terminal_shows_how_far_it_is(conformance, monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, out, err = conformance()
    shown = err.split("\r\x1b[K")
    assert re.fullmatch(r"0 of \d+ rules, trying: .*", shown[1])
    assert any(re.fullmatch(r"\d+ of \d+ rules, less than a minute left: .*", each) for each in shown)
    assert shown[-1] == ""
    assert "\x1b" not in out


EAGER = "increase = lambda self, count: FakeNodeGroup.increase(self, count + 1)"


def test_a_full_run_ends_with_the_first_broken_rule_and_sets_the_group_back(conformance) -> None:
    name = conformance.break_provider(group=EAGER)
    report = conformance.folder / "report.json"
    status, out, err = conformance.full("--report", str(report), provider=name)
    assert (status, err) == (1, "")
    assert out.count("FAILED") == 1
    assert conformance.sizes() == {"pool": 2, "other": 1}
    told = json.loads(report.read_text())
    assert (told["mode"], told["group"], told["summary"]["failed"]) == ("full", "pool", 1)
    [broken] = [result for result in told["results"] if result["outcome"] == "failed"]
    assert broken["sentence"].endswith(".")
    assert broken["reason"]


def test_a_full_run_goes_on_if_it_is_told_to(conformance) -> None:
    name = conformance.break_provider(group=EAGER)
    status, out, _ = conformance.full("--keep-going", provider=name)
    assert status == 1
    assert out.count("FAILED") > 2
    assert "passed   an unknown setting is a mistake\n" in out
    assert conformance.sizes()["pool"] == 2


def test_a_run_that_is_interrupted_sets_the_group_back(conformance) -> None:
    code = """
    def increase(self, count):
        super().increase(count)
        if not self.interrupted:
            Group.interrupted = True
            raise KeyboardInterrupt

    interrupted = False
"""
    name = conformance.break_provider(group=code)
    status, out, err = conformance.full(provider=name)
    assert status == 130
    assert err.splitlines() == [
        "interrupted: please wait until the group has its size back",
        "nodewright conformance: interrupted: not all rules were tried",
    ]
    assert " passed, 0 failed, " in out.splitlines()[-1]
    assert conformance.sizes() == {"pool": 2, "other": 1}


def test_a_terminal_that_is_closed_sets_the_group_back_however_often_that_is_told(conformance) -> None:
    code = """
    def increase(self, count):
        super().increase(count)
        signal.raise_signal(signal.SIGHUP)

    def delete_nodes(self, nodes):
        signal.raise_signal(signal.SIGHUP)
        super().delete_nodes(nodes)
"""
    name = conformance.break_provider(group=code)
    before = signal.getsignal(signal.SIGHUP)
    status, _, err = conformance.full(provider=name)
    assert status == 130
    assert err.endswith("nodewright conformance: interrupted: not all rules were tried\n")
    assert conformance.sizes() == {"pool": 2, "other": 1}
    assert signal.getsignal(signal.SIGHUP) is before


def test_a_group_that_can_not_be_set_back_is_told(conformance) -> None:
    code = "delete_nodes = lambda self, nodes: None"
    name = conformance.break_provider(group=code)
    status, _, err = conformance.full(provider=name)
    assert status == 1
    assert err.startswith(
        "nodewright conformance: group pool was not set back, look after it: group pool had 2 machines"
    )
    assert "set it back by hand" in err


def test_secrets_show_nowhere(conformance) -> None:
    code = (
        "def resource_limits(self): raise NodewrightError(f'{self.config.api_token} {self.config.external_id} refused')"
    )
    name = conformance.break_provider(provider=code, apiToken="tok-4711-abc", externalId="outside-0815")
    report = conformance.folder / "report.json"
    status, out, err = conformance("--report", str(report), provider=name)
    told = out + err + report.read_text()
    assert status == 1
    assert "*** *** refused" in told
    assert "tok-4711" not in told
    assert "outside-0815" not in told
    assert json.loads(report.read_text())["config"]["apiToken"] == "***"


class TestRefusals:
    """What can't be run ends with status 2, says why, and changes nothing."""

    @pytest.fixture(autouse=True)
    def _changes_nothing(self, conformance):
        yield
        assert conformance.orders() == {}

    def test_resizing_needs_a_group(self, conformance) -> None:
        message = "nodewright conformance: --full needs --group: name the group to resize\n"
        assert conformance("--full", "--yes") == (2, "", message)

    def test_a_group_that_is_not_there(self, conformance) -> None:
        status, _, err = conformance("--full", "--yes", "--group", "poool")
        assert status == 2
        assert err == (
            "nodewright conformance: fake can't be read: the provider finds no group 'poool'; it finds other, pool\n"
        )

    def test_nobody_is_there_to_agree(self, conformance) -> None:
        status, out, err = conformance("--full", "--group", "pool")
        assert status == 2
        assert out.startswith("resizes group pool of fake (from 1 to 6; now 2 running, asked for 2):\n")
        assert err == "nodewright conformance: there is no terminal to ask on: add --yes to go ahead\n"

    def test_somebody_does_not_agree(self, conformance, monkeypatch) -> None:
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", lambda prompt: "n")
        status, _, err = conformance("--full", "--group", "pool")
        assert (status, err) == (2, "nodewright conformance: nothing was changed\n")

    def test_a_provider_that_is_not_configured(self, conformance) -> None:
        status, _, err = conformance(provider="faek")
        assert status == 2
        assert err == "nodewright conformance: no entry of `providers` is 'faek': did you mean 'fake'?\n"

    def test_a_cloud_that_is_not_there(self, conformance) -> None:
        conformance.configure({"fake": {"url": "http://127.0.0.1:9"}})
        status, _, err = conformance()
        assert status == 2
        assert err.startswith(
            "nodewright conformance: fake can't be read: the fake cloud at http://127.0.0.1:9 did not"
        )

    def test_pytest_is_not_installed(self, conformance, monkeypatch) -> None:
        monkeypatch.setitem(sys.modules, "pytest", None)
        message = "the suite needs pytest, which is not installed: pip install pytest"
        assert conformance() == (2, "", f"nodewright conformance: {message}\n")

    def test_a_report_of_an_unknown_kind(self, conformance) -> None:
        status, _, err = conformance("--report", "report.pdf")
        assert (status, err) == (
            2,
            "nodewright conformance: --report report.pdf: name a file that ends in .html, .md or .json\n",
        )


def test_the_second_provider_of_a_kind_is_called_by_its_number(conformance) -> None:
    url = conformance.world.provider_config["url"]
    conformance.configure({"fake": {"url": url, "only": ["pool"]}}, {"fake": {"url": url, "only": ["other"]}})
    status, out, _ = conformance(provider="fake-2")
    assert status == 0
    assert out.startswith("reads the groups of fake-2, above all other, ")
