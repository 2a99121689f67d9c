"""Plugins are shown the annotations of pods that they declare."""

import json
from datetime import timedelta

import pytest
from nodewright.api import Plugin, PluginError, hookimpl
from nodewright.config.model import ScaleDown, Settings
from nodewright.config.reference import Reference
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.scenario.files import json_pieces
from nodewright.scenario.rehearsal import rehearse
from nodewright.scenario.scenario import Picture, read_scenario
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH, SteppedClock
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
TEAM = "example.com/team"
RULE = """
    from nodewright.api import DrainRule

    class Mine(DrainRule):
        '''Keeps the pods of a team.'''

        api_version = 1
        alike = True
        pod_annotations = {declared}

        def judge(self, pod, context):
            return "OfRed" if pod.metadata.annotations.get("example.com/team") == "red" else None
"""


class Teams(Plugin):
    """Lets only the pods of one team grow the cluster, and notes what it saw."""

    pod_annotations = frozenset([TEAM])

    def __init__(self):
        super().__init__(self.Config())
        self.seen = []

    @hookimpl
    def adjust_pending_pods(self, pods, now):
        self.seen = [(each.pod.metadata.annotations.get(TEAM), each.keys) for each in pods]
        return [each for each in pods if each.pod.metadata.annotations.get(TEAM) == "red"]


def waiting_pods():
    return [a_pod(name, annotations={TEAM: team}) for name, team in (("a", "red"), ("b", "blue"), ("c", "red"))]


def test_pods_that_differ_in_what_a_hook_declares_are_in_different_sets() -> None:
    teams = Teams()
    world = a_world(groups=[a_group("a")], pods=waiting_pods(), pod_annotations=teams.pod_annotations)
    decision, _, _ = decide(world, Memory(), a_policy(hooks={"teams": teams}), NOW)
    assert teams.seen == [("red", ("default/a",)), ("blue", ("default/b",)), ("red", ("default/c",))]
    assert [sorted(grow.pods) for grow in decision.grow] == [["default/a", "default/c"]]


def a_picture(world):
    picture = Picture(world=world, memory=Memory(), settings=Settings(), now=NOW, classes=Registry())
    return json.loads(b"".join(json_pieces(picture.entries())))


@pytest.mark.parametrize("node", ["", "n1"], ids=["waiting", "running"])
def test_a_picture_has_declared_annotations_and_no_others(node) -> None:
    noted = {TEAM: "red", "secret.example.com/token": "4711"}
    pods = [a_pod("a", node=node, annotations=noted), a_pod("b", node=node, annotations={TEAM: "blue"})]
    world = a_world(groups=[a_group("a")], nodes={"a": [a_node("n1")]}, pods=pods, pod_annotations=[TEAM])
    document = a_picture(world)
    assert document["podAnnotations"] == [TEAM]
    assert [pod["metadata"]["annotations"] for pod in document["pods"]] == [{TEAM: "red"}, {TEAM: "blue"}]
    found = read_scenario(document).world().cluster
    assert found.pods["default/a"].pod_class is not found.pods["default/b"].pod_class


def test_a_scenario_without_them_is_decided_by_what_the_plugins_in_use_declare() -> None:
    document = a_picture(a_world(groups=[a_group("a")], pods=waiting_pods(), pod_annotations=[TEAM]))
    del document["podAnnotations"]
    teams = Teams()
    (rehearsed,) = rehearse(read_scenario(document), a_policy(hooks={"teams": teams}))
    assert [sorted(grow.pods) for grow in rehearsed.look.decision.grow] == [["default/a", "default/c"]]


def policy_with(rule):
    settings = Settings(scale_down=ScaleDown(drain_rules=(Reference(name=rule),)))
    return Strategies(Registry(), Faults(SteppedClock())).policy(settings)


@pytest.mark.parametrize(
    ("declared", "told"),
    [("frozenset(['example.com/team'])", "default/red: OfRed"), ("frozenset()", None)],
    ids=["declared", "not declared"],
)
def test_a_drain_rule_finds_what_it_declares_on_pods_that_run(install, declared, told) -> None:
    install("acme", {"drain_rules/mine": "Mine"}, RULE.format(declared=declared))
    policy = policy_with("mine")
    pods = [a_pod(team, node="n1", annotations={TEAM: team}) for team in ("blue", "red")]
    world = a_world(nodes={"": [a_node("n1")]}, pods=pods, pod_annotations=policy.pod_annotations)
    blocker = Drainability(world, policy, NOW).of("n1").blocker
    assert (None if blocker is None else f"{blocker.pod}: {blocker.cause}") == told


def test_what_the_plugins_of_a_configuration_declare_is_put_together(install) -> None:
    install("acme", {"drain_rules/mine": "Mine"}, RULE.format(declared="frozenset(['example.com/team'])"))
    own = """
    from nodewright.api import Plugin, hookimpl

    class Own(Plugin):
        '''Reads the annotation that its settings name.'''

        api_version = 1

        class Config(Plugin.Config):
            key: str = "example.com/{}"

        @property
        def pod_annotations(self):
            return frozenset([self.config.key])

        @hookimpl
        def on_decision(self, decision):
            pass
    """
    install("own", {"hooks/own": "Own"}, own)
    settings = Settings(
        scale_down=ScaleDown(drain_rules=(Reference(name="mine"),)),
        hooks=(Reference(name="own", config={"key": "example.com/cost"}), Reference(name="own")),
    )
    faults = Faults(SteppedClock())
    strategies = Strategies(Registry(), faults)
    # What a plugin declares for its settings is checked when it is made.
    assert strategies.policy(settings).pod_annotations == {TEAM, "example.com/cost"}
    assert strategies.pod_annotations == {TEAM, "example.com/cost"}
    assert faults.counts == {("own", "load"): 1}


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        (
            "'example.com/team'",
            "its pod_annotations are 'example.com/team' instead of a frozenset of keys of annotations",
        ),
        ("None", "its pod_annotations are None instead of a frozenset of keys of annotations"),
        (
            "frozenset([7])",
            (
                "7 in its pod_annotations is neither the key of an annotation, such as example.com/team, "
                "nor what several begin with, such as example.com/"
            ),
        ),
        (
            "{'*'}",
            (
                "'*' in its pod_annotations is neither the key of an annotation, such as example.com/team, "
                "nor what several begin with, such as example.com/"
            ),
        ),
    ],
    ids=["a string", "nothing", "a number", "a pattern"],
)
def test_a_wrong_declaration_is_refused_in_one_sentence(install, declared, problem) -> None:
    install("acme", {"drain_rules/mine": "Mine"}, RULE.format(declared=declared))
    with pytest.raises(PluginError) as refused:
        Registry().load("drain_rules", "mine")
    assert str(refused.value).endswith(f"can't be used: {problem}")


@pytest.mark.parametrize("key", ["team", TEAM, "example.com/", "a.b-c.example.com/Team.of_all-1"])
def test_keys_and_prefixes_are_accepted(install, key) -> None:
    install("acme", {"drain_rules/mine": "Mine"}, RULE.format(declared=f"frozenset([{key!r}])"))
    assert Registry().load("drain_rules", "mine").pod_annotations == {key}
