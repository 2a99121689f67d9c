"""The meadow in the words of the suite."""

from itertools import count

from nodewright.api import ErrorClass, InstanceState, ProviderContext
from nodewright.testing import SteppedClock
from nodewright.testing.conformance import Ability, Cloud, ExpectedTemplate

from .meadow import Meadow
from .meadow_provider import Field, MeadowProvider, id_of, staying

_CODES = {
    ErrorClass.STOCK_OUT: "SoldOut",
    ErrorClass.QUOTA: "Rationed",
    ErrorClass.PERMISSION: "Locked",
    ErrorClass.CONFIGURATION: "Misshapen",
    ErrorClass.OTHER: "Odd",
}
_STATES = {"coming": InstanceState.CREATING, "up": InstanceState.RUNNING, "going": InstanceState.DELETING}


class MeadowCloud(Cloud):
    """All that the suite can ask of a cloud that only has machines: it keeps no orders, and groups are settings."""

    keeps_target = False
    abilities = frozenset(Ability) - {
        Ability.STARVE,
        Ability.ADD_GROUP,
        Ability.REMOVE_GROUP,
        Ability.FAIL_UNSEEN,
        Ability.PAUSE,
        Ability.STOP,
        Ability.REMAKE,
    }
    failures = refusals = frozenset(ErrorClass)
    patience = 1.5
    longest = 30.0

    def __init__(self, provider_class):
        self.provider_class = provider_class
        self.meadow = Meadow()
        self.numbers = count(1)
        self.fields = [
            Field(name="web", least=1),
            Field(name="spare"),
            Field(name="empty"),
            Field(name="crowd", most=200),
        ]
        for group in ("web", "spare"):
            self.resize(group, 2)

    def provider(self):
        return self.provider_class(
            MeadowProvider.Config(), ProviderContext(clock=SteppedClock()), self.meadow, self.fields
        )

    def group(self):
        return "web"

    def other_group(self):
        return "spare"

    def settle(self):
        self.meadow.work()

    def expected_bounds(self):
        return {"web": (1, 5), "empty": (0, 5)}

    def expected_templates(self):
        return {"web": ExpectedTemplate(taints=(), capacity={"cpu": 4000})}

    def target(self, group):
        return len(staying(self._machines(group)))

    def machines(self, group):
        return {id_of(each): _STATES[each.state] for each in self._machines(group) if each.state in _STATES}

    def resize(self, group, size):
        there = staying(self._machines(group))
        for machine in there[size:]:
            self.meadow.take(machine)
        for _ in range(size - len(there)):
            self.meadow.put(f"{group}-{next(self.numbers):08}", group)
        self.settle()

    def vanish(self, group):
        oldest = self._machines(group)[0]
        del self.meadow.machines[oldest.name]
        return self.node(id_of(oldest))

    def hold(self):
        self.meadow.delivery = "coming"

    def fail(self, group, why):
        self.meadow.delivery, self.meadow.why = "broken", _CODES[why]

    def refuse(self, group, why):
        self.meadow.refusal = _CODES[why]

    def limit(self, group, machines):
        self.meadow.stock = machines

    def throttle(self):
        self.meadow.broken = "Hurry"

    def deny(self):
        self.meadow.broken = "WrongKey"

    def cut(self):
        self.break_after(0)

    def break_after(self, calls):
        self.meadow.broken, self.meadow.answered = "Silence", calls

    def lose_answer(self):
        self.meadow.lost = True

    def delay(self):
        self.meadow.told = dict(self.meadow.machines)

    def delete_only(self, count):
        self.meadow.deletable = count

    def heal(self):
        fresh = Meadow()
        for name in ("broken", "answered", "told", "deletable", "stock", "delivery", "why", "refusal"):
            setattr(self.meadow, name, getattr(fresh, name))

    def calls(self):
        return self.meadow.calls

    def populate(self, machines):
        self.resize("crowd", machines)

    def _machines(self, group):
        return [each for each in self.meadow.machines.values() if each.group == group]
