"""The machines of the cloud and their lives: ordered, booted, deleted, reclaimed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random
from threading import RLock
from typing import Protocol

from nodewright.api import InstanceError, InstanceState

from nodewright_fake.agenda import Agenda
from nodewright_fake.cloud.boot_fault import BootFault, BootFaultKind, BootFaults
from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance import CloudInstance
from nodewright_fake.cloud.instance_type import InstanceType
from nodewright_fake.cloud.journal import Journal
from nodewright_fake.cloud.shortage import Supply
from nodewright_fake.host import SCHEME, Host

#: Seconds until the cloud notices that it has no machine for an order that it accepted.
_FAILURE_DELAY = 2.0


class Hosts(Protocol):
    """What runs on the machines: the kubelets. Called on the world's thread."""

    def boot(self, machine: Host) -> None:
        """*machine* is up: register its node."""
        ...

    def shut_down(self, node_name: str) -> None:
        """The machine is gone, and its node with it."""
        ...

    def stop_reporting(self, node_name: str) -> None:
        """The machine hangs: its kubelet stops reporting."""
        ...

    def resume_reporting(self, node_name: str) -> None:
        """The machine hangs no longer."""
        ...


class Fleet:
    """All machines. Used under *lock*; steps that the agenda takes later lock by themselves."""

    def __init__(
        self,
        *,
        agenda: Agenda,
        lock: RLock,
        hosts: Hosts,
        journal: Journal,
        supply: Supply,
        boot_faults: BootFaults,
        seed: int,
    ) -> None:
        #: Called when a machine is gone, under the lock.
        self.on_gone: Callable[[], None] = lambda: None
        #: Called with a node's name when its machine is about to be taken back, on the world's thread.
        self.on_notice: Callable[[str], None] = lambda node_name: None
        self._agenda = agenda
        self._lock = lock
        self._hosts = hosts
        self._journal = journal
        self._supply = supply
        self._boot_faults = boot_faults
        self._seed = seed
        self._instances: dict[str, CloudInstance] = {}
        self._by_group: dict[str, dict[str, CloudInstance]] = {}
        self._sizes: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()
        self._former: dict[str, str] = {}

    def all(self) -> list[CloudInstance]:
        """All machines, in the order in which they were ordered."""
        return list(self._instances.values())

    def of(self, group: str) -> list[CloudInstance]:
        """The machines of a group, in the order in which they were ordered."""
        return list(self._by_group.get(group, {}).values())

    def size(self, group: str) -> int:
        """How many machines of a group are there or being made, those that failed included."""
        return self._sizes[group]

    def find(self, instance_id: str) -> CloudInstance | None:
        """The machine with this provider ID, if it exists."""
        return self._instances.get(instance_id)

    def former_group(self, instance_id: str) -> str | None:
        """The group of a machine that is gone; None if there never was one with this provider ID."""
        return self._former.get(instance_id)

    def order(self, group: GroupSettings, instance_type: InstanceType) -> CloudInstance:
        """Begin to make a machine, which a boot fault may affect."""
        instance = self._add(group, instance_type)
        fault = self._boot_faults.befalling(group.name, Random(f"{self._seed}/{instance.name}/fault"))
        self._take(instance)
        self._journal.note("ordered", group.name, instance.name)
        self._later(instance, instance.boot_time, lambda: self._boot(instance, fault))
        return instance

    def order_in_vain(self, group: GroupSettings, instance_type: InstanceType, error: InstanceError) -> CloudInstance:
        """Accept an order for a machine that will turn out not to be there."""
        instance = self._add(group, instance_type)
        self._journal.note("ordered", group.name, instance.name)
        self._later(instance, _FAILURE_DELAY, lambda: self._fail(instance, error))
        return instance

    def place(self, group: GroupSettings, instance_type: InstanceType) -> CloudInstance:
        """Put down a machine that has been there before the world began."""
        instance = self._add(group, instance_type)
        instance.host = replace(instance.host, ready_after=0.0)
        self._take(instance)
        self._start(instance)
        self._later(instance, 0, lambda: self._register(instance))
        return instance

    def delete(self, instance: CloudInstance) -> None:
        """Begin to delete a machine; one that failed is gone at once."""
        if instance.going:
            return
        if instance.error is not None:
            self._end(instance)
            return
        instance.state = InstanceState.DELETING
        self._sizes[instance.group.name] -= 1
        self._journal.note("deleting", instance.group.name, instance.name)
        self._later(instance, instance.delete_time, lambda: self._end(instance))

    def stop(self, instance: CloudInstance) -> None:
        """Stop a machine; its node stays, and does not report."""
        instance.state = InstanceState.STOPPED
        self._sizes[instance.group.name] -= 1
        self._journal.stop_meter(instance.id)
        self._journal.note("stopped", instance.group.name, instance.name)
        self._later(instance, 0, lambda: self._on_host(instance, self._hosts.stop_reporting))

    def start(self, group: GroupSettings) -> bool:
        """Start the oldest machine of *group* that is stopped; return False if none is."""
        for instance in self.of(group.name):
            if instance.state is InstanceState.STOPPED:
                instance.state = InstanceState.CREATING
                self._sizes[group.name] += 1
                self._journal.note("ordered", group.name, instance.name)
                self._later(instance, instance.boot_time, partial(self._resume, instance))
                return True
        return False

    def remake(self, instance: CloudInstance) -> None:
        """Make a machine anew under its name: its node goes, and comes back."""
        instance.incarnation += 1
        instance.state = InstanceState.CREATING
        self._journal.note("remade", instance.group.name, instance.name)
        self._later(instance, 0, lambda: self._on_host(instance, self._hosts.shut_down))
        self._later(instance, instance.boot_time, lambda: self._boot(instance, None))

    def reclaim(self, instance: CloudInstance, notice: float) -> None:
        """Take a machine away, with *notice* seconds of warning."""
        if instance.reclaim_at is not None:
            return
        instance.reclaim_at = self._agenda.clock.now() + timedelta(seconds=notice)
        if notice > 0:
            self._journal.note("notice", instance.group.name, instance.name, f"taken back in {notice:g} s")
            self._later(instance, 0, lambda: self._on_host(instance, self.on_notice))
        self._later(instance, notice, lambda: self._take_back(instance))

    def hang(self, instance: CloudInstance) -> None:
        """Let a machine go on running while its kubelet stops reporting."""
        self._journal.note("hangs", instance.group.name, instance.name)
        self._later(instance, 0, lambda: self._on_host(instance, self._hosts.stop_reporting))

    def recover(self, instance: CloudInstance) -> None:
        """Let the kubelet of a machine that hangs report again."""
        self._journal.note("recovers", instance.group.name, instance.name)
        self._later(instance, 0, lambda: self._on_host(instance, self._hosts.resume_reporting))

    def _add(self, group: GroupSettings, instance_type: InstanceType) -> CloudInstance:
        self._numbers[group.name] += 1
        number = self._numbers[group.name]
        name = f"{group.name}-{number}"
        template = group.template(instance_type)
        # Seeded by name, so that a machine's fate does not depend on the order in which threads get here.
        chance = Random(f"{self._seed}/{name}")
        instance = CloudInstance(
            host=Host(
                id=f"{SCHEME}{group.zone}/{name}",
                name=name,
                group=group.name,
                zone=group.zone,
                instance_type=group.instance_type,
                labels=template.labels,
                taints=template.taints,
                capacity=template.capacity,
                allocatable=template.allocatable,
                ready_after=group.ready_time.draw(chance),
            ),
            group=group,
            number=number,
            hourly_price=instance_type.hourly_price(spot=group.spot),
            created_at=self._agenda.clock.now(),
            boot_time=group.boot_time.draw(chance),
            delete_time=group.delete_time.draw(chance),
        )
        self._instances[instance.id] = instance
        self._by_group.setdefault(group.name, {})[instance.id] = instance
        self._sizes[group.name] += 1
        return instance

    def _take(self, instance: CloudInstance) -> None:
        instance.supplied = True
        self._supply.take(instance.group)

    def _give_back(self, instance: CloudInstance) -> None:
        if instance.supplied:
            instance.supplied = False
            self._supply.take(instance.group, -1)

    def _later(self, instance: CloudInstance, seconds: float, step: Callable[[], None]) -> None:
        def locked() -> None:
            with self._lock:
                step()

        self._agenda.after(seconds, locked, key=f"{instance.group.name} {instance.number:08}")

    def _boot(self, instance: CloudInstance, fault: BootFault | None) -> None:
        if instance.going or instance.id not in self._instances:
            return
        if fault is not None and fault.kind is BootFaultKind.FAILS:
            self._give_back(instance)
            self._fail(instance, fault.error)
            return
        self._start(instance)
        if fault is not None and fault.kind is BootFaultKind.NEVER_REGISTERS:
            return
        if fault is not None and fault.kind is BootFaultKind.UNREADY:
            instance.host = replace(instance.host, ready_after=None)
        self._register(instance)

    def _start(self, instance: CloudInstance) -> None:
        instance.state = InstanceState.RUNNING
        self._journal.start_meter(instance.id, instance.group.name, instance.hourly_price)
        self._journal.note("running", instance.group.name, instance.name)

    def _resume(self, instance: CloudInstance) -> None:
        if instance.state is InstanceState.CREATING:
            self._start(instance)
            self._on_host(instance, self._hosts.resume_reporting)

    def _register(self, instance: CloudInstance) -> None:
        if instance.id in self._instances:
            instance.registered = True
            self._hosts.boot(instance.host)

    def _fail(self, instance: CloudInstance, error: InstanceError) -> None:
        if instance.going or instance.id not in self._instances:
            return
        instance.error = error
        self._journal.note("failed", instance.group.name, instance.name, error.code)

    def _on_host(self, instance: CloudInstance, act: Callable[[str], None]) -> None:
        if instance.registered and instance.id in self._instances:
            act(instance.name)

    def _take_back(self, instance: CloudInstance) -> None:
        if instance.id in self._instances:
            self._journal.note("reclaimed", instance.group.name, instance.name)
            self._end(instance)

    def _end(self, instance: CloudInstance) -> None:
        if self._instances.pop(instance.id, None) is None:
            return
        del self._by_group[instance.group.name][instance.id]
        self._former[instance.id] = instance.group.name
        if instance.state.counted:
            self._sizes[instance.group.name] -= 1
        self._give_back(instance)
        self._journal.stop_meter(instance.id)
        self._journal.note("gone", instance.group.name, instance.name)
        if instance.registered:
            self._hosts.shut_down(instance.name)
        self.on_gone()
