"""The bundled table of instance types, for when AWS can't be asked.

``python -m nodewright_aws.instance_types.table --help`` explains how to write it anew.
"""

import csv
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

from nodewright_aws.instance_types.info import Gpu, InstanceTypeInfo, parse_instance_type_info

FILE = "table.csv"
_COLUMNS = tuple(field.name for field in fields(InstanceTypeInfo))
_NUMBERS = frozenset(field.name for field in fields(InstanceTypeInfo) if field.type is int)
_TRUTHS = frozenset(field.name for field in fields(InstanceTypeInfo) if field.type is bool)


@dataclass(frozen=True, kw_only=True)
class InstanceTypeTable:
    """Instance types as AWS described them at one time. A row is parsed when it is looked up."""

    #: When and from what the table was made, for people.
    origin: str
    rows: Mapping[str, str]

    def get(self, name: str) -> InstanceTypeInfo | None:
        """Return the type of that *name*; None if it is not in the table."""
        row = self.rows.get(name)
        return None if row is None else _parse(row)


@cache
def bundled() -> InstanceTypeTable:
    """Return the table of this distribution; read once."""
    return read((files(__package__) / FILE).read_text(encoding="utf-8"))


def read(text: str) -> InstanceTypeTable:
    """Return the table in *text*, which `write` wrote."""
    origin, _, *rows = text.splitlines()
    return InstanceTypeTable(origin=origin.removeprefix("# "), rows={row.partition(",")[0]: row for row in rows})


def write(infos: Iterable[InstanceTypeInfo], origin: str) -> str:
    """Return the text of a table of *infos*; its first line is the *origin*."""
    out = StringIO()
    out.write(f"# {origin}\n")
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(_COLUMNS)
    lines.writerows([_cell(getattr(info, name)) for name in _COLUMNS] for info in sorted(infos, key=_by_name))
    return out.getvalue()


def ask(client: Any) -> Iterator[InstanceTypeInfo]:
    """Yield all types of Kubernetes' architectures that *client* knows, which is boto3's for EC2."""
    for page in client.get_paginator("describe_instance_types").paginate():
        for body in page["InstanceTypes"]:
            info = parse_instance_type_info(body)
            if info.arch in ("amd64", "arm64"):
                yield info


def main(arguments: list[str] | None = None) -> None:
    """Ask AWS, or another endpoint, for all instance types and write the table anew."""
    parser = ArgumentParser(prog="python -m nodewright_aws.instance_types.table", description=main.__doc__)
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--endpoint", default=None, help="a URL to ask instead of AWS")
    parser.add_argument("--source", default="", help="the name of that endpoint, for the first line of the table")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name(FILE))
    chosen = parser.parse_args(arguments)

    import boto3

    infos = list(ask(boto3.client("ec2", region_name=chosen.region, endpoint_url=chosen.endpoint)))
    source = chosen.source or ("another endpoint" if chosen.endpoint else "AWS")
    origin = f"{len(infos)} types of {chosen.region}, DescribeInstanceTypes of {source}, {datetime.now(UTC):%Y-%m-%d}"
    chosen.output.write_text(write(infos, origin), encoding="utf-8")


def _by_name(info: InstanceTypeInfo) -> str:
    return info.name


def _cell(value: object) -> object:
    if isinstance(value, Gpu):
        return f"{value.count}/{value.manufacturer}/{value.memory_mib}/{value.name}"
    if isinstance(value, bool):
        return int(value)
    return "" if value is None or value == 0 else value


def _parse(row: str) -> InstanceTypeInfo:
    (cells,) = csv.reader([row])
    values = {name: _value(name, cell) for name, cell in zip(_COLUMNS, cells, strict=True)}
    return InstanceTypeInfo(**values)


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
    main()
