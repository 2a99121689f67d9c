"""The shed in the words of the suite."""

from datetime import timedelta

from nodewright.api import ErrorClass, GpuConfig, InstanceState, ProviderContext, Taint
from nodewright.testing import SteppedClock
from nodewright.testing.conformance import Ability, Cloud, ExpectedTemplate

from .provider import ShedConfig, id_of
from .shed import Rack, Shed

_CODES = {
    ErrorClass.STOCK_OUT: "SoldOut",
    ErrorClass.QUOTA: "Rationed",
    ErrorClass.PERMISSION: "Locked",
    ErrorClass.CONFIGURATION: "Misshapen",
    ErrorClass.OTHER: "Odd",
}
_STATES = {
    "coming": InstanceState.CREATING,
    "up": InstanceState.RUNNING,
    "going": InstanceState.DELETING,
    "idle": InstanceState.STOPPED,
}
_KEY = "wrought-iron-key-4711"


class ShedCloud(Cloud):
    """All that the suite can ask for."""

    abilities = frozenset(Ability)
    failures = refusals = frozenset(ErrorClass)
    patience = 1.5

    def __init__(self, provider_class):
        self.provider_class = provider_class
        self.longest = getattr(provider_class, "longest", 30.0)
        racks = (
            Rack(name="web", label="front"),
            Rack(name="spare", least=0, unneeded_minutes=3),
            Rack(name="gpu", model="loom", wanted=1),
            Rack(name="attic", wanted=0, least=0),
        )
        self.shed = Shed(racks={rack.name: rack for rack in racks})
        for rack in racks:
            self.shed.set(rack.name, rack.wanted)
        self.settle()

    def provider(self):
        return self.provider_class(ShedConfig(key=_KEY), ProviderContext(clock=SteppedClock()), self.shed)

    def group(self):
        return "web"

    def other_group(self):
        return "spare"

    def settle(self):
        self.shed.work()
        self.shed.work()

    def secrets(self):
        return [_KEY]

    def expected_bounds(self):
        return {"web": (1, 5), "attic": (0, 5)}

    def expected_templates(self):
        return {
            "spare": ExpectedTemplate(taints=()),
            "gpu": ExpectedTemplate(
                labels={"shed.example/label": "", "shed.example/gpu": "tesla"},
                taints=(Taint(key="gpu", value="tesla", effect="NoSchedule"),),
                capacity={"nvidia.com/gpu": 2},
                allocatable={"cpu": 7900},
                gpu=GpuConfig(label="shed.example/gpu", type="tesla", resource="nvidia.com/gpu"),
            ),
        }

    def expected_options(self):
        return {"web": {}, "spare": {"scale_down_unneeded_time": timedelta(minutes=3)}}

    def references(self):
        return {("Rack", "web"): "web", ("Rack", "gpu"): "gpu"}

    def target(self, group):
        return self.shed.racks[group].wanted

    def machines(self, group):
        machines = self.shed.racks[group].machines
        return {id_of(group, each): _STATES[each.state] for each in machines if each.state in _STATES}

    def resize(self, group, size):
        self.shed.set(group, size)
        self.settle()

    def vanish(self, group):
        return self.node(id_of(group, self.shed.lose(group)))

    def hold(self):
        self.shed.delivery = "coming"

    def starve(self, group):
        self.shed.delivery = "nothing"

    def fail(self, group, why):
        self.shed.delivery, self.shed.why = "broken", _CODES[why]

    def fail_unseen(self, group):
        self.shed.delivery, self.shed.why = "nothing", "Odd"
        return ErrorClass.OTHER

    def pause(self, group):
        self.shed.close(group, "somebody paints it")

    def stop(self, group):
        return self.node(id_of(group, self.shed.idle(group)))

    def remake(self, group):
        return self.node(id_of(group, self.shed.remake(group)))

    def refuse(self, group, why):
        self.shed.refusal = _CODES[why]

    def limit(self, group, machines):
        self.shed.stock = machines

    def add_group(self):
        self.shed.racks["new"] = Rack(name="new", wanted=0, least=0)
        return "new"

    def remove_group(self, group):
        del self.shed.racks[group]

    def throttle(self):
        self.shed.broken = "Hurry"

    def deny(self):
        self.shed.broken = "WrongKey"

    def cut(self):
        self.break_after(0)

    def break_after(self, calls):
        self.shed.broken, self.shed.answered = "Silence", calls

    def lose_answer(self):
        self.shed.lost = True

    def delay(self):
        self.shed.told = dict(self.shed.racks)

    def delete_only(self, count):
        self.shed.deletable = count

    def heal(self):
        fresh = Shed()
        for name in ("broken", "answered", "told", "deletable", "stock", "delivery", "why", "refusal"):
            setattr(self.shed, name, getattr(fresh, name))
        for name in self.shed.racks:
            self.shed.close(name, "")
        self.shed.healed = True

    def calls(self):
        return self.shed.calls

    def populate(self, machines):
        self.shed.racks["crowd"] = Rack(name="crowd", most=machines, wanted=machines)
        self.settle()
