"""The frame: all parts of the screen, each in its place."""

from collections.abc import Iterable

from rich.console import Group
from rich.text import Text

from nodewright_fake.demo.scene import Scene
from nodewright_fake.demo.view import header
from nodewright_fake.demo.view.groups import groups
from nodewright_fake.demo.view.log import log
from nodewright_fake.demo.view.nodes import nodes
from nodewright_fake.demo.view.row import cell

#: From this height on, parts are set apart by empty lines.
_AIRY = 28
#: What a part needs at least to be of use.
_FEWEST_GROUPS = 4
_FEWEST_NODES = 4


def frame(scene: Scene, width: int, height: int) -> Group:
    """Return the scene as *height* lines of *width* columns. Parts keep their places as long as the size does."""
    gap = 1 if height >= _AIRY else 0
    room = height - header.HEIGHT - 3 * gap
    group_lines = min(len(scene.groups) + 1, max(_FEWEST_GROUPS, 2 * room // 5))
    node_lines = max(_FEWEST_NODES, (room - group_lines + 1) // 2)
    log_lines = max(0, room - group_lines - node_lines)
    parts = (
        _part(header.header(scene, width), width, header.HEIGHT),
        _part(groups(scene.groups, width, group_lines), width, group_lines),
        _part(nodes(scene.nodes, scene.at, width, node_lines), width, node_lines),
        _part(log(scene.log, width, log_lines), width, log_lines),
    )
    empty = [cell("", width)] * gap
    lines = [line for part in parts for line in (*part, *empty)]
    return Group(*lines[:height])


def _part(lines: Iterable[Text], width: int, height: int) -> list[Text]:
    shown = [cell(line, width) for line in lines][:height]
    return shown + [cell("", width)] * (height - len(shown))
