"""What a commit decides is compared whole, on scenarios in which everything happens that decisions are about."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from tests.parity.generated import generated
from tests.parity.life import Life
from tests.parity.same_decisions import ROOT, checked_out, compare, main, scenarios
from tests.parity.vectors import sample

SCENARIOS = 50
#: What a decision orders or tells.
PARTS = ("restore", "shrink", "grow", "delete", "drain", "evict", "soft_taint", "soft_untaint", "learnt", "again")
#: Some of what pods and nodes have to hear, and groups that would like to grow.
REASONS = {
    "rejections": ("NodeResourcesFit", "TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAntiAffinity"),
    "groups": ("BackedOff", "MaxSizeReached", "ProviderError", "ResourceLimitReached"),
    "nodes": (
        "NoPlaceToMovePods",
        "BlockedByPod",
        "NotUnneededLongEnough",
        "CurrentlyBeingDeleted",
        "Unconsolidatable",
    ),
    "pods": ("Fits", "Helped", "AllOrNothing", "Expendable", "WaitingForCapacity"),
}


@pytest.fixture(scope="module")
def against_itself(tmp_path_factory):
    folder = tmp_path_factory.mktemp("same")
    found = compare(ROOT, ROOT, scenarios(SCENARIOS, vectors_per_family=0), folder)
    lines = (folder / "new.jsonl").read_text().splitlines()
    return found, [json.loads(line) for line in lines if line]


def reasons_in(verdicts):
    """Yield the reasons of verdicts, which may be deep in a part of a decision."""
    if isinstance(verdicts, dict):
        if isinstance(verdicts.get("reason"), str):
            yield verdicts["reason"]
        for each in verdicts.values():
            yield from reasons_in(each)


def test_a_tree_decides_the_same_as_itself(against_itself) -> None:
    found, _ = against_itself
    assert found.failures == ()
    assert found.differences == ()
    assert found.different == 0
    assert found.scenarios == SCENARIOS
    assert found.decisions >= 4 * SCENARIOS


def test_generated_scenarios_make_everything_happen(against_itself) -> None:
    _, answers = against_itself
    decisions = [answer["decision"] for answer in answers]
    parts = Counter(part for decision in decisions for part in PARTS if decision[part])
    assert [part for part in PARTS if parts[part] < 3] == []
    assert {decision["halted"]["reason"] for decision in decisions if decision["halted"]} == {
        "ClusterUnhealthy",
        "SizesCorrected",
    }
    assert len({notice["reason"] for decision in decisions for notice in decision["notices"]}) >= 3
    told = {part: {reason for each in decisions for reason in reasons_in(each[part])} for part in REASONS}
    assert [(part, reason) for part, wanted in REASONS.items() for reason in wanted if reason not in told[part]] == []
    assert {answer["kind"] for answer in answers} >= {"decide", "decide_growth", "decide again"}


def test_another_decision_is_told(tmp_path) -> None:
    shutil.copytree(ROOT / "core", tmp_path / "tree" / "core", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    reasons = tmp_path / "tree" / "core" / "src" / "nodewright" / "api" / "reasons.py"
    reasons.write_text(reasons.read_text().replace('"NotUnderutilized"', '"WellUsed"'))
    # No plugin is wanted: the other tree has none.
    documents = [
        {"name": vector.name, "document": vector.scenario, "loops": 1}
        for vector in sample()
        if vector.name in ("scaledown-basic/16", "scale-from-zero/1")
    ]
    found = compare(ROOT, tmp_path / "tree", documents, tmp_path)
    assert found.decisions == 2
    assert found.failures == ()
    assert [difference.scenario for difference in found.differences] == ["scaledown-basic/16"]
    assert '.reason: "NotUnderutilized", now "WellUsed"' in str(found.differences[0])


def test_a_seed_makes_the_same_scenario_in_every_process() -> None:
    code = "import json; from tests.parity.generated import generated; print(json.dumps(generated(7)))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "123"}
    told = subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True, check=True)
    assert json.loads(told.stdout) == generated(7)
    assert generated(7) != generated(8)


def test_a_life_leaves_the_scenario_as_it_was() -> None:
    document = generated(3)
    before = json.dumps(document)
    nothing = dict.fromkeys(("restore", "shrink", "grow", "delete", "drain", "evict", "soft_taint", "soft_untaint"), ())
    life = Life("some", document)
    for _ in range(20):
        life.carry_out(nothing)
        life.go_on({**nothing, "again": None, "pods": {}})
    assert json.dumps(document) == before
    assert life.document != document


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is no repository here")
def test_nothing_is_left_of_a_commit_that_was_checked_out(tmp_path) -> None:
    def interrupted():
        with checked_out("HEAD", tmp_path / "tree") as tree:
            assert (tree / "core" / "src").is_dir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not (tmp_path / "tree").exists()
    told = subprocess.run(["git", "-C", str(ROOT), "worktree", "list"], capture_output=True, text=True, check=True)
    assert str(tmp_path) not in told.stdout


def test_what_is_no_commit_is_wrong_usage(capsys) -> None:
    assert main(["no-such-commit", "--generated", "0", "--vectors", "0"]) == 2
    assert "there is no commit no-such-commit" in capsys.readouterr().err
