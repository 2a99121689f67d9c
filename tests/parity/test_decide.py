"""``nodewright decide`` says of the sample what the library says, and in the words of Cluster Autoscaler."""

import json

import pytest
from nodewright.cli.main import main
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.scenario.answer import answer
from nodewright.scenario.rehearsal import rehearse
from nodewright.scenario.scenario import read_scenario
from nodewright.testing.clock import SteppedClock

from tests.parity.exceptions import excuse
from tests.parity.vectors import SAMPLE, sample

VECTORS = list(sample())
FIELDS = (
    "scaleUpResult",
    "consideredNodeGroups",
    "podsRemainUnschedulable",
    "filteredOutSchedulable",
    "filteredOutExpendable",
    "filteredOutDaemonSet",
    "unschedulableToHelp",
)


def printed(vector, capsys, *words):
    assert main(["decide", str(SAMPLE / f"{vector.family}-{vector.seed}.json.gz"), "-o", "json", *words]) == 0
    return json.loads(capsys.readouterr().out)["iterations"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_the_command_says_what_the_library_says(vector, capsys) -> None:
    scenario = read_scenario(vector.scenario)
    policy = Strategies(Registry(), Faults(SteppedClock())).policy(scenario.settings)
    found, wanted = printed(vector, capsys), [answer(each, scenario.settings) for each in rehearse(scenario, policy)]
    assert all(each.pop("timingsMs")["runOnce"] > 0 for each in (*found, *wanted))
    assert found == json.loads(json.dumps(wanted))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_the_first_answer_has_the_fields_of_cluster_autoscaler(vector, capsys) -> None:
    answered, expected = printed(vector, capsys, "--set", "scaleUp.optionsPerLoop=1")[0], vector.iterations[0]
    compared = [field for field in FIELDS if vector.firm(0, field) and not excuse(vector.name, 0, field)]
    assert {each: answered.get(each) for each in compared} == {each: expected.get(each) for each in compared}
