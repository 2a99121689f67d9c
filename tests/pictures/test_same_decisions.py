"""A decision on a picture is the decision on the world that it shows, whatever the names."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from nodewright.api import Decision
from nodewright.decision.decide import decide
from nodewright.scenario.files import json_pieces, parse_document, yaml_pieces
from nodewright.scenario.names import Names
from nodewright.scenario.rehearsal import carry_out, rehearse
from nodewright.scenario.scenario import Picture, Scenario, read_scenario

from tests.parity.vectors import sample
from tests.pictures.outline import outline
from tests.pictures.situations import NOW, REGISTRY, Situation, policy_of, random_situation

SEEDS = range(100)
PARTS = ("grow", "drain", "delete", "shrink", "evict", "rejections")
REAL = Names()


def shown(picture: Picture, *, anonymize: bool = False) -> Scenario:
    return read_scenario(json.loads(b"".join(json_pieces(picture.entries(anonymize=anonymize)))), classes=REGISTRY)


def decisions_about(scenario: Scenario) -> list[Decision]:
    assert scenario.now == NOW
    situation = Situation(world=scenario.world(), memory=scenario.memory, settings=scenario.settings)
    return situation.decisions()


def test_a_picture_of_any_world_is_decided_as_the_world() -> None:
    parts = Counter[str]()
    for seed in SEEDS:
        situation = random_situation(seed)
        decisions = situation.decisions()
        assert decisions_about(shown(situation.picture)) == decisions, seed
        parts.update(part for decision in decisions for part in PARTS if getattr(decision, part))
    assert all(parts[part] >= 5 for part in PARTS), f"there is too little to decide in these worlds: {parts}"


def test_an_anonymous_picture_of_any_world_is_decided_as_the_world_except_for_names() -> None:
    for seed in SEEDS:
        situation = random_situation(seed)
        names = situation.picture.pseudonyms()
        found = [outline(each, REAL) for each in decisions_about(shown(situation.picture, anonymize=True))]
        assert found == [outline(each, names) for each in situation.decisions()], seed


@pytest.mark.parametrize("vector", list(sample()), ids=lambda vector: vector.name)
def test_a_picture_of_a_scenario_is_rehearsed_as_the_scenario(vector) -> None:
    scenario = read_scenario(vector.scenario)
    picture = Picture(
        world=scenario.world(),
        memory=scenario.memory,
        settings=scenario.settings,
        now=scenario.now,
        classes=REGISTRY,
    )
    decisions = [each.look.decision for each in rehearse(scenario, policy_of(scenario.settings))]
    for anonymize, names in ((False, REAL), (True, picture.pseudonyms())):
        again = replace(shown(picture, anonymize=anonymize), iterations=scenario.iterations, advance=scenario.advance)
        found = [outline(each.look.decision, REAL) for each in rehearse(again, policy_of(again.settings))]
        assert found == [outline(decision, names) for decision in decisions]


def test_a_picture_in_yaml_says_the_same() -> None:
    for seed in range(5):
        situation = random_situation(seed)
        text = b"".join(yaml_pieces(situation.picture.entries())).decode()
        assert decisions_about(read_scenario(parse_document(text, "picture.yaml"))) == situation.decisions()


def test_a_picture_taken_while_nodes_are_on_their_way_knows_what_they_are_meant_for() -> None:
    seen = 0
    for seed in SEEDS:
        situation = random_situation(seed)
        decision, memory, _ = decide(situation.world, situation.memory, policy_of(situation.settings), NOW)
        if not memory.orders.intentions:
            continue
        seen += 1
        later = replace(situation, world=carry_out(decision, situation.world), memory=memory)
        assert decisions_about(shown(later.picture)) == later.decisions(), seed
    assert seen >= 8
