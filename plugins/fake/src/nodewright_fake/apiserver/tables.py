"""Tables for people: what ``kubectl get`` prints."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nodewright_fake.apiserver.ages import since
from nodewright_fake.apiserver.columns import AGE, COLUMNS, NAME, Column
from nodewright_fake.apiserver.document import Object
from nodewright_fake.apiserver.resources import Resource

_STEP = re.compile(r"""\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]|\[(\d+|\*)\]|\.?([^.\[\]]+)|\['([^']+)'\]""")


@dataclass(frozen=True)
class Table:
    """The columns of one resource."""

    columns: Sequence[Column]

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """The heads of the columns."""
        return [
            {
                "name": column.name,
                "type": column.type,
                "format": "name" if column is NAME else "",
                "description": column.description or column.name,
                "priority": column.priority,
            }
            for column in self.columns
        ]

    def cells(self, document: Object, now: datetime) -> list[Any]:
        """Return one row."""
        return [column.cell(document, now) for column in self.columns]


def table_of(resource: Resource) -> Table:
    """Return the table for *resource*."""
    if resource.custom:
        return _custom_table(resource)
    return Table(COLUMNS.get(resource.key, (NAME, AGE)))


def _custom_table(resource: Resource) -> Table:
    own = tuple(_custom_column(column) for column in resource.columns)
    return Table((NAME, *own) if own else (NAME, AGE))


def _custom_column(stated: Mapping[str, Any]) -> Column:
    path = stated["jsonPath"]
    if stated.get("type") == "date":
        return Column(stated["name"], lambda document, now: since(follow(document, path), now))
    cell: Callable[[Object, datetime], Any] = lambda document, now: follow(document, path)  # noqa: E731
    return Column(stated["name"], cell, type=stated.get("type", "string"), priority=stated.get("priority", 0))


def follow(document: Any, path: str) -> Any:
    """Return the first thing at a JSON path of the kind that printer columns use, or None."""
    value = document
    for field, wanted, index, *keys in _STEP.findall(path):
        if field:
            value = next((item for item in value or () if follow(item, field) == wanted), None)
        elif index:
            items = value if isinstance(value, list) else []
            position = 0 if index == "*" else int(index)
            value = items[position] if position < len(items) else None
        else:
            value = value.get(keys[0] or keys[1]) if isinstance(value, dict) else None
    return value
