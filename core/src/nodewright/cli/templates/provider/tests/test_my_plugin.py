"""Whether Nodewright can trust the provider my-plugin."""

from collections.abc import Iterator, Mapping, Sequence

import pytest
from nodewright.api import ErrorClass, InstanceState, Node, ProviderContext, ThrottledError
from nodewright.testing import SteppedClock
from nodewright.testing.conformance import Ability, Cloud, ExpectedTemplate, ProviderConformance

from nodewright_my_plugin.provider import (
    MyPluginConfig,
    MyPluginProvider,
)
from shed import HARDWARE, TOKEN, RefusalError, Shed

# EDIT: the codes by which your cloud says why it has no machine, and one that nobody knows.
CODES = {
    ErrorClass.STOCK_OUT: "no-machines",
    ErrorClass.QUOTA: "over-quota",
    ErrorClass.PERMISSION: "not-allowed",
    ErrorClass.CONFIGURATION: "bad-image",
    ErrorClass.OTHER: "dropped",
}


# EDIT: say what the double of your cloud can do, by one method for each ability. The docstrings of `Cloud` say what
# each has to do: `pydoc nodewright.testing.conformance.Cloud`. Only `provider` and `group` are required.
class MyPluginCloud(Cloud):
    """The shed, in the words of the suite."""

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
            Ability.THROTTLE,
            Ability.DENY,
            Ability.CUT,
            Ability.BREAK_AFTER,
            Ability.LIMIT,
            Ability.LOSE_ANSWER,
            Ability.COUNT,
            Ability.POPULATE,
        }
    )
    failures = frozenset(CODES)
    refusals = frozenset(CODES)

    def __init__(self, shed: Shed) -> None:
        self.shed = shed
        shed.add("left", size=2)
        shed.add("right", size=1)
        shed.add("empty", size=0, least=0)

    def provider(self) -> MyPluginProvider:
        config = MyPluginConfig(url=self.shed.url, token=TOKEN)
        return MyPluginProvider(config, ProviderContext(clock=SteppedClock()))

    def group(self) -> str:
        return "left"

    def other_group(self) -> str:
        return "right"

    def secrets(self) -> Sequence[str]:
        return [TOKEN]

    def expected_bounds(self) -> Mapping[str, tuple[int, int]]:
        return {"left": (1, 8), "empty": (0, 8)}

    def expected_templates(self) -> Mapping[str, ExpectedTemplate]:
        shown = ExpectedTemplate(
            labels=HARDWARE["labels"], taints=(), capacity={"cpu": 4000}, allocatable={"memory": 7 << 30}
        )
        return {"left": shown, "empty": shown}

    def target(self, group: str) -> int:
        return int(self.shed.racks[group]["wanted"])

    def machines(self, group: str) -> Mapping[str, InstanceState]:
        machines = self.shed.racks[group]["machines"].items()
        return {id_: InstanceState(each["state"]) for id_, each in machines if each["state"] != "Failed"}

    def settle(self) -> None:
        self.shed.settle()

    def resize(self, group: str, size: int) -> None:
        self.shed.racks[group]["wanted"] = size
        self.shed.settle()

    def vanish(self, group: str) -> Node:
        machines = self.shed.racks[group]["machines"]
        oldest = next(iter(machines))
        del machines[oldest]
        return self.node(oldest)

    def hold(self) -> None:
        """Machines are in creation until `settle`."""

    def starve(self, group: str) -> None:
        self.shed.forgotten.add(group)

    def fail(self, group: str, why: ErrorClass) -> None:
        self.shed.failing[group] = CODES[why]

    def refuse(self, group: str, why: ErrorClass) -> None:
        self.shed.refused[group] = CODES[why]

    def add_group(self) -> str:
        self.shed.add("new", size=0, least=0)
        return "new"

    def remove_group(self, group: str) -> None:
        del self.shed.racks[group]

    def throttle(self) -> None:
        self.shed.refusal = RefusalError(429, "slow down")

    def deny(self) -> None:
        self.shed.refusal = RefusalError(401, "unknown token")

    def cut(self) -> None:
        self.shed.answers_left = 0

    def break_after(self, calls: int) -> None:
        self.shed.answers_left = calls

    def limit(self, group: str, machines: int) -> None:
        self.shed.stock[group] = machines

    def lose_answer(self) -> None:
        self.shed.losing = True

    def heal(self) -> None:
        self.shed.heal()

    def calls(self) -> int:
        return self.shed.calls

    def populate(self, machines: int) -> None:
        self.shed.add("crowd", size=machines, places=machines)


@pytest.fixture
def cloud() -> Iterator[MyPluginCloud]:
    with Shed() as shed:
        yield MyPluginCloud(shed)


# EDIT: one test for each thing that your provider promises and the suite can't know.
def test_a_throttled_call_tells_how_long_to_wait(cloud: MyPluginCloud) -> None:
    cloud.throttle()
    with pytest.raises(ThrottledError) as raised:
        cloud.provider().refresh()
    assert raised.value.retry_after == 7


class TestMyPlugin(ProviderConformance):
    @pytest.fixture
    def cloud(self, cloud: MyPluginCloud) -> MyPluginCloud:
        return cloud
