"""The story that `nodewright demo` tells, from beginning to end on the stepped clock."""

import os
import re
from datetime import timedelta
from importlib import resources
from io import StringIO
from pathlib import Path

import pytest
from nodewright.api import Reason
from nodewright_fake.demo.log import LineKind
from nodewright_fake.demo.scene import GroupState, NodeState
from nodewright_fake.demo.view import frame
from rich.console import Console

STORY = (resources.files("nodewright_fake.demo") / "story.yaml").read_text()
PICTURE = Path(__file__).parents[4] / "docs" / "demo.svg"
SECONDS = 1100
#: New machines of the second choice join while the first choice is sold out.
MOMENT = 380


@pytest.fixture(scope="module")
def story(begin):
    """The scenes by seconds, the lines of the log, and the summary."""
    play = begin(STORY, speed=20.0, length=timedelta(seconds=SECONDS))
    play.scenes = dict(zip(range(10, SECONDS + 1, 10), play.go_on(SECONDS), strict=True))
    play.lines = play.stage.log.after(0)
    play.summary = play.stage.summary()
    return play


def size(scene, *groups):
    """How many nodes groups have together."""
    return sum(group.nodes for group in scene.groups if group.name in groups)


def texts(story, kind, beginning):
    """All lines of a kind that begin so."""
    return [line.text for line in story.lines if line.kind is kind and line.text.startswith(beginning)]


def test_it_ends_when_it_is_told(story) -> None:
    assert story.stage.over
    assert story.lines[-1].text == "The end."


def test_it_begins_small(story) -> None:
    assert story.scenes[30].nodes_there == 2
    assert story.scenes[30].pending == 0


def test_the_burst_brings_spot_nodes_that_are_ordered_join_and_fill(story) -> None:
    assert story.scenes[50].pending == 20
    assert {node.state for node in story.scenes[50].nodes if node.group.startswith("spot")} == {NodeState.ORDERED}
    joining = {node.state for second in range(80, 110, 10) for node in story.scenes[second].nodes}
    assert NodeState.JOINING in joining
    after = story.scenes[120]
    assert after.pending == 0
    assert size(after, "spot-a", "spot-b") == after.nodes_there - 2 == 5
    assert all(node.cpu > 0.9 for node in after.nodes if node.group.startswith("spot"))


def test_pods_that_need_much_memory_get_the_only_machines_that_have_it(story) -> None:
    assert texts(story, LineKind.GROW, "grow mem-b 0 → 3 for 3 pods: the only option")


def test_the_stock_out_falls_over_to_another_group_and_says_why(story) -> None:
    backed_off = [group for group in story.scenes[330].groups if group.state is GroupState.BACKED_OFF]
    assert [group.name for group in backed_off] == ["spot-a", "spot-b"]
    assert all(re.fullmatch(r"STOCK_OUT until 12:10:\d0", group.remark) for group in backed_off)
    (fallback,) = [text for text in texts(story, LineKind.GROW, "grow std-") if "for 18 pods" in text]
    assert "spot-a: in backoff after failed scale-up (STOCK_OUT" in fallback
    assert "spot-b: in backoff after failed scale-up (STOCK_OUT" in fallback
    assert size(story.scenes[470], "std-a", "std-b") == 5
    assert story.scenes[470].pending == 0


def test_a_spot_machine_that_is_taken_back_is_replaced(story) -> None:
    assert texts(story, LineKind.TROUBLE, "the cloud took spot-")
    assert story.scenes[520].pending == 2
    assert story.scenes[600].pending == 0


def test_unneeded_nodes_are_drained_within_the_disruption_budget_and_removed(story) -> None:
    assert NodeState.UNNEEDED in {node.state for node in story.scenes[700].nodes}
    assert texts(story, LineKind.DRAIN, "evict ")
    assert texts(story, LineKind.TROUBLE, "1 eviction refused, to be tried again")
    assert story.summary.evictions >= 2
    assert Reason.DRAINED in {tally.cause.reason for tally in story.summary.tallies}


def test_no_pod_is_ever_without_a_node_because_of_a_drain(story) -> None:
    assert {second for second, scene in story.scenes.items() if second > 600 and scene.pending} == set()


def test_it_ends_as_small_as_it_began(story) -> None:
    assert story.scenes[SECONDS].nodes_there == 2
    assert story.summary.last_nodes == story.summary.first_nodes == 2
    assert story.summary.still_waiting == 0


def test_it_is_worth_it(story) -> None:
    assert story.summary.peak_nodes >= 14
    assert story.summary.saved > 0.4
    assert max(story.summary.waits) < 120


def test_the_picture_in_the_documentation_is_of_this_story(story) -> None:
    """Set UPDATE_PICTURES=1 to take it anew."""
    picture = take_picture(story.scenes[MOMENT])
    if os.environ.get("UPDATE_PICTURES"):
        PICTURE.write_text(picture)
    assert PICTURE.read_text() == picture, "the demo looks different now: look at it, and set UPDATE_PICTURES=1"


def take_picture(scene, width=100, height=32):
    """The screen as SVG, in whatever fixed-width font the reader has."""
    console = Console(
        width=width, height=height, record=True, force_terminal=True, file=StringIO(), color_system="truecolor"
    )
    console.print(frame(scene, width, height), end="")
    svg = console.export_svg(title="nodewright demo", unique_id="demo")
    # No fonts from elsewhere: most places that show pictures would not load them.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace")
