"""Colours and signs. No meaning hangs on a colour alone: there is always a sign or a word as well.

The colours are told apart by people with any kind of colour vision (Okabe and Ito's palette).
"""

from nodewright_fake.demo.log import LineKind
from nodewright_fake.demo.scene import GroupState, NodeState

SKY = "#56b4e9"
GREEN = "#009e73"
YELLOW = "#f0e442"
ORANGE = "#e69f00"
RED = "#d55e00"
PINK = "#cc79a7"

CPU = SKY
MEMORY = PINK
TITLE = "bold"
NOTE = f"bold {SKY}"
HEADING = "dim"
QUIET = "dim"
WAITING = f"bold {ORANGE}"

NODE_STYLES = {
    NodeState.ORDERED: YELLOW,
    NodeState.JOINING: YELLOW,
    NodeState.READY: GREEN,
    NodeState.UNNEEDED: QUIET,
    NodeState.DRAINING: ORANGE,
    NodeState.LEAVING: QUIET,
    NodeState.UNREADY: RED,
    NodeState.FAILED: RED,
}
NODE_SIGNS = {
    NodeState.ORDERED: "○",
    NodeState.JOINING: "◐",
    NodeState.READY: "●",
    NodeState.UNNEEDED: "◌",
    NodeState.DRAINING: "▽",
    NodeState.LEAVING: "×",
    NodeState.UNREADY: "!",
    NodeState.FAILED: "!",
}
GROUP_STYLES = {
    GroupState.STEADY: "",
    GroupState.GROWING: YELLOW,
    GroupState.SHRINKING: ORANGE,
    GroupState.BACKED_OFF: RED,
}
LINE_STYLES = {
    LineKind.STORY: NOTE,
    LineKind.GROW: YELLOW,
    LineKind.SHRINK: ORANGE,
    LineKind.DRAIN: ORANGE,
    LineKind.TROUBLE: RED,
    LineKind.NODE: QUIET,
}
LINE_SIGNS = {
    LineKind.STORY: "»",
    LineKind.GROW: "▲",
    LineKind.SHRINK: "▼",
    LineKind.DRAIN: "▽",
    LineKind.TROUBLE: "!",
    LineKind.NODE: "·",
}
