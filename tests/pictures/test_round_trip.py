"""Scenarios that were written are read as what they were, and written again the same."""

import json
from dataclasses import replace
from typing import Any

import pytest
from nodewright.decision.memory import TemplateMemory
from nodewright.scenario.files import json_pieces
from nodewright.scenario.scenario import Picture, Scenario, read_scenario

from tests.parity.vectors import sample
from tests.pictures.situations import REGISTRY, random_situation

SEEDS = range(60)


def written(picture: Picture, *, anonymize: bool = False) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(b"".join(json_pieces(picture.entries(anonymize=anonymize))))
    return document


def picture_of(scenario: Scenario) -> Picture:
    return Picture(
        world=scenario.world(),
        memory=scenario.memory,
        settings=scenario.settings,
        now=scenario.now,
        classes=REGISTRY,
    )


def without_prices(scenario: Scenario) -> Scenario:
    """*scenario* without what can't be compared: a list of prices equals nothing but itself."""
    return replace(scenario, pricing={})


@pytest.mark.parametrize("anonymize", [False, True])
def test_any_world_that_was_written_is_read_as_it_was(anonymize) -> None:
    for seed in SEEDS:
        document = written(random_situation(seed).picture, anonymize=anonymize)
        scenario = read_scenario(document, classes=REGISTRY)
        again = written(picture_of(scenario))
        assert again == document, seed
        assert without_prices(read_scenario(again, classes=REGISTRY)) == without_prices(scenario), seed


def test_what_is_shown_of_any_world_is_read_as_it_was() -> None:
    learnt = TemplateMemory()
    for seed in SEEDS:
        situation = random_situation(seed)
        found = read_scenario(written(situation.picture), classes=REGISTRY)
        world = situation.world
        for name in ("group_of", "gpus", "group_gpus", "resource_limits", "balancing_ignored_labels", "unreadable"):
            assert getattr(found, name) == getattr(world, name), (seed, name)
        # What stays out of a picture: annotations that no decision reads.
        assert [replace(group, template=None) for group in found.groups] == [
            replace(group, template=None) for group in world.groups
        ]
        # Memory knows templates by their fingerprints, which go by all annotations.
        assert replace(found.memory, learnt=learnt) == replace(situation.memory, learnt=learnt), seed


@pytest.mark.parametrize("vector", list(sample()), ids=lambda vector: vector.name)
def test_a_scenario_of_cluster_autoscaler_has_one_form_in_which_it_is_written(vector) -> None:
    document = written(picture_of(read_scenario(vector.scenario)))
    assert written(picture_of(read_scenario(document))) == document
