"""The bundled table of machine types, for when Google can't be asked.

``python -m nodewright_gce.machine_types.writing --help`` explains how to write it anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from nodewright_gce.machine_types.custom import is_custom, parse_custom
from nodewright_gce.machine_types.info import MachineTypeInfo, read_machine_type
from nodewright_gce.resources.machine_type import MachineType
from nodewright_gce.resources.resource import Resource

FILE = "table.json"


class TableFile(Resource, frozen=True, kw_only=True):
    """The file: a page of ``machineTypes.list``, and where it is from."""

    #: When and from what the table was made, for people.
    origin: str = ""
    items: tuple[MachineType, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MachineTypeTable:
    """Machine types as they were at one time."""

    origin: str
    types: Mapping[str, MachineType]

    def get(self, name: str) -> MachineTypeInfo | None:
        """Return the type of that *name*, which may be a custom one; None if there is no such type here."""
        if is_custom(name):
            try:
                return parse_custom(name)
            except ValueError:
                return None
        body = self.types.get(name)
        return None if body is None else read_machine_type(body)


@cache
def bundled() -> MachineTypeTable:
    """Return the table of this distribution; read once."""
    return read((files(__package__) / FILE).read_bytes())


def read(content: bytes) -> MachineTypeTable:
    """Return the table in *content*, which `nodewright_gce.machine_types.writing` wrote."""
    file = msgspec.json.decode(content, type=TableFile)
    return MachineTypeTable(origin=file.origin, types={each.name: each for each in file.items})
