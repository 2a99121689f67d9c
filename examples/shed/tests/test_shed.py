"""Whether Nodewright can trust the provider of sheds."""

import json

import pytest
from nodewright.api import InstanceState, ProviderContext
from nodewright.testing import SteppedClock
from nodewright.testing.conformance import Ability, Cloud, ExpectedTemplate, ProviderConformance
from nodewright_example_shed import provider
from nodewright_example_shed.inventory import Inventory

SMALL = {
    "labels": {
        "kubernetes.io/arch": "arm64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "pi",
        "topology.kubernetes.io/zone": "shed",
    },
    "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
    "allocatable": {"cpu": "3900m", "memory": "7Gi", "pods": "110"},
}


def names(rack, count):
    return [f"shed://{rack}/machine-{number}" for number in range(count)]


def a_rack(name, *, size, least=1, places=8):
    machines = dict.fromkeys(names(name, size), "Running")
    return {"min": least, "places": places, "wanted": size, "machines": machines, "template": SMALL}


class Watched(Inventory):
    """Counts what the provider reads and writes."""

    uses = 0

    def read(self):
        Watched.uses += 1
        return super().read()


class Shed(Cloud):
    """A shed whose people do what the tests say."""

    abilities = frozenset(
        {
            Ability.CHANGE,
            Ability.TRUTH,
            Ability.RESIZE,
            Ability.VANISH,
            Ability.HOLD,
            Ability.STARVE,
            Ability.OTHER_GROUP,
            Ability.ADD_GROUP,
            Ability.REMOVE_GROUP,
            Ability.COUNT,
            Ability.CUT,
            Ability.POPULATE,
        }
    )

    def __init__(self, folder):
        self.file = folder / "inventory.json"
        self.file.write_text(json.dumps({"racks": {"left": a_rack("left", size=2), "right": a_rack("right", size=1)}}))
        self.inventory = Inventory(self.file)
        self.forgotten = set()

    def provider(self):
        config = provider.ShedConfig(inventory=self.file)
        return provider.ShedProvider(config, ProviderContext(clock=SteppedClock()))

    def group(self):
        return "left"

    def other_group(self):
        return "right"

    def expected_bounds(self):
        return {"left": (1, 8)}

    def expected_templates(self):
        labels = SMALL["labels"]
        return {"left": ExpectedTemplate(labels=labels, capacity={"cpu": 4000}, allocatable={"memory": 7 << 30})}

    def target(self, group):
        return self.inventory.read()[group]["wanted"]

    def machines(self, group):
        return {id_: InstanceState(state) for id_, state in self.inventory.read()[group]["machines"].items()}

    def settle(self):
        """Let people carry out what is to go, and carry in what is wanted."""
        with self.inventory.change() as racks:
            for name, rack in racks.items():
                staying = [id_ for id_, state in rack["machines"].items() if state != "Deleting"]
                free = [id_ for id_ in names(name, rack["places"]) if id_ not in staying]
                coming = free[: rack["wanted"] - len(staying)] if name not in self.forgotten else []
                rack["machines"] = dict.fromkeys([*staying, *coming], "Running")

    def resize(self, group, size):
        with self.inventory.change() as racks:
            machines = racks[group]["machines"]
            racks[group]["wanted"] = size
            racks[group]["machines"] = dict(list(machines.items())[:size])
        self.settle()

    def vanish(self, group):
        with self.inventory.change() as racks:
            oldest = next(iter(racks[group]["machines"]))
            del racks[group]["machines"][oldest]
        return self.node(oldest)

    def hold(self):
        """No one carries machines in before `settle`."""

    def starve(self, group):
        self.forgotten.add(group)

    def add_group(self):
        with self.inventory.change() as racks:
            racks["new"] = a_rack("new", size=0, least=0)
        return "new"

    def remove_group(self, group):
        with self.inventory.change() as racks:
            del racks[group]

    def cut(self):
        self.file.rename(self.file.with_suffix(".away"))

    def heal(self):
        self.forgotten.clear()
        if not self.file.exists():
            self.file.with_suffix(".away").rename(self.file)

    def calls(self):
        return Watched.uses

    def populate(self, machines):
        with self.inventory.change() as racks:
            racks["crowd"] = a_rack("crowd", size=machines, places=machines)


class TestShed(ProviderConformance):
    @pytest.fixture
    def cloud(self, tmp_path, monkeypatch):
        monkeypatch.setattr(provider, "Inventory", Watched)
        return Shed(tmp_path)
