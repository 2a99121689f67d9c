"""What a screen of the demo shows of a scene."""

from datetime import timedelta
from io import StringIO

import pytest
from nodewright_fake.demo.log import Line, LineKind
from nodewright_fake.demo.scene import GroupState, NodeState, Waiting
from nodewright_fake.demo.view import frame
from rich.console import Console


def screen(scene, width=80, height=24):
    """The lines of a screen of that size."""
    console = Console(width=width, height=height, file=StringIO())
    console.print(frame(scene, width, height))
    return console.file.getvalue().splitlines()


def line_with(text, lines):
    """The one line that has *text* in it."""
    (found,) = [line for line in lines if text in line]
    return found


@pytest.fixture
def busy(make):
    """A scene with something of everything."""
    return make.scene(
        groups=(
            make.group("system", nodes=2, wanted=2, minimum=2, maximum=2),
            make.group("spot-a", nodes=2, wanted=4, state=GroupState.GROWING, spot=True, instance_type="c5.xlarge"),
            make.group("spot-b", state=GroupState.BACKED_OFF, remark="STOCK_OUT until 12:09:10"),
            make.group("std-a", nodes=3, wanted=1, minimum=1, state=GroupState.SHRINKING),
            make.group("std-b"),
            make.group("mem-b", nodes=10, wanted=10),
        ),
        nodes=(
            *make.nodes("system", 2, cpu=0.5, memory=0.25, pods=2),
            make.node("spot-a-1", NodeState.ORDERED, since=make.scene().at - timedelta(seconds=34)),
            make.node("spot-a-2", NodeState.JOINING, since=make.scene().at - timedelta(seconds=5)),
            make.node("std-a-1", NodeState.DRAINING, cpu=0.1, memory=0.1, pods=1, remark="all its pods fit elsewhere"),
            make.node("std-a-2", NodeState.LEAVING),
            make.node("std-a-3", NodeState.UNNEEDED, remark="not unneeded for long enough (40s of 90s)"),
        ),
        running=44,
        waiting=(
            Waiting(workload="shop", pods=9, longest=timedelta(seconds=84)),
            Waiting(workload="index", pods=3, longest=timedelta(seconds=4)),
        ),
        log=(
            Line(at=make.scene().at, kind=LineKind.STORY, text="Many come at once."),
            Line(at=make.scene().at, kind=LineKind.GROW, text="grow spot-a 2 → 4 for 12 pods: the only option"),
        ),
    )


@pytest.mark.parametrize("width", [20, 40, 80, 100, 160, 250])
@pytest.mark.parametrize("height", [5, 12, 24, 32, 50, 80])
def test_a_frame_fills_the_screen_exactly_whatever_its_size(busy, width, height) -> None:
    lines = screen(busy, width, height)
    assert len(lines) == height
    assert {len(line) for line in lines} == {width}


def test_the_head_tells_time_speed_story_and_figures(busy) -> None:
    title, note, figures, progress = screen(busy)[:4]
    assert title.startswith("nodewright demo  a test")
    assert title.endswith("12:00:00  20×")
    assert note.startswith("Nothing happens.")
    assert figures.split("   ")[:3] == ["5 nodes, 2 coming, 2 leaving", "44 pods", "12 waiting up to 1m24s"]
    assert progress == "━" * 20 + "─" * 60


def test_figures_without_room_are_left_out_whole(busy) -> None:
    narrow = screen(busy, width=72)[2].rstrip()
    assert narrow == "5 nodes, 2 coming, 2 leaving   44 pods   12 waiting up to 1m24s"
    wide = screen(busy, width=140)[2].rstrip()
    assert wide == f"{narrow}   $1.50/h   $0.25 so far   waiting: shop 9, index 3"


def test_a_story_without_end_has_no_progress(make) -> None:
    assert screen(make.scene(length=None))[3] == "─" * 80


@pytest.mark.parametrize(
    ("group", "size", "gauge", "state"),
    [
        ("system", "2 of 2", "■■", "fixed"),
        ("spot-a", "2→4 of 10", "■■□□······", "growing"),
        ("spot-b", "0 of 10", "··········", "backed off: STOCK_OUT until 12:09:10"),
        ("std-a", "3→1 of 10", "■□□·······", "shrinking"),
        ("std-b", "0 of 10", "··········", ""),
        ("mem-b", "10 of 10", "■■■■■■■■■■", "at maximum"),
    ],
)
def test_a_group_shows_its_size_and_what_it_is_doing(busy, group, size, gauge, state) -> None:
    row = line_with(f"{group:<6}  0.107", screen(busy))
    assert row.split("  ", 2)[2].strip().startswith(size)
    assert gauge in row
    assert row.rstrip().endswith(state or gauge)


def test_zone_and_machine_are_shown_where_there_is_room(busy) -> None:
    assert "c5.xlarge spot" not in "\n".join(screen(busy, width=80))
    row = line_with("c5.xlarge spot", screen(busy, width=100))
    assert row.startswith("spot-a  eu-a  c5.xlarge spot  0.107   2→4 of 10")


def test_of_too_many_groups_those_that_do_nothing_are_left_out(make) -> None:
    idle = tuple(make.group(f"idle-{number}") for number in range(20))
    lines = screen(make.scene(groups=(*idle, make.group("busy", wanted=1, state=GroupState.GROWING))))
    assert line_with("busy", lines).rstrip().endswith("growing")
    assert line_with("more groups", lines).startswith("and 15 more groups")


def test_few_nodes_have_a_line_each_with_state_figures_and_remark(busy) -> None:
    lines = screen(busy, width=120, height=32)
    assert line_with("● system-1", lines).split() == [
        *("●", "system-1", "ready", "━━━━━━━·······", "50%", "━━━╸··········", "25%", "2")
    ]
    assert line_with("spot-a-1", lines).split() == ["○", "spot-a-1", "ordered", "34s"]
    assert line_with("spot-a-2", lines).split() == ["◐", "spot-a-2", "joining", "5s"]
    assert line_with("▽ std-a-1", lines).rstrip().endswith("1  all its pods fit elsewhere")
    assert line_with("× std-a-2", lines).split() == ["×", "std-a-2", "leaving"]
    assert line_with("std-a-3", lines).rstrip().endswith("0  not unneeded for long enough (40s of 90s)")


def test_more_nodes_stand_side_by_side_and_keep_their_bars_and_pods(busy) -> None:
    lines = screen(busy)
    assert line_with("● system-1", lines).split("  ")[0] == "● system-1"
    assert "std-a-2      leaving" in line_with("std-a-2", lines)
    assert "○ spot-a-1     ordered 34s" in line_with("spot-a-1", lines)
    assert line_with("node", lines[11:]).split() == ["node", "cpu", "memory", "pods"] * 2


def test_many_nodes_are_shown_in_more_columns(make) -> None:
    lines = screen(make.scene(nodes=make.nodes("spot", 20, cpu=1.0, memory=0.5, pods=4)))
    assert line_with("spot-1 ", lines).split() == [
        *("●", "spot-1", "━━━━", "━━··", "4"),
        *("●", "spot-9", "━━━━", "━━··", "4"),
        *("●", "spot-17", "━━━━", "━━··", "4"),
    ]


def test_nodes_beyond_that_are_folded_into_a_line_for_each_group(make) -> None:
    nodes = (
        *make.nodes("spot", 60, cpu=0.75, memory=0.5, pods=4),
        *make.nodes("spot-b", 3, state=NodeState.ORDERED),
        *make.nodes("std", 20, cpu=0.25, memory=0.0, pods=1),
        make.node("std-21", NodeState.DRAINING, cpu=0.25, memory=0.0, pods=1),
    )
    lines = screen(make.scene(nodes=nodes))
    assert line_with("● spot ", lines).split() == ["●", "spot", "━━━━━━━╸··", "━━━━━·····", "240", "60", "ready"]
    assert line_with("○ spot-b", lines).split() == ["○", "spot-b", "ordered", "3", "ordered"]
    assert line_with("● std", lines).rstrip().endswith("21  20 ready, 1 draining")


def test_the_smallest_load_can_be_seen(make) -> None:
    lines = screen(make.scene(nodes=(make.node("a-1", cpu=0.001),)))
    assert "╸···" in line_with("a-1", lines)


def test_the_newest_line_of_the_log_is_the_lowest(make) -> None:
    log = [
        Line(at=make.scene().at + timedelta(seconds=number), kind=LineKind.SHRINK, text=f"line {number}")
        for number in range(50)
    ]
    lines = [line.rstrip() for line in screen(make.scene(log=tuple(log)))]
    assert lines[-1] == "12:00:49  ▼ line 49"
    assert lines[-2] == "12:00:48  ▼ line 48"


def test_a_long_reason_goes_on_in_a_second_line(make) -> None:
    text = (
        "grow std-a 0 → 5 for 18 pods: best of 2 options by least-waste (not spot-a: in backoff after failed scale-up)"
    )
    lines = screen(make.scene(log=(Line(at=make.scene().at, kind=LineKind.GROW, text=text),)))
    at = lines.index(line_with("▲", lines))
    assert lines[at].rstrip() == "12:00:00  ▲ grow std-a 0 → 5 for 18 pods: best of 2 options by least-waste (not"
    assert lines[at + 1].rstrip() == "            spot-a: in backoff after failed scale-up)"
