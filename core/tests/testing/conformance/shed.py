"""A cloud in memory: racks of like machines in a shed, with an API that counts its calls and can be broken."""

from dataclasses import dataclass, field, replace
from itertools import count


class ShedError(Exception):
    """The shed says no; *code* is its own word for why."""

    def __init__(self, code, message=""):
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Machine:
    number: int
    state: str = "up"  # coming, up, broken, going, idle
    why: str = ""
    #: Higher each time that it is made anew.
    made: int = 1


@dataclass(frozen=True, kw_only=True)
class Rack:
    """As many machines of a model as are wanted."""

    name: str
    model: str = "barrow"
    wanted: int = 2
    least: int = 1
    most: int = 5
    label: str = ""
    unneeded_minutes: int = 0
    #: Why somebody has closed it.
    closed: str = ""
    #: Why nothing comes of what was ordered last.
    trouble: str = ""
    #: How many more machines there are for it, when it was read; None if nobody knows.
    left: int | None = None
    #: Higher with every change.
    revision: int = 0
    machines: tuple[Machine, ...] = ()


@dataclass
class Shed:
    """Methods up to `read_prices` are the API; the others are done by whoever owns the shed."""

    racks: dict[str, Rack] = field(default_factory=dict)
    calls: int = 0
    #: Code that all calls are refused with, after so many that are answered.
    broken: str = ""
    answered: int = 0
    lost: bool = False
    #: What is told of the racks, while that is late.
    told: dict[str, Rack] | None = None
    deletable: int | None = None
    stock: int | None = None
    #: What comes of orders: up, coming, broken, or nothing.
    delivery: str = "up"
    why: str = ""
    refusal: str = ""
    #: Whether a fault was ever ended.
    healed: bool = False
    numbers: count = field(default_factory=lambda: count(1))
    revisions: count = field(default_factory=lambda: count(1))

    def order(self, name, number, most, *, whole=False):
        """Want more machines, up to *most*, and all or none of them if *whole*; return the rack as it is then."""
        rack = self._call(name)
        if number < 1 or rack.wanted + number > most:
            raise ShedError("Full", f"rack {name} holds {most} machines")
        if self.refusal:
            raise ShedError(self.refusal, f"no {rack.model} for rack {name}")
        if whole and self.stock is not None and number > self.stock:
            raise ShedError("SoldOut", f"{self.stock} of {number} are left for rack {name}")
        self._want(name, rack.wanted + number)
        return self._answer(name)

    def scrap(self, name, numbers, least):
        """Take machines away and want fewer by as many, but not fewer than *least*; return the rack as it is then."""
        rack = self._call(name)
        known = {machine.number: machine for machine in rack.machines}
        doomed = [number for number in numbers if number in known and known[number].state != "going"]
        if doomed and rack.wanted - len(doomed) < least:
            raise ShedError("Few", f"rack {name} keeps {least} machines")
        part = doomed[: self.deletable]
        self._put(replace(rack, wanted=rack.wanted - len(part), machines=_without(rack, part)))
        answer = self._answer(name)
        if part != doomed:
            raise ShedError("Busy", f"{len(part)} of {len(doomed)} machines were taken from rack {name}")
        return answer

    def cancel(self, name, number):
        """Want fewer, but no fewer than there are; return the rack as it is then."""
        rack = self._call(name)
        if number < 1 or rack.wanted - number < len(_present(rack)):
            raise ShedError("Few", f"rack {name} has {len(_present(rack))} machines")
        self._put(replace(rack, wanted=rack.wanted - number))
        return self._answer(name)

    def read(self):
        """All racks."""
        self._call()
        told = self.told if self.late else self.racks
        return {name: replace(rack, left=self.stock) for name, rack in told.items()}

    def read_prices(self):
        """Price of an hour by model."""
        self._call()
        return {"barrow": 0.1, "loom": 1.5}

    @property
    def late(self):
        """Whether what is told is of the time before."""
        return self.told is not None

    def set(self, name, wanted):
        """Want so many machines, whatever the rack holds."""
        self._want(name, wanted)

    def lose(self, name):
        """The oldest machine is gone; return it."""
        rack = self.racks[name]
        self._put(replace(rack, machines=rack.machines[1:]))
        self.work()
        return rack.machines[0]

    def idle(self, name):
        """The oldest machine is put aside for another time, and not wanted any more; return it."""
        rack = self.racks[name]
        oldest, *others = rack.machines
        self._put(replace(rack, wanted=rack.wanted - 1, machines=(replace(oldest, state="idle"), *others)))
        return oldest

    def remake(self, name):
        """The oldest machine is made anew; return it."""
        rack = self.racks[name]
        oldest, *others = rack.machines
        self._put(replace(rack, machines=(replace(oldest, made=oldest.made + 1), *others)))
        return oldest

    def close(self, name, why):
        """Say that the rack is closed, or open again if there is no reason."""
        self._put(replace(self.racks[name], closed=why))

    def work(self):
        """Bring and take away what was ordered."""
        for name, rack in list(self.racks.items()):
            machines = tuple(machine for machine in rack.machines if machine.state != "going")
            if self.delivery == "up":
                machines = tuple(replace(each, state="up") if each.state == "coming" else each for each in machines)
            self._put(replace(rack, machines=machines))
            self._want(name, rack.wanted)

    def _want(self, name, wanted):
        rack = replace(self.racks[name], wanted=wanted)
        machines = rack.machines
        for surplus in _present(rack)[wanted:]:
            machines = tuple(each for each in machines if each != surplus)
        for _ in range(wanted - len(_present(rack))):
            if self.stock == 0 or self.delivery == "nothing":
                break
            self.stock = None if self.stock is None else self.stock - 1
            state = "coming" if self.delivery == "up" else self.delivery
            machines = (*machines, Machine(number=next(self.numbers), state=state, why=self.why))
        failing = self.delivery == "nothing" and len(machines) < wanted
        self._put(replace(rack, machines=machines, trouble=self.why if failing else ""))

    def _put(self, rack):
        self.racks[rack.name] = replace(rack, revision=next(self.revisions))

    def _call(self, name=None):
        self.calls += 1
        self.answered -= 1
        if self.broken and self.answered < 0:
            raise ShedError(self.broken, "the door is shut")
        if name is not None and name not in self.racks:
            raise ShedError("NoRack", f"there is no rack {name}")
        return self.racks.get(name)

    def _answer(self, name):
        lost, self.lost = self.lost, False
        if lost:
            raise ShedError("NoAnswer", "nobody knows whether it was done")
        return self.racks[name]


def _present(rack):
    return [machine for machine in rack.machines if machine.state not in ("going", "idle")]


def _without(rack, numbers):
    """What was up is going; what never came is gone."""
    kept = [each for each in rack.machines if each.number not in numbers or each.state in ("up", "going", "idle")]
    return tuple(replace(each, state="going") if each.number in numbers else each for each in kept)
