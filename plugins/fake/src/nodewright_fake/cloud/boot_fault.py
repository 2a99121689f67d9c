"""Machines that do not boot as they should."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from random import Random

from nodewright.api import InstanceError


class BootFaultKind(StrEnum):
    """What goes wrong."""

    #: The machine runs, but no node registers.
    NEVER_REGISTERS = "never-registers"
    #: The node registers, but never becomes ready.
    UNREADY = "unready"
    #: The machine does not come up at all; the cloud reports an error.
    FAILS = "fails"


@dataclass(frozen=True, kw_only=True)
class BootFault:
    """A fault that befalls some of the machines that are ordered."""

    #: Pattern of groups.
    groups: str
    kind: BootFaultKind
    #: How many of them, 0 to 1.
    share: float = 1.0
    #: How often it will still happen; None for always.
    times: int | None = None
    #: For `BootFaultKind.FAILS`.
    error: InstanceError


class BootFaults:
    """The boot faults that are set. Used under the cloud's lock only."""

    def __init__(self) -> None:
        self._faults: list[BootFault] = []

    def __iter__(self) -> Iterator[BootFault]:
        return iter(self._faults)

    def add(self, fault: BootFault) -> None:
        """Set a fault; of several that could befall a machine, the first set one does."""
        self._faults.append(fault)

    def heal(self, groups: str) -> None:
        """Forget the faults whose pattern is, or is matched by, *groups*."""
        self._faults = [fault for fault in self._faults if not fnmatchcase(fault.groups, groups)]

    def befalling(self, group: str, chance: Random) -> BootFault | None:
        """Draw the fault of a machine that is ordered now for *group*; None if it will be well."""
        for index, fault in enumerate(self._faults):
            if not fnmatchcase(group, fault.groups) or fault.times == 0 or chance.random() >= fault.share:
                continue
            if fault.times is not None:
                self._faults[index] = replace(fault, times=fault.times - 1)
            return fault
        return None
