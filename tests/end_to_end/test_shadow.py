"""A dry run beside an autoscaler that acts: it touches nothing, and tells where the two differ."""

import json

import pytest
from nodewright.testing.harness import Harness

from tests.end_to_end.conftest import CONFIG
from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario, two_choices

QUICK = "scaleDown: {unneededTime: 2m, delayAfterAdd: 1m}"


class Shadow:
    """A dry run in the world of a life; steps with it."""

    def __init__(self, life, folder, settings="", first=True):
        self.life = life
        self.record = folder / "shadow.jsonl"
        config = CONFIG.format(
            url=life.world.provider_config["url"],
            settings=f"dryRun: true\nkube: {{userAgent: the-shadow}}\nrecord: {{path: {self.record}}}\n{settings}",
        )
        self.harness = Harness(config, kubeconfig=str(life.world.kubeconfig), clock=life.world.clock)
        self.decisions = []
        if first:
            inner = life.autoscaler.step
            life.autoscaler.step = lambda: (self.step(), inner())[1]
        else:
            life.checks.append(self.step)

    def step(self):
        self.life.world.sync()
        self.harness.wait_for(self.life.world.store.version)
        self.decisions.append(self.harness.step())

    @property
    def lines(self):
        return [json.loads(line) for line in self.record.read_text().splitlines()]

    def found(self, sort=None):
        findings = [finding for line in self.lines for finding in line.get("findings", [])]
        return [finding for finding in findings if sort in (None, finding["sort"])]

    def kinds(self, sort=None):
        return [finding["kind"] for finding in self.found(sort)]


@pytest.fixture
def beside(tmp_path):
    """Begins a dry run beside the autoscaler of a life; its loops come before those of the other one, or after."""
    harnesses = []

    def begin(life, settings=QUICK, *, first=True):
        shadow = Shadow(life, tmp_path, settings, first)
        harnesses.append(shadow.harness.__enter__())
        return shadow

    yield begin
    for harness in harnesses:
        harness.__exit__(None, None, None)


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_beside_its_equal_it_finds_no_difference_in_a_long_life(begin, beside, first):
    life = begin(a_scenario(*two_choices(), a_group("fixed", min=1, max=1), replicas=0), QUICK)
    shadow = beside(life, first=first)
    life.go_on(60)
    for replicas in (12, 30, 3, 18, 1, 8, 0):
        life.scale("web", replicas)
        life.go_on(420)
    print(json.dumps(shadow.lines, indent=1)[:20000])
    print("\n".join(life.diary.lines))
    assert shadow.found("difference") == []
    assert {"growth", "removal"} <= set(shadow.kinds("agreement"))
