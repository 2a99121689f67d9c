"""The order of the stages is checked before any decision, and the documentation tells it."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from nodewright.decision import World
from nodewright.decision.decide import ASSESSMENT, GROWTH, HALT, REMOVALS, RETRY, RETRY_HALT, SHRINKING
from nodewright.decision.health import Assessment
from nodewright.decision.memory import Memory, OrderMemory, UnneededMemory
from nodewright.decision.pipeline import Stage, in_order

LOOP = (*ASSESSMENT, *REMOVALS, *GROWTH, *SHRINKING)
PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"


@dataclass(frozen=True)
class Answer:
    """What a stage of a test finds."""

    orders: OrderMemory


def ask(world: World, orders: OrderMemory) -> Answer:
    return Answer(orders=orders)


def use(answer: Answer) -> World:
    raise NotImplementedError


def test_a_stage_can_not_stand_before_what_it_reads() -> None:
    assert in_order(Stage("ask", ask, ""), Stage("use", use, ""))
    with pytest.raises(TypeError, match="stage 'use' reads answer: Answer, which no stage before it gives"):
        in_order(Stage("use", use, ""), Stage("ask", ask, ""))


def test_two_stages_can_not_give_the_same() -> None:
    with pytest.raises(TypeError, match="stage 'again' gives Answer, as another one does"):
        in_order(Stage("ask", ask, ""), Stage("again", ask, ""))


def test_a_stage_changes_only_what_its_result_has_fields_for() -> None:
    assert Stage("ask", ask, "").writes == {OrderMemory}
    assert UnneededMemory in ASSESSMENT[2].writes
    assert ASSESSMENT[2].gives is Assessment


@pytest.mark.parametrize(
    "stages", [LOOP, (*ASSESSMENT, *REMOVALS, *HALT), (*ASSESSMENT, *GROWTH, *RETRY), (*ASSESSMENT, *RETRY_HALT)]
)
def test_every_stage_has_a_name_of_its_own_and_a_reason(stages) -> None:
    assert len({stage.name for stage in stages}) == len(stages)
    assert all(stage.why.endswith(".") for stage in stages)


def row(stage):
    slices = {type(each): name for name, each in Memory().slices().items()}
    written = sorted("world" if kind is World else slices[kind] for kind in stage.writes)
    return f"| `{stage.name}` | {stage.why} | {', '.join(written)} |"


def test_the_page_on_the_architecture_has_the_stages_as_they_are() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `") and line.count("|") == 4]
    assert [each for each in rows if each in map(row, LOOP)] == list(map(row, LOOP))
