"""Pictures of a large cluster: writing one beside a running loop must not need a second machine."""

import json
from datetime import UTC, datetime
from tempfile import TemporaryDirectory

from nodewright.config.model import Settings
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.plugins import Registry
from nodewright.scenario.picture import Picture
from nodewright.scenario.picture_files import json_pieces, new_file

from bench.measure import Case, Figure, timed
from bench.wire import loaded

_NODES = 5_000


def _dump(*, anonymize: bool) -> Figure:
    cluster, _ = loaded(_NODES)
    picture = Picture(
        world=World(cluster=cluster),
        memory=Memory(),
        settings=Settings(),
        now=datetime(2026, 1, 15, 9, tzinfo=UTC),
        classes=Registry(),
    )
    with TemporaryDirectory() as folder:
        name = f"{folder}/picture.json"

        def write() -> None:
            with new_file(name) as file:
                file.writelines(json_pieces(picture.entries(anonymize=anonymize)))

        seconds = timed(write)
        shown, size = 0, 0
        with open(name, "rb") as lines:
            for line in lines:
                size += len(line)
                if line.startswith(b'{"metadata":'):
                    thing = json.loads(line.rstrip(b",\n"))
                    shown += 1
                    assert ("app-" not in thing["metadata"]["name"]) or not anonymize
    assert shown == len(cluster.nodes) + len(cluster.pods)
    return Figure(seconds=seconds, note=f"{len(cluster.pods)} pods on {_NODES} nodes, {size / 10**6:.0f} MB")


CASES = [
    Case(name="dump 150000", run=lambda: _dump(anonymize=False), bar=10, bar_peak=250 * 10**6),
    Case(name="dump 150000, anonymous", run=lambda: _dump(anonymize=True), bar=20, bar_peak=350 * 10**6, slow=True),
]
