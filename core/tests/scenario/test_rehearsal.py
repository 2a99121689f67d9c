"""Rehearsals decide on scenarios as the loop would."""

from nodewright.api import Expander
from nodewright.scenario.rehearsal import rehearse
from nodewright.scenario.scenario import read_scenario
from nodewright.testing.worlds import a_policy


class Oracle(Expander):
    """Asks outside, and counts how often."""

    asks_outside = True
    asked = 0

    def best(self, options, context):
        self.asked += 1
        return options


def test_a_strategy_that_asks_outside_asks_once_for_each_iteration() -> None:
    template = {"metadata": {"name": "t"}, "status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "110"}}}
    pod = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
    }
    groups = [{"id": group, "minSize": 0, "maxSize": 5, "template": template} for group in "ab"]
    scenario = read_scenario({"now": "2030-01-01T00:00:00Z", "nodeGroups": groups, "pods": [pod]})
    oracle = Oracle(Oracle.Config())
    (rehearsed,) = rehearse(scenario, a_policy(scenario.settings, expanders={"oracle": oracle}))
    assert rehearsed.look.decision.answers[0].offered == ("a", "b")
    assert oracle.asked == 1
