"""A cloud in memory that only has machines: each is made and deleted by a call of its own, and no group has a size."""

from dataclasses import dataclass, field, replace


class MeadowError(Exception):
    """The meadow says no; *code* is its own word for why."""

    def __init__(self, code, message=""):
        super().__init__(f"{code}: {message}")
        self.code = code


#: How many machines are told of at once.
PAGE = 50


@dataclass(frozen=True, kw_only=True)
class Machine:
    name: str
    #: What whoever made it wrote on it: the meadow does not care.
    group: str
    state: str = "up"  # coming, up, broken, going
    why: str = ""


@dataclass
class Meadow:
    """Methods up to `read` are the API; the others are done by whoever owns the meadow."""

    machines: dict[str, Machine] = field(default_factory=dict)
    calls: int = 0
    #: Code that all calls are refused with, after so many that are answered.
    broken: str = ""
    answered: int = 0
    lost: bool = False
    #: What is told of the machines, while that is late.
    told: dict[str, Machine] | None = None
    deletable: int | None = None
    stock: int | None = None
    #: What comes of orders: up, coming, broken.
    delivery: str = "up"
    why: str = ""
    refusal: str = ""

    def make(self, name, group):
        """Make a machine; one that has this name already is left as it is, so that the call can be repeated."""
        self._call()
        if self.refusal:
            raise MeadowError(self.refusal, f"no machine for {group}")
        if name not in self.machines:
            if self.stock == 0:
                raise MeadowError("SoldOut", f"no machine is left for {group}")
            self.stock = None if self.stock is None else self.stock - 1
            self.put(name, group)
        self._answer()

    def delete(self, name):
        """Take a machine away; one that is not there is no error, so that the call can be repeated."""
        self._call()
        machine = self.machines.get(name)
        if machine is not None and machine.state != "going":
            if self.deletable == 0:
                raise MeadowError("Busy", f"{name} can't be taken away at the moment")
            self.deletable = None if self.deletable is None else self.deletable - 1
            self.take(machine)
        self._answer()

    def read(self, page):
        """A page of all machines by name, oldest first; empty behind the last."""
        self._call()
        told = self.machines if self.told is None else self.told
        return dict(list(told.items())[page * PAGE :][:PAGE])

    def put(self, name, group):
        """A machine comes."""
        state = "coming" if self.delivery == "up" else self.delivery
        self.machines[name] = Machine(name=name, group=group, state=state, why=self.why)

    def take(self, machine):
        """A machine goes: what was up takes its time, what never came is gone."""
        if machine.state == "up":
            self.machines[machine.name] = replace(machine, state="going")
        else:
            del self.machines[machine.name]

    def work(self):
        """Bring and take away what was ordered."""
        staying = [each for each in self.machines.values() if each.state != "going"]
        come = self.delivery == "up"
        self.machines = {
            each.name: replace(each, state="up") if come and each.state == "coming" else each for each in staying
        }

    def _call(self):
        self.calls += 1
        self.answered -= 1
        if self.broken and self.answered < 0:
            raise MeadowError(self.broken, "the gate is shut")

    def _answer(self):
        lost, self.lost = self.lost, False
        if lost:
            raise MeadowError("NoAnswer", "nobody knows whether it was done")
