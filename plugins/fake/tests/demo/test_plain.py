"""The demo in plain lines."""

from datetime import timedelta

from nodewright_fake.demo.log import Line, LineKind
from nodewright_fake.demo.plain import PlainShow, line_text, state_text
from nodewright_fake.demo.scene import NodeState, Waiting

QUIET = """
zones: [eu-a]
instanceTypes:
  small: {cpu: 2, memory: 4Gi, price: 0.6}
groups:
  - {name: fixed, zone: eu-a, instanceType: small, min: 1, max: 1}
story:
  - {at: 70s, note: Something happens.}
"""


def test_a_line_has_its_time_and_kind(make) -> None:
    line = Line(at=make.scene().at, kind=LineKind.GROW, text="grow a 1 → 2")
    assert line_text(line) == "12:00:00  grow     grow a 1 → 2"


def test_a_quiet_state_is_short(make) -> None:
    assert state_text(make.scene()) == "12:00:00  state    2 nodes; 6 pods; $1.50/h, $0.25 so far"


def test_a_busy_state_tells_what_comes_goes_and_waits(make) -> None:
    scene = make.scene(
        nodes=(make.node("a-1"), make.node("a-2", NodeState.ORDERED), make.node("a-3", NodeState.DRAINING)),
        running=1,
        waiting=(Waiting(workload="shop", pods=9, longest=timedelta(seconds=84)),),
    )
    told = "2 nodes, 1 coming, 1 leaving; 1 pod, 9 waiting up to 1m24s; $1.50/h, $0.25 so far"
    assert state_text(scene) == f"12:00:00  state    {told}"


def test_a_show_writes_every_line_once_and_the_state_once_a_minute(begin) -> None:
    play = begin(QUIET, autoscaler=False)
    written = []
    show = PlainShow(play.stage, written.append)
    show.update()
    for _ in play.go_on(130):
        show.update()
    assert written == [
        "12:00:00  node     fixed-1 is ready",
        "12:00:00  state    1 node; 0 pods; $0.60/h, $0.00 so far",
        "12:01:00  state    1 node; 0 pods; $0.60/h, $0.01 so far",
        "12:01:10  story    Something happens.",
        "12:02:00  state    1 node; 0 pods; $0.60/h, $0.02 so far",
    ]
