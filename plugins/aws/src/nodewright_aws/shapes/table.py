"""The instance types that come along, for when AWS can't be asked.

``python -m nodewright_aws.shapes.table --help`` tells how the table is written.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from io import StringIO
from typing import Any

from nodewright_aws.shapes.shape import Gpu, Shape

FILE = "table.csv"
_COLUMNS = tuple(field.name for field in fields(Shape))
_NUMBERS = frozenset(field.name for field in fields(Shape) if field.type is int)
_TRUTHS = frozenset(field.name for field in fields(Shape) if field.type is bool)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Instance types as somebody once asked for them. A type is parsed when it is looked up."""

    #: When and from what the table was made, for people.
    origin: str
    rows: Mapping[str, str]

    def get(self, name: str) -> Shape | None:
        """The type of that *name*, or None if it is not in the table."""
        row = self.rows.get(name)
        return None if row is None else _parse(row)


@cache
def bundled() -> Table:
    """Return the table of this distribution; read once."""
    return read((files(__package__) / FILE).read_text(encoding="utf-8"))


def read(text: str) -> Table:
    """Return the table that `write` wrote as *text*."""
    origin, _, *rows = text.splitlines()
    return Table(origin=origin.removeprefix("# "), rows={row.partition(",")[0]: row for row in rows})


def write(shapes: Iterable[Shape], origin: str) -> str:
    """Return a table of *shapes*, with a first line that says where it comes from."""
    out = StringIO()
    out.write(f"# {origin}\n")
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(_COLUMNS)
    lines.writerows([_cell(getattr(shape, name)) for name in _COLUMNS] for shape in sorted(shapes, key=_by_name))
    return out.getvalue()


def _by_name(shape: Shape) -> str:
    return shape.name


def _cell(value: object) -> object:
    if isinstance(value, Gpu):
        return f"{value.count}/{value.manufacturer}/{value.memory_mib}/{value.name}"
    if isinstance(value, bool):
        return int(value)
    return "" if value is None or value == 0 else value


def _parse(row: str) -> Shape:
    (cells,) = csv.reader([row])
    values = {name: _value(name, cell) for name, cell in zip(_COLUMNS, cells, strict=True)}
    return Shape(**values)


def _value(name: str, cell: str) -> Any:
    if name == "gpu":
        return _gpu(cell) if cell else None
    if name in _TRUTHS:
        return cell == "1"
    return int(cell or 0) if name in _NUMBERS else cell


def _gpu(cell: str) -> Gpu:
    count, manufacturer, memory_mib, name = cell.split("/", 3)
    return Gpu(name=name, manufacturer=manufacturer, count=int(count), memory_mib=int(memory_mib))


if __name__ == "__main__":
    from nodewright_aws.shapes.writing import main

    main()
