"""Writes the bundled table of machine types: ``python -m nodewright_gce.machine_types.writing``."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from nodewright_gce.machine_types.custom import is_custom
from nodewright_gce.machine_types.table import FILE, TableFile
from nodewright_gce.resources.machine_type import MachineType


def read_types(content: bytes) -> tuple[MachineType, ...]:
    """Return the types in *content*: a list, as gcloud writes it, or a page of ``machineTypes.list``."""
    if content.lstrip().startswith(b"["):
        return msgspec.json.decode(content, type=tuple[MachineType, ...])
    return msgspec.json.decode(content, type=TableFile).items


def table_of(types: Iterable[MachineType], origin: str) -> bytes:
    """Return the table of *types*, which is from *origin*: JSON with a line for each type, to keep diffs readable.

    Types of several zones are alike, so that the last one of a name counts. Custom types are left out.
    """
    by_name = {each.name: each for each in types if not is_custom(each.name)}
    lines = (msgspec.json.encode(_row(by_name[name])) for name in sorted(by_name))
    return b'{"origin": %b, "items": [\n%b\n]}\n' % (msgspec.json.encode(origin), b",\n".join(lines))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table anew from files that ``gcloud compute machine-types list --format=json`` wrote."""
    parser = ArgumentParser(prog="python -m nodewright_gce.machine_types.writing", description=main.__doc__)
    parser.add_argument("files", type=Path, nargs="+", help="types in the API's form: a list, or a page with items")
    parser.add_argument("--source", default="machineTypes.list", help="where they are from, for the table's first line")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name(FILE))
    chosen = parser.parse_args(arguments)
    types = [each for file in chosen.files for each in read_types(file.read_bytes())]
    chosen.out.write_bytes(table_of(types, f"{chosen.source}, {datetime.now(UTC):%Y-%m-%d}"))


def _row(body: MachineType) -> Mapping[str, object]:
    """Return *body* without what is empty, or differs from zone to zone."""
    row: dict[str, object] = msgspec.to_builtins(body)
    return {name: value for name, value in row.items() if value and name != "zone" and not _is_empty(value)}


def _is_empty(value: object) -> bool:
    return isinstance(value, Mapping) and not any(value.values())


if __name__ == "__main__":
    main()
